"""A task, and tasks side by side, as the page shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from markupsafe import Markup

from confidence_tasks.report.cache import Cache, computed
from confidence_tasks.report.checks import Notice, notices
from confidence_tasks.report.estimates import Estimated, Settings
from confidence_tasks.report.extra_tables import ExtraTable, Overview
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, panel, panel_svg, panels
from confidence_tasks.report.figures.general import ModelStyles, interval_line
from confidence_tasks.report.labels import STATUSES, group_label, measure_label, number, printable, signed
from confidence_tasks.report.page import (
    DIRECTIONS,
    Headline,
    TableView,
    contrast_table,
    extra_view,
    measure_tables,
    model_sentence,
    model_tables,
    overview_table,
    sample_link,
    sentences,
    source_tables,
)
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.workers import Job, Lost, Workers
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.reference import loaded

if TYPE_CHECKING:
    from confidence_tasks.report.paper.filled import Filled

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure, and the rows of its panels that the page shows, as SVG elements."""

    figure: Figure
    rows: tuple[tuple[str, tuple[Markup, ...]], ...]

    @property
    def left_out(self) -> str:
        """Text with the number of panels that are not shown; empty if all are."""
        n, drawn = (sum(len(panels) for _, panels in its) for its in (self.figure.rows, self.rows))
        return f"Shown are {drawn} of {n} panels: `--figures` writes all of them." if drawn < n else ""

    @property
    def width(self) -> int:
        """Width of a panel on the page, at the least: the smallest is 220 pixels wide, its least text 11."""
        return round(113 * self.figure.size[0])


