"""Definitions of the tables and figures of a paper, and access to the results of a report that fill them.

A study lists the items of its paper in its ``report.py``, in the paper's order and with its number of digits. Each
number is an estimate of the report, or is computed from the trials by a function of the study.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, TypeAlias

from confidence_tasks.logs.about_models import AboutModels
from confidence_tasks.logs.task_trials import Columns, ModelTrials
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.extra_tables import ExtraTable, MakeTable
from confidence_tasks.report.figures import Figure
from confidence_tasks.report.figures.general import MakeFigure
from confidence_tasks.report.groups import TrialSubset, members_of
from confidence_tasks.report.labels import number, signed
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import Interval
from confidence_tasks.study.columns import rows_of

Value: TypeAlias = "float | str | Interval | None"
"""Value of a cell: NaN if it is undefined, None if the model was not asked."""

Compute: TypeAlias = "Callable[[Runs, Cell], Value]"
Rule: TypeAlias = "Callable[[Runs, Cell], bool]"


@dataclass(frozen=True, slots=True)
class Cell:
    """Definition of a cell of a paper's table: the numbers that it holds and their format.

    Attributes
    ----------
    model : str
        Label of the model.
    task : str or tuple of str
        Name of the task; if there are several names, the first task in which the model was asked is used.
    group, source : str
        The condition or other group of trials, and the source of questions; by default the mean over sources.
    measure : str or callable
        Name of a measure, or a function that computes the value.
    limit : {"estimate", "low", "high"}
        The part of an interval that is printed.
    digits : int
        Number of decimals.
    percent : bool
        Whether a proportion is printed as a percentage.
    leading_zero, sign : bool
        Whether a number below 1 has a zero before the point, and whether a positive number has a plus sign.
    text : str
        Format of the whole cell, with ``{}`` for each number.
    more : tuple of mapping
        Further numbers of the cell, each as the attributes in which it differs from the first number.
    name : str
        Suffix of the number's column in CSV files.
    mark : (str, callable), optional
        A superscript, and the rule by which a cell has it.
    bold : callable, optional
        The rule by which a cell is bold.
    better : {"", "higher", "lower"}
        Direction of better values; by default that of the measure.
    total : callable, optional
        Function that computes the cell in a total row; by default that of the table.
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
        """Names of the tasks in order of preference."""
        return (self.task,) if isinstance(self.task, str) else self.task

    @property
    def parts(self) -> list[Cell]:
        """The numbers of this cell, each as a separate cell."""
        return [replace(self, more=(), **changes) for changes in ({}, *self.more)]

    def format_value(self, value: float | str) -> str:
        """Return a value in the paper's format.

        Examples
        --------
        >>> Cell(digits=1, percent=True).format_value(0.4213), Cell(leading_zero=False).format_value(0.811)
        ('42.1', '.81')
        """
        if isinstance(value, str):
            return value
        scaled = 100.0 * value if self.percent else value
        text = signed(scaled, self.digits) if self.sign else number(scaled, self.digits)
        return text if self.leading_zero else text.replace("0.", ".", 1) if abs(scaled) < 1.0 else text


@dataclass(frozen=True, slots=True)
class Heading:
    """A row or a column: its labels, outermost first, and the attributes that its cells share."""

    labels: tuple[str, ...]
    at: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Raise TypeError for a name that is no attribute of a cell."""
        Cell(**self.at)


Axis: TypeAlias = tuple[Heading, ...]

MODELS: Axis = (Heading(("model",), {"model": ""}),)
"""Placeholder for the axis of the report's models."""


def heading(*labels: str, **at: Any) -> Heading:
    """Return a heading with labels; keywords are attributes of its cells."""
    return Heading(labels, at)


def by_measure(name: str, /, *labels: str, **at: Any) -> Heading:
    """Return the heading of a measure."""
    return heading(*labels, measure=name, **at)


def axes_of(side: Axis | tuple[Axis, ...]) -> list[Axis]:
    """Return the axes of the rows or of the columns of a table, which may be a single axis."""
    single = tuple(each for each in side if isinstance(each, Heading))
    return [single] if single else [each for each in side if not isinstance(each, Heading)]


