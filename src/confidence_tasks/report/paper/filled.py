"""The tables and figures of a paper, filled with the models of a report, and as files: HTML, CSV, LaTeX, SVG, PDF."""

from __future__ import annotations

import math
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from markupsafe import Markup

from confidence_tasks.catalogue import studies
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import Figure, figure_pdf, figure_svg
from confidence_tasks.report.labels import group_label, latex, plain_cell, printable, rendered, why_missing
from confidence_tasks.report.paper import (
    MODELS,
    Cell,
    NotMade,
    PaperFigure,
    PaperItem,
    PaperTable,
    Replication,
    Runs,
    TaskParameters,
    Value,
    axes_of,
    crossed,
    heading,
)
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import in_order
from confidence_tasks.sources.source import write_atomically
from confidence_tasks.statistics import Interval

NOT_DEFINED = "–"


@dataclass(slots=True)
class FilledCell:
    """A cell: its numbers or texts, the whole as printed, why numbers are missing, and how it is set."""

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
    notes : tuple of str
        Why numbers are missing, over which sources means are, which runs are lacking, and why it cannot be made.
    stubs, columns : tuple
        Headings of the columns that name the rows of a table; those of each column of numbers, outermost first.
    names : tuple of tuple of str
        Names of the numbers of each column, for files.
    rows : tuple of (tuple of str, tuple of FilledCell)
        Labels and cells of each row; none where the logs fill no cell.
    figures : tuple of Figure
        The report's figures that stand for that of the paper; none where runs are lacking.
    """

    item: PaperItem
    notes: tuple[str, ...]
    stubs: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    rows: tuple[_Row, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def title(self) -> str:
        """Name in the paper."""
        return self.item.title

    @property
    def is_filled(self) -> bool:
        """Whether the logs fill any of its cells, or the report draws it."""
        return bool(self.rows or self.figures)


def filled_papers(
    results: Sequence[TaskResults], extras: Iterable[ExtraTable] = (), figures: Iterable[Figure] = ()
) -> Iterator[tuple[Replication, list[Filled]]]:
    """Yield the papers of which a task was run, with everything that they number for the models of a report."""
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
        item = replace(item, tasks=item.tasks or tuple(replication.tasks))
        figures = tuple(runs.figures(item))
        notes = tuple(_lacks(replication, runs, _lacking(item, runs, drawn=bool(figures)), item.parameters))
        return Filled(item, notes, figures=figures)
    if isinstance(item, NotMade):
        return Filled(item, (item.why,))
    raise TypeError(f"{item.title} is none of PaperTable, PaperFigure and NotMade")


def _lacking(item: PaperFigure, runs: Runs, *, drawn: bool) -> list[Cell]:
    """Return the tasks that a figure lacks, and the sources that models were not asked in those that there are."""
    whole = [name for name in item.tasks if name not in runs.results or not (drawn or item.sources)]
    parts = [
        Cell(task=name, model=model, source=source)
        for name in item.tasks
        if name not in whole
        for source in item.sources
        for model in runs.models([name])
    ]
    lacking = [cell for cell in parts if not (drawn and runs.has_source(cell))]
    return [Cell(task=name) for name in whole] + lacking


def fill_table(table: PaperTable, replication: Replication, runs: Runs) -> Filled:
    """Fill a table of the paper with the models of a report."""
    models = _models_of(table, replication, runs)
    types = {label: name for name, labels in runs.groups for label in labels}
    own = tuple(
        heading(model, *([types.get(model, "")] if table.by_type else []), model=model) for model in models
    )
    rows, columns = (
        crossed([own if axis == MODELS else axis for axis in axes_of(side)])
        for side in (table.rows, table.columns)
    )
    grid = [
        [_filled_cell(runs, Cell(**{**table.at, **row.at, **column.at})) for column in columns]
        for row in rows
    ]
    _mark_best(table, runs, grid)
    every = [each for its in grid for each in its]
    lacking = [each.cell for each in every if all(value is None for value in each.values)]
    notes = [
        *_of_sources(runs, [each.cell for each in every]),
        *(f"{NOT_DEFINED}: {reason}." for each in every for reason in each.reasons),
        *_lacks(replication, runs, lacking),
    ]
    if table.of_type and table.of_type not in dict(runs.groups):
        notes.append(f"Of all models: `--group {table.of_type}=MODEL,...` says which are of this type.")
    labelled = [(row.labels, tuple(its)) for row, its in zip(rows, grid, strict=True)]
    if table.total:
        labelled = list(_with_totals(table, table.total, runs, labelled))
    return Filled(
        table,
        tuple(dict.fromkeys(notes)),
        table.stubs,
        tuple(column.labels for column in columns),
        tuple(tuple(part.name for part in each.cell.parts) for each in grid[0]),
        tuple(labelled) if len(lacking) < len(every) else (),
    )


def _models_of(table: PaperTable, replication: Replication, runs: Runs) -> list[str]:
    """Return the models of a table in order."""
    every = (table.at, *(each.at for each in table.headings))
    tasks = [name for at in every for name in Cell(**at).tasks if name]
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


def _filled_cell(runs: Runs, cell: Cell) -> FilledCell:
    found = [(part, runs.value(part)) for part in cell.parts]
    reasons = tuple(
        why_missing(value)
        for part, value in found
        if isinstance(value, Interval) and math.isnan(getattr(value, part.limit))
    )
    held = tuple(
        float(getattr(value, part.limit)) if isinstance(value, Interval) else value for part, value in found
    )
    first = held[0]
    if first is None or (isinstance(first, float) and math.isnan(first)):
        return FilledCell(cell, held, NOT_DEFINED, reasons)
    texts = [
        NOT_DEFINED if value is None else part.printed(value)
        for value, part in zip(held, cell.parts, strict=True)
    ]
    mark = cell.mark[0] if cell.mark and cell.mark[1](runs, cell) else ""
    bold = cell.bold is not None and cell.bold(runs, cell)
    return FilledCell(cell, held, cell.text.format(*texts), reasons, mark, bold)


def _mark_best(table: PaperTable, runs: Runs, grid: Sequence[Sequence[FilledCell]]) -> None:
    """Set the best number of each measure bold, and the second best in italics if the paper marks it."""
    compared: dict[tuple[Any, ...], list[FilledCell]] = defaultdict(list)
    for i, its in enumerate(grid if table.best else ()):
        for j, each in enumerate(its):
            # A row may hold several measures; a column holds one, or numbers that are made alike.
            compared[(i, each.cell.measure) if table.best == "row" else (j,)].append(each)
    for cells in compared.values():
        ways = {runs.better(each.cell) for each in cells} & {"higher", "lower"}
        numbers = {_number(each.values[0]) for each in cells}
        ranked = sorted((value for value in numbers if not math.isnan(value)), reverse=ways == {"higher"})
        if len(ranked) > 1 and len(ways) == 1:
            for each in cells:
                value = _number(each.values[0])
                each.bold, each.italic = value == ranked[0], table.second and value == ranked[1]


def _with_totals(
    table: PaperTable,
    total: tuple[str, Callable[[Sequence[float]], float]],
    runs: Runs,
    rows: Sequence[_Row],
) -> Iterator[_Row]:
    """Yield the rows, and after those of each type of models, or after all, their last row."""
    label, function = total
    grouped = [set(labels) for _, labels in runs.groups] if table.by_type else []
    rest = {its[0].cell.model for _, its in rows} - set[str]().union(*grouped)
    for members in [*grouped, rest]:
        own = [row for row in rows if row[1][0].cell.model in members]
        yield from own
        if not own:
            continue
        last = []
        for column in zip(*(its for _, its in own), strict=True):
            cell, numbers = column[0].cell, [_number(each.values[0]) for each in column]
            defined = [value for value in numbers if not math.isnan(value)]
            found = cell.total(runs, cell) if cell.total else function(defined) if defined else math.nan
            digits = cell.digits if table.total_digits is None else table.total_digits
            text = replace(cell, digits=digits).printed(_number(found))
            last.append(FilledCell(cell, (_number(found),), text))
        yield (label, *[""] * (len(own[0][0]) - 1)), tuple(last)


def _of_sources(runs: Runs, cells: Iterable[Cell]) -> Iterator[str]:
    """Say over which sources of questions the means of a table are."""
    sources = {source for cell in cells if not cell.source for source in runs.sources(cell)}
    if sources:
        yield f"Questions: {', '.join(map(printable, sorted(sources)))}" + (
            "; numbers are means over these." if len(sources) > 1 else "."
        )


def _lacks(
    replication: Replication, runs: Runs, cells: Sequence[Cell], parameters: str = ""
) -> Iterator[str]:
    """Say which runs some cells lack, with the command that makes them."""
    wanted: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for cell in cells:
        models = [cell.model] if cell.model else runs.models(cell.tasks) or runs.models(replication.tasks)
        for model in models:
            wanted[cell.tasks[0], model].add((_condition(runs, cell), cell.source))
    by_run: dict[tuple[str, frozenset[tuple[str, str]]], list[str]] = defaultdict(list)
    for (task, model), its in wanted.items():
        by_run[task, frozenset(its)].append(model)
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
            study.condition_columns(cell.group)
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


_BREAK = r"\1\\allowbreak{}"

_DOCUMENT = r"""\documentclass{article}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage{booktabs,graphicx}
\begin{document}
\sloppy
%s
\end{document}
"""


def write_paper(papers: Sequence[tuple[Replication, Sequence[Filled]]], folder: Path) -> list[Path]:
    """Write what papers number with the models of a report: a folder a paper, and ``paper.tex``, which has them all.

    Return the files, the document last.
    """
    written: list[Path] = []
    lines: list[str] = []
    for replication, items in papers:
        lines.append(rf"\section*{{{latex(replication.title)}}}")
        for made in items:
            files = dict(_files(made, replication))
            for name, content in files.items():
                written.append(folder / replication.name / name)
                write_atomically(written[-1], content)
            lines += _of_document(made, replication, list(files))
    written.append(folder / "paper.tex")
    write_atomically(written[-1], (_DOCUMENT % "\n".join(lines)).encode(errors="replace"))
    return written


def _files(made: Filled, replication: Replication) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files of a table or a figure; none where runs are lacking."""
    if made.rows:
        yield f"{made.item.file}.tex", latex_paper_table(made, replication).encode(errors="replace")
        frame = paper_frame(made).map(plain_cell)
        yield f"{made.item.file}.csv", frame.to_csv(index=False).encode(errors="replace")
        yield f"{made.item.file}.html", html_table(made).encode(errors="xmlcharrefreplace")
    for figure in made.figures:
        name = made.item.file + ("" if len(made.figures) == 1 else f"_{figure.name}")
        yield f"{name}.svg", figure_svg(figure).encode(errors="xmlcharrefreplace")
        yield f"{name}.pdf", figure_pdf(figure)


