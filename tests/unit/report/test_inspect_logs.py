"""What a JSON log may not hold, because Inspect's parser of such logs would take all memory; invalid samples."""

import json
import os
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest
from inspect_ai.log import ProvenanceData, invalidate_samples, read_eval_log, write_eval_log

from confidence_tasks.report import collect, inspect_logs, report_of
from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.inspect_logs import MOST_DIGITS, MOST_LEVELS, refuse_unbounded
from confidence_tasks.report.trial_files import NotTrialsError


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "nested"),
        ('{"samples":' * (MOST_LEVELS + 1), "nested"),
        ('{"samples": [' + "[1]," * 5 + "[" * MOST_LEVELS, "nested"),
        ('{"samples": ' + "9" * (MOST_DIGITS + 1), "digits"),
        ('{"samples": -0.' + "9" * (MOST_DIGITS + 1), "digits"),
    ],
)
def test_endless_numbers_and_nesting_are_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(NotTrialsError, match=reason):
        refuse_unbounded(str(path))


@pytest.mark.parametrize(
    "reply",
    ["[" * 100_000, "x: " + "9" * 100_000, 'an escape \\" and a quote " [[[' * 2_000, "\\" * 99_999],
)
def test_a_reply_may_hold_anything(reply: str, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"samples": [{"reply": reply}] * 3}))
    refuse_unbounded(str(path))


def test_as_deep_as_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text("[" * MOST_LEVELS + "]" * MOST_LEVELS + "," + "[]" * MOST_LEVELS)
    refuse_unbounded(str(path))


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_samples_that_were_invalidated_do_not_count(suffix: str, log: Path, tmp_path: Path) -> None:
    whole = read_eval_log(str(log))
    samples = whole.samples or []
    withdrawn = samples[1:4]
    marked = invalidate_samples(
        whole, [str(sample.uuid) for sample in withdrawn], ProvenanceData(author="Ada", reason="leaked")
    )
    write_eval_log(marked, str(tmp_path / f"marked{suffix}"))
    found = collect(tmp_path)
    (file,) = found.files
    expected = {sample.id for sample in samples} - {sample.id for sample in withdrawn}
    assert set(file.columns["sample_id"]) == expected
    assert file.lost == 0
    assert [entry.reason for entry in found.skipped] == ["3 of 8 samples were invalidated and do not count"]
    page = report_of(found, settings=Settings(n_resamples=20)).html
    assert "3 of 8 samples were invalidated" in page


def test_a_log_of_invalid_samples_only_is_skipped(log: Path, tmp_path: Path) -> None:
    marked = invalidate_samples(read_eval_log(str(log)), "all", ProvenanceData(author="Ada"))
    write_eval_log(marked, str(tmp_path / "marked.eval"))
    (entry,) = collect(tmp_path).skipped
    assert "8 of 8 samples were invalidated" in entry.reason


@pytest.mark.parametrize(
    ("summaries", "reason"),
    [(b"[" + b"[]," * 200_000 + b"[]]", "brackets"), (b" " * 3_000, "more than")],
)
def test_a_log_that_unpacks_to_all_memory_is_skipped(
    summaries: bytes, reason: str, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.eval"
    with ZipFile(log) as whole, ZipFile(path, "w") as bomb:
        for name in whole.namelist():
            bomb.writestr(name, summaries if name == inspect_logs.SUMMARIES else whole.read(name))
    if reason == "more than":
        monkeypatch.setattr(inspect_logs, "MOST_BYTES", 2_000)
    (entry,) = collect(path).skipped
    assert reason in entry.reason


def test_texts_may_be_full_of_brackets(tmp_path: Path, log: Path) -> None:
    path = tmp_path / "latex.eval"
    with ZipFile(log) as whole, ZipFile(path, "w") as changed:
        for name in whole.namelist():
            member = whole.read(name)
            if name == inspect_logs.SUMMARIES:
                samples = json.loads(member)
                for sample in samples:
                    sample["input"] = "{[" * 2_000
                member = json.dumps(samples).encode()
            changed.writestr(name, member)
    assert len(collect(path).files) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_regular_file_is_named_and_not_opened(tmp_path: Path, log: Path) -> None:
    shutil.copy(log, tmp_path)
    os.mkfifo(tmp_path / "pipe.eval")
    (tmp_path / "endless.jsonl").symlink_to("/dev/zero")
    found = collect(tmp_path)
    assert len(found.files) == 1
    assert {Path(entry.path).name: entry.reason for entry in found.skipped} == dict.fromkeys(
        ("pipe.eval", "endless.jsonl"), "it is not a regular file"
    )
