"""Replies that are already there, scored without a model into Inspect logs like any other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import pyarrow.parquet as pq

from confidence_tasks.catalogue import reply_forms
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.own_file import (
    QUESTION_FIELDS,
    READERS,
    Readers,
    csv_rows,
    file_rows,
    parse_question,
)
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.trial import Item, Kind, Question

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.scorer import Scorer

    from confidence_tasks.report.rescore import Recorded

Row: TypeAlias = Mapping[str, Any]
"""Fields of a reply by name, as a file has them."""


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """Columns of a file of replies to one study, and the function that reads a row.

    Attributes
    ----------
    study : Study
        The study, whose scorer and metrics are used.
    fields : mapping of str to str
        The fields that a row has beside the question, its answer and the reply, and what each says. The last of them
        may also be given as ``condition``, with its label: ``lambda=10`` for a penalty of 10.
    item : callable
        Makes a question and a row into what was asked; ValueError says what is wrong with a field.
    label : str
        What a condition begins with.
    kind : str, optional
        The only kind that its questions have.
    key : str
        The field that holds the key; empty where the study needs none.
    optional : tuple of str
        Fields of the study that a row may also have.
    scoring : mapping of str to str
        Arguments with which the study's scorer needs no model.
    parameters : callable
        Parameters of the metrics of what was asked; the others have their defaults.
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
        """Return the study's scorer, without a model's help."""
        scorer: Scorer = self.study.make_scorer(**self.scoring)
        return scorer

    def metrics(self, items: Sequence[Item]) -> list[Any]:
        """Return all metrics of what was asked."""
        from confidence_tasks.harness.inspect.metrics import metrics_of
        from confidence_tasks.harness.staged import default_parameters, task_metrics

        parameters = {**default_parameters(self.study), **self.parameters(items)}
        conditions = list(dict.fromkeys(item.condition for item in items))
        return metrics_of(self.study, task_metrics(self.study, parameters, conditions), "all")

    def completed(self, row: Row) -> Row:
        """Return a row with the last field read off its condition, where only that is given."""
        name = next(reversed(list(self.fields)), "")
        if not name or name in row or "condition" not in row:
            return row
        return {**row, name: str(row["condition"]).removeprefix(self.label)}


def with_id_suffix(question: Question, row: Row, by: str) -> Question:
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


def default_forms(study: Study) -> Mapping[str, ReplyForm]:
    """Return how files of replies to a study are scored; none if a trial needs more than the text of one reply."""
    from confidence_tasks.harness.staged import STUDY, default_parameters, is_single

    stages = study.stages_of(default_parameters(study))
    if not is_single(stages) or stages[0].logprobs == "required" or study.repeats_parameter:
        return {}
    several = len(study.conditions) > 1

    def item(question: Question, row: Row) -> Item:
        label = str(row["condition"]) if several else study.conditions[0]
        condition = one_of(study.conditions, label, "condition")
        about = {STUDY: study.address, **question.metadata}
        return Item(question, condition, question.text, metadata=about)

    return {
        study.name: ReplyForm(
            study, {"condition": f"the condition: {', '.join(study.conditions)}"} if several else {}, item
        )
    }


def score_replies(
    path: str | Path,
    study: str,
    *,
    model: str = "",
    fields: Mapping[str, Any] | None = None,
    log_dir: str | Path = "logs",
) -> list[EvalLog]:
    """Score a file of replies as one of the studies; return a log for each model, as written.

    The samples of a log are read when they are asked for: memory holds the rows and what was read of them.

    Nothing is written unless every row is sound. A row of the ``.jsonl``, ``.csv`` or ``.parquet`` file has
    ``question`` and ``reply``, and the fields that the study needs, listed in
    :func:`confidence_tasks.catalogue.reply_forms`. ``answer``, or ``gold``, is the key, which FermiEval has as
    ``exponent`` and LifeEval needs none of; ``choices``, ``aliases``, ``kind``, ``id``, ``subject`` and ``level``
    are as in a file of questions; ``source`` names where a question is from, and ``model`` who replied. Other
    fields are left out. Further rows of the same question and condition are taken for further epochs.

    Where a row has no ``model`` it is that given, by default the file's name; without a provider it becomes
    ``recorded/<name>``. Rows without some of the ``fields`` have these.

    ValueError if there is no such study. SourceError if a row lacks something or says something that cannot be, and the
    message names the line; if ``fields`` has a field that the study does not read; or if a log cannot be written, for
    want of room or of permission.
    """
    from confidence_tasks.report.rescore import Recorded, score_recorded

    path = Path(path)
    form = reply_forms()[one_of(tuple(reply_forms()), study, "study")]
    known = {*QUESTION_FIELDS, *form.fields, *form.optional, "condition", "model", "source"}
    if unknown := sorted((fields or {}).keys() - known):
        raise SourceError(f"{study} reads no field {', '.join(unknown)}; it reads {', '.join(sorted(known))}")
    by_model: dict[str, list[Recorded]] = {}
    asked: Counter[tuple[str, str]] = Counter()
    questions: dict[str, Question] = {}
    items: dict[str, Item] = {}
    for name, item, reply in _replies(path, study, form, model or path.stem, fields or {}):
        question = item.question
        if questions.setdefault(question.id, question) != question or items.setdefault(item.id, item) != item:
            raise SourceError(
                f"{path}: rows with the id {question.id} differ in their question, key or fields"
            )
        asked[name, item.id] += 1
        by_model.setdefault(name, []).append(Recorded(item, reply, asked[name, item.id]))
    if not by_model:
        raise SourceError(f"{path}: it holds no replies")
    logs: list[EvalLog] = []
    try:
        for name, recorded in by_model.items():
            logs.append(
                score_recorded(f"{study}_replies", form.scorer, form.metrics, name, recorded, Path(log_dir))
            )
    except OSError as error:
        for log in logs:
            Path(log.location).unlink()
        raise SourceError(f"{log_dir}: no log can be written there ({error.strerror or error})") from error
    return logs