@dataclass(frozen=True, slots=True)
class MeasureView:
    """A headline measure: its figure and its tables."""

    label: str
    direction: str
    figure: FigureView
    tables: tuple[TableView, ...]

    @property
    def told(self) -> bool:
        """Whether any of its tables marks what is told apart."""
        return any(table.told for table in self.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewView:
    """Tasks side by side, measure by measure."""

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
        """Number of questions, of each task anew."""
        asked = (
            {name for model in task.models for name in model.columns["question_id"]} for task in self.tasks
        )
        return sum(map(len, asked))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView(OverviewView):
    """A task on the page.

    ``statuses`` say how the replies of each model under each condition were read, ``samples`` are worth reading:
    confident errors, and right answers without confidence. ``replication`` are the tables and figures of the paper,
    and ``paper_notes`` what several of them lack.
    """

    notices: tuple[Notice, ...]
    figures: tuple[FigureView, ...]
    all_measures: tuple[TableView, ...]
    definitions: tuple[tuple[str, str], ...]
    extras: tuple[tuple[ExtraTable, TableView], ...]
    contrasts: TableView | None
    baseline: str
    sources: tuple[TableView, ...]
    statuses: tuple[dict[str, Any], ...]
    samples: tuple[dict[str, str], ...]
    samples_a_model: int
    replication: tuple[tuple[Filled, Markup | None], ...] = ()
    paper_notes: tuple[str, ...] = ()


MANY_LINES = 12
"""Number of lines above which the lines of a figure cannot be told apart."""

_WIDE, _NARROW = (7.4, 3.0), (3.4, 2.4)
"""Inches of a figure that stands alone: over several conditions, or over one."""

PANELS_SHOWN = 24
"""Maximum number of panels of a figure on a page."""

SAMPLES_SHOWN, MOST_SAMPLES = 4, 24
"""Samples of a kind listed of each model, and of all models together."""

ANSWER_SHOWN = 80
"""Maximum number of characters shown of an answer."""

_READ_OF_ANSWER = 1000
"""Maximum number of characters processed of an answer."""

REFERENCES = {"mratio": 1.0, "auroc": 0.5, "overconfidence": 0.0, "hard_easy": 0.0}
"""Reference values of measures, drawn as a dashed line."""


def figures_of(results: TaskResults, styles: ModelStyles) -> list[Figure]:
    """Return every figure of a task: its headline measures by condition, then those of its study."""
    models, labels = [model.label for model in results.models], results.conditions
    left_out = f" Drawn are the first {MANY_LINES} of {len(models)} models; the table has all."
    headline = [
        _measure_figure(
            results.task_trials.slug,
            measure,
            results.settings,
            list(map(group_label, labels)),
            [
                interval_line(results, model, labels, measure.name, *styles[model])
                for model in models[:MANY_LINES]
            ],
            left_out if len(models) > MANY_LINES else "",
        )
        for measure in results.headline
    ]
    others = [make(results, styles) for make in loaded(results.task_trials.study.figures)]
    return [figure for figure in (*headline, *others) if any(panels for _, panels in figure.rows)]


def _measure_figure(
    name: str,
    measure: Measure,
    settings: Settings,
    labels: Sequence[str],
    lines: Sequence[Line],
    left_out: str = "",
    *,
    joined: bool = True,
) -> Figure:
    """Draw a measure, one line a model, over conditions or tasks; points are joined where these have an order."""
    title, direction = measure_label(measure.name), DIRECTIONS[measure.better]
    drawn = {"labels": labels, "lines": lines, "reference": REFERENCES.get(measure.name), "joined": joined}
    return Figure(
        f"{name}_{measure.name}",
        title,
        f"{measure.description} Lines are {settings.level:.0%} intervals"
        f"{f'; {direction}' if direction else ''}.{left_out}",
        (("", (panel("", panels.intervals, y=title, **drawn),)),),
        tuple(LegendEntry(line.label, line.colour, line.marker) for line in lines),
        size=_WIDE if len(labels) > 2 else _NARROW,
    )


def task_view(
    headline: Headline, views: Sequence[FigureView], extras: Sequence[ExtraTable], viewer: str
) -> TaskView:
    """Lay out a task with its figures, those of its headline measures first, and its tables beside the measures."""
    results = headline.results
    study, design = results.task_trials.study, results.task_trials.design
    by_name = {view.figure.name: view for view in views}
    measures = tuple(
        measure_view(
            measure, by_name[f"{results.task_trials.slug}_{measure.name}"], measure_tables(results, measure)
        )
        for measure in results.headline
    )
    every = model_tables(results)
    labels = {row.label for table in every for row in table.rows}
    return TaskView(
        tasks=(results,),
        name=results.task_trials.slug,
        title=design.title,
        question=design.question,
        sentences=(*model_sentence(headline), *sentences(results)),
        notices=tuple(notices(results, loaded(study.checks))),
        measures=measures,
        figures=tuple(view for view in views if all(view is not measure.figure for measure in measures)),
        all_measures=every,
        definitions=tuple(
            (label, measure.description)
            for measure in study.measures
            if (label := measure_label(measure.name)) in labels
        ),
        extras=tuple((extra, extra_view(extra, viewer)) for extra in extras),
        contrasts=contrast_table(results),
        baseline=group_label(design.baseline),
        sources=source_tables(results, results.headline),
        statuses=tuple(_statuses(results)),
        samples=tuple(_samples(results, viewer)),
        samples_a_model=samples_of_a_model(results),
    )


def measure_view(measure: Measure, figure: FigureView, tables: tuple[TableView, ...]) -> MeasureView:
    """Put a measure's figure and tables under its name."""
    label, direction = measure_label(measure.name), DIRECTIONS[measure.better]
    return MeasureView(label, direction, figure, tables)


def figure_views(
    figures: Sequence[Figure], workers: Workers | None = None, cache: Cache | None = None
) -> list[FigureView]:
    """Draw the panels of figures for the page; of very many, some of each row."""
    kept = [_shown(figure) for figure in figures]
    jobs: list[Job] = [
        (told, (panel, figure.size, told))
        for figure, rows in zip(figures, kept, strict=True)
        for label, panels in rows
        for panel in panels
        for told in [", ".join(filter(None, (figure.title, label, panel.title)))]
    ]
    found = computed(panel_svg, jobs, "panel", str, workers, cache, enough=WORTH_WORKERS)
    drawn = iter(
        Markup(panel_svg(*arguments) if isinstance(its, Lost) else its)  # noqa: S704 - matplotlib escapes
        for (_, arguments), its in zip(jobs, found, strict=True)
    )
    return [
        FigureView(figure, tuple((label, tuple(next(drawn) for _ in panels)) for label, panels in rows))
        for figure, rows in zip(figures, kept, strict=True)
    ]


WORTH_WORKERS = 100
"""Number of panels above which worker processes, which take about 5 s to start, save time."""


def _shown(figure: Figure) -> list[tuple[str, list[Panel]]]:
    """Return the rows of a figure with the panels that the page shows."""
    chosen = _some(figure.rows, PANELS_SHOWN)
    a_row = PANELS_SHOWN // max(len(chosen), 1)
    return [(label, _some(panels, a_row)) for label, panels in chosen]


def _some(items: Sequence[T], most: int) -> list[T]:
    """Keep the first item, the last, and as many between them as may be."""
    chosen = np.unique(np.linspace(0, len(items) - 1, min(most, len(items))).round().astype(int))
    return [items[i] for i in chosen]


def _statuses(results: TaskResults) -> Iterator[dict[str, Any]]:
    for model in results.models:
        for condition in results.conditions:
            statuses = model.columns["status"][model.columns["condition"] == condition]
            if not len(statuses):
                continue
            parts = tuple(
                (status, name, 100.0 * share)
                for status, name in STATUSES.items()
                if (share := float(np.mean(statuses == status))) > 0
            )
            yield {
                "model": model.label,
                "condition": group_label(condition),
                "n": len(statuses),
                "parts": parts,
            }


def _samples(results: TaskResults, viewer: str) -> Iterator[dict[str, str]]:
    """The wrong answers given with most confidence and the right ones with least, a few of each model."""
    for model in results.models:
        columns = model.columns
        answers = columns.get("answer", columns["question_id"])
        for kind, outcome, sign in _KINDS:
            rows = np.flatnonzero((columns["correct"] == outcome) & ~np.isnan(columns["confidence"]))
            first = rows[np.argsort(sign * columns["confidence"][rows], kind="stable")]
            for row in first[: samples_of_a_model(results)]:
                answer = printable(" ".join(str(answers[row])[:_READ_OF_ANSWER].split()))
                path = model.files[int(columns["file"][row])].path
                yield {
                    "model": model.label,
                    "kind": kind,
                    "condition": group_label(str(columns["condition"][row])),
                    "question": printable(str(columns["question_id"][row])[:ANSWER_SHOWN]),
                    "answer": answer[:ANSWER_SHOWN] + ("…" if len(answer) > ANSWER_SHOWN else ""),
                    "confidence": number(float(columns["confidence"][row])),
                    "link": sample_link(model, int(row), viewer),
                    "file": printable(path.rsplit("/", 1)[-1][-ANSWER_SHOWN:]),
                }


_KINDS = (("wrong, sure", 0.0, -1.0), ("right, unsure", 1.0, 1.0))
"""Samples to read: what they are called, their outcome, and the sign by which confidence puts them in order."""


def samples_of_a_model(results: TaskResults) -> int:
    """Return how many samples of each kind are listed of a model: fewer of many models."""
    return max(1, min(SAMPLES_SHOWN, MOST_SAMPLES // len(results.models)))


# Tasks side by side ------------------------------------------------------------------------------------------------


def overview_figures(overview: Overview, styles: ModelStyles) -> list[Figure]:
    """Return a figure of each measure: every model in every task, with intervals."""
    name, settings, columns = overview.design.name, overview.tasks[0].settings, overview.columns
    figures = []
    for measure in overview.design.measures:
        asked = [(model, columns, measure.name, *styles[model]) for model in overview.models]
        lines = [interval_line(overview, *each) for each in asked]
        figures.append(_measure_figure(name, measure, settings, columns, lines, joined=False))
    return figures


def overview_view(overview: Overview, views: Sequence[FigureView]) -> OverviewView:
    """Lay out an overview with a figure of each measure."""
    design = overview.design
    measures = tuple(
        measure_view(measure, figure, (overview_table(overview, measure),))
        for measure, figure in zip(design.measures, views, strict=True)
    )
    return OverviewView(
        tasks=overview.tasks,
        name=design.name,
        title=design.title,
        question=design.question,
        sentences=tuple(_errs_on(overview)),
        measures=measures,
        note=design.note,
    )


def _errs_on(overview: Overview) -> Iterator[str]:
    """Name the tasks on which models are overconfident, or underconfident."""
    for word, side, sign, beyond in _BEYOND:
        counts: list[str] = []
        for column in overview.columns:
            entries = [overview.estimate(model, column, "overconfidence") for model in overview.models]
            asked = [entry for entry in entries if entry is not None]
            if n := sum(beyond(entry) for entry in asked):
                models = "" if counts else " model" if len(asked) == 1 else " models"
                most = max((entry.interval for entry in asked), key=lambda interval: sign * interval.estimate)
                counts.append(f"{column} ({n} of {len(asked)}{models}, by up to {signed(most.estimate)})")
        if counts:
            yield f"{word}, with intervals {side} 0: {', '.join(counts)}."


_BEYOND: tuple[tuple[str, str, float, Callable[[Estimated], bool]], ...] = (
    ("Overconfident", "above", 1.0, lambda entry: entry.interval.low > 0.0),
    ("Underconfident", "below", -1.0, lambda entry: entry.interval.high < 0.0),
)
