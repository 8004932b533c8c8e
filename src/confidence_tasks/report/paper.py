"""The tables and figures of a study's paper, filled with the models of a report.

A study lists them in its ``replication.py``: what each row and column stands for, in the paper's order and with its
digits. A number is an entry of the report's estimates, or what a function of the study makes of the trials.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from confidence_tasks.catalogue import studies
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures.figure import Figure
from confidence_tasks.report.groups import in_order
from confidence_tasks.report.labels import group_label, printable
from confidence_tasks.report.model_groups import is_member
from confidence_tasks.report.page.numbers import number, signed, why_missing
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import ModelTrials
from confidence_tasks.statistics import Interval

Value: TypeAlias = "float | str | Interval | None"
"""What a cell holds: NaN where it is undefined, None where a model was not asked."""

Compute: TypeAlias = "Callable[[Runs, Cell], Value]"
Rule: TypeAlias = "Callable[[Runs, Cell], bool]"

NOT_DEFINED = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a number of a paper's table comes from, and how it is printed.

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
        """Its numbers, each as a cell."""
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
"""In the place of this axis a table has the models of the report."""


def heading(*labels: str, **at: Any) -> Heading:
    """Return a heading of some labels; the keywords are attributes of its cells."""
    return Heading(labels, at)


def by_measure(name: str, /, *labels: str, **at: Any) -> Heading:
    """Return the heading of a measure."""
    return Heading(labels, {"measure": name, **at})


def by_group(labels: Mapping[str, str], **at: Any) -> Axis:
    """Return an axis of conditions, by their labels in the paper."""
    return tuple(Heading((label,), {"group": group, **at}) for label, group in labels.items())


def crossed(axes: Sequence[Axis]) -> list[Heading]:
    """Return every combination of the headings of some axes, the first outermost."""
    return [
        Heading(
            tuple(label for part in parts for label in part.labels),
            {key: value for part in parts for key, value in part.at.items()},
        )
        for parts in product(*axes)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperItem:
    """What the paper numbers.

    Attributes
    ----------
    number : str
        Its number in the paper.
    caption : str
        What it shows.
    kind : {"table", "figure"}
        What the paper calls it.
    """

    number: str
    caption: str
    kind: Literal["table", "figure"] = "table"

    @property
    def title(self) -> str:
        """What the paper calls it, such as "Table 1"."""
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
        Headings of the columns that name the rows.
    rows, columns : tuple of Axis
        What is crossed, outermost first.
    at : mapping
        Attributes of all cells.
    order_by : mapping, optional
        Attributes of the number by which models are ordered, the best first; by default they are in alphabetical order.
    best : {"", "row", "column"}
        Among which numbers of a measure the best is set bold.
    second : bool
        Whether the second best is set in italics.
    total : (str, callable), optional
        Label of a last row, and the function of a column's numbers that it holds.
    total_digits : int, optional
        Decimals of the last row, where it has others than the column.
    by_type : bool
        Whether rows of models have the name of their group as a second label, and each group a last row of its own.
    of_type : str
        Name of the group of models that the table is of; while the user names no such group, it is of all models.
    """

    stubs: tuple[str, ...]
    rows: tuple[Axis, ...]
    columns: tuple[Axis, ...]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure(PaperItem):
    """A figure of the paper that the report draws.

    Attributes
    ----------
    name : str
        Name of the report's figure, with or without the task.
    tasks : tuple of str
        Names of the tasks that it shows; each may have one of its own.
    parameters : str
        Parameters of the runs that it shows, as on the command line.
    """

    name: str
    tasks: tuple[str, ...]
    parameters: str = ""
    kind: Literal["table", "figure"] = "figure"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade(PaperItem):
    """What cannot be made from logs, and why."""

    why: str

    @property
    def notes(self) -> tuple[str, ...]:
        """Why it cannot be made."""
        return (self.why,)

    @property
    def is_filled(self) -> bool:
        """Never."""
        return False


@dataclass(frozen=True, slots=True)
class TaskParameters:
    """Names of a task's parameters: that of its conditions, and that of its sources of questions.

    A parameter ``source`` takes one source a run, ``sources`` takes several.
    """

    conditions: str = ""
    sources: str = ""


