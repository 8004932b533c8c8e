"""Real harness runs."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub

from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.logs.rescore import rescore

collect_ignore = ["loopback_run.py"]
"""A program that a test runs in a process of its own."""

Run = Callable[..., EvalLog]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a task through Inspect and return its log as read back from disk."""

    def run_task(task: Task, model: str | Model = "simulated/ideal", **options: Any) -> EvalLog:
        (log,) = eval(task, model=model, log_dir=str(tmp_path), log_realtime=False, display="none", **options)
        assert log.status == "success", log.error
        return read_eval_log(log.location)

    return run_task


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Set the variables with which Inspect finds the stub server, and an empty cache."""
    for name, value in {**ENVIRONMENT, "INSPECT_CACHE_DIR": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server() -> Iterator[Server]:
    """Run the stub server."""
    with stub() as running:
        yield running


def saying(texts: Sequence[str]) -> Model:
    """A model that replies with these texts, one after the other."""
    outputs = [ModelOutput.from_content("mockllm", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage()
    return get_model("mockllm/model", custom_outputs=outputs)


def metrics(log: EvalLog) -> dict[str, float]:
    """Every measure of a log by name, computed from its trials; those that it has as metrics are the same."""
    assert log.results is not None
    found = rescore(log.location)
    assert found.changed_metrics == []
    return found.after


def trials(log: EvalLog) -> list[dict[str, Any]]:
    """The trials of a log, in the order of its samples."""
    assert log.samples is not None
    return [
        scored_trial(score.value, score.metadata) if isinstance(score.value, dict) else score.value
        for sample in log.samples
        for score in (sample.scores or {}).values()
    ]
