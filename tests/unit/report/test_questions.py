"""Reports on named questions: which trials stay, and what a wrong file is told."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.report.runs import write
from tests.unit.studies.logprob_trials import Evidence, trials

from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.questions import read_questions, with_questions
from confidence_tasks.report.commands.report import report as command


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = []
    for source in ("trivia_qa", "nq_open"):
        frame = trials(Evidence(), 12, source=source).assign(study="nlp_metad", task="nlp_metad")
        rows += frame.to_dict("records")
    return write(tmp_path / "trials.jsonl", rows)


def test_the_named_questions_stay_and_other_sources_are_whole(path: Path) -> None:
    found = with_questions(collect(path), {"trivia_qa--1", "trivia_qa--5"})
    questions = [name for file in found.files for name in file.columns["question_id"]]
    assert sorted(name for name in questions if name.startswith("trivia_qa")) == [
        "trivia_qa--1",
        "trivia_qa--5",
    ]
    assert sum(name.startswith("nq_open") for name in questions) == 12
    lengths = {len(column) for file in found.files for column in file.columns.values()}
    assert lengths == {len(file) for file in found.files}


def test_an_unknown_question_is_named(path: Path) -> None:
    with pytest.raises(ValueError, match=r"no trials of trivia_qa-99; .* such as nq_open--0"):
        with_questions(collect(path), {"trivia_qa--1", "trivia_qa-99"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n \n", "names no question"),
        (b"a\nb\na\n", "names a more than once"),
        (b"\xff\xfe\x00", "is no text in UTF-8"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "ids.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_questions(file)


def test_the_command_says_what_is_wrong(tmp_path: Path, path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("\ufefftrivia_qa--1\r\n\r\nnowhere-1\r\n", encoding="utf-8")
    assert read_questions(ids) == ["trivia_qa--1", "nowhere-1"]
    done = CliRunner().invoke(command, [str(path), "--questions", str(ids), "-o", str(tmp_path / "r.html")])
    assert done.exit_code == 2
    assert "no trials of nowhere-1" in done.output