# Rows -------------------------------------------------------------------------------------------------------------


def _replies(
    path: Path, study: str, form: ReplyForm, model: str, fields: Mapping[str, Any]
) -> Iterator[tuple[str, Item, str]]:
    needed = tuple(name for name in dict.fromkeys(("question", "reply", form.key, *form.fields)) if name)
    for where, given in read_rows(path):
        row = {**fields, **form.completed(given)}
        if missing := [name for name in needed if name not in row]:
            key = (
                f"; {form.key} is {form.fields[form.key]}"
                if form.key in missing and form.key in form.fields
                else ""
            )
            raise SourceError(
                f"{where}: {', '.join(missing)} missing; a row of {study} needs {', '.join(needed)}, and has "
                f"{', '.join(given) or 'nothing'}{key}"
            )
        if not isinstance(row["reply"], str):
            raise SourceError(f"{where}: reply must be a text")
        try:
            item = form.item(_question(path, row, form), row)
        except ValueError as error:
            raise SourceError(f"{where}: {error}") from error
        name = str(row.get("model") or model)
        yield name if "/" in name else f"recorded/{name}", item, row["reply"]


def _question(path: Path, row: Row, form: ReplyForm) -> Question:
    source = re.sub(r"[^\w.-]+", "_", str(row.get("source") or path.stem), flags=re.ASCII)
    of_question = (QUESTION_FIELDS - form.fields.keys() - {"answer"}) | {form.key}
    fields = {name: value for name, value in row.items() if name in of_question}
    if form.kind and fields.setdefault("kind", form.kind) != form.kind:
        raise ValueError(f"'kind' must be {form.kind}, not {fields['kind']!r}")
    return parse_question(source, fields, key=form.key)


# Files --------------------------------------------------------------------------------------------------------------


MAX_BYTES = 512 * 2**20
MAX_REPLIES = 100_000
MAX_CHARACTERS = 1_000_000
"""Maximum number of characters of a text."""


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a file of replies, each with the place where it stands.

    The file ends in ``.jsonl``, ``.csv`` or ``.parquet``, with at most 512 MiB, 100,000 replies, and a million
    characters in any text. A field that is missing, null or, but for the reply, empty is left out. ``gold`` is
    another name of ``answer``.

    SourceError if the file cannot be read, or is larger; the message names the line.
    """
    if path.suffix.lower() not in _READERS:
        raise SourceError(f"{path}: its name ends in none of {', '.join(_READERS)}")
    for where, row in file_rows(path, _READERS, MAX_BYTES, MAX_REPLIES, "replies"):
        yield where, _cleaned(row, where)


def _cleaned(row: Any, where: str) -> Row:
    if not isinstance(row, Mapping):
        raise SourceError(f"{where}: not an object with fields")
    # No log can hold halves of surrogate pairs.
    cleaned = {
        str(name): value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in row.items()
        if value is not None
    }
    if longest := [name for name, value in cleaned.items() if len(str(value)) > MAX_CHARACTERS]:
        raise SourceError(f"{where}: {longest[0]} has more than {MAX_CHARACTERS:,} characters")
    if "gold" in cleaned:
        gold = cleaned.pop("gold")
        if cleaned.setdefault("answer", gold) != gold:
            raise SourceError(
                f"{where}: answer and gold both name the key, and differ: leave out what the model answered, which is"
                " read from its reply"
            )
    return cleaned


def _parquet_rows(file: TextIO) -> Iterator[tuple[int, Any]]:
    try:
        table = pq.read_table(file.name)
    except ValueError as error:
        raise SourceError(f"{file.name}: not Parquet: {error}") from error
    for number, row in enumerate(table.to_pylist(), start=1):
        # NaN, which is no equal of itself, is missing.
        yield number, {name: value if value == value else None for name, value in row.items()}


_READERS: Readers = {**READERS, ".csv": partial(csv_rows, kept="reply"), ".parquet": _parquet_rows}
"""An empty cell is a field that is missing; an empty reply is what a model said."""
