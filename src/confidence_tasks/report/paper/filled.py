"""Tables and figures of a paper with the models of a report, as objects and as HTML, CSV, LaTeX, SVG and PDF files."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from markupsafe import Markup

from confidence_tasks.catalogue import studies
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import Figure, figure_pdf, figure_svg
from confidence_tasks.report.labels import latex, plain_cell, rendered, why_missing
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
from confidence_tasks.sources.source import write_atomically
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


_Row: TypeAlias = tuple[tuple[str, ...], tuple[FilledCell, ...]]


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
    rows: tuple[_Row, ...] = ()
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


def _fixed_rows(table: PaperTable, columns: Sequence[Heading]) -> Iterator[_Row]:
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
        cross([models if axis == MODELS else axis for axis in axes_of(side)])
        for side in (table.rows, table.columns)
    )
    grid = []
    for row in rows:
        attributes = [{**table.at, **row.at, **column.at} for column in columns]
        grid.append([_fill_cell(runs, Cell(**at)) for at in attributes])
    return rows, columns, grid


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
    rows: Sequence[_Row],
) -> Iterator[_Row]:
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


_BREAK = r"\1\\allowbreak{}"

_DOCUMENT = r"""\documentclass{article}
\usepackage[a4paper,margin=15mm]{geometry}
\usepackage{booktabs,graphicx,pdflscape}
\begin{document}
\sloppy
%s
\end{document}
"""


def write_paper(papers: Sequence[tuple[Replication, Sequence[Filled]]], folder: Path) -> list[Path]:
    """Write the tables and figures of papers: a folder per paper, and the document ``paper.tex`` with all of them.

    Return the files; the document is the last one.
    """
    written: list[Path] = []
    lines: list[str] = []
    for replication, items in papers:
        lines.append(rf"\section*{{{latex(replication.title)}}}")
        for filled in items:
            files = dict(_files(filled, replication))
            for name, content in files.items():
                written.append(folder / replication.name / name)
                write_atomically(written[-1], content)
            lines += _document_lines(filled, replication, list(files))
    written.append(folder / "paper.tex")
    write_atomically(written[-1], (_DOCUMENT % "\n".join(lines)).encode(errors="replace"))
    return written


def _files(filled: Filled, replication: Replication) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files of a table or a figure; none if runs are missing."""
    if filled.rows:
        yield f"{filled.item.file}.tex", latex_paper_table(filled, replication).encode(errors="replace")
        frame = paper_frame(filled).map(plain_cell)
        yield f"{filled.item.file}.csv", frame.to_csv(index=False).encode(errors="replace")
        yield f"{filled.item.file}.html", html_table(filled).encode(errors="xmlcharrefreplace")
    for figure in filled.figures:
        name = filled.item.file + ("" if len(filled.figures) == 1 else f"_{figure.name}")
        yield f"{name}.svg", figure_svg(figure).encode(errors="xmlcharrefreplace")
        yield f"{name}.pdf", figure_pdf(figure)


