"""What the templates of the page show of a figure, a measure, a paper, a task and several tasks side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import Figure
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.notices import Notice
from confidence_tasks.report.page import TableView
from confidence_tasks.report.page.first_screen import DIRECTIONS
from confidence_tasks.report.results import TaskResults
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measure import Measure

if TYPE_CHECKING:
    from confidence_tasks.report.paper.filled import Filled


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure, and the rows of panels that the page shows, as SVG elements."""

    figure: Figure
    rows: tuple[tuple[str, tuple[Markup, ...]], ...]

    @property
    def left_out(self) -> str:
        """Text with the number of panels that are not shown; empty if all are shown."""
        n_panels = sum(len(panels) for _, panels in self.figure.rows)
        n_shown = sum(len(panels) for _, panels in self.rows)
        if n_shown == n_panels:
            return ""
        return f"{n_shown} of {n_panels} panels are shown; `--figures` writes all of them."

    @property
    def width(self) -> int:
        """Minimum width of a panel on the page, in pixels, at which its smallest text has 11 pixels."""
        return round(113 * self.figure.size[0])


@dataclass(frozen=True, slots=True)
class MeasureView:
    """A headline measure: its figure, without one if that would show a single point, and its tables."""

    measure: Measure
    name: str
    figure: FigureView | None
    tables: tuple[TableView, ...]

    @property
    def label(self) -> str:
        """Label of the measure."""
        return measure_label(self.measure.name)

    @property
    def direction(self) -> str:
        """Words for the better direction of the measure."""
        return DIRECTIONS[self.measure.better]

    @property
    def any_significant(self) -> bool:
        """Whether any cell of its tables is marked as significant."""
        return any(table.any_significant for table in self.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewView:
    """The section of an overview: tasks side by side, measure by measure."""

    tasks: tuple[TaskResults, ...]
    name: str
    title: str
    question: str
    sentences: tuple[str, ...]
    measures: tuple[MeasureView, ...]
    note: str = ""

    @property
    def study(self) -> Study:
        """The study, or the first of several of one paper."""
        return self.tasks[0].task_trials.study

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return sum(len(model) for task in self.tasks for model in task.models)

    @property
    def n_questions(self) -> int:
        """Number of questions; a question of several tasks counts once in each."""
        return sum(
            len({name for model in task.models for name in model.columns["question_id"]})
            for task in self.tasks
        )


@dataclass(frozen=True, slots=True)
class PaperView:
    """The tables and figures of a paper, and the notes that several of them share."""

    title: str
    notes: tuple[str, ...]
    items: tuple[tuple[Filled, Markup | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView(OverviewView):
    """The section of a task.

    ``lead`` is the figure that answers the study's question, if one of its figures does rather than that of the first
    measure. ``statuses`` say how the replies of each model were read under each condition; ``legend`` has the label of
    each status that occurs. ``samples`` are confident errors and right answers with little confidence. ``papers`` are
    the papers, or versions of one, whose last task this is.
    """

    notices: tuple[Notice, ...]
    lead: FigureView | None
    figures: tuple[FigureView, ...]
    all_measures: tuple[TableView, ...]
    definitions: tuple[tuple[str, str], ...]
    extras: tuple[tuple[ExtraTable, TableView], ...]
    contrasts: TableView | None
    baseline: str
    sources: tuple[TableView, ...]
    statuses: tuple[dict[str, Any], ...]
    legend: tuple[tuple[str, str], ...]
    samples: tuple[dict[str, str], ...]
    samples_per_model: int
    papers: tuple[PaperView, ...] = ()
