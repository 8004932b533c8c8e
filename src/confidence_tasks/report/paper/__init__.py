"""The tables and figures of a study's paper, filled with the models of a report.

A study lists them in its ``report.py``: what each row and column stands for, in the paper's order and with its
digits. A number is an entry of the report's estimates, or what a function of the study makes of the trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from confidence_tasks.report.contrasts import Contrast
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import Figure
from confidence_tasks.report.labels import number, signed
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import Columns, ModelTrials, TrialSubset, is_member
from confidence_tasks.statistics import Interval
from confidence_tasks.study.measures import rows_of

Value: TypeAlias = "float | str | Interval | None"
"""Value of a cell: NaN where it is undefined, None where a model was not asked."""

Compute: TypeAlias = "Callable[[Runs, Cell], Value]"
Rule: TypeAlias = "Callable[[Runs, Cell], bool]"


@dataclass(frozen=True, slots=True)
class Cell:
    """Origin and format of a number in a paper's table.

    Attributes
    ----------
    model : str
        Label of the model.
    task : str or tuple of str
        Name of the task; of several, the first that has the entry.
    group, source : str
        The condition or other group of trials, and the source of questions; by default the mean over sources.
    measure : str or callable
        Name of a measure, or a function that computes the number.
    limit : {"estimate", "low", "high"}
        What is printed of a measure with an interval.
    digits : int
        Decimals.
    percent : bool
        Whether a proportion is printed as a percentage.
    leading_zero, sign : bool
        Whether a number below 1 has a zero before the point, and a positive number a plus sign.
    text : str
        The whole cell, with ``{}`` in the place of each number.
    more : tuple of mapping
        The further numbers of the cell: what they have other than the first. ``name`` is the suffix of the column in
        CSV files.
    name : str
        Suffix of the column of the number in CSV files.
    mark : (str, callable), optional
        A raised sign, and the rule by which a cell has it.
    bold : callable, optional
        The rule by which a cell is bold.
    better : {"", "higher", "lower"}
        Direction of what is best; by default that of the measure.
    total : callable, optional
        What a last row holds in the place of the table's function.
    """

    model: str = ""
    task: str | tuple[str, ...] = ""
    group: str = ""
    source: str = ""
    measure: str | Compute = ""
    limit: Literal["estimate", "low", "high"] = "estimate"
    digits: int = 2
    percent: bool = False
    leading_zero: bool = True
    sign: bool = False
    text: str = "{}"
    more: tuple[Mapping[str, Any], ...] = ()
    name: str = ""
    mark: tuple[str, Rule] | None = None
    bold: Rule | None = None
    better: str = ""
    total: Compute | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks that it may come from."""
        return (self.task,) if isinstance(self.task, str) else self.task

    @property
    def parts(self) -> list[Cell]:
        """Numbers of this cell, each as a cell of its own."""
        return [replace(self, more=(), **changes) for changes in ({}, *self.more)]

    def printed(self, value: float | str) -> str:
        """Return a number as the paper prints it.

        Examples
        --------
        >>> Cell(digits=1, percent=True).printed(0.4213), Cell(leading_zero=False).printed(0.811)
        ('42.1', '.81')
        """
        if isinstance(value, str):
            return value
        scaled = 100.0 * value if self.percent else value
        text = signed(scaled, self.digits) if self.sign else number(scaled, self.digits)
        return text if self.leading_zero else text.replace("0.", ".", 1) if abs(scaled) < 1.0 else text


