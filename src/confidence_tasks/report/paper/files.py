"""Filled tables and figures of papers as HTML, CSV, LaTeX, SVG and PDF."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from confidence_tasks.report.figures import figure_pdf, figure_svg
from confidence_tasks.report.labels import latex, plain_csv, rendered
from confidence_tasks.report.paper import Replication
from confidence_tasks.report.paper.filled import Filled, FilledCell, Row
from confidence_tasks.sources.source import write_atomically

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
        yield f"{filled.item.file}.csv", plain_csv(paper_frame(filled)).encode(errors="replace")
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


def _without_repeated_labels(filled: Filled) -> list[Row]:
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
