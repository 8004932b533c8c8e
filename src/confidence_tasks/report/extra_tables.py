"""Tables beside the measures: those of a study, and overviews of several tasks side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.catalogue import studies
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.groups import BY_CONDITION
from confidence_tasks.report.labels import group_label, measure_label, why_missing
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import study_report
from confidence_tasks.statistics import Interval
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.stage import TOKENS
from confidence_tasks.study.units import SAMPLING_UNIT


@dataclass(frozen=True, slots=True)
class ExtraTable:
    """A table of a study; the first column of ``frame`` holds the headings of the rows.

    Attributes
    ----------
    name : str
        File name without its suffix.
    note : str
        How to read the table.
    decimals : int, optional
        Number of decimals of every number; by default the range of each column determines its decimals.
    trials : mapping of str to sequence of (ModelTrials, int)
        Columns whose cells name trials: the model and row of each trial, for links to its sample.
    repeats : bool
        Whether it only repeats numbers that the page shows already, as a comparison of models does where there is one.
        The page leaves it out; `--tables` writes it, and papers are filled from it.
    """

    name: str
    title: str
    note: str
    frame: pd.DataFrame
    decimals: int | None = None
    trials: Mapping[str, Sequence[tuple[ModelTrials, int]]] = field(default_factory=dict)
    repeats: bool = False

    @property
    def limits(self) -> dict[str, tuple[str, str]]:
        """The columns with intervals, each with the names of its two columns of limits.

        The limits of ``estimate`` are ``low`` and ``high``; those of any other column are named as in
        :func:`interval_cells`.
        """
        pairs = {name: (f"{name} low", f"{name} high") for name in map(str, self.frame)}
        pairs |= {"estimate": ("low", "high")}
        columns = set(self.frame)
        return {name: pair for name, pair in pairs.items() if {name, *pair} <= columns}

    @property
    def reasons(self) -> dict[str, str]:
        """The columns with missing values or intervals, each with the name of its column of reasons."""
        return {name: why for name in map(str, self.frame) if (why := f"{name} missing") in self.frame}


MakeTable: TypeAlias = Callable[[TaskResults], ExtraTable]
"""Makes a table of a task, with an empty frame where there is nothing to show."""

Rows: TypeAlias = pd.DataFrame | Iterable[Mapping[str, Any]]
"""Cells of a table, as a frame or row by row; empty where there is nothing to show."""


def extra_table(
    name: str, title: str, note: str, decimals: int | None = None
) -> Callable[[Callable[[TaskResults], Rows]], MakeTable]:
    """Turn a function that returns the rows of a table into one that makes the table.

    The name of the table's file is that of the task followed by ``name``.
    """

    def decorate(rows_of: Callable[[TaskResults], Rows]) -> MakeTable:
        @wraps(rows_of)
        def make(results: TaskResults) -> ExtraTable:
            rows = rows_of(results)
            frame = rows if isinstance(rows, pd.DataFrame) else _frame(rows)
            return ExtraTable(f"{results.task_trials.slug}_{name}", title, note, frame, decimals)

        return make

    return decorate


def _frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a frame, with empty texts in columns of reasons where nothing is missing."""
    frame = pd.DataFrame(list(rows))
    return frame.fillna({name: "" for name in map(str, frame) if name.endswith(" missing")})


def interval_cells(label: str, interval: Interval) -> dict[str, float | str]:
    """Return the cells of an estimate: its value, its limits, and the reason if one of these is missing."""
    values = interval.estimate, interval.low, interval.high
    names = label, f"{label} low", f"{label} high"
    cells: dict[str, float | str] = dict(zip(names, map(float, values), strict=True))
    return cells | ({f"{label} missing": why} if (why := why_missing(interval)) else {})


def side_by_side(name: str, title: str, note: str, group: str, measures: Sequence[str]) -> MakeTable:
    """Return a function that makes a table of models by measures on one group of trials.

    The name of the table's file is that of the task followed by ``name``; ``group`` is a label such as ``all`` or a
    condition.
    """

    def make(results: TaskResults) -> ExtraTable:
        rows = [
            (model.label, [results.estimate(model.label, group, measure) for measure in measures])
            for model in results.models
        ]
        return table_of_entries(f"{results.task_trials.slug}_{name}", title, note, rows, measures)

    return make


def table_of_entries(
    name: str,
    title: str,
    note: str,
    rows: Iterable[tuple[str, Sequence[Estimated | None]]],
    measures: Sequence[str],
) -> ExtraTable:
    """Return a table of models by measures, with limits, reasons for missing intervals, and numbers of trials.

    A row is a model's label with its entry of each measure; a model without any entry is left out.
    """
    records: list[dict[str, Any]] = []
    for model, entries in rows:
        record: dict[str, Any] = {"model": model}
        for measure, entry in zip(measures, entries, strict=True):
            if entry is not None:
                record |= interval_cells(measure_label(measure), entry.interval)
                n = entry.n
        if len(record) > 1:
            records.append(record | {"n": n})
    return ExtraTable(name, title, note, _frame(records))


