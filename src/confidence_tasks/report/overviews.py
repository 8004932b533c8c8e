"""Tasks side by side: a paper's table over all of its question sets, from the estimates of each task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pandas as pd

from confidence_tasks.catalogue import studies
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.groups import BY_CONDITION
from confidence_tasks.report.labels import group_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.study.measures import Measure

EntryKey: TypeAlias = tuple[str, str, str]
"""Label of a model, heading of a column, and name of a measure."""


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
    """What an overview sets side by side: measures, as the first study defines them, of studies of one paper, in order.

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
    """Estimates of several tasks by label of the model, heading of the task or its condition, and measure."""

    design: OverviewDesign
    tasks: tuple[TaskResults, ...]
    models: tuple[str, ...]
    columns: tuple[str, ...]
    entries: Mapping[EntryKey, Estimated]

    def estimate(self, model: str, column: str, measure: str) -> Estimated | None:
        """Return an entry; None where a model was not asked."""
        return self.entries.get((model, column, measure))

    def frame(self) -> pd.DataFrame:
        """Return a row for each model and column: the measures with their limits, and the number of trials."""
        rows = []
        for model in self.models:
            for column in self.columns:
                row: dict[str, Any] = {}
                for measure in self.design.measures:
                    entry = self.estimate(model, column, measure.name)
                    if entry is not None:
                        row[measure.name] = float(entry.interval.estimate)
                        row[f"{measure.name}_low"] = float(entry.interval.low)
                        row[f"{measure.name}_high"] = float(entry.interval.high)
                        row["n"] = entry.n
                if row:
                    rows.append({"model": model, "task": column, "n": row.pop("n"), **row})
        return pd.DataFrame(rows)


def overviews(
    results: Sequence[TaskResults], designs: Sequence[OverviewDesign] | None = None
) -> list[Overview]:
    """Return the overviews, by default of every study's designs, that have several columns to set side by side."""
    made = [_overview(design, results) for design in (_designs() if designs is None else designs)]
    return [overview for overview in made if len(overview.tasks) > 1]


def _designs() -> list[OverviewDesign]:
    return [design for study in studies() if study.overviews for design in study.overviews.load()]


def _overview(design: OverviewDesign, results: Sequence[TaskResults]) -> Overview:
    parts = [
        (side, task) for side in design.sides for task in results if task.task_trials.study.name == side.study
    ]
    entries = {key: entry for side, task in parts for key, entry in _entries(design, side, task)}
    return Overview(
        design,
        tuple(task for _, task in parts),
        tuple(dict.fromkeys(model.label for _, task in parts for model in task.models)),
        tuple(dict.fromkeys(column for _, column, _ in entries)),
        entries,
    )


def _entries(design: OverviewDesign, side: Side, task: TaskResults) -> Iterator[tuple[EntryKey, Estimated]]:
    """Yield the estimates of a task under the overview's names."""
    groups = [side.group] if side.group else task.labels(BY_CONDITION)
    for group in groups:
        column = task.task_trials.design.title + (f", {group_label(group)}" if len(groups) > 1 else "")
        for model in task.models:
            for measure in design.measures:
                entry = task.estimate(model.label, group, side.names.get(measure.name, measure.name))
                if entry is not None:
                    yield (model.label, column, measure.name), entry
