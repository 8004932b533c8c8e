"""Tables and figures of a paper with the models of a report, as objects."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from confidence_tasks.catalogue import studies
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import Figure
from confidence_tasks.report.labels import why_missing
from confidence_tasks.report.paper import (
    MODELS,
    Cell,
    Heading,
    NotMade,
    PaperFigure,
    PaperItem,
    PaperTable,
    Replication,
    Runs,
    Value,
    axes_of,
    cross,
    heading,
)
from confidence_tasks.report.paper.lacking import lacking, missing_from_figure
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import study_report
from confidence_tasks.statistics import Interval

NOT_DEFINED = "–"


@dataclass(slots=True)
class FilledCell:
    """A cell with its values, its text as printed, the reasons for missing values, and its format."""

    cell: Cell
    values: tuple[float | str | None, ...]
    text: str
    reasons: tuple[str, ...] = ()
    mark: str = ""
    bold: bool = False
    italic: bool = False


Row: TypeAlias = tuple[tuple[str, ...], tuple[FilledCell, ...]]


@dataclass(frozen=True, slots=True)
class Filled:
    """A table or a figure of the paper with the models of the report.

    Attributes
    ----------
    item : PaperItem
        The table or figure in the paper.
    notes : tuple of str
        Reasons for missing numbers, sources of questions, missing runs, or why the item cannot be filled.
    stubs, columns : tuple
        Headings of the columns with row labels, and headings of each column of numbers, outermost first.
    rows : tuple of (tuple of str, tuple of FilledCell)
        Labels and cells of each row; empty if the logs fill no cell.
    figures : tuple of Figure
        The report's figures for a figure of the paper; empty if runs are missing.
    """

    item: PaperItem
    notes: tuple[str, ...]
    stubs: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()
    rows: tuple[Row, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def title(self) -> str:
        """Name in the paper."""
        return self.item.title

    @property
    def is_filled(self) -> bool:
        """True if the logs fill any of the cells, or the report has the figure."""
        return bool(self.rows or self.figures)


def filled_papers(
    results: Sequence[TaskResults], extras: Iterable[ExtraTable] = (), figures: Iterable[Figure] = ()
) -> Iterator[tuple[Replication, list[Filled]]]:
    """Yield the papers with a task in the report, each with all of its tables and figures."""
    runs = Runs(results, extras, figures)
    for replication in replications():
        if any(map(runs.results_of, replication.tasks)):
            yield replication, [_fill(item, replication, runs) for item in replication.items]


def replications() -> list[Replication]:
    """Return the papers of the installed studies, each once, in the order of the studies.

    Raises TypeError if a study names something else.
    """
    papers: dict[str, Replication] = {}
    for study in studies():
        for paper in study_report(study).replications:
            if not isinstance(paper, Replication):
                raise TypeError(f"study {study.name}: its replication is a {type(paper).__name__}")
            papers.setdefault(paper.name, paper)
    return list(papers.values())


def _fill(item: PaperItem, replication: Replication, runs: Runs) -> Filled:
    if isinstance(item, PaperTable):
        if item.of_models and not runs.about:
            return Filled(item, ("`--models FILE` has what the table shows; logs do not.",))
        return fill_table(item, replication, runs)
    if isinstance(item, PaperFigure):
        item = replace(item, tasks=item.tasks or tuple(replication.tasks))
        if item.of_type and item.of_type not in dict(runs.groups):
            return Filled(item, (f"`--group {item.of_type}=MODEL,...` names the models of this figure.",))
        figures = tuple(runs.figures(item))
        missing = missing_from_figure(item, runs, drawn=bool(figures))
        notes = tuple(lacking(replication, runs, missing, item.parameters))
        return Filled(item, notes, figures=figures)
    if isinstance(item, NotMade):
        return Filled(item, (item.why,))
    raise TypeError(f"{item.title} is none of PaperTable, PaperFigure and NotMade")


def fill_table(table: PaperTable, replication: Replication, runs: Runs) -> Filled:
    """Return a table of the paper with the models of a report."""
    rows, columns, grid = _grid(table, replication, runs)
    _mark_best(table, runs, grid)
    cells = [filled for row in grid for filled in row]
    missing = [filled.cell for filled in cells if all(value is None for value in filled.values)]
    labelled = [(row.labels, tuple(filled)) for row, filled in zip(rows, grid, strict=True)]
    if table.total:
        labelled = list(_with_totals(table, table.total, runs, labelled))
    labelled += _fixed_rows(table, columns)
    return Filled(
        table,
        tuple(dict.fromkeys(_notes(table, replication, runs, cells, missing))),
        table.stubs,
        tuple(column.labels for column in columns),
        tuple(labelled) if len(missing) < len(cells) else (),
    )


def _fixed_rows(table: PaperTable, columns: Sequence[Heading]) -> Iterator[Row]:
    """Yield the rows of a table that no log has."""
    cells = [Cell(**{**table.at, **column.at}) for column in columns]
    for labels, values in table.fixed_rows:
        numbers = map(_number, values)
        yield (
            labels,
            tuple(
                FilledCell(cell, (value,), NOT_DEFINED if math.isnan(value) else cell.format_value(value))
                for cell, value in zip(cells, numbers, strict=True)
            ),
        )


def _grid(
    table: PaperTable, replication: Replication, runs: Runs
) -> tuple[list[Heading], list[Heading], list[list[FilledCell]]]:
    """Return the headings of the rows and columns of a table, and its cells."""
    models = tuple(_model_headings(table, replication, runs))
    rows, columns = (
        cross([models if axis == MODELS else _as_asked(axis, runs) for axis in axes_of(side)])
        for side in (table.rows, table.columns)
    )
    grid = []
    for row in rows:
        attributes = [{**table.at, **row.at, **column.at} for column in columns]
        grid.append([_fill_cell(runs, Cell(**at)) for at in attributes])
    return rows, columns, grid


def _as_asked(axis: Sequence[Heading], runs: Runs) -> tuple[Heading, ...]:
    """Return headings with the name of another source where all questions of a question set are from there."""
    return tuple(replace(each, labels=_source_title(each, runs) or each.labels) for each in axis)


def _source_title(each: Heading, runs: Runs) -> tuple[str, ...]:
    """Return the title of the task of a heading if it is that of another source; else nothing."""
    asked = [results.task_trials for results in runs.results_of(each.at.get("task", ""))]
    titles = {task.title for task in asked}
    return tuple(titles) if len(titles) == 1 and titles != {asked[0].design.title} else ()


def _model_headings(table: PaperTable, replication: Replication, runs: Runs) -> Iterator[Heading]:
    """Yield the headings of the models, in a table by type with the type of each."""
    types = {label: name for name, labels in runs.groups for label in labels}
    for model in _ordered_models(table, replication, runs):
        of_type = [types.get(model, "")] if table.by_type else []
        yield heading(model, *of_type, model=model)


def _notes(
    table: PaperTable,
    replication: Replication,
    runs: Runs,
    cells: Sequence[FilledCell],
    missing: Sequence[Cell],
) -> Iterator[str]:
    """Yield the notes of a table: sources of questions, missing numbers and missing runs."""
    yield from _source_notes(runs, [filled.cell for filled in cells])
    for filled in cells:
        for reason in filled.reasons:
            yield f"{NOT_DEFINED}: {reason}."
    yield from lacking(replication, runs, missing)
    if table.of_type and table.of_type not in dict(runs.groups):
        yield f"All models are shown: `--group {table.of_type}=MODEL,...` selects models of this type."


def _ordered_models(table: PaperTable, replication: Replication, runs: Runs) -> list[str]:
    models = _models_of_type(table, replication, runs)
    if table.order_by is None:
        return models
    cells = {label: Cell(**{**table.at, **table.order_by, "model": label}) for label in models}
    numbers = {label: _number(runs.value(cell)) for label, cell in cells.items()}
    sign = 1.0 if {runs.better(cell) for cell in cells.values()} == {"lower"} else -1.0
    return sorted(models, key=lambda label: (math.isnan(numbers[label]), sign * numbers[label]))


def _models_of_type(table: PaperTable, replication: Replication, runs: Runs) -> list[str]:
    """Return the models of the tasks of a table, or else of the paper, that are of the type that it shows."""
    attributes = (table.at, *(each.at for each in table.headings))
    tasks = [name for at in attributes for name in Cell(**at).tasks if name]
    models = runs.models(tasks) or runs.models(replication.tasks)
    of_type = dict(runs.groups).get(table.of_type)
    return models if of_type is None else [label for label in models if label in of_type]


def _number(value: Value) -> float:
    if value is None or isinstance(value, str):
        return math.nan
    return float(value.estimate if isinstance(value, Interval) else value)


def _fill_cell(runs: Runs, cell: Cell) -> FilledCell:
    found = [_value_of(runs, part) for part in cell.parts]
    values, reasons = tuple(value for value, _ in found), tuple(filter(None, (each[1] for each in found)))
    if values[0] is None or values[0] != values[0]:
        return FilledCell(cell, values, NOT_DEFINED, reasons)
    texts = [_text(value, part) for value, part in zip(values, cell.parts, strict=True)]
    mark = cell.mark[0] if cell.mark and cell.mark[1](runs, cell) else ""
    bold = cell.bold is not None and cell.bold(runs, cell)
    return FilledCell(cell, values, cell.text.format(*texts), reasons, mark, bold)


def _value_of(runs: Runs, part: Cell) -> tuple[float | str | None, str]:
    """Return the value of a part of a cell, and why it is missing."""
    value = runs.value(part)
    if not isinstance(value, Interval):
        return value, ""
    shown = float(getattr(value, part.limit))
    return shown, why_missing(value) if math.isnan(shown) else ""


def _text(value: float | str | None, part: Cell) -> str:
    return NOT_DEFINED if value is None else part.format_value(value)


def _mark_best(table: PaperTable, runs: Runs, grid: Sequence[Sequence[FilledCell]]) -> None:
    """Set the best number of each measure bold, and the second best in italics if the paper marks it."""
    for cells in _compared(table, grid):
        directions = {runs.better(filled.cell) for filled in cells} & {"higher", "lower"}
        numbers = {_number(filled.values[0]) for filled in cells}
        defined = [value for value in numbers if not math.isnan(value)]
        ranked = sorted(defined, reverse=directions == {"higher"})
        if len(ranked) > 1 and len(directions) == 1:
            for filled in cells:
                value = _number(filled.values[0])
                filled.bold, filled.italic = value == ranked[0], table.second and value == ranked[1]


def _compared(table: PaperTable, grid: Sequence[Sequence[FilledCell]]) -> Iterable[list[FilledCell]]:
    """Return the cells that are compared with each other: those of a measure in a row, or those of a column."""
    if not table.best:
        return []
    compared: dict[tuple[Any, ...], list[FilledCell]] = defaultdict(list)
    for i, row in enumerate(grid):
        for j, filled in enumerate(row):
            # A row may hold several measures; all cells of a column hold the same measure.
            compared[(i, filled.cell.measure) if table.best == "row" else (j,)].append(filled)
    return compared.values()


def _with_totals(
    table: PaperTable,
    total: tuple[str, Callable[[Sequence[float]], float]],
    runs: Runs,
    rows: Sequence[Row],
) -> Iterator[Row]:
    """Yield the rows, with a total row at the end or after each group of models."""
    label, function = total
    groups = [set(labels) for _, labels in runs.groups] if table.by_type else []
    others = {cells[0].cell.model for _, cells in rows} - set[str]().union(*groups)
    for models in [*groups, others]:
        members = [row for row in rows if row[1][0].cell.model in models]
        if not members:
            continue
        yield from members
        columns = zip(*(cells for _, cells in members), strict=True)
        totals = tuple(_total(table, function, runs, column) for column in columns)
        yield (label, *[""] * (len(members[0][0]) - 1)), totals


def _total(
    table: PaperTable,
    function: Callable[[Sequence[float]], float],
    runs: Runs,
    column: Sequence[FilledCell],
) -> FilledCell:
    """Return the total of a column: the cell's own, or the function of the numbers that are defined."""
    cell = column[0].cell
    numbers = [_number(filled.values[0]) for filled in column]
    defined = [value for value in numbers if not math.isnan(value)]
    if cell.total:
        value = _number(cell.total(runs, cell))
    elif defined:
        value = function(defined)
    else:
        value = math.nan
    digits = cell.digits if table.total_digits is None else table.total_digits
    return FilledCell(cell, (value,), replace(cell, digits=digits).format_value(value))


def _source_notes(runs: Runs, cells: Iterable[Cell]) -> Iterator[str]:
    """Yield the note about the sources over which the cells are averaged."""
    sources = {source for cell in cells if not cell.source for source in runs.sources(cell)}
    if sources:
        yield f"Questions: {', '.join(map(printable, sorted(sources)))}" + (
            "; numbers are means over these sources." if len(sources) > 1 else "."
        )