@dataclass(frozen=True, slots=True)
class Replication:
    """Everything that a paper numbers.

    Attributes
    ----------
    name, title : str
        Name of its folder, and the paper in a few words.
    tasks : mapping of str to TaskParameters
        The tasks that the paper's numbers come from.
    items : tuple of PaperItem
        Tables, figures and what cannot be made, in the paper's order.
    """

    name: str
    title: str
    tasks: Mapping[str, TaskParameters]
    items: tuple[PaperItem, ...]


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
        return [self._figures[name] for name in names if name in self._figures]

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


@dataclass(frozen=True, slots=True)
class FilledCell:
    """A cell: its numbers or texts, the whole as printed, and how it is set."""

    values: tuple[float | str | None, ...]
    text: str
    mark: str = ""
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class FilledTable:
    """A table of the paper with the models of the report.

    Attributes
    ----------
    item : PaperTable
        What it is.
    columns : tuple of tuple of str
        Headings of each column of numbers, outermost first.
    names : tuple of tuple of str
        Names of the numbers of each column, for files.
    rows : tuple of (tuple of str, tuple of FilledCell)
        Labels and cells of each row; none where the logs fill no cell.
    notes : tuple of str
        Why numbers are missing, over which sources means are, and which runs are lacking.
    """

    item: PaperTable
    columns: tuple[tuple[str, ...], ...]
    names: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[tuple[str, ...], tuple[FilledCell, ...]], ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the paper calls it."""
        return self.item.title

    @property
    def is_filled(self) -> bool:
        """Whether the logs fill any of its cells."""
        return bool(self.rows)


@dataclass(frozen=True, slots=True)
class FilledFigure:
    """A figure of the paper with the models of the report: none, with a note, where runs are lacking."""

    item: PaperFigure
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What the paper calls it."""
        return self.item.title

    @property
    def is_filled(self) -> bool:
        """Whether the report draws it."""
        return bool(self.figures)


Filled: TypeAlias = FilledTable | FilledFigure | NotMade


def filled_papers(
    results: Sequence[TaskResults], extras: Iterable[ExtraTable] = (), figures: Iterable[Figure] = ()
) -> Iterator[tuple[Replication, list[Filled]]]:
    """Yield the papers of which a task was run, with everything that they number for the models of a report.

    Parameters
    ----------
    results : sequence of TaskResults
        The tasks of the report.
    extras : iterable of ExtraTable
        Its tables beside the measures.
    figures : iterable of Figure
        Its figures.
    """
    runs = Runs(results, extras, figures)
    for study in studies():
        if study.replication is not None:
            replication = study.replication.load()
            if runs.results.keys() & replication.tasks.keys():
                yield replication, [_filled(item, replication, runs) for item in replication.items]


def _filled(item: PaperItem, replication: Replication, runs: Runs) -> Filled:
    if isinstance(item, PaperTable):
        return fill_table(item, replication, runs)
    if isinstance(item, PaperFigure):
        figures = tuple(runs.figures(item))
        lacking = [Cell(task=name) for name in item.tasks if not figures or name not in runs.results]
        notes = tuple(_lacks(replication, runs, lacking, item.parameters))
        return FilledFigure(item, figures, notes)
    if isinstance(item, NotMade):
        return item
    raise TypeError(f"{item.title} is none of PaperTable, PaperFigure and NotMade")


def fill_table(table: PaperTable, replication: Replication, runs: Runs) -> FilledTable:
    """Fill a table of the paper with the models of a report.

    Parameters
    ----------
    table : PaperTable
        The table.
    replication : Replication
        The paper.
    runs : Runs
        The results.
    """
    models = _models_of(table, replication, runs)
    types = {label: name for name, labels in runs.groups for label in labels}
    own = tuple(
        heading(model, *([types.get(model, "")] if table.by_type else []), model=model) for model in models
    )
    rows, columns = (
        crossed([own if axis is MODELS else axis for axis in axes]) for axes in (table.rows, table.columns)
    )
    cells = [[Cell(**{**table.at, **row.at, **column.at}) for column in columns] for row in rows]
    parts = {(i, j): cell.parts for i, its in enumerate(cells) for j, cell in enumerate(its)}
    values = {where: [runs.value(part) for part in its] for where, its in parts.items()}
    made = [[_cell(runs, cell, values[i, j]) for j, cell in enumerate(its)] for i, its in enumerate(cells)]
    made = _with_best(table, runs, cells, made)
    lacking = [cells[i][j] for (i, j), its in values.items() if all(value is None for value in its)]
    notes = (
        *_of_sources(runs, cells),
        *_reasons(pair for where, its in parts.items() for pair in zip(its, values[where], strict=True)),
        *_lacks(replication, runs, lacking),
    )
    if table.of_type and table.of_type not in dict(runs.groups):
        notes = (*notes, f"Of all models: `--group {table.of_type}=MODEL,...` says which are of this type.")
    labelled = [(row.labels, tuple(its)) for row, its in zip(rows, made, strict=True)]
    if table.total:
        labelled = list(_with_totals(table, table.total, runs, cells, labelled))
    return FilledTable(
        table,
        tuple(column.labels for column in columns),
        tuple(tuple(part.name for part in cell.parts) for cell in cells[0]),
        tuple(labelled) if len(lacking) < len(parts) else (),
        tuple(dict.fromkeys(notes)),
    )


