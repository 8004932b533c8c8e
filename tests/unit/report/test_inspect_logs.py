"""Summaries of samples are read as json reads them; what logs may not hold; invalid samples."""

import gc
import json
import math
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from inspect_ai.log import ProvenanceData, invalidate_samples, read_eval_log, write_eval_log
from msgspec import MsgspecError, to_builtins
from tests.integration.golden_logs import EXAMPLES
from tests.unit.report.runs import undrawn_report

from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.logs import log_contents, log_json
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.inspect_logs import read_inspect_log
from confidence_tasks.logs.log_contents import decode_summaries
from confidence_tasks.logs.log_json import HEADER, MOST_DIGITS, MOST_LEVELS, refuse_unbounded
from confidence_tasks.logs.trial_files import NotTrialsError
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings


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
    page = undrawn_report(found, settings=Settings(n_resamples=20)).html
    assert "3 of 8 samples were invalidated" in page


def test_a_log_of_invalid_samples_only_is_skipped(log: Path, tmp_path: Path) -> None:
    marked = invalidate_samples(read_eval_log(str(log)), "all", ProvenanceData(author="Ada"))
    write_eval_log(marked, str(tmp_path / "marked.eval"))
    (entry,) = collect(tmp_path).skipped
    assert "8 of 8 samples were invalidated" in entry.reason


@pytest.mark.parametrize(
    ("summaries", "reason"),
    [(b"[" + b"[]," * 200_000 + b"[]]", "brackets"), (b" " * 3_000_000, "more than")],
)
def test_a_log_that_unpacks_to_all_memory_is_skipped(
    summaries: bytes, reason: str, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.eval"
    with ZipFile(log) as whole, ZipFile(path, "w", ZIP_DEFLATED) as bomb:
        for name in whole.namelist():
            bomb.writestr(name, summaries if name == log_contents.SUMMARIES else whole.read(name))
    if reason == "more than":
        monkeypatch.setattr(log_contents, "MOST_BYTES", 2_000)
    (entry,) = collect(path).skipped
    assert reason in entry.reason


def test_summaries_may_be_as_large_as_the_log_has_samples(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_contents, "MOST_BYTES", 2_000)
    with ZipFile(log) as whole:
        assert whole.getinfo(log_contents.SUMMARIES).file_size > 2_000
    (file,) = collect(log).files
    assert len(file.columns["question_id"]) == 8


def test_texts_may_be_full_of_brackets(tmp_path: Path, log: Path) -> None:
    path = tmp_path / "latex.eval"
    with ZipFile(log) as whole, ZipFile(path, "w") as changed:
        for name in whole.namelist():
            member = whole.read(name)
            if name == log_contents.SUMMARIES:
                samples = json.loads(member)
                for sample in samples:
                    sample["input"] = "{[" * 2_000
                member = json.dumps(samples).encode()
            changed.writestr(name, member)
    assert len(collect(path).files) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_regular_file_is_named_and_not_opened(tmp_path: Path, log: Path) -> None:
    shutil.copy(log, tmp_path)
    pipes = ("pipe.eval", "pipe.jsonl", "logs.json")
    for name in pipes:
        os.mkfifo(tmp_path / name)
    (tmp_path / "endless.jsonl").symlink_to("/dev/zero")
    for cache in (None, Cache(tmp_path / "cache")):
        found = collect(tmp_path, cache=cache)
        assert len(found.files) == 1
        assert {Path(entry.path).name: entry.reason for entry in found.skipped} == dict.fromkeys(
            (*pipes, "endless.jsonl"), "it is not a regular file"
        )


# Decoding -----------------------------------------------------------------------------------------------------------

TEXTS = st.text() | st.sampled_from(
    [
        '"confidence": NaN,',
        '{"id":1,"epoch":1}',
        '},{"id":',
        '": NaN}',
        'a":NaN,',
        "\ud83d",
        "\0",
        "NaN",
        "\\",
        "é",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.sampled_from(["id", "epoch", "key"]), inner, max_size=3)
    ),
    max_leaves=8,
)
SAMPLES = st.fixed_dictionaries(
    {"id": TEXTS | st.integers(), "epoch": st.integers(1, 9)},
    optional={
        "input": st.none()
        | TEXTS
        | st.lists(
            st.fixed_dictionaries(
                {"role": VALUES, "content": VALUES}, optional={"metadata": VALUES, "source": VALUES}
            )
        ),
        "target": VALUES,
        "metadata": st.none()
        | st.fixed_dictionaries({}, optional={"question": VALUES, "choices": VALUES, "x": VALUES}),
        "scores": st.none()
        | st.dictionaries(
            TEXTS,
            st.none()
            | st.fixed_dictionaries(
                {},
                optional={
                    "value": VALUES,
                    "metadata": st.none() | st.dictionaries(TEXTS, VALUES),
                    "y": VALUES,
                },
            ),
        ),
    },
)