def _document_lines(filled: Filled, replication: Replication, files: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the document for a table or a figure."""
    is_wide = bool(filled.rows) and _width(filled) > PORTRAIT
    if is_wide:
        yield r"\begin{landscape}"
    for name in files:
        if name.endswith(".tex"):
            yield rf"\input{{{replication.name}/{name}}}"
        elif name.endswith(".pdf"):
            yield _latex_figure(filled, replication, name)
    if is_wide:
        yield r"\end{landscape}"
    if files:
        yield from (rf"\par\noindent{{\footnotesize {_latex_text(note)}}}" for note in filled.notes)
        yield r"\clearpage"
    else:
        texts = " ".join(map(_latex_text, (filled.item.caption, *filled.notes)))
        yield rf"\paragraph{{{latex(filled.title)}}} {texts}"


PORTRAIT = 95
"""Largest number of characters of a line of a table, with two between columns, that fits on a page in portrait."""


def _width(filled: Filled) -> int:
    """Return the number of characters of the longest line of a table."""
    lines = [(*filled.stubs, *(labels[-1] for labels in filled.columns))]
    lines += [(*labels, *(cell.text for cell in cells)) for labels, cells in filled.rows]
    return sum(max(map(len, column)) + 2 for column in zip(*lines, strict=True))


def _latex_text(text: str) -> str:
    """Return LaTeX with text in backticks in typewriter font, which may break after commas, slashes and equal signs."""
    parts = [latex(part) for part in text.split("`")]
    return "".join(
        rf"\texttt{{{re.sub('([,/=])', _BREAK, part)}}}" if i % 2 else part for i, part in enumerate(parts)
    )


def _label(filled: Filled, replication: Replication, figure: str = "") -> str:
    """Return the LaTeX label of a table or figure, or of one of the figures of an item that has several."""
    label = f"{filled.item.kind[:3]}:{replication.name}-{filled.item.number}"
    return f"{label}-{figure}" if len(filled.figures) > 1 else label


_LINE = 7.08
"""Width in inches of a line of the document."""


def _inches(filled: Filled, name: str) -> float:
    """Return the width of the figure in a file, so that its letters have the size that they were drawn for."""
    figures = [figure for figure in filled.figures if len(filled.figures) == 1 or figure.name in name]
    return round(min(_LINE, max(figure.width for figure in figures)), 2)


def _latex_figure(filled: Filled, replication: Replication, name: str) -> str:
    return "\n".join(
        [
            r"\begin{figure}[!htbp]",
            r"\centering",
            rf"\renewcommand{{\thefigure}}{{{latex(filled.item.number)}}}",
            rf"\includegraphics[width={_inches(filled, name)}in,height=.8\textheight,keepaspectratio]"
            rf"{{{replication.name}/{name}}}",
            rf"\caption{{{latex(filled.item.caption)}}}",
            rf"\label{{{_label(filled, replication, name.removesuffix('.pdf'))}}}",
            r"\end{figure}",
        ]
    )


def latex_paper_table(filled: Filled, replication: Replication) -> str:
    """Return a table of the paper in LaTeX, for ``booktabs``, with the paper's number and a label.

    The notes are comments before the table.
    """
    texts = [
        [*map(latex, labels), *map(_latex_cell, cells)] for labels, cells in _without_repeated_labels(filled)
    ]
    depth = max(len(labels) for labels in filled.columns)
    stubs = [(*[""] * (depth - 1), stub) for stub in filled.stubs]  # on the last line of the headings
    headings = [tuple(map(latex, labels)) for labels in (*stubs, *filled.columns)]
    columns = pd.MultiIndex.from_tuples(headings) if depth > 1 else [label for (label,) in headings]
    frame = pd.DataFrame(texts, columns=columns)
    table = frame.style.hide(axis="index").to_latex(
        hrules=True,
        column_format="l" * len(filled.stubs) + "".join(_alignments(filled)),
        multicol_align="c",
        position="!htbp",
        position_float="centering",
        caption=latex(filled.item.caption),
        label=_label(filled, replication),
    )
    numbered = (
        "\\centering\\small\n" + rf"\renewcommand{{\the{filled.item.kind}}}{{{latex(filled.item.number)}}}"
    )
    notes = "".join(f"% {note}\n" for note in filled.notes)
    body = table.replace(r"\centering", numbered, 1)
    if depth > 1:
        first_line, end, rest = body.partition("\\\\\n")
        body = f"{first_line}{end}{_rules(filled)}\n{rest}"
    if filled.item.kind == "figure":
        body = body.replace("{table}", "{figure}")
    return notes + body


def _alignments(filled: Filled) -> Iterator[str]:
    """Yield the alignment of each column: left for texts, and right for numbers."""
    for column in zip(*(cells for _, cells in filled.rows), strict=True):
        texts = [isinstance(value, str) for cell in column for value in cell.values if value == value]
        yield "l" if texts and all(texts) else "r"


def _rules(filled: Filled) -> str:
    """Return the rules under the outermost headings."""
    rules, start = [], len(filled.stubs) + 1
    for label, same in groupby(labels[0] for labels in filled.columns):
        width = len(list(same))
        if label:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return " ".join(rules)


def _without_repeated_labels(filled: Filled) -> list[_Row]:
    """Return the rows of a table, without the outer labels that a row shares with the row above."""
    rows = []
    above: tuple[str, ...] = ()
    for labels, cells in filled.rows:
        n_shared = 0
        while n_shared < len(labels) - 1 and labels[: n_shared + 1] == above[: n_shared + 1]:
            n_shared += 1
        above = labels
        rows.append((("",) * n_shared + labels[n_shared:], cells))
    return rows


def _latex_cell(cell: FilledCell) -> str:
    text = latex(cell.text) + (rf"\textsuperscript{{{latex(cell.mark)}}}" if cell.mark else "")
    if cell.bold:
        return rf"\textbf{{{text}}}"
    return rf"\textit{{{text}}}" if cell.italic else text


def paper_frame(filled: Filled) -> pd.DataFrame:
    """Return a table of the paper with unrounded numbers; a cell of several numbers has a column for each."""
    _, first_row = filled.rows[0]
    columns = [
        " ".join(filter(None, (*labels, part.name)))
        for labels, filled_cell in zip(filled.columns, first_row, strict=True)
        for part in filled_cell.cell.parts
    ]
    rows = []
    for labels, cells in filled.rows:
        values = (
            value
            for filled_cell in cells
            for _, value in zip_longest(filled_cell.cell.parts, filled_cell.values)
        )
        rows.append([*labels, *(math.nan if value is None else value for value in values)])
    return pd.DataFrame(rows, columns=[*filled.stubs, *columns])


def html_table(filled: Filled) -> Markup:
    """Return a table of the paper in escaped HTML, with its caption and notes."""
    *outer, last = zip(*filled.columns, strict=True)
    heads = [[(label, len(list(same))) for label, same in groupby(line)] for line in outer]
    heads.append([(label, 1) for label in last])
    rows = _without_repeated_labels(filled)
    return Markup(rendered("paper.html", filled=filled, heads=heads, rows=rows))  # noqa: S704 - escaped there