def _models_of(table: PaperTable, replication: Replication, runs: Runs) -> list[str]:
    """Return the models of a table in order."""
    axes = (*table.rows, *table.columns)
    headings = [each for axis in axes for each in axis]
    tasks = [name for at in (table.at, *(each.at for each in headings)) for name in Cell(**at).tasks if name]
    models = runs.models(tasks) or runs.models(replication.tasks)
    of_type = dict(runs.groups).get(table.of_type)
    if of_type is not None:
        models = [label for label in models if label in of_type]
    if table.order_by is None:
        return models
    keys = {label: Cell(**{**table.at, **table.order_by, "model": label}) for label in models}
    numbers = {label: _number(runs.value(cell)) for label, cell in keys.items()}
    ways = {runs.better(cell) for cell in keys.values()}
    falling = -1.0 if ways != {"lower"} else 1.0
    return sorted(models, key=lambda label: (math.isnan(numbers[label]), falling * numbers[label]))


def _number(value: Value) -> float:
    if value is None or isinstance(value, str):
        return math.nan
    return float(value.estimate if isinstance(value, Interval) else value)


def _held(value: Value, part: Cell) -> float | str | None:
    return float(getattr(value, part.limit)) if isinstance(value, Interval) else value


def _cell(runs: Runs, cell: Cell, values: Sequence[Value]) -> FilledCell:
    held = tuple(_held(value, part) for value, part in zip(values, cell.parts, strict=True))
    first = held[0]
    if first is None or (isinstance(first, float) and math.isnan(first)):
        return FilledCell(held, NOT_DEFINED)
    texts = [
        NOT_DEFINED if value is None else part.printed(value)
        for value, part in zip(held, cell.parts, strict=True)
    ]
    mark = cell.mark[0] if cell.mark and cell.mark[1](runs, cell) else ""
    bold = cell.bold is not None and cell.bold(runs, cell)
    return FilledCell(held, cell.text.format(*texts), mark, bold)


def _with_best(
    table: PaperTable, runs: Runs, cells: Sequence[Sequence[Cell]], made: list[list[FilledCell]]
) -> list[list[FilledCell]]:
    """Set the best number of each measure bold, and the second best in italics if the paper marks it."""
    if not table.best:
        return made
    compared: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for i, its in enumerate(cells):
        for j, cell in enumerate(its):
            # A row may hold several measures; a column holds one, or numbers that are made alike.
            where = (i, cell.measure) if table.best == "row" else (j,)
            compared.setdefault(where, []).append((i, j))
    for places in compared.values():
        ways = {runs.better(cells[i][j]) for i, j in places} & {"higher", "lower"}
        numbers = {place: _number(made[place[0]][place[1]].values[0]) for place in places}
        ranked = sorted(
            {value for value in numbers.values() if not math.isnan(value)}, reverse=ways == {"higher"}
        )
        if len(ranked) < 2 or len(ways) != 1:
            continue
        for (i, j), value in numbers.items():
            made[i][j] = replace(
                made[i][j], bold=value == ranked[0], italic=table.second and value == ranked[1]
            )
    return made


_Row: TypeAlias = "tuple[tuple[str, ...], tuple[FilledCell, ...]]"


