"""Every task against a server that misbehaves in every way: no call is lost unsaid, and no number made of nonsense."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.integration.faults.loopback import ENVIRONMENT
from tests.integration.faults.misbehaviours import MISBEHAVIOURS, fates
from tests.small_runs import KINDS, SMALL_RUNS

pytestmark = pytest.mark.slow


SMALLER: Mapping[str, Mapping[str, Any]] = {
    "scale_boundary": {"scales": "40-100"},
    "scale_nonstandard": {"scales": "7-79"},
    "signals": {"samples": 2},
    "nlp_metad": {"temperatures": "0.7"},
    "fermieval": {"levels": 0.9},
    "fermieval_sampling": {"samples": 2},
}
"""One condition, or two samples: each is asked all questions. The others have conditions beside the disturbed one."""


@pytest.mark.sampled("task", one_in=2)
@pytest.mark.parametrize("task", KINDS)
def test_what_a_server_does_wrong_is_lost_or_not_read_and_disturbs_nothing_else(
    task: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small = SMALL_RUNS[task]
    run = replace(small, arguments={**small.arguments, **SMALLER.get(task, {})})
    if run.needs_mirror:
        request.getfixturevalue("mirror")
    for name, value in {**ENVIRONMENT, "INSPECT_CACHE_DIR": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)

    found, faults = fates(run, tmp_path)

    assert not faults
    assert {fate.behaviour for fate in found} == {"", *MISBEHAVIOURS}
    assert not [fate for fate in found if fate.faults]
