"""What the cells and figures of a paper are filled with: the results of a report, by task and model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures.figure import Figure
from confidence_tasks.report.model_groups import is_member
from confidence_tasks.report.paper.items import Cell, PaperFigure, Value
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import ModelTrials


class Runs:
    """The results of a report by task, for the tables of one paper.

    Parameters
    ----------
    results : iterable of TaskResults
        The tasks of the report.
    extras : iterable of ExtraTable
        Its tables beside the measures.
    figures : iterable of Figure
        Its figures.
    """

    def __init__(
        self,
        results: Iterable[TaskResults],
        extras: Iterable[ExtraTable] = (),
        figures: Iterable[Figure] = (),
    ) -> None:
        self.results = {task.task_trials.task: task for task in results}
        self._extras = {extra.name: extra for extra in extras}
        self._figures = {figure.name: figure for figure in figures}

    @cached_property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The groups of models that the user names, with the labels of their models."""
        named = next((task.settings.groups for task in self.results.values()), ())
        return [
            (name, [label for label, model in self._models.items() if is_member(model, members)])
            for name, members in named
        ]

    @cached_property
    def _models(self) -> dict[str, ModelTrials]:
        return {model.label: model for task in self.results.values() for model in task.models}

    def models(self, tasks: Iterable[str]) -> list[str]:
        """Return the labels of the models that were asked in any of some tasks, those of each named group together."""
        asked = [self.results[name] for name in tasks if name in self.results]
        labels = dict.fromkeys(model.label for task in asked for model in task.models)
        grouped = [label for _, members in self.groups for label in members if label in labels]
        return list(dict.fromkeys((*grouped, *labels)))

    def name_of(self, label: str) -> str:
        """Return a model's name, without what its label adds to it."""
        return self._models[label].name if label in self._models else label

    def task_of(self, cell: Cell) -> TaskResults | None:
        """Return the first task of a cell in which its model was asked, under its condition if it has one."""
        for name in cell.tasks:
            task = self.results.get(name)
            groups = task.groups.get(cell.model) if task else None
            if groups and (not cell.group or cell.group in {group.label for group in groups}):
                return task
        return None

    def estimate(self, cell: Cell) -> Estimated | None:
        """Return the entry of a cell with the name of a measure; None where its model was not asked."""
        task = self.task_of(cell)
        if task is None:
            return None
        # A model that was asked questions of one source has no entries of that source apart.
        source = "" if self._sources(task, cell) == {cell.source} else cell.source
        return task.estimate(cell.model, cell.group, str(cell.measure), source)

    def _sources(self, task: TaskResults, cell: Cell) -> set[str]:
        groups = task.groups[cell.model]
        return {part.source for group in groups for part in (*group.cells, *group.apart)}

    def sources(self, cell: Cell) -> set[str]:
        """Return the sources that the mean of a cell is over."""
        return {str(columns["source"][0]) for columns in self.trials(cell) if len(columns["source"])}

    def trials(self, cell: Cell) -> list[Mapping[str, Any]]:
        """Return the trials of a cell, one set of columns a source."""
        task = self.task_of(cell)
        if task is None:
            return []
        model = next(each for each in task.models if each.label == cell.model)
        return [
            {name: column[part.rows] for name, column in model.columns.items()}
            for group in task.groups[cell.model]
            if group.label == cell.group
            for part in (group.cells if not cell.source else (*group.cells, *group.apart))
            if cell.source in ("", part.source)
        ]

    def table_of(self, cell: Cell, name: str) -> ExtraTable | None:
        """Return the table of a cell's task with a name, the task's left out."""
        task = self.task_of(cell)
        return None if task is None else self._extras.get(f"{task.task_trials.slug}_{name}")

    def table_named(self, name: str) -> ExtraTable | None:
        """Return the table with a name."""
        return self._extras.get(name)

    def figures(self, item: PaperFigure) -> list[Figure]:
        """Return the figures that stand for one of the paper, one a task."""
        slugs = [self.results[name].task_trials.slug for name in item.tasks if name in self.results]
        names = [item.name, *(f"{slug}_{item.name}" for slug in slugs)]
        shown = [_of_sources(self._figures[name], item) for name in names if name in self._figures]
        return [figure for figure in shown if figure.rows]

    def has_source(self, model: str, task: str, source: str) -> bool:
        """Return whether a model was asked questions of a source in a task."""
        asked = self.results[task].models if task in self.results else []
        return any(each.label == model and source in each.columns["source"] for each in asked)

    def value(self, cell: Cell) -> Value:
        """Return what a cell holds."""
        if callable(cell.measure):
            found = cell.measure(self, cell)
        else:
            entry = self.estimate(cell)
            found = None if entry is None else entry.interval
        return found

    def better(self, cell: Cell) -> str:
        """Return the direction of what is best in a cell."""
        task = self.task_of(cell)
        if cell.better or task is None or callable(cell.measure):
            return cell.better
        measure = task.task_trials.study.measure.get(str(cell.measure))
        return measure.better if measure else ""


def _of_sources(figure: Figure, item: PaperFigure) -> Figure:
    """Return a figure with the panels of the paper's sources."""
    if not item.sources:
        return figure
    titles = set(item.sources.values())
    rows = [
        (label, tuple(panel for panel in its_panels if panel.title in titles))
        for label, its_panels in figure.rows
    ]
    return replace(figure, rows=tuple((label, its_panels) for label, its_panels in rows if its_panels))


def is_better(runs: Runs, cell: Cell) -> bool:
    """Return True if a measure is significantly better than under the baseline."""
    return _differs(runs, cell, "higher")


def is_worse(runs: Runs, cell: Cell) -> bool:
    """Return True if a measure is significantly worse than under the baseline."""
    return _differs(runs, cell, "lower")


def _differs(runs: Runs, cell: Cell, way: str) -> bool:
    task = runs.task_of(cell)
    contrast = task.contrast(cell.model, cell.group, str(cell.measure)) if task else None
    if contrast is None or not contrast.significant:
        return False
    higher = contrast.interval.estimate > 0.0
    return higher == (runs.better(cell) == way)
