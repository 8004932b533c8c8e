"""Arrangements of an answer and a confidence that are rewritten as lines with the labels ``Answer`` and ``Confidence``.

They are JSON, tags, tables, headings, and labels in other languages. Every reader of labelled lines applies the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from confidence_tasks.reading.cleaning import Rules
from confidence_tasks.reading.fields import read_json_fields, read_probability
from confidence_tasks.reading.languages import FOREIGN_ANSWER, FOREIGN_CONFIDENCE
from confidence_tasks.reading.sentences import revises_confidence

LINE_START = r"^[^\w\n\"'(\[{<~]{0,8}"
_ENDS = r"(?:[ ]?\#?\d{1,2})?(?:[ ]?\([^()\n]{0,40}\)|[ ]?\[[^\[\]\n]{0,40}\])?"
ANSWER_NAME = rf"(?:(?:my|your|the|final|correct|best)[ ]){{0,3}}answer{_ENDS}"
CONFIDENCE_NAME = (
    r"(?:(?:my|your|the|final|revised|updated|new)[ ]){0,3}"
    rf"confidence(?:[ ](?:level|score|rating|percentage|in[ ](?:my|this|the)[ ]answer))?{_ENDS}"
)
"""Parts of regular expressions: the start of a line, and the labels of an answer and of a confidence."""

_FOREIGN_LABEL = re.compile(
    rf"(?P<before>{LINE_START}|[\"'|])(?:(?P<answer>{FOREIGN_ANSWER})|(?P<confidence>{FOREIGN_CONFIDENCE}))"
    rf"(?={_ENDS}(?:[ ]{{0,3}}[:=]|[ ]{{0,3}}\n[ ]{{0,3}}\d|[\"'][ ]{{0,3}}:))",
    re.IGNORECASE | re.MULTILINE,
)
"""A label in another language: a colon follows it, or a number on the next line."""


def _label_in_english(label: re.Match[str]) -> str:
    return f"{label['before']}{'Answer' if label['answer'] else 'Confidence'}"


_HEADING = re.compile(
    rf"({LINE_START}(?:{ANSWER_NAME}|{CONFIDENCE_NAME}|(?:(?:my|the|final)[ ]){{0,2}}decision))"
    r"[ :]{0,3}\n\s{0,20}(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"<(/?)(answer|confidence)>", re.IGNORECASE)
"""An XML tag around an answer or a confidence, as in ``<answer>B</answer>``."""
_JSON_BEGINS = re.compile(r"\s*\{\s*[\"']")
_JSON_AFTER_COMMENT = re.compile(r"\s*\{[^\"'{}]{1,200}\n\s{0,20}[\"']")
_FIELDS = ("decision", "answer", "final answer", "final_answer", "confidence")


def _json_as_lines(text: str) -> str:
    """Write the fields of a reply that is JSON, valid or broken, or contains valid JSON, as labelled lines."""
    if "{" not in text:
        return text
    result = read_json_fields(text, _FIELDS)
    is_valid = "fields" not in result.rules and not result.fields.keys() <= {"confidence"}
    has_comment = "confidence" in result.fields and _JSON_AFTER_COMMENT.match(text)
    if not is_valid and not has_comment and not _JSON_BEGINS.match(text):
        return text
    lines = [f"{key.replace('_', ' ')}: {result.fields[key]}" for key in _FIELDS if key in result.fields]
    after = text.rpartition("}")[2]
    stated, _ = read_probability(result.fields.get("confidence", ""))
    return "\n".join([*lines, after] if revises_confidence(after, stated) else lines)


# Tables ---------------------------------------------------------------------------------------------------------

_CELL_NAMES = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "Answer": rf"{ANSWER_NAME}|(?:{FOREIGN_ANSWER}){_ENDS}",
        "Confidence": rf"{CONFIDENCE_NAME}|(?:{FOREIGN_CONFIDENCE}){_ENDS}",
    }.items()
}
_RULE_LINE = re.compile(r"[|:\s+=-]*-[|:\s+=-]*")
_LONGEST_CELL = 200


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a table; none if a line has no bars or is very long."""
    inside = line.strip().removeprefix("|").removesuffix("|")
    cells = [cell.strip() for cell in inside.split("|")] if len(line) <= 10 * _LONGEST_CELL else []
    return cells if len(cells) > 1 else []


def _name(cell: str) -> str:
    """Return Answer or Confidence for a cell that is such a label; empty for any other cell."""
    short = cell[:_LONGEST_CELL].rstrip(": ")
    return next((name for name, pattern in _CELL_NAMES.items() if pattern.fullmatch(short)), "")


def _table_as_lines(text: str) -> str:
    """Write a table with a header and one row, or with a label and its value in each row, as labelled lines."""
    if "|" not in text:
        return text
    rows = [line for line in text.split("\n") if not ("|" in line and _RULE_LINE.fullmatch(line))]
    return "\n".join(_rewritten_rows(rows, list(map(_cells, rows))))


def _rewritten_rows(rows: list[str], cells: list[list[str]]) -> Iterator[str]:
    """Yield the rows of a text, with those of tables as labelled lines."""
    row = 0
    while row < len(rows):
        names = list(map(_name, cells[row]))
        if _is_header(names, cells[row + 1 : row + 3]):
            row += 1
            yield from (f"{name}: {cell}" for name, cell in zip(names, cells[row], strict=True) if name)
        elif len(names) == 2 and names[0] and not names[1]:
            yield f"{names[0]}: {cells[row][1]}"
        else:
            yield rows[row]
        row += 1


def _is_header(names: list[str], following: list[list[str]]) -> bool:
    """Return True if a row names a confidence, and exactly one row of values follows it."""
    values, *more = following or [[]]
    fits = len(values) == len(names) and not any(map(_name, values))
    return "Confidence" in names and fits and not any(more)


LAYOUTS: Rules = {
    "labels": lambda text: _FOREIGN_LABEL.sub(_label_in_english, text),
    "json": _json_as_lines,
    "tags": lambda text: _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2]}: ", text),
    "table": _table_as_lines,
    "next_line": lambda text: _HEADING.sub(r"\1: ", text),
}
"""Rules that rewrite other arrangements of labels and values as labelled lines."""