def _of_document(made: Filled, replication: Replication, files: Sequence[str]) -> Iterator[str]:
    """Yield what the document says of a table or a figure."""
    for name in files:
        if name.endswith(".tex"):
            yield rf"\input{{{replication.name}/{name}}}"
        elif name.endswith(".pdf"):
            yield _latex_figure(made, replication, name)
    if files:
        yield from (rf"\par\noindent{{\footnotesize {_latex_words(note)}}}" for note in made.notes)
        yield r"\clearpage"
    else:
        texts = " ".join(map(_latex_words, (made.item.caption, *made.notes)))
        yield rf"\paragraph{{{latex(made.title)}}} {texts}"


def _latex_words(text: str) -> str:
    """Set what stands between backticks in typewriter letters, which break after commas, slashes and equal signs."""
    words = [latex(part) for part in text.split("`")]
    return "".join(
        rf"\texttt{{{re.sub('([,/=])', _BREAK, part)}}}" if i % 2 else part for i, part in enumerate(words)
    )


def _label(made: Filled, replication: Replication) -> str:
    return f"{made.item.kind[:3]}:{replication.name}-{made.item.number}"


def _latex_figure(made: Filled, replication: Replication, name: str) -> str:
    return "\n".join(
        [
            r"\begin{figure}[!htbp]",
            r"\centering",
            rf"\renewcommand{{\thefigure}}{{{latex(made.item.number)}}}",
            rf"\includegraphics[width=\linewidth,height=.8\textheight,keepaspectratio]{{{replication.name}/{name}}}",
            rf"\caption{{{latex(made.item.caption)}}}",
            rf"\label{{{_label(made, replication)}}}",
            r"\end{figure}",
        ]
    )


