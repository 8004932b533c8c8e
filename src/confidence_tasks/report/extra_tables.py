"""Tables beside the measures: what a study's paper sets side by side in a task, and tasks side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.catalogue import studies
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.labels import group_label, measure_label, why_missing
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import BY_CONDITION, ModelTrials, TaskTrials
from confidence_tasks.statistics import Interval
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.stage import TOKENS


@dataclass(frozen=True, slots=True)
class ExtraTable:
    """A table with its title, and how to read it; the first column of the frame heads the rows.

    Attributes
    ----------
    name : str
        File name without its suffix.
    decimals : int, optional
        Of every number, where all are of one kind; by default as many as tell the numbers of a column apart.
    trials : mapping of str to sequence of (ModelTrials, int)
        Columns that name trials: the trial of each row, to whose sample the page links.
    """

    name: str
    title: str
    note: str
    frame: pd.DataFrame
    decimals: int | None = None
    trials: Mapping[str, Sequence[tuple[ModelTrials, int]]] = field(default_factory=dict)

    @property
    def limits(self) -> dict[str, tuple[str, str]]:
        """Columns with intervals, and the two that hold their limits, as :func:`interval_cells` names them.

        Those of a column ``estimate`` are ``low`` and ``high``.
        """
        pairs = {name: (f"{name} low", f"{name} high") for name in map(str, self.frame)}
        pairs |= {"estimate": ("low", "high")}
        columns = set(self.frame)
        return {name: pair for name, pair in pairs.items() if {name, *pair} <= columns}

    @property
    def reasons(self) -> dict[str, str]:
        """Columns of which values or intervals are missing, and those that say why, which are shown as notes."""
        return {name: why for name in map(str, self.frame) if (why := f"{name} missing") in self.frame}


MakeTable: TypeAlias = Callable[[TaskResults], ExtraTable]
"""Makes a table of a task; an empty frame where there is nothing to show."""

Rows: TypeAlias = pd.DataFrame | Iterable[Mapping[str, Any]]
"""Numbers and texts of a table, by column or by row; empty where there is nothing to show."""


def extra_table(
    name: str, title: str, note: str, decimals: int | None = None
) -> Callable[[Callable[[TaskResults], Rows]], MakeTable]:
    """Make a table of a function that gives its rows; its file name is that of the task with ``name`` behind it."""

    def decorate(rows: Callable[[TaskResults], Rows]) -> MakeTable:
        @wraps(rows)
        def make(results: TaskResults) -> ExtraTable:
            made = rows(results)
            frame = made if isinstance(made, pd.DataFrame) else frame_of(made)
            return ExtraTable(f"{results.task_trials.slug}_{name}", title, note, frame, decimals)

        return make

    return decorate


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a table; where nothing is missing, the reason is empty."""
    frame = pd.DataFrame(list(rows))
    return frame.fillna({name: "" for name in map(str, frame) if name.endswith(" missing")})


def interval_cells(label: str, interval: Interval) -> dict[str, float | str]:
    """Return the cells of a row that hold an estimate: the value, its limits, and why one is missing if so."""
    values = interval.estimate, interval.low, interval.high
    names = label, f"{label} low", f"{label} high"
    cells: dict[str, float | str] = dict(zip(names, map(float, values), strict=True))
    return cells | ({f"{label} missing": why} if (why := why_missing(interval)) else {})


def side_by_side(name: str, title: str, note: str, group: str, measures: Sequence[str]) -> MakeTable:
    """Return what makes a table of the models by some measures of one group of trials, as papers print it.

    Its file name is that of the task with ``name`` behind it; ``group`` is a label such as ``all`` or a condition.
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
    """Return a table of models by measures, with limits, the number of trials, and why an interval is missing.

    A row is a model's label and its entry of each measure; one without any entry is left out.
    """
    labels = [measure_label(measure) for measure in measures]
    records: list[dict[str, Any]] = []
    for model, entries in rows:
        known = [(label, entry) for label, entry in zip(labels, entries, strict=True) if entry is not None]
        if known:
            record: dict[str, Any] = {"model": model}
            for label, entry in known:
                record |= interval_cells(label, entry.interval)
            records.append(record | {"n": known[-1][1].n})
    return ExtraTable(name, title, note, frame_of(records))


def ways_table(results: TaskResults) -> ExtraTable:
    """Return the headline measures of each way of asking a model, on the group that models are compared on."""
    names, where = [measure.name for measure in results.headline], results.reference
    ways = {part.label: part for parts in results.asked_in_several_ways.values() for part in parts}
    rows = [(label, [results.estimate(label, where, name) for name in names]) for label in ways]
    place = "Over all conditions" if where == "all" else f"On {group_label(where)}"
    table = table_of_entries(
        f"{results.task_trials.slug}_ways",
        "Asked in several ways",
        f"{place}. Trials of different ways are never taken together. confidence-tasks compare pairs two ways by"
        " question, and tests the difference. Tokens are means over all trials, of the calls that a trial is made of.",
        rows,
        names,
    )
    frame = table.frame
    for kind in TOKENS if "model" in frame else ():
        told = [ways[label].columns[kind] for label in frame["model"]]
        means = [float(np.mean(known)) if len(known := its[~np.isnan(its)]) else np.nan for its in told]
        if not np.isnan(means).all():
            frame[kind.replace("_", " ")] = means
    return table


def trials_frame(task_trials: TaskTrials) -> pd.DataFrame:
    """Return the trials of all models of a task as one table, with the models' labels in ``model``."""
    parts = [pd.DataFrame(dict(model.columns)).assign(model=model.label) for model in task_trials.models]
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True, slots=True)
class Side:
    """A study's part of an overview.

    ``group`` is the label of the group of trials that stands for a task; empty for each of its conditions.
    ``names`` are what the study calls the overview's measures, where it has another name for one.
    """

    study: str
    group: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OverviewDesign:
    """Measures and studies of one paper that an overview compares; the first study defines the measures.

    ``name`` is that of its files, and its address in the page.
    """

    name: str
    title: str
    question: str
    note: str
    sides: tuple[Side, ...]
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Estimates of several tasks by label of the model, heading of the column (task or condition), and measure."""

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
    """Return the overviews that the studies design and that have several columns to set side by side."""
    designs = [design for study in studies() if study.overviews for design in study.overviews.load()]
    made = [_overview(design, results) for design in designs]
    return [overview for overview in made if len(overview.tasks) > 1]


def _overview(design: OverviewDesign, results: Sequence[TaskResults]) -> Overview:
    """Set the estimates of some tasks side by side, under the overview's names."""
    parts = [
        (side, task) for side in design.sides for task in results if task.task_trials.study.name == side.study
    ]
    entries = {}
    for side, task in parts:
        groups = [side.group] if side.group else task.labels(BY_CONDITION)
        for group, model, measure in product(groups, task.models, design.measures):
            column = task.task_trials.design.title + (f", {group_label(group)}" if len(groups) > 1 else "")
            entry = task.estimate(model.label, group, side.names.get(measure.name, measure.name))
            if entry is not None:
                entries[model.label, column, measure.name] = entry
    models = dict.fromkeys(model.label for _, task in parts for model in task.models)
    columns = dict.fromkeys(column for _, column, _ in entries)
    return Overview(design, tuple(task for _, task in parts), tuple(models), tuple(columns), entries)
