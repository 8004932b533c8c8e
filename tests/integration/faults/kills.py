"""Killing ``inspect eval`` at a random moment, resuming it, and comparing the end with that of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai import eval
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from tests.integration.commands import forks
from tests.integration.faults.loopback import ENVIRONMENT, Server, running
from tests.integration.faults.speakers import Record, Speaker, recording_subject, spoken
from tests.integration.faults.wire import Wire, request_key, well_behaved
from tests.small_runs import SmallRun, arguments

from confidence_tasks import _registry

PATIENCE = 300
LONGEST_PAUSE = 0.5
"""Seconds between a reply and the kill."""

CONNECTIONS = 4
"""Calls under way at once. Inspect keeps a reply before it gives up the connection: no more can be lost by a kill."""


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a run that nothing happens to ends with: calls, trials by sample and epoch, metrics; and what was said."""

    calls: int
    trials: Mapping[tuple[str, int], str]
    metrics: Mapping[str, str]
    record: Record


@dataclass(frozen=True, slots=True)
class Killed:
    """What became of a run that was killed.

    Attributes
    ----------
    calls_before : int
        Replies sent before the kill.
    lost, doubled : int
        Samples without a trial at the end, and trials too many.
    repeated : int
        Replies that were sent again.
    same_trials, same_metrics : bool
        Whether the end is that of the undisturbed run, to the last bit.
    """

    task: str
    seed: int
    how: str
    calls_before: int
    lost: int
    doubled: int
    repeated: int
    same_trials: bool
    same_metrics: bool


def undisturbed(run: SmallRun, folder: Path) -> Undisturbed:
    """Run a task to its end."""
    record = _recorded(run, folder)
    with running(Server(_replaying(record), _unhurried)) as server:
        _start(_evaluation(run, server, folder), folder)
        _finish(folder)
        trials, doubled = _trials(_last_log(folder))
        assert server.asked_once
        assert not doubled
        return Undisturbed(len(server.answers), trials, _metrics(_last_log(folder)), record)


def kill_and_resume(run: SmallRun, seed: int, whole: Undisturbed, folder: Path) -> Killed:
    """Kill a run at a moment that the seed tells, and resume it.

    The kill comes a random while, at most `LONGEST_PAUSE`, after a random reply. Runs of even seeds are resumed by
    ``inspect eval-retry``, those of odd seeds, and those killed before they had a log, by the same command again.
    """
    draw = random.Random(seed)
    kill_after, pause = draw.randrange(1, whole.calls), draw.uniform(0.0, LONGEST_PAUSE)
    with running(Server(_replaying(whole.record), _unhurried)) as server:
        reached = threading.Event()
        server.on_answer = lambda count: reached.set() if count >= kill_after else None
        process = _start(_evaluation(run, server, folder), folder)
        assert reached.wait(PATIENCE), (folder / "output.txt").read_text()
        time.sleep(pause)
        os.kill(process, signal.SIGKILL)
        assert forks().wait() == -signal.SIGKILL
        calls_before = len(server.answers)

        logs = [info.name for info in list_eval_logs(str(folder / "logs"))]
        how = "eval-retry" if seed % 2 == 0 and logs else "again"
        command = ["eval-retry", logs[0], *_OPTIONS] if how == "eval-retry" else None
        _start(command or _evaluation(run, server, folder), folder)
        _finish(folder)
        repeated = len(server.answers) - len(set(server.answers))
    log = _last_log(folder)
    trials, doubled = _trials(log)
    return Killed(
        run.task,
        seed,
        how,
        calls_before,
        len(whole.trials.keys() - trials.keys()),
        doubled,
        repeated,
        trials == whole.trials,
        _metrics(log) == whole.metrics,
    )


_OPTIONS = ("--display", "none", "--max-connections", str(CONNECTIONS))


def _recorded(run: SmallRun, folder: Path) -> Record:
    """What a simulated subject says in a run in this process."""
    model, record = recording_subject(run.profile)
    task = getattr(_registry, run.task)(**arguments(run, folder))
    (log,) = eval(task, model=model, log_dir=str(folder / "recorded"), display="none")
    assert log.status == "success"
    return record


def _replaying(record: Record) -> Speaker:
    """Say again what a simulated subject said.

    Which of several replies to one conversation is said depends on the request alone, so that a run that is resumed is
    told what an undisturbed one is told.
    """

    def speak(asked: Mapping[str, Any]) -> dict[str, Any]:
        said = record[tuple(turn["content"] for turn in asked["messages"]), asked.get("temperature")]
        return spoken(said[int(request_key(asked), 16) % len(said)])

    return speak


def _unhurried(attempt: int, asked: Mapping[str, Any], reply: Mapping[str, Any]) -> Wire:
    time.sleep(0.02)
    return well_behaved(attempt, asked, reply)


def _evaluation(run: SmallRun, server: Server, folder: Path) -> list[str]:
    given = [word for key, value in arguments(run, folder).items() for word in ("-T", f"{key}={value}")]
    model = ("--model", "openai-api/loopback/subject", "--model-base-url", server.url)
    return [
        "eval",
        f"confidence_tasks/{run.task}",
        *model,
        *given,
        *("-T", "cache=true"),
        *_OPTIONS,
        "--log-dir",
        str(folder / "logs"),
    ]


def _start(arguments: list[str], folder: Path) -> int:
    """Start an ``inspect`` command whose log and cache lie in ``folder``; return the id of its process."""
    environment = {
        **os.environ,
        **ENVIRONMENT,
        "INSPECT_CACHE_DIR": str(folder / "cache"),
        "INSPECT_LOG_DIR": str(folder / "logs"),
        "OMP_NUM_THREADS": "1",
    }
    said = folder / "output.txt"
    return forks().start(["inspect", *arguments], folder, environment, said, said)


def _finish(folder: Path) -> None:
    assert forks().wait() == 0, (folder / "output.txt").read_text()


def _last_log(folder: Path) -> EvalLog:
    """The newest log of the folder, which must be complete; a run may be killed when its log already is."""
    log = max(map(read_eval_log, list_eval_logs(str(folder / "logs"))), key=lambda log: log.eval.created)
    assert log.status == "success"
    return log


def _trials(log: EvalLog) -> tuple[dict[tuple[str, int], str], int]:
    """Trial of each sample and epoch, and how many there are too many."""
    samples = log.samples or []
    trials = {
        (str(sample.id), sample.epoch): repr(
            [
                (score.value, score.answer, score.explanation, score.metadata)
                for score in (sample.scores or {}).values()
            ]
        )
        for sample in samples
        if sample.scores
    }
    return trials, len(samples) - len(trials)


def _metrics(log: EvalLog) -> dict[str, str]:
    assert log.results is not None
    return {name: repr(m.value) for score in log.results.scores for name, m in score.metrics.items()}