def _with_totals(
    table: PaperTable,
    total: tuple[str, Callable[[Sequence[float]], float]],
    runs: Runs,
    cells: Sequence[Sequence[Cell]],
    rows: Sequence[_Row],
) -> Iterator[_Row]:
    """Yield the rows, and after those of each type of models, or after all, their last row."""
    label, function = total
    grouped = [set(labels) for _, labels in runs.groups] if table.by_type else []
    rest = {its[0].model for its in cells} - set[str]().union(*grouped)
    for members in [*grouped, rest]:
        own = [(its, row) for its, row in zip(cells, rows, strict=True) if its[0].model in members]
        yield from (row for _, row in own)
        if not own:
            continue
        last = []
        for column, cell in enumerate(own[0][0]):
            values = [_number(row[1][column].values[0]) for _, row in own]
            defined = [value for value in values if not math.isnan(value)]
            found = cell.total(runs, cell) if cell.total else function(defined) if defined else math.nan
            value = _number(found)
            digits = cell.digits if table.total_digits is None else table.total_digits
            last.append(FilledCell((value,), replace(cell, digits=digits).printed(value)))
        yield (label, *[""] * (len(own[0][1][0]) - 1)), tuple(last)


def _reasons(parts: Iterable[tuple[Cell, Value]]) -> Iterator[str]:
    """Say why numbers or limits are undefined."""
    for part, value in parts:
        if isinstance(value, Interval) and math.isnan(getattr(value, part.limit)):
            yield f"{NOT_DEFINED}: {why_missing(value)}."


def _of_sources(runs: Runs, cells: Sequence[Sequence[Cell]]) -> Iterator[str]:
    """Say over which sources of questions the means of a table are."""
    sources = {source for its in cells for cell in its if not cell.source for source in runs.sources(cell)}
    if sources:
        yield f"Questions: {', '.join(map(printable, sorted(sources)))}" + (
            "; numbers are means over these." if len(sources) > 1 else "."
        )


# Runs that are lacking --------------------------------------------------------------------------------------------


def _lacks(
    replication: Replication, runs: Runs, cells: Sequence[Cell], parameters: str = ""
) -> Iterator[str]:
    """Say which runs some cells lack, with the command that makes them."""
    by_run: dict[tuple[str, frozenset[tuple[str, str]]], list[str]] = {}
    wanted: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for cell in cells:
        for model in (
            [cell.model] if cell.model else (runs.models(cell.tasks) or runs.models(replication.tasks))
        ):
            wanted.setdefault((cell.tasks[0], model), set()).add((_condition(runs, cell), cell.source))
    for (task, model), its in wanted.items():
        by_run.setdefault((task, frozenset(its)), []).append(model)
    for (task, asked), models in by_run.items():
        conditions, sources = (in_order(filter(None, part)) for part in zip(*asked, strict=True))
        named = replication.tasks.get(task, TaskParameters())
        what = [task, *([", ".join(map(group_label, conditions))] if conditions else []), *sources]
        whom = f" of {', '.join(models)}"
        name = ",".join(dict.fromkeys(map(runs.name_of, models)))
        commands = _commands(task, name, named, conditions, sources, parameters)
        yield f"Lacks {' · '.join(what)}{whom}: {'; '.join(f'`{command}`' for command in commands)}"


def _condition(runs: Runs, cell: Cell) -> str:
    """Return the condition that a cell's group is; nothing for other groups, such as means over conditions."""
    studies = [
        task.task_trials.study for task in runs.results.values() if task.task_trials.task in cell.tasks
    ]
    for study in studies or [task.task_trials.study for task in runs.results.values()]:
        try:
            study.condition_numbers(cell.group)
        except ValueError:
            return ""
    return cell.group


def _commands(
    task: str,
    model: str,
    named: TaskParameters,
    conditions: Sequence[str],
    sources: Sequence[str],
    parameters: str,
) -> list[str]:
    """Return the commands that ask a model under some conditions, on some sources."""
    start = ["inspect", "eval", f"confidence_tasks/{task}", "--model", shlex.quote(model)]
    if conditions and named.conditions:
        values = ",".join(label.partition("=")[2] or label for label in conditions)
        start += ["-T", f"{named.conditions}={values}"]
    start += parameters.split()
    if not (sources and named.sources):
        return [" ".join(start)]
    asked = sources if named.sources == "source" else [",".join(sources)]
    return [" ".join([*start, "-T", f"{named.sources}={value}"]) for value in asked]


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
