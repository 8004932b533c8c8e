"""The cache of trials and numbers: the same to the bit with and without it, and no trouble of it costs a report."""

import errno
import json
import os
import subprocess
import sys
import zipfile

import fsspec
import numpy as np
import pytest
from click.testing import CliRunner
from tests.integration.report.test_workers import assert_same
from tests.unit.report.runs import SUBJECTS, rows, write

from confidence_tasks.cli import main
from confidence_tasks.harness.workers import Workers
from confidence_tasks.logs import cache as cache_module
from confidence_tasks.logs.cache import Cache, key_of, user_cache
from confidence_tasks.logs.cached_tables import as_table
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.logs.trial_files import TrialFile
from confidence_tasks.report import collect, report_of
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models

pytestmark = pytest.mark.slow

FEW = Settings(n_resamples=50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Trials of two studies by two models each, and a file with several models."""
    folder = tmp_path_factory.mktemp("trials")
    for study in ("scales", "riskeval"):
        for name in SUBJECTS:
            write(folder / f"{study}-{name.replace('/', '-')}.jsonl", rows(study, name))
    write(folder / "both.jsonl", [row for name in SUBJECTS for row in rows("lifeeval", name)])
    return folder


@pytest.fixture
def kept(tmp_path):
    return Cache(tmp_path / "kept")


def report(folder, cache=None, settings=FEW):
    return report_of(collect(folder, cache=cache), settings=settings, cache=cache)


@pytest.fixture(scope="module")
def uncached(folder):
    return report(folder)


@pytest.fixture(scope="module")
def file(folder):
    """Trials of one study by one model: enough where it does not matter what is kept."""
    return folder / "scales-lab-steady.jsonl"


@pytest.fixture(scope="module")
def uncached_of_file(file):
    return report(file)


def test_a_report_is_the_same_to_the_bit_without_a_cache_and_with_a_cold_and_a_warm_one(
    folder, uncached, kept, monkeypatch
):
    assert_same(uncached, report(folder, kept))
    for work in WORK:
        monkeypatch.setattr(f"confidence_tasks.{work}", _must_not_be_called)
    assert_same(uncached, report(folder, kept))


WORK = (
    "logs.collection.read_file",
    "report.results.model_numbers",
    "report.estimates.compare.compared_trials",
)
"""What takes long: trials are read, a model's numbers computed, models compared."""


def _must_not_be_called(*_):
    raise AssertionError("it was computed anew")


def test_a_log_is_read_from_the_cache_as_it_was(log, kept):
    for _ in range(2):
        (found,), (cached,) = (collect(log, cache=which).files for which in (None, kept))
        assert found.columns.keys() == cached.columns.keys()
        for name, column in found.columns.items():
            np.testing.assert_array_equal(column, cached.columns[name])
        assert [column.dtype for column in found.columns.values()] == [
            column.dtype for column in cached.columns.values()
        ]
        for name in (
            "path",
            "study",
            "design",
            "model",
            "created",
            "setup",
            "provenance",
            "versions",
            "left_out",
        ):
            assert getattr(found, name) == getattr(cached, name)
    assert len(kept.sizes()) == 1


def test_a_file_that_is_changed_is_read_anew_and_one_that_is_moved_is_not(tmp_path, kept):
    path = tmp_path / "one" / "mine.jsonl"
    path.parent.mkdir()
    write(path, rows("scales")[:40])
    first = collect(path, cache=kept).frame()
    write(path, rows("scales")[:50])
    assert len(collect(path, cache=kept).frame()) == len(first) + 10
    elsewhere = tmp_path / "two" / "one" / "mine.jsonl"
    elsewhere.parent.mkdir(parents=True)
    path.rename(elsewhere)
    count = len(kept.sizes())
    (moved,) = collect(elsewhere, cache=kept).files
    assert moved.path == str(elsewhere)
    assert len(kept.sizes()) == count


@pytest.mark.parametrize("ending", [b"", b"more"], ids=["log", "no log"])
def test_a_log_whose_sample_changes_in_place_is_read_anew(tmp_path, monkeypatch, kept, ending):
    path, read = tmp_path / "mine.eval", []
    monkeypatch.setattr("confidence_tasks.logs.inspect_logs.read_inspect_log", _noted(read))
    for said in ("yes", "yes", "not"):
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("samples/1_epoch_1.json", "samples/2_epoch_1.json"):
                archive.writestr(zipfile.ZipInfo(name), said)
        path.write_bytes(path.read_bytes() + ending)
        collect(path, cache=kept)
    assert len(read) == 2


def _noted(read):
    """A reader of logs that notes its calls and finds the same trials in each."""

    def reader(path, *how):
        read.append(path)
        columns = {"question_id": np.array(["q"], dtype=object)}
        return [TrialFile(path, "scales", "scale_granularity", "model", columns)]

    return reader


def test_other_settings_and_other_code_are_computed_anew(file, kept, monkeypatch):
    report(file, kept)
    count = len(kept.sizes())
    report(file, kept, Settings(n_resamples=50, seed=1))
    more = len(kept.sizes())
    assert more > count
    monkeypatch.setattr(cache_module, "code_digest", lambda: "other code")
    report(file, kept)
    assert len(kept.sizes()) == more + count


def test_the_key_changes_with_every_part():
    keys = {key_of("a", 1), key_of("a", 2), key_of("b", 1), key_of("a", "1"), key_of("a", (1,)), key_of("a")}
    assert len(keys) == 6


def test_damaged_entries_are_computed_anew_with_one_warning(folder, uncached, kept):
    report(folder, kept)
    for number, path in enumerate(kept.sizes()):
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(
            [whole[:middle], b"", whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]][
                number % 3
            ]
        )
    with pytest.warns(UserWarning, match="is damaged .* computed anew") as warned:
        again = report(folder, Cache(kept.folder))
    # Whatever an earlier test left unclosed may be collected here, with a ResourceWarning.
    assert len([each for each in warned if issubclass(each.category, UserWarning)]) == 1
    assert_same(uncached, again)
    assert_same(uncached, report(folder, kept))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_costs_nothing_but_one_line(
    file, uncached_of_file, kept, monkeypatch, number
):
    def refuse(path, content):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(cache_module, "write_atomically", refuse)
    with pytest.warns(UserWarning, match=f"cannot be written .{os.strerror(number)}.*--no-cache") as warned:
        assert_same(uncached_of_file, report(file, kept))
    # Beside warnings about objects of earlier tests, which Python removes at any time.
    assert sum("cannot be written" in str(each.message) for each in warned) == 1


