"""What a file of replies must say for a study, and how its rows become samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from inspect_ai.scorer import Scorer

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.harness.staged import STUDY, default_parameters, is_single, task_metrics
from confidence_tasks.study.definition import Study
from confidence_tasks.study.question import Kind, Question

Row: TypeAlias = Mapping[str, Any]
"""A reply as a file has it: its fields by name."""


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


def reply_forms(study: Study) -> Mapping[str, ReplyForm]:
    """Return how files of replies to a study are scored; none if a trial needs more than the text of one reply."""
    stages = study.stages_of(default_parameters(study))
    if not is_single(stages) or stages[0].logprobs == "required" or study.repeats:
        return {}
    several = len(study.conditions) > 1

    def item(question: Question, row: Row) -> Item:
        label = str(row["condition"]) if several else study.conditions[0]
        condition = one_of(study.conditions, label, "condition")
        about = {STUDY: study.reference, **question.metadata}
        return Item(question, condition, question.text, metadata=about)

    return {
        study.name: ReplyForm(
            fields={"condition": f"the condition: {', '.join(study.conditions)}"} if several else {},
            label="",
            item=item,
            scorer=study.make_scorer,
            metrics=lambda items: metrics_of_items(study, items),
        )
    }


def metrics_of_items(study: Study, items: Sequence[Item], **parameters: Any) -> list[Any]:
    """Return all metrics of what was asked, under the parameters given and the defaults of the others."""
    logged = task_metrics(study, {**default_parameters(study), **parameters}, conditions_of(items))
    return metrics_of(study, logged, "all")
