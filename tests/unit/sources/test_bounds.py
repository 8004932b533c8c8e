"""Rows and JSON in files of the user that would exhaust the memory, or fail where they are written later."""

import json
from pathlib import Path

import pandas as pd
import pytest

from confidence_tasks.logs import trial_tables
from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.questions import read_questions
from confidence_tasks.report.score_replies import read_rows
from confidence_tasks.sources import SourceError, any_table, bounds, parquet
from confidence_tasks.sources.any_table import read_any_table
from confidence_tasks.sources.bounds import BoundError, JsonBounds, refuse_brackets
from confidence_tasks.sources.hub import HubSource
from confidence_tasks.sources.hub import read_rows as read_mirrored_rows
from confidence_tasks.sources.own_file import read_own_file
from confidence_tasks.sources.table import SOURCES

QUESTION = {"question": "1 + 1 =", "answer": "2", "reply": "2", "correct": 1, "confidence": 0.5}
LONG = "x" * 2_000
GSM8K = SOURCES["gsm8k"]
assert isinstance(GSM8K, HubSource)


def nested(levels: int) -> list[object]:
    """Lists in lists."""
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that files of a few kilobytes exceed."""
    monkeypatch.setattr(bounds, "MOST_CHARACTERS_OF_A_ROW", 1_000)
    monkeypatch.setattr(any_table, "MOST_CHARACTERS_OF_A_ROW", 1_000)
    monkeypatch.setattr(parquet, "MOST_CHARACTERS_OF_A_ROW", 1_000)
    monkeypatch.setattr(bounds, "FEW_CONTAINERS", 100)


READERS = {
    "questions": read_own_file,
    "replies": lambda path: list(read_rows(path, {})),
    "table": read_any_table,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**QUESTION, "question": LONG}, r"1,000 characters|holds 2,0\d\d characters"),
        ({**QUESTION, "metadata": nested(60)}, "nested more than 50 levels deep"),
        ({**QUESTION, "metadata": [[]] * 200}, "little but brackets"),
    ],
)
def test_a_row_beyond_the_bounds_is_refused_in_a_sentence(
    reader: str, row: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(SourceError, match=message) as raised:
        READERS[reader](path)
    assert str(raised.value).startswith(str(path))
    assert "line 2" not in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("reader", READERS)
def test_a_long_line_of_csv_is_refused(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"question,answer,reply,correct\n1 + 1 =,2,{LONG},1\n", encoding="utf-8")
    with pytest.raises(SourceError, match="line 2: the row has more than 1,000 characters"):
        READERS[reader](path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": LONG}, "line 2: the row has more than 1,000 characters"),
        ({"question": nested(60)}, "line 2: its JSON is nested more than 50 levels deep"),
        ({"question": [[]] * 200}, "line 2: its JSON holds little but brackets"),
    ],
)
def test_rows_of_a_mirror_are_bounded(row: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in ({"question": "1 + 1 ="}, row)), encoding="utf-8")
    with pytest.raises(SourceError, match=message):
        read_mirrored_rows(GSM8K, path)


def test_brackets_in_texts_are_no_lists(tmp_path: Path) -> None:
    texts = [r"\\frac{1}{2} \"[[[" * 20, "}" * 900, "[" * 900]
    path = tmp_path / "mine.jsonl"
    path.write_text(
        "\n".join(json.dumps({"question": text, "answer": "2"}) for text in texts), encoding="utf-8"
    )
    assert len(read_own_file(path)) == len(read_any_table(path)) == 3


@pytest.mark.parametrize(("levels", "refused"), [(50, False), (51, True), (100_000, True)])
def test_the_depth_is_exact(levels: int, refused: bool) -> None:
    for pair in ("[]", "{}"):
        text = pair[0] * levels + pair[1] * levels
        if refused:
            with pytest.raises(BoundError):
                JsonBounds(n_characters=10**7).add(text)
        else:
            JsonBounds().add(text)


def test_short_lines_of_a_run_are_not_counted_and_the_brackets_of_all_rows_together_are() -> None:
    refuse_brackets(b"[" * 90)
    counted = JsonBounds(n_containers=99)
    counted.add("[")
    with pytest.raises(BoundError, match="little but brackets"):
        counted.add("[]")


def test_tables_of_trials_and_lists_of_questions_are_bounded(tmp_path: Path) -> None:
    core = {
        "question_id": "a",
        "source": "s",
        "condition": "0-10",
        "correct": 1,
        "confidence": 0.5,
        "status": "ok",
    }
    trial = {"study": "scales", **core}
    for name, row in {"long": {**trial, "question_id": LONG}, "deep": {**trial, "more": nested(60)}}.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    pd.DataFrame([{**trial, "question_id": LONG}]).to_csv(tmp_path / "long.csv", index=False)
    reasons = [each.reason for each in collect(tmp_path).skipped]
    assert sorted("nested" in reason for reason in reasons) == [False, False, True]
    assert sum("more than 1,000 characters" in reason for reason in reasons) == 2

    (tmp_path / "ids.txt").write_text("a\n" + "x" * 20_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"ids.txt, line 2: more than 10,000 characters are no id"):
        read_questions(tmp_path / "ids.txt")


def test_rows_of_packed_files_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    pd.DataFrame([{**QUESTION, "reply": LONG}]).to_parquet(path)
    with pytest.raises(SourceError, match=r"row 1: it holds 2,0\d\d characters"):
        read_any_table(path)
    pd.DataFrame({"correct": [1.0] * 200_001}).to_parquet(path)
    with pytest.raises(SourceError, match="more than 200,000 rows"):
        read_any_table(path)


@pytest.fixture
def unpacks_to_a_gigabyte(tmp_path: Path) -> Path:
    """One text that 1,000 rows share, which Parquet stores once."""
    path = tmp_path / "test.parquet"
    texts = ["x" * 2**20] * 1_000
    frame = pd.DataFrame({"question": texts, "reply": texts, "answer": "2", "study": "scales"})
    frame.to_parquet(path)
    assert path.stat().st_size < 2**21
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "reader",
    [read_any_table, lambda path: list(read_rows(path, {})), lambda path: read_mirrored_rows(GSM8K, path)],
    ids=["any table", "own replies", "mirror"],
)
def test_a_parquet_file_of_a_text_that_all_rows_share_is_bounded(reader, unpacks_to_a_gigabyte: Path) -> None:
    with pytest.raises(SourceError, match="larger than 512 MiB when unpacked"):
        reader(unpacks_to_a_gigabyte)


def test_a_long_row_of_a_mirror_s_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "test.parquet"
    pd.DataFrame({"question": ["1 + 1 =", LONG], "answer": ["#### 2", "#### 2"]}).to_parquet(path)
    with pytest.raises(SourceError, match="row 2 has more than 1,000 characters"):
        read_mirrored_rows(GSM8K, path)


def test_a_parquet_table_of_trials_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_tables, "MOST_BYTES_OF_PARQUET", 2**20)
    pd.DataFrame({"study": ["scales"] * 64, "question_id": "x" * 2**15}).to_parquet(
        tmp_path / "trials.parquet"
    )
    (skipped,) = collect(tmp_path).skipped
    assert "larger than 1 MiB when unpacked" in skipped.reason