def plain(value: Any) -> Any:
    """A value in which a number that is NaN is None, and equal numbers of either kind are one."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return None if value is None or value != value else (type(value), value)


def needed(sample: dict[str, Any]) -> Any:
    metadata, scores = sample.get("metadata"), sample.get("scores")
    return plain(
        [
            sample["id"],
            sample["epoch"],
            [[turn["role"], turn["content"], turn.get("metadata")] for turn in asked]
            if isinstance(asked := sample.get("input"), list)
            else asked,
            None if metadata is None else [metadata.get("question"), metadata.get("choices")],
            None
            if scores is None
            else {
                name: [(score or {}).get("value"), (score or {}).get("metadata")]
                for name, score in scores.items()
            },
        ]
    )


def decode(text: bytes, piece: int) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_contents, "PIECE", piece)
        patch.setattr(log_json, "BYTES_A_CONTAINER", 1)
        return [needed(to_builtins(summary)) for summary in decode_summaries(BytesIO(text))]


@given(
    st.lists(SAMPLES, max_size=5),
    st.integers(1, 400),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")]),
    st.booleans(),
)
@example(
    [{"id": 1, "epoch": 1, "target": [{"id": 1, "epoch": 2}, {"id": 3, "epoch": 4}]}] * 3,
    60,
    (",", ":"),
    True,
)
@example(
    [{"id": 1, "epoch": 1, "input": "x", "scores": {"s": {"value": {"c": math.nan}}}}] * 3,
    40,
    (",", ":"),
    True,
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_summaries_are_decoded_as_json_decodes_them(
    samples: list[dict[str, Any]], piece: int, separators: tuple[str, str], ascii_only: bool
) -> None:
    text = json.dumps(samples, separators=separators, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    assert decode(text, piece) == [needed(sample) for sample in json.loads(text)]


def with_comment(archive: ZipFile) -> None:
    archive.comment = b"copied"


def with_a_name_that_ends_alike(archive: ZipFile) -> None:
    archive.writestr("samples/summaries.json", "[]")


def with_header_written_anew(archive: ZipFile) -> None:
    header = archive.read(HEADER)
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(HEADER, header)


def with_members_of_64_bits(archive: ZipFile) -> None:
    for i in range(65_536):
        archive.writestr(f"attachments/{i}", b"")
    members = {name: archive.read(name) for name in (log_contents.SUMMARIES, HEADER)}
    for name, text in members.items():
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(name, text)


@pytest.mark.parametrize(
    "change",
    [with_comment, with_a_name_that_ends_alike, with_header_written_anew, with_members_of_64_bits],
    ids=lambda change: change.__name__,
)
def test_a_log_is_read_the_same_wherever_its_last_members_stand(
    change: Callable[[ZipFile], None], log: Path, tmp_path: Path
) -> None:
    changed = tmp_path / log.name
    shutil.copyfile(log, changed)
    with ZipFile(changed, "a") as archive:
        change(archive)
    (before,), (after,) = map(read_inspect_log, (str(log), str(changed)))
    same = {"path": "", "columns": {}, "written": ""}
    assert replace(after, **same) == replace(before, **same)
    for key, column in before.columns.items():
        np.testing.assert_array_equal(after.columns[key], column)


@given(st.lists(SAMPLES, max_size=3), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_summaries_that_end_early_or_go_on_are_refused(
    samples: list[dict[str, Any]], data: st.DataObject
) -> None:
    text = json.dumps(samples).encode()
    damaged = text[: data.draw(st.integers(0, len(text) - 1))] if data.draw(st.booleans()) else text + b",[]"
    with pytest.raises((ValueError, MsgspecError)):
        decode(damaged, data.draw(st.integers(1, 200)))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.eval")), ids=lambda path: path.stem)
def test_columns_hold_what_whole_samples_hold(path: Path) -> None:
    (file,) = collect(path).files
    assert gc.isenabled()
    samples = {(str(sample.id), sample.epoch): sample for sample in read_eval_log(str(path)).samples or []}
    assert len(file) == len(samples)
    for row, key in enumerate(zip(file.columns["sample_id"], file.columns["epoch"], strict=True)):
        (score,) = (
            scored_trial(score.value, score.metadata)
            for score in (samples[key].scores or {}).values()
            if isinstance(score.value, dict)
        )
        for name in score.keys() & file.columns.keys():
            read, written = file.columns[name][row], score[name]
            assert read == ("" if written is None else written) or (read != read and written != written), name


def test_a_header_of_brackets_is_skipped(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with ZipFile(log) as whole, ZipFile(path, "w", ZIP_DEFLATED) as bomb:
        for name in whole.namelist():
            text = whole.read(name)
            if name == HEADER:
                text = text.rstrip()[:-1] + b',"log_updates":[' + b"{}," * 100_000 + b"{}]}"
            bomb.writestr(name, text)
    (entry,) = collect(path).skipped
    assert entry.reason == "its header holds more than 100,000 values"
