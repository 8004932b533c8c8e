"""Files of the user: every field, every mistake, and any content."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from confidence_tasks.reading.grading import grade
from confidence_tasks.sources import SourceError, load, own_file
from confidence_tasks.sources.own_file import read_own_file


def write(folder: Path, *rows: Any, name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def one(folder: Path, **fields: Any) -> Any:
    (question,) = read_own_file(write(folder, {"question": "Q?", **fields}))
    return question


def test_every_field_is_read(tmp_path: Path) -> None:
    question = one(
        tmp_path, id="a.1", choices=["x", "y"], answer="b", subject="s", level="2", metadata={"k": [1]}
    )
    assert (question.id, question.source, question.text, question.kind) == (
        "mine-a.1",
        "mine",
        "Q?",
        "choice",
    )
    assert (question.gold, question.choices) == ("B", ("x", "y"))
    assert (question.subject, question.level, question.metadata) == ("s", "2", {"k": [1]})


@pytest.mark.parametrize(
    ("fields", "kind", "gold"),
    [
        ({"answer": 12}, "number", "12"),
        ({"answer": -0.5}, "number", "-0.5"),
        ({"answer": "1,450,000"}, "number", "1450000"),
        ({"answer": "+3"}, "number", "3"),
        ({"answer": "1.5e3"}, "number", "1500"),
        ({"answer": "1,45"}, "text", "1,45"),
        ({"answer": True}, "boolean", "yes"),
        ({"answer": "False"}, "boolean", "no"),
        ({"answer": "Paris", "aliases": ["City of Light"]}, "text", "Paris"),
        ({"answer": "12", "kind": "text"}, "text", "12"),
        ({"answer": "no", "kind": "text"}, "text", "no"),
        ({"choices": ["x", "y"], "answer": "y"}, "choice", "B"),
        ({"choices": [" x ", "y"], "answer": "x "}, "choice", "A"),
        ({"choices": ["A", "B"], "answer": "B"}, "choice", "B"),
        ({"choices": ["B", "A", "x"], "answer": "x"}, "choice", "C"),
        ({"choices": ["3", "1", "2"], "answer": 2}, "choice", "C"),
        ({"choices": ["x", "y", "x"], "answer": "B"}, "choice", "B"),
    ],
)
def test_kind_is_inferred_from_choices_and_answer(
    tmp_path: Path, fields, kind: str, gold: str | None
) -> None:
    question = one(tmp_path, **fields)
    assert (question.kind, question.gold) == (kind, gold)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "Q?"}, "unknown field text; the fields are aliases, answer, choices"),
        ({"answer": "x"}, "'question' must be a text"),
        ({"question": "  "}, "'question' must be a text"),
        ({"question": "Q?", "choices": ["x"]}, "'choices' must be a list of 2 to 26 texts"),
        ({"question": "Q?", "choices": ["x"] * 27}, "a list of 2 to 26 texts"),
        ({"question": "Q?", "choices": ["x", 2]}, "'choices' must be a list of 2 to 26 texts"),
        ({"question": "Q?", "choices": "x|y"}, "'choices' must be a list of 2 to 26 texts"),
        ({"question": "Q?", "choices": ["x", "y"], "answer": "C"}, "not the letter or the text of one"),
        ({"question": "Q?", "answer": "four", "kind": "number"}, "'four' is not a number"),
        ({"question": "Q?", "answer": "maybe", "kind": "boolean"}, "'maybe' is not yes or no"),
        ({"question": "Q?", "answer": ["x"]}, "'answer' must be a text, a number"),
        ({"question": "Q?"}, "no 'answer', the key: without it no reply can be right or wrong"),
        ({"question": "Q?", "answer": None}, "no 'answer', the key"),
        ({"question": "Q?", "choices": ["x", "y"]}, "no 'answer', the key"),
        ({"question": "Q?", "answer": ""}, "'answer' '' is not a text"),
        (
            {"question": "Q?", "choices": ["C", "A", "D", "B"], "answer": "A"},
            "'answer' 'A' is the letter of one option and the text of another, B: order the options as their letters",
        ),
        ({"question": "Q?", "choices": ["c", "a"], "answer": "A"}, "the text of another, B"),
        ({"question": "Q?", "choices": ["B", "A"], "answer": "b"}, "the text of another, A"),
        (
            {"question": "Q?", "choices": ["x", "y", "x "], "answer": "x"},
            "'choices' has the right option, 'x', twice",
        ),
        (
            {"question": "Q?", "choices": ["x", "y"], "answer": "A", "aliases": ["x"]},
            "'aliases' are for texts and",
        ),
        ({"question": "Q?", "answer": True, "aliases": ["right"]}, "has the kind 'boolean'"),
        ({"question": "Q?", "answer": 12, "aliases": ["a dozen"]}, "'aliases' 'a dozen' is not a number"),
        ({"question": "Q?", "kind": "essay"}, "'kind' must be one of choice, number, text, boolean"),
        ({"question": "Q?", "kind": "choice"}, "go together"),
        ({"question": "Q?", "kind": "text", "choices": ["x", "y"]}, "go together"),
        ({"question": "Q?", "answer": "x", "id": "a/b"}, "'id' must be"),
        ({"question": "Q?", "answer": "x", "id": 7}, "'id' must be"),
        ({"question": "Q?", "answer": "x", "metadata": "x"}, "'metadata' must be an object"),
        (["Q?"], "not an object"),
        ("{not json", "not JSON"),
        ('{"question": NaN}', "not JSON: NaN"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_mistakes_name_the_line_and_what_is_allowed(tmp_path: Path, row: Any, message: str) -> None:
    path = write(tmp_path, {"question": "First?", "answer": "x"}, row)
    with pytest.raises(SourceError, match=rf"mine\.jsonl, line 2: .*{message}"):
        read_own_file(path)


def test_aliases_of_a_number_are_compared_as_numbers(tmp_path: Path) -> None:
    question = one(tmp_path, answer=1000, aliases=["1,024", "1e3"])
    assert question.aliases == ("1024", "1000")
    assert grade("1024.0", kind=question.kind, gold=question.gold, aliases=question.aliases) == 1.0


def test_repeated_questions_need_ids(tmp_path: Path) -> None:
    row = {"question": "Q?", "answer": "x"}
    with pytest.raises(SourceError, match="line 2: repeats an earlier question"):
        read_own_file(write(tmp_path, row, row))
    assert len(read_own_file(write(tmp_path, {**row, "id": "1"}, {**row, "id": "2"}))) == 2


def test_default_ids_do_not_change_with_other_questions(tmp_path: Path) -> None:
    row = {"question": "Q?", "answer": "x"}
    (first,) = read_own_file(write(tmp_path, row))
    assert read_own_file(write(tmp_path, {**row, "question": "New?"}, "", row))[1] == first


def test_csv_is_read_like_json_lines(tmp_path: Path) -> None:
    rows = 'question,choices,answer,id\n"One, two?",x|y,B,1\nHow many?,,12,2\n'
    (tmp_path / "mine.csv").write_text("\ufeff" + rows, encoding="utf-8")
    lines = write(
        tmp_path,
        {"question": "One, two?", "choices": ["x", "y"], "answer": "B", "id": "1"},
        {"question": "How many?", "answer": "12", "id": "2"},
    )
    assert read_own_file(tmp_path / "mine.csv") == read_own_file(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,answer\nQ?,1,2\n", "line 2: more cells than columns"),
        ("prompt,answer\nQ?,1\n", "line 2: unknown field prompt"),
        ('question,answer\n"Q?\n', "not CSV"),
        ("question\tanswer\nQ?\tA\n", r"its columns are separated by '\\t': save it with commas"),
        (f"question\n{'x' * 200_000}\n", "not CSV"),
        ("question\n", "no questions"),
        ("", "no questions"),
    ],
)
def test_csv_mistakes(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(SourceError, match=message):
        read_own_file(tmp_path / "mine.csv")


def test_file_is_a_source_like_any_other(tmp_path: Path) -> None:
    path = write(tmp_path, *({"question": f"{i}?", "answer": i} for i in range(30)))
    questions = load(str(path), seed=3)
    assert load(str(path), seed=3, n=10) == questions[:10]
    assert load(str(path), seed=4) != questions
    with pytest.raises(SourceError, match="unknown option split"):
        load(str(path), split="test")


def test_name_of_a_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="'mmlu' is the name of another source"):
        load(str(write(tmp_path, {"question": "Q?"}, name="mmlu.jsonl")))


def test_absent_directory_and_device_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "device.jsonl").symlink_to("/dev/zero")
    for name in ("none.jsonl", "folder.jsonl", "device.jsonl"):
        with pytest.raises(SourceError, match="no such file"):
            load(str(tmp_path / name))


def test_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, *({"question": f"{i}?", "answer": i} for i in range(3)))
    monkeypatch.setattr(own_file, "MAX_QUESTIONS", 2)
    with pytest.raises(SourceError, match="line 3: more than 2 questions"):
        read_own_file(path)
    monkeypatch.setattr(own_file, "MAX_BYTES", 10)
    with pytest.raises(SourceError, match="larger than"):
        read_own_file(path)


rows = st.dictionaries(
    st.sampled_from(
        ["question", "answer", "choices", "kind", "aliases", "id", "subject", "level", "metadata"]
    ),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=4),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary()
    | st.text().map(str.encode)
    | st.lists(rows).map(lambda r: "\n".join(map(json.dumps, r)).encode())
)
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_any_content_gives_questions_or_one_kind_of_error(
    tmp_path: Path, suffix: str, content: bytes
) -> None:
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(content)
    try:
        questions = read_own_file(path)
    except SourceError:
        return
    assert questions
    assert all(q.gold is not None for q in questions)
    assert all(q.kind != "choice" or q.gold in q.options for q in questions)
