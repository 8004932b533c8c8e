"""A report as Markdown: its main tables, differences and notices, and the metadata of a model card."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from confidence_tasks.logs.texts import without_controls
from confidence_tasks.report.acceptance_table import acceptance_table
from confidence_tasks.report.labels import (
    TITLE,
    difference_cells,
    group_label,
    limits,
    measure_label,
    number,
    why_missing,
)

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

    from confidence_tasks.report.estimates.contrast import Contrast
    from confidence_tasks.report.estimates.estimated import Estimated
    from confidence_tasks.report.notices import Notice
    from confidence_tasks.report.results import TaskResults

_MARKUP = re.compile(r"([\\`*_{}<>#|~$]|\](?=[(\[]))")
"""Characters that Markdown, its HTML or its formulas read as markup. Brackets are so only in links."""


def escaped(text: str) -> str:
    r"""Return a text as one line of Markdown that shows it as it is.

    Examples
    --------
    >>> print(escaped("a|b <i>\n*c* [d](e) [0, 1]"))
    a\|b \<i\> \*c\* [d\](e) [0, 1]
    """
    return _MARKUP.sub(r"\\\1", " ".join(without_controls(text).split()))


def markdown_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows of text as a table; the header has the names of the first row. Empty without rows.

    Examples
    --------
    >>> print(markdown_table([{"measure": "ECE", "value": "0.10"}]))
    | measure | value |
    | --- | --- |
    | ECE | 0.10 |
    """
    if not rows:
        return ""
    names = list(rows[0])
    lines = [map(escaped, names), ["---"] * len(names), *(map(escaped, row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def markdown_report(
    results: Iterable[TaskResults], notices: Sequence[Notice] = (), *, title: str = TITLE
) -> str:
    """Return the main measures of every task and model by condition, differences of conditions, and notices.

    Parameters
    ----------
    results : iterable of TaskResults
        The numbers of each task.
    notices : sequence of Notice
        What the report's checks found.
    title : str
        The heading.
    """
    parts = [f"# {escaped(title)}"]
    for task in results:
        parts += _task(task)
    if notices:
        parts += ["## Notices", "\n".join(_bullet(notice) for notice in notices)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _task(task: TaskResults) -> Iterator[str]:
    level = f"{task.settings.level:.0%}"
    yield f"## {escaped(task.task_trials.task)}"
    yield f"Values with {level} intervals; questions of {', '.join(map(escaped, task.sources))}."
    yield markdown_table([row for model in task.models for row in _rows(task, model.label)])
    rows = [_difference(each) for each in task.contrasts if not math.isnan(each.interval.estimate)]
    if rows:
        yield f"Differences from {escaped(group_label(task.contrasts[0].baseline))}, paired by question:"
        yield markdown_table(rows)
    if task.accepted:
        table = acceptance_table(task)
        yield f"### {table.title}"
        yield table.note
        yield markdown_table([_texts(row) for row in table.frame.to_dict("records")])


def _texts(row: Mapping[Hashable, Any]) -> dict[str, str]:
    """Return the cells of a row as texts."""
    return {str(name): number(cell, 2) if isinstance(cell, float) else cell for name, cell in row.items()}


def _rows(task: TaskResults, model: str) -> Iterator[dict[str, str]]:
    """Yield a row for each headline measure of a model; its columns are the conditions."""
    for measure in task.headline:
        cells = {
            group_label(condition): _cell(task.estimate(model, condition, measure.name))
            for condition in task.conditions
        }
        yield {"model": model, "measure": measure_label(measure.name), **cells}


def _cell(entry: Estimated | None) -> str:
    """Return a value with its interval, or with the reason why one of them is missing."""
    if entry is None:
        return ""
    interval = entry.interval
    reason = why_missing(interval)
    return f"{number(interval.estimate, 3)} {limits(interval, 3) or f'({reason})'}".strip()


def _difference(contrast: Contrast) -> dict[str, str]:
    return {
        "model": contrast.model,
        "condition": group_label(contrast.group),
        "measure": measure_label(contrast.measure),
        **difference_cells(contrast.interval, contrast.p_adjusted),
    }


def _bullet(notice: Notice) -> str:
    text = f"* **{notice.severity}**: {escaped(notice.title)}. {escaped(notice.meaning)}"
    return text + "".join(f"\n    * {escaped(place)}" for place in notice.where)


# Model cards ----------------------------------------------------------------------------------------------------------


def model_card(results: Sequence[TaskResults]) -> str:
    """Return the metadata block of a model card with the headline measures, and their tables.

    Each value has its interval and condition among the ``args`` of the metric, as the Hub has no field for them.

    Parameters
    ----------
    results : sequence of TaskResults
        The numbers of each task. Several models become several entries of ``model-index``.

    References
    ----------
    https://huggingface.co/docs/hub/model-cards#evaluation-results
    """
    from huggingface_hub.repocard_data import CardData, eval_results_to_model_index

    by_model: dict[str, list[EvalResult]] = {}
    for task in results:
        for model in task.models:
            by_model.setdefault(model.label, []).extend(_eval_results(task, model.label))
    index: list[Any] = []
    for name, of_model in by_model.items():
        index += eval_results_to_model_index(without_controls(name), of_model)
    metadata: dict[str, Any] = {"model-index": index}
    return f"---\n{CardData(**metadata).to_yaml()}\n---\n\n{markdown_report(results, title='Confidence')}"


def _eval_results(task: TaskResults, model: str) -> Iterator[EvalResult]:
    """Yield the headline measures of a model that have a value."""
    from huggingface_hub import EvalResult

    source = without_controls(", ".join(task.sources))
    for condition in task.conditions:
        for measure in task.headline:
            entry = task.estimate(model, condition, measure.name)
            if entry is None or math.isnan(entry.interval.estimate):
                continue
            yield EvalResult(
                task_type="text-generation",
                task_name=task.task_trials.task,
                dataset_type=source,
                dataset_name=source,
                dataset_config=task.task_trials.task,  # the Hub joins results whose data sets are the same
                metric_type=measure.name,
                metric_name=f"{measure_label(measure.name)} ({without_controls(group_label(condition))})",
                metric_value=float(entry.interval.estimate),
                metric_args=_interval_args(entry, condition),
            )


def _interval_args(entry: Estimated, condition: str) -> dict[str, str | float | int]:
    args: dict[str, str | float | int] = {"condition": without_controls(condition), "n": entry.n}
    interval = entry.interval
    if math.isnan(interval.low):
        return args
    return args | {"level": interval.level, "low": float(interval.low), "high": float(interval.high)}
