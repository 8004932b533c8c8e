"""Recorded replies in files, scored into Inspect logs without calling a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confidence_tasks.harness.stopped import STOPS
from confidence_tasks.logs.task_trials import RECORDED
from confidence_tasks.own_replies.rows import Row as Row
from confidence_tasks.own_replies.rows import read_rows
from confidence_tasks.report.reply_forms import ReplyForm, known_form, reply_forms
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.own_file import QUESTION_FIELDS, parse_question
from confidence_tasks.study.stage import Stop
from confidence_tasks.study.trial import Item, Question

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import StopReason

    from confidence_tasks.logs.recorded import Recorded


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