def cross(axes: Sequence[Axis]) -> list[Heading]:
    """Return all combinations of headings, one from each axis; the first axis is the outermost."""
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
        """Name of the item's files, without suffix."""
        return f"{self.kind}_{self.number.replace(' ', '_')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable(PaperItem):
    """A table of the paper.

    Attributes
    ----------
    stubs : tuple of str
        Headings of the columns with row labels.
    rows, columns : Axis or tuple of Axis
        A single axis, or several axes to cross, outermost first.
    at : mapping
        Attributes that all cells share.
    order_by : mapping, optional
        Attributes of the number by which models are ordered, best first; by default the order of the report.
    best : {"", "row", "column"}
        Whether the best number of a measure in each row or column is bold.
    second : bool
        Whether the second best number is in italics.
    total : (str, callable), optional
        Label of a total row, and the function that computes it from the numbers of a column.
    total_digits : int, optional
        Number of decimals in the total row; by default that of the column.
    by_type : bool
        Whether the group of a model is a second row label, and each group has its own total row.
    of_type : str
        Name of the only group of models in the table; if the user defines no such group, the table has all models.
    fixed_rows : tuple of (tuple of str, tuple)
        Rows at the end that no log has, such as of people: their labels, and a value for each column.
    of_models : bool
        Whether the table shows what the user's file says of models, and is not made without it.
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
    fixed_rows: tuple[tuple[tuple[str, ...], tuple[Value, ...]], ...] = ()
    of_models: bool = False

    def __post_init__(self) -> None:
        """Raise TypeError for a name that is no attribute of a cell."""
        for at in (self.at, self.order_by or {}):
            Cell(**at)

    @property
    def headings(self) -> list[Heading]:
        """The headings of all rows and columns."""
        return [each for side in (self.rows, self.columns) for axis in axes_of(side) for each in axis]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure(PaperItem):
    """A figure of the paper that the report draws.

    Attributes
    ----------
    name : str
        Name of the report's figure, with or without the prefix of a task.
    otherwise : str
        Name of the figure that stands in where the report has no figure ``name``, because it would be the same.
    tasks : tuple of str
        Names of the tasks in the figure, by default all tasks of the paper. Each task may have a separate figure.
    parameters : str
        Parameters of the runs in the figure, as on the command line.
    sources : mapping of str to str
        Sources of questions in the figure, with the titles of their panels; by default all sources.
    of_type, not_of_type : str
        Name of the group of models that alone is in the figure, or that is not. Without such a group, the first figure
        is not made, and the second has all models. The panels of the figure, or its rows, are of one model each.
    """

    name: str
    otherwise: str = ""
    tasks: tuple[str, ...] = ()
    parameters: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    of_type: str = ""
    not_of_type: str = ""
    kind: Literal["table", "figure"] = "figure"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade(PaperItem):
    """An item of the paper that cannot be made from logs, and the reason."""

    why: str


@dataclass(frozen=True, slots=True)
class TaskParameters:
    """Names of a task's parameters for its conditions and for its sources of questions.

    A parameter named ``source`` takes one source per run, ``sources`` takes several.
    """

    conditions: str = ""
    sources: str = ""


@dataclass(frozen=True, slots=True)
class Replication:
    """All numbered tables and figures of a paper, in order, and the tasks that provide their numbers.

    Attributes
    ----------
    name : str
        Name of the folder of their files.
    title : str
        Citation of the paper.
    tasks : mapping of str to TaskParameters
        The tasks that provide the numbers.
    items : tuple of PaperItem
        The tables and figures in the paper's order.
    figures, tables : mapping of str to tuple of callable
        By the name of a study: functions that draw figures and make tables of its page, after its own, like those of
        :class:`~confidence_tasks.report.study_report.StudyReport`. Items may name them.
    """

    name: str
    title: str
    tasks: Mapping[str, TaskParameters]
    items: tuple[PaperItem, ...]
    figures: Mapping[str, tuple[MakeFigure, ...]] = field(default_factory=dict)
    tables: Mapping[str, tuple[MakeTable, ...]] = field(default_factory=dict)


class Runs:
    """The results, extra tables and figures of a report, by the names that a paper's items use."""

    def __init__(
        self,
        results: Iterable[TaskResults],
        extras: Iterable[ExtraTable] = (),
        figures: Iterable[Figure] = (),
    ) -> None:
        self.results = tuple(results)
        self.tables = {table.name: table for table in extras}
        self._figures = {figure.name: figure for figure in figures}

    def results_of(self, task: str) -> list[TaskResults]:
        """Return the results of a task, and after them those of replies to it that were recorded in files."""
        return [each for each in self.results if task in each.task_trials.tasks]

    @cached_property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The groups of models that the user defines, with the labels of their models."""
        groups = next((task.settings.groups for task in self.results), ())
        return [
            (name, [model.label for model in members_of(list(self._models.values()), members)])
            for name, members in groups
        ]

    @cached_property
    def about(self) -> AboutModels:
        """What the user's file says of models."""
        return next((task.settings.about for task in self.results), ())

    @cached_property
    def _models(self) -> dict[str, ModelTrials]:
        return {model.label: model for task in self.results for model in task.models}

    def models(self, tasks: Iterable[str]) -> list[str]:
        """Return the labels of the models that were asked in any of the tasks; models of a group are adjacent."""
        results = [each for name in tasks for each in self.results_of(name)]
        labels = dict.fromkeys(model.label for task in results for model in task.models)
        grouped = [label for _, members in self.groups for label in members if label in labels]
        return list(dict.fromkeys((*grouped, *labels)))

    def name_of(self, label: str) -> str:
        """Return the name of the model with a label."""
        return self._models[label].name if label in self._models else label

    def task_of(self, cell: Cell) -> TaskResults | None:
        """Return the first of a cell's tasks in which its model has trials, in its group if it has one."""
        for task in (each for name in cell.tasks for each in self.results_of(name)):
            groups = task.groups.get(cell.model)
            if groups and (not cell.group or cell.group in {group.label for group in groups}):
                return task
        return None

    def was_asked(self, cell: Cell) -> bool:
        """Return whether the model of a cell was asked in its task, in its group and on its source, if it has these."""
        model = self.model_of(cell)
        if model is None:
            return False
        if cell.group:
            return any(len(part.rows) for part in self._parts(cell))
        return not cell.source or cell.source in model.columns["source"]

    def is_recorded(self, label: str) -> bool:
        """Return whether all trials of the model with a label are of recorded replies."""
        tasks = [task.task_trials for task in self.results if label in task.groups]
        return bool(tasks) and all(trials.is_recorded for trials in tasks)

    def estimate(self, cell: Cell) -> Estimated | None:
        """Return the estimate of a cell's measure; None if its model was not asked."""
        task = self.task_of(cell)
        return task.estimate(cell.model, cell.group, str(cell.measure), cell.source) if task else None

    def contrast(self, cell: Cell) -> Contrast | None:
        """Return the contrast between a cell's group and the baseline; None if there is none."""
        task = self.task_of(cell)
        return task.contrast(cell.model, cell.group, str(cell.measure)) if task else None

    def sources(self, cell: Cell) -> set[str]:
        """Return the sources over which a cell is averaged."""
        return {part.source for part in self._parts(cell) if len(part.rows)}

    def model_of(self, cell: Cell) -> ModelTrials | None:
        """Return the trials of a cell's model in its task; None if it was not asked."""
        task = self.task_of(cell)
        return next(model for model in task.models if model.label == cell.model) if task else None

    def trials(self, cell: Cell) -> list[Columns]:
        """Return the trials of a cell, one set of columns per source."""
        model = self.model_of(cell)
        return [rows_of(model.columns, part.rows) for part in self._parts(cell)] if model else []

    def _parts(self, cell: Cell) -> list[TrialSubset]:
        task = self.task_of(cell)
        return [
            part
            for group in (task.groups[cell.model] if task else ())
            if group.label == cell.group
            for part in (group.subsets if not cell.source else group.all_subsets)
            if cell.source in ("", part.source)
        ]

    def figures(self, item: PaperFigure) -> list[Figure]:
        """Return the report's figures for a figure of the paper, one per task if they are of tasks."""
        drawn = self._named(item, item.name) or self._named(item, item.otherwise)
        figures = [_select_sources(figure, item) for figure in drawn]
        hidden = self._hidden(item)
        return [shown for figure in figures if (shown := _without_models(figure, hidden)).rows]

    def _named(self, item: PaperFigure, name: str) -> list[Figure]:
        """Return the figures with a name, with and without the prefixes of the tasks of an item."""
        slugs = [each.task_trials.slug for task in item.tasks for each in self.results_of(task)]
        names = [name, *(f"{slug}_{name}" for slug in dict.fromkeys(slugs))]
        return [self._figures[each] for each in names if each in self._figures]

    def _hidden(self, item: PaperFigure) -> set[str]:
        """Return the labels of the models that are not in a figure because of their type."""
        groups = dict(self.groups)
        hidden = set(groups.get(item.not_of_type, ()))
        return hidden | (self._models.keys() - set(groups.get(item.of_type, ())) if item.of_type else set())

    def value(self, cell: Cell) -> Value:
        """Return the value of a cell."""
        if callable(cell.measure):
            return cell.measure(self, cell)
        entry = self.estimate(cell)
        return None if entry is None else entry.interval

    def better(self, cell: Cell) -> str:
        """Return the direction of better values in a cell."""
        task = self.task_of(cell)
        if cell.better or task is None or callable(cell.measure):
            return cell.better
        measure = task.task_trials.study.measures_by_name.get(str(cell.measure))
        return measure.better if measure else ""


def _select_sources(figure: Figure, item: PaperFigure) -> Figure:
    """Return a figure with only the panels of the item's sources."""
    if not item.sources:
        return figure
    titles = set(item.sources.values())
    rows = (
        (label, tuple(panel for panel in panels if panel.title in titles)) for label, panels in figure.rows
    )
    return replace(figure, rows=tuple(row for row in rows if row[1]))


def _without_models(figure: Figure, hidden: Container[str]) -> Figure:
    """Return a figure without the rows, the panels and the entries of the legend of some models."""
    rows = (
        (label, tuple(panel for panel in panels if (panel.title or label) not in hidden))
        for label, panels in figure.rows
        if label not in hidden
    )
    keys = tuple(key for key in figure.keys if key.label.removesuffix(", as stated") not in hidden)
    return replace(figure, rows=tuple(row for row in rows if row[1]), keys=keys)
