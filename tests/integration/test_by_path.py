"""Tasks and scorers run by the path of their file as they do by name."""

import shutil
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, read_eval_log
from tests.integration.commands import run, run_anew
from tests.integration.golden_logs import path_of
from tests.small_runs import KINDS, SMALL_RUNS, arguments

from confidence_tasks.logs.log_scores import logged_metrics

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EVERY_TASK = [
    (path.stem, line.removeprefix("def ").partition("(")[0])
    for path in sorted((ROOT / "tasks").glob("*.py"))
    for line in path.read_text(encoding="utf-8").splitlines()
    if line.startswith("def ")
]


def test_every_task_stands_in_a_file() -> None:
    assert {name for _, name in EVERY_TASK} == SMALL_RUNS.keys()


@pytest.mark.parametrize(("file", "name"), EVERY_TASK)
def test_a_task_runs_by_path(file: str, name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    small = SMALL_RUNS[name]
    if small.needs_mirror:
        request.getfixturevalue("mirror")
    (log,) = inspect_eval(
        f"{ROOT / 'tasks' / file}.py@{name}",
        model=f"simulated/{small.profile}",
        task_args=arguments(small, tmp_path),
        limit=2,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    assert log.results is not None
    assert log.results.completed_samples


SCORERS = {"scales": "scale_granularity", "question_sets": "boolq"}
"""The task whose example log a file of a scorer scores, where it is not called the same."""


@pytest.mark.sampled("path")
@pytest.mark.parametrize("path", sorted((ROOT / "scorers").glob("*.py")), ids=lambda path: path.stem)
def test_a_log_is_scored_by_path(path: Path, tmp_path: Path) -> None:
    example = read_eval_log(path_of(SMALL_RUNS[SCORERS.get(path.stem, path.stem)]))
    log = shutil.copy(example.location, tmp_path)
    assert_scored(example, log, tmp_path, "--scorer", str(path))


@pytest.mark.parametrize("task", sorted(KINDS))
def test_a_log_is_scored_by_the_scorer_that_it_names(task: str, tmp_path: Path) -> None:
    example = read_eval_log(path_of(SMALL_RUNS[task]))
    log = shutil.copy(example.location, tmp_path)
    assert_scored(example, log, tmp_path)


def assert_scored(example: EvalLog, log: str, folder: Path, *options: str) -> None:
    command = ["score", log, *options, "--action", "overwrite", "--overwrite"]
    start = run_anew if "scale_granularity" in log else run
    done = start(folder, "inspect", *command, "--model", "none/none", "--display", "none")
    assert done.returncode == 0, done.stderr
    before, after = logged_metrics(example), logged_metrics(read_eval_log(log))
    assert {name: after.get(name) for name in before} == pytest.approx(before, nan_ok=True)
