"""The tables and figures of a paper as files: HTML, CSV, LaTeX, SVG and PDF, and a LaTeX document of all of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd
from jinja2 import Environment
from markupsafe import Markup

from confidence_tasks.report.export import latex, plain_cell
from confidence_tasks.report.figures.svg import figure_pdf, figure_svg
from confidence_tasks.report.page import breakable, coded, page_part
from confidence_tasks.report.paper import Replication
from confidence_tasks.report.paper.filled import Filled, FilledCell
from confidence_tasks.sources.storage import write_atomically

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
    texts = [
        [*map(latex, labels), *map(_latex_cell, cells)]
        for labels, cells in zip(
            _once([labels for labels, _ in made.rows]), [its for _, its in made.rows], strict=True
        )
    ]
    headings = _headings(made)
    depth = len(headings[0])
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


def _headings(made: Filled) -> list[tuple[str, ...]]:
    """Return the headings of all columns, those of the rows in the last line."""
    depth = max(len(labels) for labels in made.columns)
    stubs = [(*[""] * (depth - 1), latex(stub)) for stub in made.stubs]
    return [*stubs, *(tuple(map(latex, labels)) for labels in made.columns)]


def _once(labels: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the labels of rows, without those that the row above has."""
    above: tuple[str, ...] = ()
    for its in labels:
        same = 0
        while same < len(its) - 1 and its[: same + 1] == above[: same + 1]:
            same += 1
        above = its
        yield ("",) * same + its[same:]


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
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(breakable=breakable, coded=coded)
    lines = list(zip(*made.columns, strict=True))
    context: Mapping[str, object] = {
        "made": made,
        "heads": [
            [(label, len(list(same))) for label, same in groupby(line)]
            if line is not lines[-1]
            else [(label, 1) for label in line]
            for line in lines
        ],
        "rows": list(
            zip(_once([labels for labels, _ in made.rows]), [its for _, its in made.rows], strict=True)
        ),
    }
    return Markup(environment.from_string(page_part("paper.html")).render(context))  # noqa: S704 - escaped there
