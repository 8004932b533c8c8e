"""Rescoring: every metric of every study comes out bit for bit, from the replies alone."""

import errno
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.scorer import match
from tests.small_runs import SMALL_RUNS, SmallRun, arguments

from confidence_tasks import _registry
from confidence_tasks.cli import main
from confidence_tasks.harness.compat import LogWriter
from confidence_tasks.logs.log_scores import logged_metrics
from confidence_tasks.logs.rescore import rescore
from confidence_tasks.logs.trial_files import NotTrialsError

pytestmark = pytest.mark.slow

RUNS = {
    "nlp_metad": SmallRun(
        "nlp_metad", {"source": "arithmetic_number", "n": 6, "temperatures": "0.3,1"}, "ideal"
    ),
    **SMALL_RUNS,
}
"""A run of every task."""


def run(small: SmallRun, folder: Path, **options: Any) -> EvalLog:
    task = getattr(_registry, small.task)(**arguments(small, folder))
    (log,) = eval(task, model=f"simulated/{small.profile}", log_dir=str(folder), display="none", **options)
    assert log.status == "success", log.error
    return log


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection can be made."""

    def refuse(*args: Any) -> None:
        raise OSError("there is no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="module")
def scale_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = run(SMALL_RUNS["scale_granularity"], tmp_path_factory.mktemp("scales"), epochs=2)
    return Path(log.location)


def tampered(path: Path, folder: Path) -> Path:
    """A copy of a log in which one reply is another one."""
    log = read_eval_log(str(path))
    assert log.samples
    log.samples[0].output.completion = "Answer: none of these\nConfidence: 0"
    copy = folder / path.name
    write_eval_log(log, str(copy))
    return copy


@pytest.mark.sampled("name", one_in=2)
@pytest.mark.parametrize("name", RUNS)
def test_every_metric_comes_out_bit_for_bit(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = RUNS[name]
    if small.needs_mirror:
        request.getfixturevalue("mirror")
    log = run(small, tmp_path)
    # Neither the questions nor a model can be had any more.
    monkeypatch.delenv("CONFIDENCE_TASKS_MIRROR", raising=False)
    request.getfixturevalue("offline")

    found = rescore(log.location)
    assert found.before == pytest.approx(logged_metrics(log), nan_ok=True, abs=0, rel=0)
    assert any(value == value for value in found.before.values())
    assert found.changed_metrics == []
    assert found.changed_trials == 0


def test_several_epochs_come_out_too(scale_log: Path, offline: None) -> None:
    found = rescore(scale_log)
    assert found.changed_metrics == []
    assert found.changed_trials == 0


def test_another_reply_changes_its_trial_and_its_metrics(scale_log: Path, tmp_path: Path) -> None:
    found = rescore(tampered(scale_log, tmp_path))
    assert found.changed_trials == 1
    assert "ece/0-10" in found.changed_metrics
    assert "ece/0-100" not in found.changed_metrics


def test_a_log_of_another_task_is_refused(tmp_path: Path) -> None:
    other = Task(dataset=[Sample(input="Is it?", target="yes")], scorer=match())
    (log,) = eval(other, model="mockllm/model", log_dir=str(tmp_path), display="none")
    with pytest.raises(NotTrialsError, match="was scored by none of"):
        rescore(log.location)


def test_a_sample_that_inspect_recovered_without_its_replies_is_not_read_anew(tmp_path: Path) -> None:
    """Its output is that of its last call, which is no answer: read anew, its trial would change."""
    log = run(SMALL_RUNS["signals"], tmp_path / "whole")
    assert log.samples
    log.samples[3].store = {}
    recovered = tmp_path / "recovered.eval"
    write_eval_log(log, str(recovered))

    shown = CliRunner().invoke(main, ["rescore", str(recovered), "--write"])

    assert shown.exit_code == 1
    assert f"sample {log.samples[3].id} has no replies, because Inspect recovered it" in shown.stdout
    assert read_eval_log(str(recovered)).samples == log.samples


def test_the_command_tells_what_would_change_and_leaves_the_log_alone(
    scale_log: Path, tmp_path: Path
) -> None:
    changed = tampered(scale_log, tmp_path)
    content = changed.read_bytes()
    shown = CliRunner().invoke(main, ["rescore", str(scale_log), str(changed), "--json"])
    assert shown.exit_code == 0, shown.output
    same, other = json.loads(shown.stdout)
    assert (same["changed_trials"], same["changed_metrics"], same["error"]) == (0, {}, "")
    assert other["changed_trials"] == 1
    error = other["changed_metrics"]["ece/0-10"]
    assert error["before"] != error["after"]
    assert changed.read_bytes() == content
    assert "1 trials and" in CliRunner().invoke(main, ["rescore", str(changed)]).stdout


@pytest.mark.parametrize("where", ["--write", "--output"])
def test_the_command_writes_logs_that_stand(scale_log: Path, tmp_path: Path, where: str) -> None:
    changed = tampered(scale_log, tmp_path)
    folder = tmp_path / "new"
    option = ["--write"] if where == "--write" else ["--output", str(folder)]
    assert CliRunner().invoke(main, ["rescore", str(changed), *option]).exit_code == 0
    written = changed if where == "--write" else folder / changed.name
    found = rescore(written)
    assert (found.changed_metrics, found.changed_trials) == ([], 0)


def test_one_bad_log_does_not_cost_the_others(scale_log: Path, tmp_path: Path) -> None:
    truncated = tmp_path / "truncated.eval"
    truncated.write_bytes(scale_log.read_bytes()[:2_000])
    shown = CliRunner().invoke(main, ["rescore", str(truncated), str(scale_log)])
    assert shown.exit_code == 1
    failed, ok = shown.stdout.splitlines()
    assert failed.startswith("failed")
    assert "cannot be read" in failed
    assert ok.endswith("nothing changed")


def test_without_room_for_the_new_log_the_old_one_stands(
    scale_log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fill(*given: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LogWriter, "finish", fill)
    log = tmp_path / "log.eval"
    log.write_bytes(scale_log.read_bytes())
    shown = CliRunner().invoke(main, ["rescore", str(log), "--write"])
    assert shown.exit_code == 1
    assert "there is no room for the new log in" in shown.stdout
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [scale_log.read_bytes()]


def test_logs_rescored_by_two_processes_are_as_by_one(scale_log: Path, tmp_path: Path) -> None:
    for name in ("a.eval", "b.eval"):
        (tmp_path / name).write_bytes(scale_log.read_bytes())
    alone, together = (
        CliRunner().invoke(main, ["rescore", str(tmp_path), "--json", "--jobs", jobs]) for jobs in ("1", "2")
    )
    assert together.exit_code == 0
    assert together.stdout == alone.stdout
    assert len(json.loads(together.stdout)) == 2


def test_the_command_says_when_there_is_nothing(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["rescore", str(tmp_path)]).exit_code == 1
    both = CliRunner().invoke(main, ["rescore", str(tmp_path), "--write", "--output", str(tmp_path)])
    assert both.exit_code == 2
    assert "exclude each other" in both.output