def latex_paper_table(made: Filled, replication: Replication) -> str:
    """Return a table of the paper in LaTeX, for ``booktabs``, with the paper's caption number and a label.

    What is missing and why stands in comments before it.
    """
    texts = [[*map(latex, labels), *map(_latex_cell, cells)] for labels, cells in _labelled_once(made)]
    depth = max(len(labels) for labels in made.columns)
    stubs = [(*[""] * (depth - 1), stub) for stub in made.stubs]  # in the last line of the headings
    headings = [tuple(map(latex, labels)) for labels in (*stubs, *made.columns)]
    columns = pd.MultiIndex.from_tuples(headings) if depth > 1 else [label for (label,) in headings]
    frame = pd.DataFrame(texts, columns=columns)
    table = frame.style.hide(axis="index").to_latex(
        hrules=True,
        column_format="l" * len(made.stubs) + "r" * len(made.columns),
        multicol_align="c",
        position="!htbp",
        position_float="centering",
        caption=latex(made.item.caption),
        label=_label(made, replication),
    )
    numbered = "\\centering\\small\n" + rf"\renewcommand{{\the{made.item.kind}}}{{{latex(made.item.number)}}}"
    notes = "".join(f"% {note}\n" for note in made.notes)
    body = table.replace(r"\centering", numbered, 1)
    if depth > 1:
        above, end, below = body.partition("\\\\\n")
        body = f"{above}{end}{_rules(made)}\n{below}"
    if made.item.kind == "figure":
        body = body.replace("{table}", "{figure}")
    return notes + body


