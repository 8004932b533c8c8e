"""Rescored logs: where they are written, and which reading of a run counts."""

import itertools
import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner
from inspect_ai.log import read_eval_log, write_eval_log

from confidence_tasks.cli import main
from confidence_tasks.logs.inspect_logs import read_inspect_log
from confidence_tasks.logs.task_trials import ModelTrials, group_by_task
from confidence_tasks.report import collect


def _reply(path: Path, reply: str) -> Path:
    """Put another reply into a log, and leave its scores as they are: a reading that is out of date."""
    log = read_eval_log(str(path))
    assert log.samples
    for sample in log.samples:
        sample.output.completion = reply
    write_eval_log(log, str(path))
    return path


@pytest.fixture
def stale(log: Path, tmp_path: Path) -> Path:
    """A log that is read otherwise now: every confidence is 5."""
    path = tmp_path / "logs" / "run.eval"
    path.parent.mkdir()
    path.write_bytes(log.read_bytes())
    return _reply(path, "Answer: A\nConfidence: 5")


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def rescore(*arguments: object) -> list[dict[str, object]]:
    done = CliRunner().invoke(main, ["rescore", *map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def model(*paths: Path) -> ModelTrials:
    ((found,),) = (task_trials.models for task_trials in group_by_task(collect(list(map(str, paths))).files))
    return found


def test_a_rescored_log_says_when_and_by_which_version(stale: Path, tmp_path: Path) -> None:
    rescore(stale, "-o", tmp_path / "new")
    written = read_eval_log(str(tmp_path / "new" / "run.eval"), header_only=True)
    assert written.metadata["rescored"]["versions"]["confidence-tasks"] == version("confidence-tasks")
    assert read_inspect_log(str(tmp_path / "new" / "run.eval"))[0].rescored > written.eval.created
    assert read_inspect_log(str(stale))[0].rescored == ""


@pytest.mark.parametrize("folder", ["a", "z"])
def test_the_newest_reading_wins_wherever_it_lies(stale: Path, tmp_path: Path, folder: str) -> None:
    newest = tmp_path / folder / "run.eval"
    rescore(stale, "-o", newest.parent)
    older = newest.with_name("older.eval")
    older.write_bytes(newest.read_bytes())
    _reply(newest, "Answer: A\nConfidence: 3")
    rescore(newest, "--write")
    for paths in itertools.permutations([stale, older, newest]):
        found = model(*paths)
        assert set(found.columns["confidence_raw"]) == {3.0}
        assert {found.files[i].path for i in found.columns["file"]} == {str(newest)}


def test_versions_are_those_of_the_reading_that_counts(stale: Path, tmp_path: Path) -> None:
    log = read_eval_log(str(stale))
    assert log.eval.metadata
    log.eval.metadata["versions"]["confidence-tasks"] = "0.0.1"
    write_eval_log(log, str(stale))
    rescore(stale, "-o", tmp_path / "new")
    assert read_inspect_log(str(stale))[0].versions["confidence-tasks"] == "0.0.1"
    assert read_inspect_log(str(tmp_path / "new" / "run.eval"))[0].versions["confidence-tasks"] == version(
        "confidence-tasks"
    )


def test_logs_of_one_name_in_several_folders_are_all_written(stale: Path, tmp_path: Path) -> None:
    for name in ("a", "b/c"):
        (tmp_path / "many" / name).mkdir(parents=True)
        (tmp_path / "many" / name / "run.eval").write_bytes(stale.read_bytes())
    for given in ([tmp_path / "many"], [tmp_path / "many" / "a", tmp_path / "many" / "b" / "c" / "run.eval"]):
        out = tmp_path / f"out{len(given)}"
        rescore(*given, "-o", out)
        written = sorted(str(path.relative_to(out)) for path in out.rglob("*.eval"))
        assert written == ["a/run.eval", "b/c/run.eval"]


def test_a_log_named_twice_is_rescored_once(stale: Path) -> None:
    assert len(rescore(stale, stale.parent, f"file://{stale}")) == 1


def test_a_log_is_not_written_over_itself_or_another_run(stale: Path, log: Path, tmp_path: Path) -> None:
    content = stale.read_bytes()
    done = CliRunner().invoke(main, ["rescore", str(stale), "-o", str(stale.parent)])
    assert done.exit_code == 2
    assert "use --write" in " ".join(done.output.split())
    out = tmp_path / "out"
    out.mkdir()
    other = read_eval_log(str(log))
    other.eval.eval_id = "another"
    write_eval_log(other, str(out / "run.eval"))
    done = CliRunner().invoke(main, ["rescore", str(stale), "-o", str(out)])
    assert done.exit_code == 1
    assert "a log of another run" in " ".join(done.output.split())
    assert read_eval_log(str(out / "run.eval")).eval.eval_id == "another"
    assert stale.read_bytes() == content


def test_a_file_address_is_written_where_it_points(stale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(stale.parent)
    rescore(f"file://{stale}", "--write")
    assert set(model(stale).columns["confidence_raw"]) == {5.0}
    assert [path.name for path in stale.parent.iterdir()] == ["run.eval"]


def test_a_remote_log_is_written_in_its_place(stale: Path, memory: fsspec.AbstractFileSystem) -> None:
    memory.pipe("/bucket/run.eval", stale.read_bytes())
    rescore("memory://bucket", "--write")
    assert memory.ls("/bucket", detail=False) == ["/bucket/run.eval"]
    assert set(read_inspect_log("memory://bucket/run.eval")[0].columns["confidence_raw"]) == {5.0}
    rescore("memory://bucket", "-o", "memory://other/new")
    assert read_inspect_log("memory://other/new/run.eval")[0].rescored


def test_what_cannot_be_written_is_refused_before_anything_is_read(stale: Path) -> None:
    done = CliRunner().invoke(main, ["rescore", str(stale), "-o", "https://example.org/logs"])
    assert done.exit_code == 2
    assert "can be read but not written" in " ".join(done.output.split())
