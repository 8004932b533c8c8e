"""The example logs give, read anew, the trials and metrics that they hold; made anew, they are the same to the byte.

After a change that is meant to change them: ``python -m tests.integration.golden_logs``.
"""

import re
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from tests.small_runs import EXAMPLE_RUNS, SmallRun, published_tasks

from confidence_tasks.logs.rescore import rescore
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.results import compute_results
from confidence_tasks.sources.table import SOURCES

from .golden_logs import EXAMPLES, made_now, path_of, trials

every_run = pytest.mark.parametrize("run", EXAMPLE_RUNS.values(), ids=list(EXAMPLE_RUNS))


def test_every_task_has_an_example() -> None:
    assert published_tasks() <= EXAMPLE_RUNS.keys()
    assert {path.stem for path in EXAMPLES.glob("*.eval")} == EXAMPLE_RUNS.keys()


@every_run
def test_read_anew_trials_and_metrics_are_the_same(run: SmallRun) -> None:
    found = rescore(path_of(run))

    assert found.changed_trials == 0
    assert found.before
    again = {name: found.after.get(name) for name in found.before}
    assert again == pytest.approx(found.before, rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.slow
@every_run
def test_the_same_command_gives_the_same_trials(run: SmallRun, request: pytest.FixtureRequest) -> None:
    if run.needs_mirror:
        request.getfixturevalue("mirror")
    made, kept = made_now(run), read_eval_log(str(path_of(run)))

    assert trials(made) == trials(kept)
    assert made.eval.metadata is not None
    assert kept.eval.metadata is not None
    for key in ("seed", "sources", "prompts"):
        assert made.eval.metadata[key] == kept.eval.metadata[key]


@every_run
def test_an_example_says_nothing_of_the_machine_and_holds_nothing_gated(run: SmallRun) -> None:
    log = read_eval_log(str(path_of(run)))
    content = log.model_dump_json()

    assert not re.search(r"/(?:home|Users|root|tmp|work|var|usr|private|opt)/", content)
    assert str(Path.home()) not in content
    assert log.eval.revision is None
    gated = {name for name, source in SOURCES.items() if source.gated}
    assert not gated & {str(sample.metadata["source"]) for sample in log.samples or []}


OTHERWISE_IN_THE_REPORT = {
    "fermieval_logprob": "a table a way of asking",
    "fermieval_sampling": "a table a way of asking",
}
"""Tasks whose report has other groups than the log."""

CUT_AT_T_1 = re.compile(r"(?:z_roc_slope|d_a|d_prime_v1|meta_d_v1|mratio_v1)/T=0\.7")
"""The report cuts evidence where its quantiles lie at T = 1, the log where they lie in each condition."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", [run for run in EXAMPLE_RUNS.values() if run.task not in OTHERWISE_IN_THE_REPORT]
)
def test_the_report_gives_the_values_of_the_log(run: SmallRun) -> None:
    log = read_eval_log(str(path_of(run)), header_only=True)
    assert log.results
    metrics = {
        name: float(results.value) for score in log.results.scores for name, results in score.metrics.items()
    }
    (results,) = compute_results(group_by_task(collect(path_of(run)).files), Settings(n_resamples=5))
    shared = {}
    for name in metrics:
        measure, _, group = name.partition("/")
        entry = results.estimate(results.models[0].label, group, measure)
        if entry and not CUT_AT_T_1.fullmatch(name):
            shared[name] = float(entry.interval.estimate)
    assert len(shared) >= 2
    assert shared == pytest.approx({name: metrics[name] for name in shared}, rel=1e-9, abs=1e-12, nan_ok=True)
