"""What a file of replies must say for a study, and how its rows become samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.scorer import Scorer

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.report.reply_files import Row
from confidence_tasks.study.question import Kind, Question


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """How replies to one study are scored.

    Attributes
    ----------
    fields : mapping of str to str
        The fields that a row has beside the question, its answer and the reply, and what each says. The last of them
        may also be given as ``condition``, with its label: ``lambda=10`` for a penalty of 10.
    label : str
        What a condition begins with.
    item : callable
        Makes a question and a row into what was asked; ValueError says what is wrong with a field.
    scorer : callable
        Makes the study's scorer, without a model's help.
    metrics : callable
        Makes the study's metrics of what was asked.
    kind : str, optional
        The only kind that its questions have.
    key : str
        The field that holds the key; empty where the study needs none.
    optional : tuple of str
        Fields of the study that a row may also have.
    """

    fields: Mapping[str, str]
    label: str
    item: Callable[[Question, Row], Item]
    scorer: Callable[[], Scorer]
    metrics: Callable[[Sequence[Item]], list[Any]]
    kind: Kind | None = None
    key: str = "answer"
    optional: tuple[str, ...] = ()

    def completed(self, row: Row) -> Row:
        """Return a row with the last field read off its condition, where only that is given."""
        name = next(reversed(list(self.fields)), "")
        if not name or name in row or "condition" not in row:
            return row
        return {**row, name: str(row["condition"]).removeprefix(self.label)}


def conditions_of(items: Iterable[Item]) -> list[str]:
    """Return the labels of the conditions, in the order in which they come."""
    return list(dict.fromkeys(item.condition for item in items))


def told_apart(question: Question, row: Row, by: str) -> Question:
    """Let an id made from the text also depend on what the text may leave out."""
    return question if "id" in row else replace(question, id=f"{question.id}-{by}")


def number_in(row: Row, field: str, low: float, high: float) -> float:
    """Return the number in a field; ValueError if it is none, or is not from ``low`` to ``high``."""
    try:
        value = float("nan") if isinstance(row[field], bool) else float(row[field])
    except (TypeError, ValueError):
        value = float("nan")
    if not low <= value <= high:
        raise ValueError(f"{field}={row[field]!r} is not a number from {low:g} to {high:g}")
    return value


def whole_number_in(row: Row, field: str, low: int, high: int) -> int:
    """Return the whole number in a field; ValueError if it is none, or is not from ``low`` to ``high``."""
    value = number_in(row, field, low, high)
    if not value.is_integer():
        raise ValueError(f"{field}={row[field]!r} is not a whole number")
    return int(value)