@dataclass(frozen=True, slots=True)
class Heading:
    """A row or a column: its labels, outermost first, and what its cells have in common."""

    labels: tuple[str, ...]
    at: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Refuse what is no attribute of a cell when the list is loaded."""
        Cell(**self.at)


Axis: TypeAlias = tuple[Heading, ...]

MODELS: Axis = (Heading(("model",), {"model": ""}),)
"""Placeholder for the axis that lists the models of the report."""


def heading(*labels: str, **at: Any) -> Heading:
    """Return a heading of some labels; the keywords are attributes of its cells."""
    return Heading(labels, at)


def by_measure(name: str, /, *labels: str, **at: Any) -> Heading:
    """Return the heading of a measure."""
    return Heading(labels, {"measure": name, **at})


def by_group(labels: Mapping[str, str], **at: Any) -> Axis:
    """Return an axis of conditions, by their labels in the paper."""
    return tuple(Heading((label,), {"group": group, **at}) for label, group in labels.items())


def axes_of(crossed: Axis | tuple[Axis, ...]) -> list[Axis]:
    """Return the axes of the rows or columns of a table, of which there may be one."""
    alone = tuple(each for each in crossed if isinstance(each, Heading))
    return [alone] if alone else [each for each in crossed if not isinstance(each, Heading)]


def crossed(axes: Sequence[Axis]) -> list[Heading]:
    """Return every combination of the headings of some axes, the first outermost."""
    return [
        Heading(
            tuple(label for part in parts for label in part.labels),
            {key: value for part in parts for key, value in part.at.items()},
        )
        for parts in product(*axes)
    ]


@dataclass(frozen=True, slots=True)
class PaperItem:
    """A numbered table or figure of a paper, with its caption."""

    number: str
    caption: str
    _: KW_ONLY
    kind: Literal["table", "figure"] = "table"

    @property
    def title(self) -> str:
        """Name in the paper, such as "Table 1"."""
        return f"{self.kind.capitalize()} {self.number}"

    @property
    def file(self) -> str:
        """Name of its files."""
        return f"{self.kind}_{self.number.replace(' ', '_')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable(PaperItem):
    """A table of the paper.

    Attributes
    ----------
    stubs : tuple of str
        Headings of the columns that name the rows; by default the rows are the models.
    rows, columns : Axis or tuple of Axis
        The axis, or those that are crossed, outermost first.
    at, order_by : mapping
        Attributes of all cells, and of the number by which models are ordered, the best first; by default they are in
        alphabetical order.
    best : {"", "row", "column"}
        Among which numbers of a measure the best is set bold, and with ``second`` the second best in italics.
    total : (str, callable), optional
        Label of a last row, and the function of a column's numbers that it holds.
    total_digits : int, optional
        Decimals of the last row, where it has others than the column.
    by_type : bool
        Whether rows of models have the name of their group as a second label, and each group a last row of its own.
    of_type : str
        Name of the group of models that the table is of; while the user names no such group, it is of all models.
    """

    columns: Axis | tuple[Axis, ...]
    stubs: tuple[str, ...] = ("Model",)
    rows: Axis | tuple[Axis, ...] = MODELS
    at: Mapping[str, Any] = field(default_factory=dict)
    order_by: Mapping[str, Any] | None = None
    best: Literal["", "row", "column"] = ""
    second: bool = False
    total: tuple[str, Callable[[Sequence[float]], float]] | None = None
    total_digits: int | None = None
    by_type: bool = False
    of_type: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no attribute of a cell when the list is loaded."""
        for at in (self.at, self.order_by or {}):
            Cell(**at)

    @property
    def headings(self) -> list[Heading]:
        """All of its rows' and columns'."""
        return [each for side in (self.rows, self.columns) for axis in axes_of(side) for each in axis]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure(PaperItem):
    """A figure of the paper that the report draws.

    Attributes
    ----------
    name : str
        Name of the report's figure, with or without the task.
    tasks : tuple of str
        Names of the tasks that it shows; each may have one of its own. By default all of the paper's.
    parameters : str
        Parameters of the runs that it shows, as on the command line.
    sources : mapping of str to str
        The sources of questions that it shows, by default all, with the titles of their panels.
    """

    name: str
    tasks: tuple[str, ...] = ()
    parameters: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["table", "figure"] = "figure"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade(PaperItem):
    """An item that cannot be made from logs, and the reason."""

    why: str


@dataclass(frozen=True, slots=True)
class TaskParameters:
    """Names of a task's parameters: that of its conditions, and that of its sources of questions.

    A parameter ``source`` takes one source a run, ``sources`` takes several.
    """

    conditions: str = ""
    sources: str = ""


@dataclass(frozen=True, slots=True)
class Replication:
    """Everything that a paper numbers, in its order, and the tasks that the numbers come from.

    ``name`` is that of its folder, ``title`` the paper in a few words.
    """

    name: str
    title: str
    tasks: Mapping[str, TaskParameters]
    items: tuple[PaperItem, ...]


