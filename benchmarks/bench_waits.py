"""What a user waits for, each as a ratio to something that does as much work and is measured in the same run.

    python -m benchmarks.bench_waits [NAME ...]

Names are those of :data:`WAITS`; by default all of them. Times are CPU seconds of a new process and its children, the
median of three turns in which the programs alternate, except ``summary``: its arrays are timed in this process, once.
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from benchmarks import bench_samples
from benchmarks.bench_report import SAMPLES_DF, write_logs

from confidence_tasks import summary

TURNS = 3
"""Number of times that every program runs."""

QUESTIONS = 120
"""Number of questions of a log; under five conditions these are 600 trials."""

MODELS, QUESTIONS_OF_MODELS = 10, 500
"""Number of models that are compared, and of their questions."""

SIZES = (1_000, 10_000, 100_000, 1_000_000)
"""Numbers of trials of ``summary``."""

BARE = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def bare():
    samples = [Sample(input=f"What is {{i}} + {{i}}?", target=str(2 * i), id=i) for i in range({n})]
    return Task(samples, solver=generate(), scorer=includes())
"""
"""A task of Inspect that does nothing but ask."""


def cpu_seconds(command: list[str], folder: Path) -> float:
    """Return the CPU time of a program in a folder, and of its children."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"exit status {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
    return used.ru_utime + used.ru_stime


def in_turns(commands: Mapping[str, list[str]], folder: Path) -> dict[str, float]:
    """Return the median CPU time of each program, with its name."""
    times = [{name: cpu_seconds(command, folder) for name, command in commands.items()} for _ in range(TURNS)]
    return {name: statistics.median(turn[name] for turn in times) for name in commands}


def program(name: str) -> str:
    """Return the path of a command of this environment."""
    return str(Path(sys.executable).with_name(name))


def ratios(commands: Mapping[str, list[str]], folder: Path) -> Iterator[str]:
    """Yield the time of the first program, and its ratio to each of the others."""
    (name, ours), *others = in_turns(commands, folder).items()
    for other, theirs in others:
        yield f"| {name} | {ours:.2f} | {other} | {theirs:.2f} | {ours / theirs:.2f} |"


def report(folder: Path) -> Iterator[str]:
    """Yield the times of the first report on one log."""
    write_logs(folder, 1, QUESTIONS)
    log = str(folder / "scale_granularity-subject-00.eval")
    page = str(folder / "report.html")
    yield from ratios(
        {
            f"report of {5 * QUESTIONS} trials": [
                program("confidence-tasks"), "report", log, "-o", page, "--no-cache"
            ],
            "samples_df": [sys.executable, "-c", SAMPLES_DF, log],
            "import confidence_tasks.report": [sys.executable, "-c", "import confidence_tasks.report"],
        },
        folder,
    )  # fmt: skip


def evaluation(folder: Path) -> Iterator[str]:
    """Yield the times of an evaluation of a study and of a bare task, with as many samples and the same model."""
    bare = folder / "bare.py"
    bare.write_text(BARE.format(n=5 * QUESTIONS), encoding="utf-8")
    asked = ["--model", "mockllm/model", "--display", "none", "--log-dir", str(folder / "logs")]
    study = ["confidence_tasks/scale_granularity", "-T", "sources=arithmetic", "-T", f"n={QUESTIONS}"]
    yield from ratios(
        {
            f"inspect eval of a study, {5 * QUESTIONS} samples": [program("inspect"), "eval", *study, *asked],
            "a bare task": [program("inspect"), "eval", bare.name, *asked],
        },
        folder,
    )


def samples(_folder: Path) -> Iterator[str]:
    """Yield the times of reading samples of lm-eval."""
    written = bench_samples.lines()
    ours, theirs = bench_samples.measured(written)
    yield f"| {len(written):,} samples of lm-eval | {ours:.2f} | json.loads | {theirs:.2f} | {ours / theirs:.2f} |"


def arrays(_folder: Path) -> Iterator[str]:
    """Yield the times of ``summary``, and the exponent by which they grow from one size to the next."""
    rng = np.random.default_rng(0)
    before = math.nan
    for n in SIZES:
        confidence = rng.random(n).round(2)
        correct = rng.random(n) < confidence
        start = time.process_time()
        summary(correct, confidence)
        took = time.process_time() - start
        growth = took / before
        yield f"| summary of {n:,} trials | {took:.2f} | a tenth of the trials | {before:.2f} | {growth:.1f} |"
        before = took


def comparison(folder: Path) -> Iterator[str]:
    """Yield the times of comparing ten models by their logs of one task."""
    write_logs(folder, MODELS, QUESTIONS_OF_MODELS)
    logs = sorted(folder.glob("scale_granularity-*.eval"))
    one_task = folder / "granularity"
    one_task.mkdir()
    for log in logs:
        log.rename(one_task / log.name)
    yield from ratios(
        {
            f"compare of {MODELS} models, {5 * QUESTIONS_OF_MODELS:,} trials each": [
                program("confidence-tasks"), "compare", str(one_task), "--no-cache"
            ],
            "samples_df": [sys.executable, "-c", SAMPLES_DF, str(one_task)],
        },
        folder,
    )  # fmt: skip


WAITS: Mapping[str, Callable[[Path], Iterator[str]]] = {
    "report": report,
    "eval": evaluation,
    "samples": samples,
    "summary": arrays,
    "compare": comparison,
}
"""What is measured, by name."""


def main(names: list[str]) -> None:
    """Print the table."""
    print("| what | CPU, s | beside | CPU, s | ratio |\n| --- | --- | --- | --- | --- |")
    for name in names or WAITS:
        with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nothing:
            printed, sys.stdout = sys.stdout, nothing  # what the harness prints while logs are written
            try:
                rows = list(WAITS[name](Path(folder)))
            finally:
                sys.stdout = printed
            print("\n".join(rows), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