def test_a_file_in_the_place_of_the_folder_is_said_once(file, tmp_path, monkeypatch):
    place = tmp_path / "place"
    place.write_text("a file")
    monkeypatch.setenv("CONFIDENCE_TASKS_CACHE", str(place))
    done = run("report", file, tmp_path)
    assert done.exit_code == 0
    # Wrapped at the width of the terminal, wherever the length of the path puts the line break.
    assert " ".join(done.stderr.split()).count("cannot be written") == 1
    assert (tmp_path / "page.html").exists()


def test_what_was_not_used_for_longest_leaves(tmp_path):
    other = Cache(tmp_path / "other")
    other.put("aa1", table())
    (size,) = other.sizes().values()
    kept = Cache(tmp_path / "kept", most_bytes=3 * size)
    for age, key in enumerate(("aa1", "bb2", "cc3")):
        kept.put(key, table())
        path = kept._path(key)
        os.utime(path, ns=(age * 10**9, age * 10**9))
    assert kept.get("aa1") is not None  # used: it is now the newest
    kept.put("dd4", table())
    assert kept.get("bb2") is None
    assert all(kept.get(key) is not None for key in ("aa1", "cc3", "dd4"))
    assert sum(kept.sizes().values()) <= 3 * size


def table():
    return {"0": as_table({"x": [1.0, float("nan")], "y": ["a", "b"]}, name="some")}


def test_two_processes_use_a_cache_at_once(file, uncached_of_file, tmp_path):
    """Both write the same entries, and read what the other may be writing."""
    pages = [tmp_path / f"{number}.html" for number in range(2)]
    environment = {**os.environ, "CONFIDENCE_TASKS_CACHE": str(tmp_path / "shared")}
    program = "from confidence_tasks.cli import main; main()"
    command = [sys.executable, "-c", program, "report", str(file), "--resamples", "50", "-o"]
    started = [
        subprocess.Popen([*command, str(page)], env=environment, stderr=subprocess.PIPE, text=True)
        for page in pages
    ]
    said = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert "damaged" not in "".join(said)
    assert (
        pages[0].read_text(encoding="utf-8") == pages[1].read_text(encoding="utf-8") == uncached_of_file.html
    )
    assert not [path for path in (tmp_path / "shared").rglob("*") if path.is_file() and path.suffix != ".zip"]


def test_what_no_version_is_known_of_is_read_anew_each_time(kept, monkeypatch):
    system = fsspec.filesystem("memory")
    system.pipe("/cached/mine.csv", "\n".join(lines(5)).encode())
    assert len(collect("memory://cached/mine.csv", cache=kept).frame()) == 5
    assert len(kept.sizes()) == 1
    monkeypatch.setattr(
        type(system), "info", lambda self, path, **_: {"name": path, "size": 1, "type": "file"}
    )
    system.pipe("/cached/mine.csv", "\n".join(lines(6)).encode())
    assert len(collect("memory://cached/mine.csv", cache=kept).frame()) == 6
    assert len(kept.sizes()) == 1