def _rules(made: Filled) -> str:
    """Return the rules under the outermost headings."""
    rules, start = [], len(made.stubs) + 1
    for label, same in groupby(labels[0] for labels in made.columns):
        width = len(list(same))
        if label:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return " ".join(rules)


def _labelled_once(made: Filled) -> list[_Row]:
    """Return the rows of a table, without the labels that the row above has."""
    rows = []
    above: tuple[str, ...] = ()
    for labels, cells in made.rows:
        same = 0
        while same < len(labels) - 1 and labels[: same + 1] == above[: same + 1]:
            same += 1
        above = labels
        rows.append((("",) * same + labels[same:], cells))
    return rows


def _latex_cell(cell: FilledCell) -> str:
    text = latex(cell.text) + (rf"\textsuperscript{{{latex(cell.mark)}}}" if cell.mark else "")
    if cell.bold:
        return rf"\textbf{{{text}}}"
    return rf"\textit{{{text}}}" if cell.italic else text


def paper_frame(made: Filled) -> pd.DataFrame:
    """Return a table of the paper with its numbers in full; a cell of several numbers has a column for each."""
    columns = [
        " ".join(filter(None, (*labels, name)))
        for labels, names in zip(made.columns, made.names, strict=True)
        for name in names
    ]
    rows = []
    for labels, cells in made.rows:
        values: list[float | str | None] = []
        for cell, names in zip(cells, made.names, strict=True):
            values += [*cell.values, *[None] * (len(names) - len(cell.values))]
        rows.append([*labels, *(math.nan if value is None else value for value in values)])
    return pd.DataFrame(rows, columns=[*made.stubs, *columns])


def html_table(made: Filled) -> Markup:
    """Return a table of the paper in HTML, escaped, with its caption and notes."""
    *outer, last = zip(*made.columns, strict=True)
    heads = [[(label, len(list(same))) for label, same in groupby(line)] for line in outer]
    heads.append([(label, 1) for label in last])
    rows = _labelled_once(made)
    return Markup(rendered("paper.html", made=made, heads=heads, rows=rows))  # noqa: S704 - escaped there