def from_table(table: str, column: str, **where: str) -> Compute:
    """Return what reads a column of one of a task's tables, in the row of a model where other columns are as given."""

    def value(runs: Runs, cell: Cell) -> Value:
        found = runs.table_of(cell, table)
        return None if found is None else looked_up(found, column, model=cell.model, **where)

    return value


def looked_up(table: ExtraTable, column: str, **where: str) -> float | None:
    """Return a number of a table: NaN without such a row, None without such a column."""
    rows = table.frame
    for name, value in where.items():
        rows = rows[rows[name] == value]
    if column not in rows:
        return None
    return float(rows[column].iloc[0]) if len(rows) else math.nan


def spread(values: Sequence[float]) -> float:
    """Return the largest number less the smallest.

    Examples
    --------
    >>> spread([0.5, 0.75])
    0.25
    """
    return max(values) - min(values)


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return float(np.mean(values))


class Runs:
    """The results of a report by task, its tables beside the measures and its figures, for the tables of one paper."""

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
        return task.estimate(cell.model, cell.group, str(cell.measure), cell.source) if task else None

    def contrast(self, cell: Cell) -> Contrast | None:
        """Return the contrast of a cell with the baseline; None where there is none."""
        task = self.task_of(cell)
        return task.contrast(cell.model, cell.group, str(cell.measure)) if task else None

    def sources(self, cell: Cell) -> set[str]:
        """Return the sources that the mean of a cell is over."""
        return {part.source for part in self._parts(cell) if len(part.rows)}

    def model_of(self, cell: Cell) -> ModelTrials | None:
        """Return the trials of a cell's model in its task; None where it was not asked."""
        task = self.task_of(cell)
        return next(model for model in task.models if model.label == cell.model) if task else None

    def trials(self, cell: Cell) -> list[Columns]:
        """Return the trials of a cell, one set of columns a source."""
        model = self.model_of(cell)
        return [rows_of(model.columns, part.rows) for part in self._parts(cell)] if model else []

    def _parts(self, cell: Cell) -> list[TrialSubset]:
        task = self.task_of(cell)
        return [
            part
            for group in (task.groups[cell.model] if task else ())
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
        """Return the figures that stand for one of the paper, one a task that it names."""
        slugs = [self.results[name].task_trials.slug for name in item.tasks if name in self.results]
        names = [item.name, *(f"{slug}_{item.name}" for slug in slugs)]
        shown = [_of_sources(self._figures[name], item) for name in names if name in self._figures]
        return [figure for figure in shown if figure.rows]

    def has_source(self, cell: Cell) -> bool:
        """Return whether a cell's model was asked questions of its source in its task."""
        model = self.model_of(cell)
        return model is not None and cell.source in model.columns["source"]

    def value(self, cell: Cell) -> Value:
        """Return what a cell holds."""
        if callable(cell.measure):
            return cell.measure(self, cell)
        entry = self.estimate(cell)
        return None if entry is None else entry.interval

    def better(self, cell: Cell) -> str:
        """Return the direction of what is best in a cell."""
        task = self.task_of(cell)
        if cell.better or task is None or callable(cell.measure):
            return cell.better
        measure = task.task_trials.study.measures_by_name.get(str(cell.measure))
        return measure.better if measure else ""


def _of_sources(figure: Figure, item: PaperFigure) -> Figure:
    """Return a figure with the panels of the paper's sources."""
    if not item.sources:
        return figure
    titles = set(item.sources.values())
    rows = ((label, tuple(panel for panel in its if panel.title in titles)) for label, its in figure.rows)
    return replace(figure, rows=tuple(row for row in rows if row[1]))


def _differs(runs: Runs, cell: Cell, way: str) -> bool:
    """Return True if a measure is significantly better (``higher``) or worse (``lower``) than under the baseline."""
    contrast = runs.contrast(cell)
    if contrast is None or not contrast.significant:
        return False
    higher = contrast.interval.estimate > 0.0
    return higher == (runs.better(cell) == way)


is_better: Rule = partial(_differs, way="higher")
is_worse: Rule = partial(_differs, way="lower")
"""Whether a measure is significantly better, or worse, than under the baseline."""