def lines(count):
    yield "study,question_id,source,condition,correct,confidence,status"
    yield from (f"scales,q-{i},mine,0-20,1,0.85,ok" for i in range(count))


# The commands --------------------------------------------------------------------------------------------------------


def run(name, folder, tmp_path, *options):
    arguments = [name, str(folder), "-o", str(tmp_path / "page.html"), "--resamples", "20", *options]
    return CliRunner().invoke(main, arguments)


def test_the_command_shows_and_clears_what_reports_kept(folder, tmp_path):
    assert json.loads(CliRunner().invoke(main, ["cache", "--json"]).stdout)["entries"] == 0
    assert run("report", folder, tmp_path).exit_code == 0
    shown = json.loads(CliRunner().invoke(main, ["cache", "--json"]).stdout)
    assert shown["folder"] == str(user_cache().folder)
    entries = [path for path in user_cache().folder.rglob("*") if path.is_file()]
    assert shown["entries"] == len(entries) >= 5 + 5  # files, and models: both answer LifeEval alike
    assert shown["bytes"] == sum(path.stat().st_size for path in entries)
    assert f"{len(entries)} entries" in CliRunner().invoke(main, ["cache"]).stdout
    assert f"{len(entries)} entries deleted" in CliRunner().invoke(main, ["cache", "clear"]).stdout
    assert json.loads(CliRunner().invoke(main, ["cache", "--json"]).stdout)["entries"] == 0


@pytest.mark.parametrize("way", ["option", "environment"])
def test_the_cache_can_be_left_out(file, tmp_path, way, monkeypatch):
    if way == "environment":
        monkeypatch.setenv("CONFIDENCE_TASKS_NO_CACHE", "1")
    options = ["--no-cache"] if way == "option" else []
    assert run("report", file, tmp_path, *options).exit_code == 0
    assert not user_cache().sizes()


@pytest.mark.parametrize("workers", [Workers(), Workers("loky", 2)], ids=["alone", "processes"])
def test_a_comparison_is_the_same_wherever_it_is_computed_and_kept(folder, kept, workers, monkeypatch):
    (task_trials,) = group_by_task(collect(sorted(folder.glob("scales-*"))).files)
    alone = compare_models(*task_trials.models, task_trials, settings=FEW)
    assert len(alone) > 1
    told = {"settings": FEW, "workers": workers, "cache": kept}
    assert repr(compare_models(*task_trials.models, task_trials, **told)) == repr(alone)
    monkeypatch.setattr("confidence_tasks.report.estimates.compare.compared_trials", _must_not_be_called)
    assert repr(compare_models(*task_trials.models, task_trials, **told)) == repr(alone)


def test_processes_are_asked_for_where_trials_times_resamples_are_many(folder, monkeypatch):
    class Asked(Workers):
        def for_amount(self, is_large):
            worth.append(is_large)
            return Workers()

    (task_trials,) = group_by_task(collect(sorted(folder.glob("scales-*"))).files)
    worth = []
    n_trials = sum(map(len, task_trials.models)) * len(set(task_trials.models[0].columns["condition"]))
    for most in (n_trials * FEW.n_resamples, n_trials * FEW.n_resamples + 1):
        monkeypatch.setattr("confidence_tasks.report.estimates.compare.WORTH_WORKERS", most)
        compare_models(*task_trials.models, task_trials, settings=FEW, workers=Asked())
    assert worth == [True, False]


def test_compare_reads_a_path_that_is_given_twice_once(folder, monkeypatch):
    read = []
    monkeypatch.setattr(
        "confidence_tasks.report.commands.compare.read_trials",
        lambda paths, *how, **more: read.append(paths) or collect(paths),
    )
    models = [f"--model-{side}={name}" for side, name in zip("ab", SUBJECTS, strict=False)]
    path = str(folder / "both.jsonl")
    assert CliRunner().invoke(main, ["compare", path, path, *models, "--resamples", "20"]).exit_code == 0
    assert read == [[path]]


def test_compare_keeps_what_it_read_and_compared(folder):
    pair = [str(folder / f"scales-{name.replace('/', '-')}.jsonl") for name in SUBJECTS]
    outputs = [
        CliRunner().invoke(main, ["compare", *pair, "--resamples", "20", "--json", *options])
        for options in ([], [], ["--no-cache"])
    ]
    assert {done.exit_code for done in outputs} == {0}
    assert len({done.stdout for done in outputs}) == 1
    conditions = {row["condition"] for name in SUBJECTS for row in rows("scales", name)}
    assert len(user_cache().sizes()) == 2 * len(pair) + len(conditions)
