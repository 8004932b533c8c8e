"""Questions of the user, from a JSON lines or CSV file.

Each line of a JSON lines file is an object with the following fields. They are also the columns of a CSV file, in which
``|`` separates the entries of ``choices`` and ``aliases``.

===========  ========================================================================================================
field        meaning
===========  ========================================================================================================
question     the question without its options; required
answer       the key; required: the letter or the text of an option, a number, a text, or yes / no (true / false)
choices      2 to 26 options in the order shown; the right one exactly once
kind         ``choice``, ``number``, ``text`` or ``boolean``; by default inferred from ``choices`` and ``answer``
aliases      other correct texts or numbers
id           letters, digits and ``_ - . :``; by default computed from the text
subject      subject
level        level of difficulty
cluster      what several questions share, such as a passage: they are one unit of intervals and tests
metadata     an object with further data (JSON only)
===========  ========================================================================================================
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeAlias, get_args

from confidence_tasks.sources.bounds import BoundError, bounded_json_lines, bounded_rows
from confidence_tasks.sources.source import RowError, SourceError
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.study.trial import LETTERS, Kind, Question

MAX_BYTES = 64 * 2**20
MAX_QUESTIONS = 100_000

_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_NUMBER = re.compile(
    r"[-+]?(?=\.?\d)(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d+)?(?:e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE
)
_BOOLEANS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) and entry.strip() for entry in value)


QUESTION_FIELDS: Mapping[str, tuple[Callable[[Any], object], str]] = {
    "question": (lambda value: _is_text(value) and value.strip(), "a text"),
    "answer": (lambda value: not isinstance(value, list | dict), "a text, a number, or true or false"),
    "choices": (
        lambda value: _are_texts(value) and (not value or 2 <= len(value) <= len(LETTERS)),
        f"a list of 2 to {len(LETTERS)} texts",
    ),
    "kind": (lambda value: value in get_args(Kind), f"one of {', '.join(get_args(Kind))}"),
    "aliases": (_are_texts, "a list of texts"),
    "id": (
        lambda value: _is_text(value) and _ID.fullmatch(value),
        "a text of up to 100 letters, digits and _ - . :",
    ),
    "subject": (_is_text, "a text"),
    "level": (_is_text, "a text"),
    "cluster": (_is_text, "a text"),
    "metadata": (lambda value: isinstance(value, dict), "an object"),
}
"""Fields of a question, each with a function that returns whether its value is allowed, and what is allowed."""


def is_own_file(name: str) -> bool:
    """Return True if the name of a source is the path of a file of questions."""
    return Path(name).suffix.lower() in READERS


def read_own_file(path: Path, key: str = "answer") -> list[Question]:
    """Read the questions of a file, in the order of the file. Their source has the name of the file.

    The file is ``.jsonl`` or ``.csv`` in UTF-8, with at most 64 MiB and 100,000 questions; the field ``key`` holds the
    key. SourceError, which names the line, if the file cannot be read or a question is not valid.
    """
    source = re.sub(r"[^\w.-]+", "_", path.stem, flags=re.ASCII)
    if source in SOURCES:
        raise SourceError(f"{path}: {source!r} is the name of another source: rename the file")
    questions: dict[str, Question] = {}
    for where, row in file_rows(path, READERS, MAX_BYTES, MAX_QUESTIONS, "questions"):
        try:
            question = parse_question(source, row, key=key)
            if question.id in questions:
                raise RowError("repeats an earlier question, or its id")
        except RowError as error:
            raise SourceError(f"{where}: {error}") from error
        questions[question.id] = question
    if not questions:
        raise SourceError(f"{path}: no questions")
    return list(questions.values())


Readers: TypeAlias = Mapping[str, Callable[[TextIO], Iterator[tuple[int, Any]]]]
"""Functions by suffix that yield the rows of an open file with their line numbers."""


def file_rows(
    path: Path, readers: Readers, max_bytes: int, max_rows: int, what: str
) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a file, each with its location for messages.

    SourceError if the file cannot be read or is too large; ``what`` is the plural noun for rows in its message.
    """
    if not path.is_file():
        raise SourceError(f"{path}: no such file")
    if path.stat().st_size > max_bytes:
        raise SourceError(f"{path}: larger than {max_bytes // 2**20} MiB")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for count, (line, row) in enumerate(readers[path.suffix.lower()](file), start=1):
                if count > max_rows:
                    raise SourceError(f"{path}, line {line}: more than {max_rows:,} {what}")
                yield f"{path}, line {line}", row
    except (OSError, UnicodeDecodeError) as error:
        fix = "; save it as UTF-8" if isinstance(error, UnicodeDecodeError) else ""
        raise SourceError(f"{path}: cannot be read: {error}{fix}") from error


def json_lines(file: TextIO) -> Iterator[tuple[int, Any]]:
    """Yield the number and the content of each line; SourceError if a line is not JSON."""
    try:
        for number, line in bounded_json_lines(file):
            yield number, _json_row(line, f"{file.name}, line {number}")
    except BoundError as error:
        raise SourceError(f"{file.name}, {error}") from error


