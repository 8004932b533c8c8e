"""The forms in which files may hold recorded replies: a study's own, or the default."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from confidence_tasks.catalogue import known_study, studies
from confidence_tasks.own_replies.rows import Row as Row
from confidence_tasks.report.study_report import study_report
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.trial import Item, Kind, Question

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """The fields of a file of replies to one study, and the function that reads a row.

    Attributes
    ----------
    study : Study
        The study whose scorer and metrics are used.
    fields : mapping of str to str
        The required fields besides the question, its answer and the reply, with a description of each. The field
        ``condition`` may replace the last of them, with the label of the condition: ``lambda=10`` for a penalty of 10.
    item : callable
        ``item(question, row)``: the item that was asked; ValueError if a field is invalid.
    label : str
        Prefix of the labels of conditions.
    kind : str, optional
        Kind of all questions.
    key : str
        Name of the field with the right answer; empty if the study needs none.
    optional : tuple of str
        Optional fields of the study.
    scoring : mapping of str to str
        Arguments of the study's scorer that let it work without a model.
    parameters : callable
        ``parameters(items)``: parameters of the metrics that differ from their defaults.
    """

    study: Study
    fields: Mapping[str, str]
    item: Callable[[Question, Row], Item]
    label: str = ""
    kind: Kind | None = None
    key: str = "answer"
    optional: tuple[str, ...] = ()
    scoring: Mapping[str, str] = field(default_factory=dict)
    parameters: Callable[[Sequence[Item]], Mapping[str, Any]] = lambda items: {}

    def scorer(self) -> Scorer:
        """Return the study's scorer; it calls no model."""
        from confidence_tasks.harness.inspect.scoring import make_scorer

        return make_scorer(self.study)(**self.scoring)

    def metrics(self, items: Sequence[Item]) -> list[Any]:
        """Return all metrics of the study for some items."""
        from confidence_tasks.harness.inspect.metrics import metrics_of
        from confidence_tasks.harness.parameters import default_parameters, task_metrics

        parameters = {**default_parameters(self.study), **self.parameters(items)}
        conditions = list(dict.fromkeys(item.condition for item in items))
        return metrics_of(self.study, task_metrics(self.study, parameters, conditions), "all")

    def completed(self, row: Row) -> Row:
        """Return a row with its last field; if the row lacks it, the field is read from the label of the condition."""
        name = next(reversed(list(self.fields)), "")
        if not name or name in row or "condition" not in row:
            return row
        return {**row, name: str(row["condition"]).removeprefix(self.label)}


def with_id_suffix(question: Question, row: Row, suffix: str) -> Question:
    """Add a suffix to the id of a question, unless the row gives the id."""
    return question if "id" in row else replace(question, id=f"{question.id}-{suffix}")


def number_in(row: Row, field: str, low: float, high: float) -> float:
    """Return the number in a field; ValueError if it is not a number from ``low`` to ``high``."""
    try:
        value = float("nan") if isinstance(row[field], bool) else float(row[field])
    except (TypeError, ValueError):
        value = float("nan")
    if not low <= value <= high:
        raise ValueError(f"{field}={row[field]!r} is not a number from {low:g} to {high:g}")
    return value


def whole_number_in(row: Row, field: str, low: int, high: int) -> int:
    """Return the whole number in a field; ValueError if it is not a whole number from ``low`` to ``high``."""
    value = number_in(row, field, low, high)
    if not value.is_integer():
        raise ValueError(f"{field}={row[field]!r} is not a whole number")
    return int(value)


@cache
def reply_forms() -> Mapping[str, ReplyForm]:
    """Return the forms of files with replies, by the name that ``confidence-tasks score --study`` takes."""
    asking = [study for study in studies() if study.designs]
    return {name: form for study in asking for name, form in _forms_of(study).items()}


def _forms_of(study: Study) -> Mapping[str, ReplyForm]:
    own = study_report(study).reply_forms
    return default_forms(study) if own is None else own


def known_form(name: str) -> str:
    """Return the name of a form of files with replies.

    Raises ValueError for another name; it says what to declare if a study of this name has no form.
    """
    names = tuple(reply_forms())
    for study in studies():
        if (
            study.name == name
            and study.designs
            and name not in names
            and (needed := more_than_a_reply(study))
        ):
            raise ValueError(
                f"study {name} cannot score a file of replies, because {needed}. Leave out the study to score answers "
                f"with confidences, samples or log-probabilities, or declare a form whose study reads a trial from one"
                f" reply: StudyReport(reply_forms={{{name!r}: ReplyForm(...)}}) in the study's report.py, see"
                f" {__name__}"
            )
    return known_study(name, names)


def more_than_a_reply(study: Study) -> str:
    """Return what a trial needs beside the text of one reply; empty if it needs nothing.

    Examples
    --------
    >>> from confidence_tasks.studies.fermieval.sampling import STUDY
    >>> more_than_a_reply(STUDY)
    'a trial belongs to several samples of its question'
    """
    from confidence_tasks.harness.parameters import default_parameters, is_single

    stages = study.stages_of(default_parameters(study))
    if study.asking.repeats_parameter:
        return "a trial belongs to several samples of its question"
    if not is_single(stages):
        calls = ", ".join(
            stage.name + (f" ({stage.samples} times)" if stage.samples > 1 else "") for stage in stages
        )
        return f"a trial has the calls {calls}, and a row has one reply"
    return "a trial needs token probabilities" if stages[0].logprobs == "required" else ""


def default_forms(study: Study) -> Mapping[str, ReplyForm]:
    """Return the default form of a study; none if a trial needs more than the text of one reply."""
    from confidence_tasks.harness.parameters import STUDY

    if more_than_a_reply(study):
        return {}
    several = len(study.conditions) > 1

    def item(question: Question, row: Row) -> Item:
        label = str(row["condition"]) if several else study.conditions[0]
        condition = one_of(study.conditions, label, "condition")
        metadata = {STUDY: study.address, **question.metadata}
        return Item(question, condition, question.text, metadata=metadata)

    fields = {"condition": f"the condition: {', '.join(study.conditions)}"} if several else {}
    return {study.name: ReplyForm(study, fields, item)}
