"""What the page shows, ready to be laid out: texts, and positions as shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from confidence_tasks.report.checks import Notice
from confidence_tasks.study.definition import Study


@dataclass(frozen=True, slots=True)
class CellView:
    """A number in a table, with its interval in words and as shares of the table's range, or why there is none."""

    value: str
    limits: str = ""
    tip: str = ""
    told: bool = False
    text: bool = False
    reason: str = ""
    link: str = ""
    at: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def bar(self) -> bool:
        """Whether there is an interval to draw."""
        return not math.isnan(self.low)


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of a table: its heading, with a note below it or a link, its cells, and of how many trials it is."""

    label: str
    cells: tuple[CellView, ...]
    n: str = ""
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its column headings; of a dense one, the notes below say alone why something is missing."""

    columns: tuple[str, ...]
    rows: tuple[RowView, ...]
    caption: str = ""
    head: str = "model"
    dense: bool = False
    left_out: str = ""

    @property
    def reasons(self) -> list[str]:
        """Why intervals or values are missing: the notes under the table, in order."""
        return list(dict.fromkeys(cell.reason for row in self.rows for cell in row.cells if cell.reason))

    @property
    def told(self) -> bool:
        """Whether any cell is marked as told apart, which a note must then explain."""
        return any(cell.told for row in self.rows for cell in row.cells)

    @property
    def spans(self) -> list[int]:
        """How many rows the heading of each row covers: 0 for a row whose heading is that of the row above."""
        sizes: list[int] = []
        for _, same in groupby(row.label for row in self.rows):
            n = len(list(same))
            sizes += [n, *[0] * (n - 1)]
        return sizes


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure as SVG elements."""

    name: str
    title: str
    caption: str
    rows: tuple[tuple[str, tuple[Markup, ...]], ...]
    keys: tuple[tuple[str, str, str], ...]
    width: int
    wide: bool
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class MeasureView:
    """A headline measure: how it is defined, its figure and its table."""

    name: str
    label: str
    description: str
    direction: str
    figure: FigureView
    tables: tuple[TableView, ...]

    @property
    def told(self) -> bool:
        """Whether any of its tables marks what is told apart."""
        return any(table.told for table in self.tables)


@dataclass(frozen=True, slots=True)
class SampleView:
    """A sample worth reading: a confident error, or a right answer without confidence."""

    model: str
    kind: str
    condition: str
    question: str
    answer: str
    confidence: str
    link: str
    file: str


@dataclass(frozen=True, slots=True)
class StatusView:
    """How the replies of a model under a condition were read: shares by status."""

    model: str
    condition: str
    n: int
    parts: tuple[tuple[str, str, float], ...]


@dataclass(frozen=True, slots=True)
class OverviewView:
    """Tasks side by side, measure by measure."""

    name: str
    title: str
    question: str
    study: Study
    sentences: tuple[str, ...]
    measures: tuple[MeasureView, ...]
    note: str
    n_trials: int
    n_questions: int


@dataclass(frozen=True, slots=True)
class PaperItemView:
    """A table or a figure of a paper: the table laid out, or the figures of the page that stand for it."""

    title: str
    caption: str
    table: Markup | None
    figures: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task on the page."""

    name: str
    title: str
    question: str
    study: Study
    sentences: tuple[str, ...]
    notices: tuple[Notice, ...]
    measures: tuple[MeasureView, ...]
    figures: tuple[FigureView, ...]
    all_measures: tuple[TableView, ...]
    definitions: tuple[tuple[str, str], ...]
    extras: tuple[tuple[str, str, TableView], ...]
    contrasts: TableView | None
    contrasts_baseline: str
    sources: tuple[TableView, ...]
    statuses: tuple[StatusView, ...]
    samples: tuple[SampleView, ...]
    samples_a_model: int
    n_models: int
    n_trials: int
    n_questions: int
    replication: tuple[PaperItemView, ...] = ()