def _json_row(line: str, where: str) -> Any:
    try:
        return json.loads(line, parse_float=str, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{where}: not JSON: {error}") from error


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def csv_rows(file: TextIO, kept: str = "") -> Iterator[tuple[int, Any]]:
    """Yield the line number and the cells of each row, without empty cells other than that of the column ``kept``.

    SourceError if the file is not CSV with commas.
    """
    reader = csv.DictReader(bounded_rows(file), strict=True)
    try:
        columns = list(reader.fieldnames or ())
        if other := [mark for mark in ";\t" if len(columns) == 1 and mark in columns[0]]:
            raise SourceError(f"{file.name}: its columns are separated by {other[0]!r}: save it with commas")
        for row in reader:
            if None in row:
                raise SourceError(f"{file.name}, line {reader.line_num}: more cells than columns")
            filled: dict[str, Any] = {name: cell or "" for name, cell in row.items() if cell or name == kept}
            for column in {"choices", "aliases"} & filled.keys():
                filled[column] = [entry.strip() for entry in filled[column].split("|")]
            yield reader.line_num, filled
    except csv.Error as error:
        fix = "; save it as JSON lines" if "field limit" in str(error) else ""
        raise SourceError(f"{file.name}, line {reader.line_num}: not CSV: {error}{fix}") from error
    except BoundError as error:
        raise SourceError(f"{file.name}, line {reader.line_num + 1}: {error}") from error


READERS: Readers = {".jsonl": json_lines, ".csv": csv_rows}


def parse_question(source: str, row: Any, *, key: str = "answer") -> Question:
    """Return the question that the fields of a row describe; RowError if they are not valid.

    ``key`` is the field that holds the key, which is required; empty if answers are not graded by a key.
    """
    if not isinstance(row, dict):
        raise RowError("not an object with fields")
    if unknown := sorted(row.keys() - QUESTION_FIELDS.keys() - {key}):
        raise RowError(
            f"unknown field {', '.join(unknown)}; the fields are {', '.join(sorted(QUESTION_FIELDS))}"
        )
    fields = {"question": "", **{name: value for name, value in row.items() if value is not None}}
    for name, value in fields.items():
        is_allowed, allowed = QUESTION_FIELDS["answer" if name == key else name]
        if not is_allowed(value):
            raise RowError(f"{name!r} must be {allowed}")
    text, choices = fields["question"].strip(), tuple(map(str.strip, fields.get("choices", ())))
    kind = _kind(fields, choices, key)
    gold = _gold(fields.get(key), kind, choices, key)
    if key and gold is None:
        raise RowError(f"no {key!r}, the key: without it no reply can be right or wrong")
    if kind == "choice" and gold and choices.count(right := choices[LETTERS.index(gold)]) > 1:
        raise RowError(f"'choices' has the right option, {right[:60]!r}, twice")
    if kind in ("choice", "boolean") and fields.get("aliases"):
        raise RowError(f"'aliases' are for texts and numbers, and this question has the kind {kind!r}")
    # A hash of the text does not change if other questions are edited.
    default_id = hashlib.sha256("\x1f".join((text, *choices)).encode()).hexdigest()[:12]
    return Question(
        id=f"{source}-{fields.get('id', default_id)}",
        source=source,
        text=text,
        kind=kind,
        gold=gold,
        choices=choices,
        aliases=tuple(str(_gold(alias, kind, (), "aliases")) for alias in fields.get("aliases", ())),
        subject=fields.get("subject", "").strip(),
        level=fields.get("level", "").strip(),
        cluster=fields.get("cluster", "").strip(),
        metadata=fields.get("metadata", {}),
    )


def _kind(fields: Mapping[str, Any], choices: tuple[str, ...], key: str) -> Kind:
    kind: Kind | None = fields.get("kind")
    if kind is None:
        text = str(fields.get(key)).strip().lower()
        inferred: Kind = "boolean" if text in _BOOLEANS else "text" if _as_number(text) is None else "number"
        return "choice" if choices else inferred
    if (kind == "choice") != bool(choices):
        raise RowError("'choices' and the kind 'choice' go together")
    return kind


def _gold(answer: Any, kind: Kind, choices: tuple[str, ...], field: str) -> str | None:
    if answer is None:
        return None
    text = str(answer).strip()
    gold = {
        "choice": lambda: _letter(text, choices),
        "number": lambda: _as_number(text),
        "boolean": lambda: _BOOLEANS.get(text.lower()),
        "text": lambda: text or None,
    }[kind]()
    if gold is None:
        raise RowError(f"{field!r} {text[:60]!r} is not {_ALLOWED[kind]}")
    return gold


_ALLOWED: Mapping[Kind, str] = {
    "choice": "the letter or the text of one of the choices",
    "number": "a number",
    "boolean": "yes or no",
    "text": "a text",
}


def _letter(text: str, choices: tuple[str, ...]) -> str | None:
    """Return the letter of the key, given as a letter or as the text of an option; RowError if it is ambiguous."""
    letters = LETTERS[: len(choices)]
    if len(text) != 1 or text.upper() not in letters:
        return letters[choices.index(text)] if text in choices else None
    named = text.upper()
    for letter, option in zip(letters, choices, strict=True):
        if option.upper() == named != letter:
            raise RowError(
                f"'answer' {text!r} is the letter of one option and the text of another, {letter}: order the options "
                "as their letters, or reword them, such as 'the letter A'"
            )
    return named


def _as_number(text: str) -> str | None:
    """Return a number as a plain decimal; None if the text is not a number."""
    if not _NUMBER.fullmatch(text):
        return None
    return format(Decimal(text.replace(",", "")), "f")
