"""Table of all readers of files, with the errors that they may raise for any content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confidence_tasks.logs.collection import collect
from confidence_tasks.own_replies.rows import read_rows as rows_of_replies
from confidence_tasks.report.reply_forms import reply_forms
from confidence_tasks.report.score_replies import _replies as replies_of
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.fermi import _literal
from confidence_tasks.sources.generated import load_life_table
from confidence_tasks.sources.hub import HubSource, read_rows
from confidence_tasks.sources.own_file import read_own_file
from confidence_tasks.sources.table import SOURCES


@dataclass(frozen=True, slots=True)
class FileReader:
    """A reader of files.

    Attributes
    ----------
    name : str
        The name that the file must have.
    read : callable
        Reads the file at a path.
    refusals : tuple of exception types
        What it may raise of a file that is wrong.
    """

    name: str
    read: Callable[[Path], Any]
    refusals: tuple[type[Exception], ...] = ()


def _collected(path: Path) -> Any:
    return [len(file) for file in collect(path).files]


def _rows(path: Path) -> Any:
    """Read the rows for each hub source."""
    found = []
    for source in SOURCES.values():
        if isinstance(source, HubSource):
            rows = read_rows(source, path)
            whole = replace(source, size=max(len(rows), 1))
            with suppress(SourceError):
                found.append(whole._questions(rows, 0, mirrored=False))
    return found


def _archive(path: Path) -> Any:
    return _literal(path.read_text(encoding="utf-8", errors="replace"), "data")


def _replies(study: str) -> Callable[[Path], Any]:
    return lambda path: list(
        replies_of(rows_of_replies(path, {}), path, study, reply_forms()[study], "model", {})
    )


FILE_READERS: Mapping[str, FileReader] = {
    "questions, JSON lines": FileReader("own.jsonl", read_own_file, (SourceError,)),
    "questions, CSV": FileReader("own.csv", read_own_file, (SourceError,)),
    "life table": FileReader("table.csv", load_life_table, (SourceError,)),
    "hub rows": FileReader("test.jsonl", _rows, (SourceError,)),
    "Fermi archive": FileReader("data.js", _archive, (SourceError,)),
    "trials, CSV": FileReader("trials.csv", _collected),
    "trials, JSON lines": FileReader("trials.jsonl", _collected),
    "lm-eval samples": FileReader("samples_riskeval_2026-01-31T10-00-00.123456.jsonl", _collected),
    "Inspect log, JSON": FileReader("log.json", _collected),
    "Inspect log": FileReader("log.eval", _collected),
    **{
        f"replies, {study}, {suffix}": FileReader(f"replies{suffix}", _replies(study), (SourceError,))
        for study in reply_forms()
        for suffix in (".jsonl", ".csv")
    },
}

EXAMPLES: Mapping[str, str] = {
    "own.jsonl": '{"question": "Capital?", "answer": "B", "choices": ["Rome", "Bonn"], "id": "q-1", "metadata": {}}\n',
    "own.csv": "question,answer,choices,aliases\nCapital?,A,Rome|Bonn,\n",
    "table.csv": "age, male_qx, female_qx\n" + "".join(f"{age},0.5,0.5\n" for age in range(120)),
    "test.jsonl": '{"question": "Capital?", "subject": "geography", "choices": ["a", "b"], "answer": 0, "gold": [1], '
    '"query": "Q: Who? Answer Choices: (A)a (B)b", "knowledge": "", "right_answer": "r", "hallucinated_answer": ""}\n',
    "data.js": 'const data = [{"source": "x", "number": 1, "question": "?", "answer": "7"}];',
    "trials.csv": "study,question_id,source,condition,correct,confidence,status\nscales,q,mine,0-20,1,0.8,ok\n",
    "trials.jsonl": '{"study": "scales", "question_id": "q", "source": "mine", "condition": "0-20", "correct": 1, '
    '"confidence": 0.8, "status": "ok"}\n',
    "samples_riskeval_2026-01-31T10-00-00.123456.jsonl": '{"doc": {"id": "q/lambda=1"}, "trial": {"question_id": "q", '
    '"source": "mine", "condition": "lambda=1", "correct": 1.0, "confidence": 0.8, "status": "ok", "penalty": 1.0}}\n',
    "replies.jsonl": '{"question": "Capital?", "answer": "Rome", "kind": "text", "reply": "Answer: Rome", "scale": '
    '"0-20", "penalty": 1, "level": 0.9, "sex": "male", "age": 65, "radius": 5, "given": "Rome"}\n',
    "replies.csv": "question,answer,reply,scale,penalty,level,sex,age,radius\n"
    "Capital?,7,Answer: 7,0-20,1,0.9,male,65,5\n",
}
"""A valid file for each reader, from which a fuzzer starts."""


def read_text(reader: FileReader, content: bytes, folder: Path) -> Any:
    """Read a file with the given content; None if the reader raises an error that it may raise."""
    path = folder / reader.name
    path.write_bytes(content)
    try:
        return reader.read(path)
    except reader.refusals:
        return None
