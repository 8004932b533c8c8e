"""Recorded replies in files, scored into Inspect logs without calling a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confidence_tasks.catalogue import known_study, studies
from confidence_tasks.harness.stopped import STOPS
from confidence_tasks.logs.task_trials import RECORDED
from confidence_tasks.own_replies.rows import Row as Row
from confidence_tasks.own_replies.rows import read_rows
from confidence_tasks.report.study_report import study_report
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.own_file import QUESTION_FIELDS, parse_question
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.stage import Stop
from confidence_tasks.study.trial import Item, Kind, Question

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import StopReason
    from inspect_ai.scorer import Scorer

    from confidence_tasks.logs.recorded import Recorded


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
                f"with confidences, or declare a form whose study reads a trial from one reply: StudyReport("
                f"reply_forms={{{name!r}: ReplyForm(...)}}) in the study's report.py, see {__name__}"
            )
    return known_study(name, names)


def more_than_a_reply(study: Study) -> str:
    """Return what a trial needs beside the text of one reply; empty if it needs nothing.

    Examples
    --------
    >>> from confidence_tasks.studies.fermieval_sampling import STUDY
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


def score_replies(
    path: str | Path,
    study: str,
    *,
    model: str = "",
    fields: Mapping[str, Any] | None = None,
    rename: Mapping[str, str] | None = None,
    log_dir: str | Path = "logs",
) -> list[EvalLog]:
    """Score a file of replies for a study, and write a log for each model.

    Nothing is written unless all rows are valid. A row has ``question``, ``reply``, and the fields of the study in
    :func:`reply_forms`. The right answer is ``answer`` or ``gold``; FermiEval calls it
    ``exponent``, and LifeEval needs none. ``choices``, ``aliases``, ``kind``, ``id``, ``subject`` and ``level`` are as
    in a file of questions, ``source`` is the source of the question, and ``model`` the model that replied.
    ``finish_reason`` is why the reply ended, in the words of its server: ``length`` and ``max_tokens`` mean that it was
    cut off, ``content_filter`` that it was filtered. Other fields are ignored. Several rows with the same question,
    condition and model are epochs.

    Parameters
    ----------
    path : path
        A table with one row per reply, as in :func:`confidence_tasks.sources.any_table.read_any_table`.
    study : str
        Name of the study.
    model : str, optional
        Model of the rows that name none; by default the name of the file. A name without a provider becomes
        ``recorded/<name>``.
    fields : mapping, optional
        Values of fields that rows lack.
    rename : mapping, optional
        Names of fields by the names of columns, such as ``{"message.content": "reply"}``.
    log_dir : path
        Folder of the logs.

    Returns
    -------
    list of EvalLog
        The headers of the logs, without samples.

    Raises
    ------
    ValueError
        If there is no such study.
    SourceError
        If a row is invalid, with its line in the message; if the study does not read one of ``fields``; or if a log
        cannot be written.
    """
    from confidence_tasks.logs.recorded import Recorded

    path = Path(path)
    form = reply_forms()[known_form(study)]
    known = {*QUESTION_FIELDS, *form.fields, *form.optional, "condition", "model", "source", FINISH_REASON}
    if unknown := sorted((fields or {}).keys() - known):
        raise SourceError(f"{study} reads no field {', '.join(unknown)}; it reads {', '.join(sorted(known))}")
    by_model: dict[str, list[Recorded]] = {}
    n_replies: Counter[tuple[str, str]] = Counter()
    questions: dict[str, Question] = {}
    items: dict[str, Item] = {}
    for name, item, reply, stop in _replies(
        read_rows(path, rename or {}),
        path,
        study,
        form,
        model or Path(path.name.removesuffix(".gz")).stem,
        fields or {},
    ):
        question = item.question
        if questions.setdefault(question.id, question) != question or items.setdefault(item.id, item) != item:
            raise SourceError(
                f"{path}: rows with the id {question.id} differ in their question, key or fields"
            )
        n_replies[name, item.id] += 1
        by_model.setdefault(name, []).append(Recorded(item, reply, n_replies[name, item.id], stop))
    if not by_model:
        raise SourceError(f"{path}: the file has no replies")
    return _write_logs(by_model, f"{study}{RECORDED}", form, Path(log_dir))


def _write_logs(
    by_model: Mapping[str, Sequence[Recorded]], task: str, form: ReplyForm, folder: Path
) -> list[EvalLog]:
    """Write a log of the replies of each model, or none if one cannot be written."""
    from confidence_tasks.logs.recorded import score_recorded

    logs: list[EvalLog] = []
    try:
        for model, recorded in by_model.items():
            logs.append(score_recorded(task, form.scorer, form.metrics, model, recorded, folder))
    except OSError as error:
        for log in logs:
            Path(log.location).unlink()
        raise SourceError(f"{folder}: the log cannot be written ({error.strerror or error})") from error
    return logs


# Rows -------------------------------------------------------------------------------------------------------------


def _replies(
    rows: Iterable[tuple[str, Row]],
    path: Path,
    study: str,
    form: ReplyForm,
    model: str,
    fields: Mapping[str, Any],
) -> Iterator[tuple[str, Item, str, StopReason]]:
    """Yield the model, the item, the reply and the reason why it ended of each row of a file."""
    required = tuple(name for name in dict.fromkeys(("question", "reply", form.key, *form.fields)) if name)
    for where, given in rows:
        row = {**fields, **form.completed(given)}
        missing = [name for name in required if name not in row]
        if missing:
            needs = f"a row of {study} needs {', '.join(required)}, and has {_listed(given)}"
            raise SourceError(f"{where}: {_listed(missing)} missing; {needs}{_key_hint(form, missing)}")
        if not isinstance(row["reply"], str):
            raise SourceError(f"{where}: reply must be text")
        try:
            item = form.item(_question(path, row, form), row)
        except ValueError as error:
            raise SourceError(f"{where}: {error}") from error
        yield _model_name(row, model), item, row["reply"], _stop_reason(row)


def _model_name(row: Row, default: str) -> str:
    """Return the model of a row with a provider."""
    name = str(row.get("model") or default)
    return name if "/" in name else f"recorded/{name}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


def _key_hint(form: ReplyForm, missing: Sequence[str]) -> str:
    """Return what the right answer is, if it is missing."""
    if form.key in missing and form.key in form.fields:
        return f"; {form.key} is {form.fields[form.key]}"
    return ""


FINISH_REASON = "finish_reason"
"""Field with the reason why a reply ended, in the words of its server."""

_STOP_REASONS: Mapping[Stop, StopReason] = {"length": "max_tokens", "filter": "content_filter"}


def _stop_reason(row: Row) -> StopReason:
    """Return the reason why a reply ended, as Inspect's; ``stop`` without one."""
    return _STOP_REASONS.get(STOPS.get(str(row.get(FINISH_REASON)), ""), "stop")


def _question(path: Path, row: Row, form: ReplyForm) -> Question:
    source = re.sub(r"[^\w.-]+", "_", str(row.get("source") or path.stem), flags=re.ASCII)
    names = (QUESTION_FIELDS.keys() - form.fields.keys() - {"answer"}) | {form.key}
    fields = {name: value for name, value in row.items() if name in names}
    if form.kind and fields.setdefault("kind", form.kind) != form.kind:
        raise ValueError(f"'kind' must be {form.kind}, not {fields['kind']!r}")
    return parse_question(source, fields, key=form.key)
