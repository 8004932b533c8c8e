"""Tables in the formats and encodings that researchers have."""

import codecs
import csv
import gzip
import json

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from confidence_tasks.sources import SourceError, any_table
from confidence_tasks.sources.any_table import read_any_table

ROWS = [
    {"question": "Hauptstadt von Perú?", "reply": 'Lima; "sicher"', "p": "0.9"},
    {"question": "Zweite\nZeile", "reply": "Žilina, 我", "p": "0.5"},
]


def separated(mark: str) -> str:
    lines = [mark.join(ROWS[0])]
    lines += [mark.join('"' + cell.replace('"', '""') + '"' for cell in row.values()) for row in ROWS]
    return "\r\n".join(lines) + "\r\n"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("packed", [False, True])
def test_any_separator_and_encoding(tmp_path, mark, encoding, packed) -> None:
    data = separated(mark).encode(encoding)
    path = tmp_path / ("replies.csv.gz" if packed else "replies.csv")
    path.write_bytes(gzip.compress(data) if packed else data)

    assert read_any_table(path) == ROWS


def test_the_csv_of_a_spreadsheet_with_semicolons_and_a_mark(tmp_path) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(codecs.BOM_UTF8 + "Frage;Antwort;Sicherheit\r\nWo?;In Köln, am Rhein;0,9\r\n".encode())
    assert read_any_table(path) == [{"Frage": "Wo?", "Antwort": "In Köln, am Rhein", "Sicherheit": "0,9"}]


def test_text_that_is_not_unicode(tmp_path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes("reply,p\nKöln,0.5\n".encode("cp1252"))
    assert read_any_table(path)[0]["reply"] == "Köln"


@pytest.mark.parametrize(
    "value",
    [
        [{"a": {"b": 1, "c": "x"}}, {"a": {"b": 2, "c": "y"}}],
        {"data": [{"a": {"b": 1, "c": "x"}}, {"a": {"b": 2, "c": "y"}}], "meta": {"n": 2}},
        {"run": {"rows": [{"a": {"b": 1, "c": "x"}}, {"a": {"b": 2, "c": "y"}}]}},
        {"a.b": [1, 2], "a.c": ["x", "y"]},
    ],
)
def test_json_of_any_shape(tmp_path, value) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(value, indent=1))
    assert read_any_table(path) == [{"a.b": 1, "a.c": "x"}, {"a.b": 2, "a.c": "y"}]


def test_objects_by_identifier(tmp_path) -> None:
    path = tmp_path / "replies.json"
    path.write_text('{"q1": {"reply": "x"}, "q2": {"reply": "y"}}')
    assert read_any_table(path) == [{"id": "q1", "reply": "x"}, {"id": "q2", "reply": "y"}]


def test_json_lines_parquet_and_excel(tmp_path) -> None:
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame(ROWS)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    for name in ("a.jsonl", "a.parquet", "a.xlsx"):
        rows = read_any_table(tmp_path / name)
        assert [row["question"] for row in rows] == [row["question"] for row in ROWS]
        assert [float(row["p"]) for row in rows] == [0.9, 0.5]


def test_missing_cells_are_left_out(tmp_path) -> None:
    pd.DataFrame({"reply": ["x", None], "p": [float("nan"), 0.5]}).to_parquet(tmp_path / "a.parquet")
    assert read_any_table(tmp_path / "a.parquet") == [{"reply": "x"}, {"p": 0.5}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no rows"),
        (b"a,a\n1,2\n", "two columns are called a"),
        (b"a,b\n1,2,3\n", "line 2: more cells than columns"),
        (b'{"a": 1}\n{"a": \n', "line 2: not JSON"),
        (b'{"a": [{"x": 1}], "b": [{"x": 2}]}', "several lists could be the rows: a, b"),
        (b'{"a": [1, 2], "b": [1]}', "columns of different lengths"),
        (b"[1, 2]", "no list of objects"),
        (b"\x1f\x8b broken", "cannot be read"),
        (b"PK\3\4 broken", "neither Excel"),
        (b"PAR1", "no Parquet file"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path, content, message) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "replies.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message):
        read_any_table(path)


def test_lines_that_end_with_a_carriage_return_alone(tmp_path) -> None:
    path = tmp_path / "replies.csv"
    path.write_bytes(b"question;reply\rWho?;Jane\r")
    assert read_any_table(path) == [{"question": "Who?", "reply": "Jane"}]


@given(st.binary(max_size=300))
@example(b"\x01\r\x01")
def test_any_bytes_give_rows_or_a_reason(tmp_path_factory, data) -> None:
    path = tmp_path_factory.mktemp("bytes") / "replies.csv"
    path.write_bytes(data)
    try:
        rows = read_any_table(path)
    except SourceError:
        return
    assert all(isinstance(row, dict) for row in rows)


@pytest.mark.parametrize("kind", ["parquet", "excel"])
def test_a_table_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch, kind) -> None:
    frame = pd.DataFrame({"reply": ["x" * 30_000] * 40})
    getattr(frame, f"to_{kind}")(path := tmp_path / f"a.{'xlsx' if kind == 'excel' else kind}", index=False)
    monkeypatch.setattr(any_table, "MAX_BYTES", path.stat().st_size + 10)
    with pytest.raises(SourceError, match="when unpacked: split the file"):
        read_any_table(path)


def test_long_cells_are_allowed_here_only(tmp_path) -> None:
    before = csv.field_size_limit()
    path = tmp_path / "long.csv"
    path.write_text(f"reply,answer\n{'x' * (before + 1)},A\n")
    (row,) = read_any_table(path)
    assert (len(row["reply"]), csv.field_size_limit()) == (before + 1, before)
