"""Tasks against the quirks of real servers, on Inspect: ``python -m benchmarks.server_quirks [TASK ...]``.

Prints a table: what became of the samples of each task under each quirk, compared with a run without quirks: ``same``
is the same trial, ``missing`` a trial without some of its numbers, ``lost`` a sample without a trial, and ``WRONG`` a
trial with another number. Quirks after which other numbers are right are left out.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub
from tests.integration.faults.quirks import QUIRKS
from tests.small_runs import SMALL_RUNS, arguments

from confidence_tasks import _registry
from confidence_tasks.harness.inspect.viewer import scored_trial
from confidence_tasks.sources.source import mirror_folder

LEFT_OUT = frozenset(
    {
        *("plain", "slow", "text", "rate", "quota", "no-seed", "no-n", "no-temperature", "temperature-1"),
        *(
            "temperature-above-0",
            "reasoning-model",
            "generated-only",
            "last-8",
            "echo-none",
            "echo-zero",
            "shuffle",
        ),
        *("no-max_completion_tokens", "lp-zero", "lp-other-tokens"),
    }
)
"""Quirks that no run on Inspect meets, that take minutes, or after which other numbers are right."""

Trials = Mapping[tuple[str, int], Mapping[str, Any]]


def run(task: str, quirk: str, server: Server, folder: Path) -> EvalLog:
    """Run a small task against the server with a quirk."""
    model = get_model(
        "openai-api/loopback/subject", base_url=server.address(quirk), memoize=False, max_retries=0
    )
    (log,) = inspect_eval(
        getattr(_registry, task)(**arguments(SMALL_RUNS[task], folder)),
        model=model,
        log_dir=str(folder),
        display="none",
        log_realtime=False,
        max_retries=0,
        fail_on_error=False,
    )
    return log


def trials_of(log: EvalLog) -> Trials:
    """Return the trial of each sample and epoch that has one."""
    return {
        (str(sample.id), sample.epoch): scored_trial(score.value, score.metadata)
        for sample in log.samples or []
        if sample.error is None
        for score in (sample.scores or {}).values()
        if isinstance(score.value, dict)
    }


def outcome(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> str:
    """Return what became of a sample, given its trials without and with a quirk."""
    if after is None:
        return "lost"
    numbers = {name: value for name, value in after.items() if isinstance(value, float)}
    known = {name: value for name, value in numbers.items() if not math.isnan(value)}
    if any(repr(value) != repr(before.get(name)) for name, value in known.items() if name in _SCORED):
        return "WRONG"
    return "same" if after == before or len(known) == len(numbers) else "missing"


_SCORED = ("confidence", "token_confidence", "mean_logprob", "p_true", "low", "high", "integer_mass")
"""Columns that a quirk must not change."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", help="by default all for which there are questions")
    parser.add_argument("--quirks", default=",".join(name for name in QUIRKS if name not in LEFT_OUT))
    given = parser.parse_args()
    mirrored = mirror_folder() is not None
    tasks = given.tasks or [name for name, run in SMALL_RUNS.items() if mirrored or not run.needs_mirror]
    os.environ.update(ENVIRONMENT)
    print(f"| quirk | {' | '.join(tasks)} |\n| --- |{' --- |' * len(tasks)}")
    with stub() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = {task: trials_of(run(task, "plain", server, folder)) for task in tasks}
        for quirk in given.quirks.split(","):
            cells = []
            for task in tasks:
                log = run(task, quirk, server, folder)
                found = trials_of(log)
                counts = Counter(outcome(trial, found.get(key)) for key, trial in plain[task].items())
                cells.append(", ".join(f"{count} {label}" for label, count in counts.most_common()))
            print(f"| {quirk} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
