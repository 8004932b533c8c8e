"""A run that is killed at a random moment and resumed ends as an undisturbed one."""

from pathlib import Path

import pytest
from tests.integration.faults.kills import CONNECTIONS, Undisturbed, kill_and_resume, undisturbed
from tests.small_runs import SMALL_RUNS

pytestmark = pytest.mark.slow

TASKS = ("riskeval", "lifeeval", "signals")


@pytest.fixture(scope="module", params=TASKS)
def whole(request: pytest.FixtureRequest, tmp_path_factory) -> tuple[str, Undisturbed]:
    run = SMALL_RUNS[request.param]
    return request.param, undisturbed(run, tmp_path_factory.mktemp("undisturbed"))


@pytest.mark.sampled("seed", "whole", one_in=2)
@pytest.mark.parametrize("seed", [1000, 1001])
def test_no_kill_loses_doubles_or_changes_a_trial(
    seed: int, whole: tuple[str, Undisturbed], tmp_path: Path
) -> None:
    task, end = whole
    killed = kill_and_resume(SMALL_RUNS[task], seed, end, tmp_path)

    assert killed.how == ("again" if seed % 2 else "eval-retry")
    assert (killed.lost, killed.doubled) == (0, 0)
    assert killed.same_trials
    assert killed.same_metrics
    assert killed.repeated <= CONNECTIONS, "a reply that was kept was asked for again"