def variants_table(results: TaskResults) -> ExtraTable:
    """Return the headline measures of models that ran with several settings, and their mean numbers of tokens.

    Measures are on the group of trials that models are compared on.
    """
    names, group = [measure.name for measure in results.headline], results.reference
    variants = {model.label: model for models in results.variants_by_model.values() for model in models}
    rows = [(label, [results.estimate(label, group, name) for name in names]) for label in variants]
    table = table_of_entries(
        f"{results.task_trials.slug}_settings",
        "Several settings",
        f"{'Over all conditions' if group == 'all' else f'On {group_label(group)}'}. Trials with different"
        " settings are never pooled. confidence-tasks compare pairs two settings by question and tests the"
        " difference. Numbers of tokens are means per trial, over all model calls of the trial.",
        rows,
        names,
    )
    if "model" in table.frame:
        _add_tokens(table.frame, variants)
    return table


def _add_tokens(frame: pd.DataFrame, variants: Mapping[str, ModelTrials]) -> None:
    """Add the mean numbers of tokens of the models in the rows, as far as the harness records them."""
    for kind in TOKENS:
        means = [pd.Series(variants[label].columns[kind]).mean() for label in frame["model"]]
        if not np.isnan(means).all():
            frame[kind.replace("_", " ")] = means


def trials_frame(task_trials: TaskTrials) -> pd.DataFrame:
    """Return the trials of all models of a task as one table, with the models' labels in ``model``."""
    frames = [pd.DataFrame(dict(model.columns)).assign(model=model.label) for model in task_trials.models]
    trials = pd.concat(frames, ignore_index=True)
    if SAMPLING_UNIT in trials:  # of some models only
        trials[SAMPLING_UNIT] = trials[SAMPLING_UNIT].fillna(trials["question_id"])
    return trials


@dataclass(frozen=True, slots=True)
class Side:
    """A study's part of an overview.

    ``group`` is the label of the group of trials that represents a task; empty for one column per condition.
    ``names`` maps the overview's names of measures to the study's, where these differ.
    """

    study: str
    group: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OverviewDesign:
    """Measures and studies of one paper that an overview compares; the first study defines the measures.

    ``name`` is the name of its files and its anchor in the page.
    """

    name: str
    title: str
    question: str
    note: str
    sides: tuple[Side, ...]
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Estimates of several tasks, by model, column (a task or condition) and measure."""

    design: OverviewDesign
    tasks: tuple[TaskResults, ...]
    models: tuple[str, ...]
    columns: tuple[str, ...]
    entries: Mapping[tuple[str, str, str], Estimated]

    def estimate(self, model: str, column: str, measure: str) -> Estimated | None:
        """Return an entry; None where a model was not asked."""
        return self.entries.get((model, column, measure))

    def frame(self) -> pd.DataFrame:
        """Return a row for each model and column: the measures with their limits, and the number of trials."""
        rows = []
        for model, column in product(self.models, self.columns):
            row: dict[str, Any] = {}
            for name in (measure.name for measure in self.design.measures):
                if entry := self.estimate(model, column, name):
                    interval, row["n"] = entry.interval, entry.n
                    row[name] = float(interval.estimate)
                    row |= {f"{name}_low": float(interval.low), f"{name}_high": float(interval.high)}
            if row:
                rows.append({"model": model, "task": column, "n": row.pop("n"), **row})
        return pd.DataFrame(rows)


def overviews(results: Sequence[TaskResults]) -> list[Overview]:
    """Return the overviews of the studies that have at least two tasks in the report."""
    designs = [design for study in studies() for design in study_report(study).overviews]
    candidates = [_overview(design, results) for design in designs]
    return [overview for overview in candidates if len(overview.tasks) > 1]


def _overview(design: OverviewDesign, results: Sequence[TaskResults]) -> Overview:
    parts = [
        (side, task) for side in design.sides for task in results if task.task_trials.study.name == side.study
    ]
    entries: dict[tuple[str, str, str], Estimated] = {}
    for side, task in parts:
        entries |= _overview_entries(side, task, design.measures)
    models = dict.fromkeys(model.label for _, task in parts for model in task.models)
    columns = dict.fromkeys(column for _, column, _ in entries)
    return Overview(design, tuple(task for _, task in parts), tuple(models), tuple(columns), entries)


def _overview_entries(
    side: Side, task: TaskResults, measures: Sequence[Measure]
) -> dict[tuple[str, str, str], Estimated]:
    """Return the estimates of a task in an overview, by model, column and measure."""
    groups = [side.group] if side.group else task.labels(BY_CONDITION)
    entries = {}
    for group, model, measure in product(groups, task.models, measures):
        column = task.task_trials.title
        if len(groups) > 1:
            column += f", {group_label(group)}"
        entry = task.estimate(model.label, group, side.names.get(measure.name, measure.name))
        if entry is not None:
            entries[model.label, column, measure.name] = entry
    return entries
