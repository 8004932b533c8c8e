"""Numbers and rules of cells that several papers use: from tables of the report, about models, and of contrasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from confidence_tasks.logs.about_models import AboutModel, AboutModels
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.groups import is_member
from confidence_tasks.report.paper import Cell, Compute, Rule, Runs, Value


def from_table(table: str, column: str, **where: str) -> Compute:
    """Return a function that reads a column of a task's extra table.

    The number is that of the row with the cell's model and the values ``where`` of other columns. It is NaN if the
    model was asked and has too few trials for the table.
    """

    def value(runs: Runs, cell: Cell) -> Value:
        task = runs.task_of(cell)
        if task is None or (cell.source and cell.source not in runs.sources(cell)):
            return None
        extra = runs.tables.get(f"{task.task_trials.slug}_{table}")
        found = None if extra is None else look_up(extra, column, model=cell.model, **where)
        return math.nan if found is None else found

    return value


def look_up(table: ExtraTable, column: str, **where: str) -> float | None:
    """Return the number in a column of the row with the given values; NaN without such a row, None without a column."""
    rows = table.frame
    for name, value in where.items():
        rows = rows[rows[name] == value]
    if column not in rows:
        return None
    return float(rows[column].iloc[0]) if len(rows) else math.nan


def _about_model(about: AboutModels, model: ModelTrials) -> AboutModel:
    """Return what a file says of a model; empty facts without a row of it."""
    return next((facts for name, facts in about if is_member(model, [name])), AboutModel())


def about(field: str, yes_unless: str = "") -> Compute:
    """Return a function that reads a field of the user's file about models; NaN without a value.

    With ``yes_unless``, it is "No" if the field has this value, else "Yes".
    """

    def value(runs: Runs, cell: Cell) -> Value:
        model = runs.model_of(cell)
        text = getattr(_about_model(runs.about, model), field) if model else ""
        if text and yes_unless:
            return "No" if text.lower() == yes_unless else "Yes"
        return text or math.nan

    return value


def spread(values: Sequence[float]) -> float:
    """Return the difference between the largest and the smallest number.

    Examples
    --------
    >>> spread([0.5, 0.75])
    0.25
    """
    return max(values) - min(values)


def is_better(runs: Runs, cell: Cell, better: bool = True) -> bool:
    """Return True if a measure is significantly better than under the baseline, or worse if not ``better``."""
    contrast = runs.contrast(cell)
    if contrast is None or not contrast.significant:
        return False
    higher = contrast.interval.estimate > 0.0
    return higher == (runs.better(cell) == ("higher" if better else "lower"))


is_worse: Rule = partial(is_better, better=False)
"""Whether a measure is significantly worse than under the baseline."""
