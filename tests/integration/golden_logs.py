"""The example logs: ``python -m tests.integration.golden_logs`` makes them anew, one small simulated run of every task.

Run it after a change that is meant to change trials or metrics, and look at what changed. The sources that are
downloaded must be there (``CONFIDENCE_TASKS_MIRROR``). What tells of the machine is taken out.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inspect_ai import eval
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import Model
from inspect_ai.scorer import Score
from tests.small_runs import EXAMPLE_RUNS, SmallRun, arguments

from confidence_tasks import _registry
from confidence_tasks.harness.logged_trials import scored_trial

EXAMPLES = Path(__file__).parents[2] / "examples"


def path_of(run: SmallRun) -> Path:
    """Where the example log of a run lies."""
    return EXAMPLES / f"{run.task}.eval"


@contextmanager
def elsewhere() -> Iterator[Path]:
    """Work in an empty folder, so that paths in a log are relative and say nothing."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path()
        finally:
            os.chdir(before)


def made_now(run: SmallRun) -> EvalLog:
    """Run a task with its simulated subject."""
    with elsewhere() as folder:
        task = getattr(_registry, run.task)(**arguments(run, folder))
        roles: dict[str, str | Model] = {role: f"simulated/{profile}" for role, profile in run.roles.items()}
        (done,) = eval(
            task, model=f"simulated/{run.profile}", model_roles=roles, log_dir="logs", display="none"
        )
        log = read_eval_log(done.location)
    assert log.status == "success", log.error
    return log


def anonymous(log: EvalLog) -> EvalLog:
    """Take out what tells of the machine, and the transcripts, which say nothing that the messages do not."""
    log.eval.revision = None
    log.eval.dataset.location = None
    log.eval.task_file = None
    for sample in log.samples or []:
        sample.events, sample.attachments = [], {}
    return log


def _trial(score: Score) -> object:
    whole = isinstance(score.value, dict)
    return sorted(scored_trial(score.value, score.metadata).items()) if whole else score.value


def trials(log: EvalLog) -> dict[tuple[str, int], str]:
    """What was said, and the trial that became of it, by sample and epoch."""
    return {
        (str(sample.id), sample.epoch): repr(
            [_said(sample), [_trial(score) for score in (sample.scores or {}).values()]]
        )
        for sample in log.samples or []
    }


def _said(sample: Any) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in sample.messages]


def main() -> None:
    EXAMPLES.mkdir(parents=True, exist_ok=True)
    for run in EXAMPLE_RUNS.values():
        log, path = anonymous(made_now(run)), path_of(run)
        log.location = str(path)
        write_eval_log(log, str(path))
        print(path.name, len(log.samples or []), path.stat().st_size)


if __name__ == "__main__":
    main()
