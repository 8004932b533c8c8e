"""The sections of the report's page: one of each task, and overviews of several tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from markupsafe import Markup

from confidence_tasks.harness.workers import Job, LostJob, Workers
from confidence_tasks.logs.cache import Cache, computed
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.checks import notices_of
from confidence_tasks.report.estimates import Estimated, Settings
from confidence_tasks.report.extra_tables import ExtraTable, Overview
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.acceptance import acceptance
from confidence_tasks.report.figures.general import GENERAL, ModelStyles, interval_line
from confidence_tasks.report.figures.page_panels import panel_svg
from confidence_tasks.report.labels import STATUSES, group_label, measure_label, number, signed
from confidence_tasks.report.notices import Notice
from confidence_tasks.report.page import (
    TableView,
    contrast_table,
    extra_view,
    measure_tables,
    model_tables,
    overview_table,
    sample_link,
    source_tables,
)
from confidence_tasks.report.page.first_screen import (
    DIRECTIONS,
    Headline,
    contrast_sentences,
    model_sentences,
    overconfidence_sentences,
)
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import study_report
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure

if TYPE_CHECKING:
    from confidence_tasks.report.paper.filled import Filled

T = TypeVar("T")


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


MANY_LINES = 12
"""Maximum number of lines in a figure: the reader cannot distinguish more."""

_WIDE, _NARROW = (7.4, 3.0), (3.4, 2.4)
"""Size in inches of the figure of a measure: over several conditions, or over one or two."""

_LEADING, _FEW_PANELS = 3.4, 4
"""Width in inches of the panels of a leading figure, two of which fill the page, if there are few."""

PANELS_SHOWN = 24
"""Maximum number of panels of a figure on a page."""

SAMPLES_SHOWN, MOST_SAMPLES = 4, 24
"""Maximum number of samples of each kind: of one model, and of all models together."""

ANSWER_SHOWN = 80
"""Maximum number of characters shown of an answer."""

_ANSWER_SCANNED = 1000
"""Maximum number of characters processed of an answer."""

REFERENCES = {"mratio": 1.0, "auroc": 0.5, "overconfidence": 0.0, "hard_easy": 0.0}
"""Reference values of measures, drawn as a dashed line."""


def figures_of(results: TaskResults, styles: ModelStyles) -> list[Figure]:
    """Return every figure of a task: its headline measures by condition, then those of its study.

    A measure of one model under one condition is a single point, and has no figure.
    """
    figures = list(_own_figures(results, styles))
    if len(results.models) * len(results.conditions) > 1:
        figures = [*_headline_figures(results, styles), *figures]
    return [figure for figure in figures if any(panels for _, panels in figure.rows)]


def _headline_figures(results: TaskResults, styles: ModelStyles) -> Iterator[Figure]:
    """Yield a figure of each headline measure, with a line per model over the conditions."""
    models, labels = [model.label for model in results.models], results.conditions
    left_out = f" Only the first {MANY_LINES} of {len(models)} models are drawn; the table has all of them."
    for measure in results.headline:
        yield _measure_figure(
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


def _own_figures(results: TaskResults, styles: ModelStyles) -> Iterator[Figure]:
    """Yield the figures of a task's study, one of which may lead the section."""
    report = study_report(results.task_trials.study)
    makers = GENERAL if report.figures is None else report.figures
    lead = report.lead
    if lead is None and len(results.conditions) == 1 and makers:
        lead = makers[0]
    for make in (*makers, acceptance):
        yield replace(make(results, styles), leads=make is lead)


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
    """Return the figure of a measure: one line per model, over conditions or tasks.

    Points are ``joined`` where the labels have an order.
    """
    title, direction = measure_label(measure.name), DIRECTIONS[measure.better]
    look = {"y": title, "reference": REFERENCES.get(measure.name), "joined": joined}
    return Figure(
        f"{name}_{measure.name}",
        title,
        f"{measure.description} Error bars are {settings.level:.0%} intervals"
        f"{f'; {direction}' if direction else ''}.{left_out}",
        (("", (panel("", panels.intervals, labels=labels, lines=lines, **look),)),),
        tuple(LegendEntry(line.label, line.colour, line.marker) for line in lines),
        size=_WIDE if len(labels) > 2 else _NARROW,
    )


def task_view(
    headline: Headline, views: Sequence[FigureView], extras: Sequence[ExtraTable], viewer: str
) -> TaskView:
    """Return the section of a task with its figures and its extra tables."""
    results = headline.results
    study, design, slug = results.task_trials.study, results.task_trials.design, results.task_trials.slug
    by_name = {view.figure.name: view for view in views}
    measures = [
        MeasureView(measure, name, by_name.pop(name, None), measure_tables(results, measure))
        for measure in results.headline
        for name in [f"{slug}_{measure.name}"]
    ]
    lead = next((view for view in by_name.values() if view.figure.leads), None)
    all_measures = model_tables(results)
    statuses = tuple(_statuses(results))
    return TaskView(
        tasks=(results,),
        name=slug,
        title=results.task_trials.title,
        question=design.question,
        sentences=(
            *model_sentences(headline),
            *contrast_sentences(results),
            *overconfidence_sentences(results),
        ),
        notices=tuple(notices_of(results)),
        measures=tuple(measures),
        lead=lead,
        figures=tuple(view for view in by_name.values() if view is not lead),
        all_measures=all_measures,
        definitions=_definitions(study, all_measures),
        extras=_extra_views(extras, viewer),
        contrasts=contrast_table(results),
        baseline=group_label(design.baseline),
        sources=source_tables(results, results.headline),
        statuses=statuses,
        legend=_legend(statuses),
        samples=tuple(_samples(results, viewer)),
        samples_per_model=_samples_per_model(results),
    )


def _extra_views(extras: Sequence[ExtraTable], viewer: str) -> tuple[tuple[ExtraTable, TableView], ...]:
    """Return the tables that the page shows, each with its view."""
    return tuple((extra, extra_view(extra, viewer)) for extra in extras if not extra.repeats)


def _definitions(study: Study, tables: Sequence[TableView]) -> tuple[tuple[str, str], ...]:
    """Return the labels and definitions of the measures that are rows of some tables."""
    shown = {row.label for table in tables for row in table.rows}
    labelled = [(measure_label(measure.name), measure.description) for measure in study.measures]
    return tuple((label, description) for label, description in labelled if label in shown)


WORTH_WORKERS = 100
"""Number of panels above which worker processes, which take about 5 s to start, save time."""


def figure_views(
    figures: Sequence[Figure], workers: Workers | None = None, cache: Cache | None = None
) -> list[FigureView]:
    """Draw the panels of figures for the page; of a figure with many panels, some of each row."""
    figures = [_enlarged(figure) for figure in figures]
    shown = [_rows_shown(figure) for figure in figures]
    jobs = [
        _drawing(figure, heading, panel)
        for figure, rows in zip(figures, shown, strict=True)
        for heading, panels in rows
        for panel in panels
    ]
    results = computed(panel_svg, jobs, "panel", str, workers, cache, enough=WORTH_WORKERS)
    drawn = iter(
        Markup(panel_svg(*arguments) if isinstance(svg, LostJob) else svg)  # noqa: S704 - matplotlib escapes
        for (_, arguments), svg in zip(jobs, results, strict=True)
    )
    views = []
    for figure, rows in zip(figures, shown, strict=True):
        svgs = tuple((heading, tuple(islice(drawn, len(panels)))) for heading, panels in rows)
        views.append(FigureView(figure, svgs))
    return views


def _enlarged(figure: Figure) -> Figure:
    """Return a leading figure with larger panels, if it has few; any other as it is."""
    width, height = figure.size
    n_panels = sum(len(panels) for _, panels in figure.rows)
    if not figure.leads or n_panels > _FEW_PANELS or width >= _LEADING:
        return figure
    return replace(figure, size=(_LEADING, height * _LEADING / width))


def _drawing(figure: Figure, heading: str, panel: Panel) -> Job:
    """Return the arguments of :func:`panel_svg` for a panel, with its label."""
    label = ", ".join(filter(None, (figure.title, heading, panel.title)))
    return label, (panel, figure.size, label)


def _rows_shown(figure: Figure) -> list[tuple[str, list[Panel]]]:
    """Return the rows of a figure with the panels that the page shows."""
    rows = _evenly_spaced(figure.rows, PANELS_SHOWN)
    return [(heading, _evenly_spaced(panels, PANELS_SHOWN // len(rows))) for heading, panels in rows]


def _evenly_spaced(items: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` items, evenly spaced from the first to the last."""
    chosen = np.unique(np.linspace(0, len(items) - 1, min(most, len(items))).round().astype(int))
    return [items[i] for i in chosen]


def _statuses(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Yield, for each model and condition, the percentage of replies of each status."""
    for model in results.models:
        for condition in results.conditions:
            statuses = model.columns["status"][model.columns["condition"] == condition]
            if len(statuses):
                yield {
                    "model": model.label,
                    "condition": group_label(condition),
                    "n": len(statuses),
                    "parts": [
                        (status, name, 100.0 * float(np.mean(statuses == status)))
                        for status, name in STATUSES.items()
                        if status in statuses
                    ],
                }


def _legend(statuses: Sequence[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Return the statuses that occur in some rows, each with its label."""
    occurring = {status for row in statuses for status, _, _ in row["parts"]}
    return tuple((status, name) for status, name in STATUSES.items() if status in occurring)


_SAMPLE_KINDS = (("confident error", 0.0, -1.0), ("unsure right answer", 1.0, 1.0))
"""Samples to read: their name, their outcome, and the sign of confidence by which they are sorted."""


def _samples(results: TaskResults, viewer: str) -> Iterator[dict[str, str]]:
    """Yield the wrong answers with most confidence and the right ones with least, a few of each model."""
    for model in results.models:
        columns = model.columns
        answers = columns.get("answer", columns["question_id"])
        for kind, outcome, sign in _SAMPLE_KINDS:
            rows = np.flatnonzero((columns["correct"] == outcome) & ~np.isnan(columns["confidence"]))
            ranked = rows[np.argsort(sign * columns["confidence"][rows], kind="stable")]
            for row in ranked[: _samples_per_model(results)]:
                answer = printable(" ".join(str(answers[row])[:_ANSWER_SCANNED].split()))
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


def _samples_per_model(results: TaskResults) -> int:
    """Return the number of samples of each kind that are listed of a model: fewer where there are many models."""
    return max(1, min(SAMPLES_SHOWN, MOST_SAMPLES // len(results.models)))


# Overviews ---------------------------------------------------------------------------------------------------------


def overview_figures(overview: Overview, styles: ModelStyles) -> list[Figure]:
    """Return a figure of each measure: every model in every task, with intervals."""
    design, columns, settings = overview.design, overview.columns, overview.tasks[0].settings
    figures = []
    for measure in design.measures:
        lines = [
            interval_line(overview, model, columns, measure.name, *styles[model]) for model in overview.models
        ]
        figures.append(_measure_figure(design.name, measure, settings, columns, lines, joined=False))
    return figures


def overview_view(overview: Overview, views: Sequence[FigureView]) -> OverviewView:
    """Return the section of an overview, with a figure of each measure."""
    design = overview.design
    return OverviewView(
        tasks=overview.tasks,
        name=design.name,
        title=design.title,
        question=design.question,
        sentences=tuple(_overconfidence_by_task(overview)),
        measures=tuple(
            MeasureView(measure, figure.figure.name, figure, (overview_table(overview, measure),))
            for measure, figure in zip(design.measures, views, strict=True)
        ),
        note=design.note,
    )


def _overconfidence_by_task(overview: Overview) -> Iterator[str]:
    """Yield the tasks on which models are overconfident, and those on which they are underconfident."""
    for word, side, sign, is_beyond in _BEYOND:
        counts: list[str] = []
        for column, entries in _overconfidence_by_column(overview):
            n = sum(map(is_beyond, entries))
            if n:
                noun = " model" if len(entries) == 1 else " models"
                most = max(sign * entry.interval.estimate for entry in entries)
                of_models = f"{n} of {len(entries)}{'' if counts else noun}"
                counts.append(f"{column} ({of_models}, by up to {signed(sign * most)})")
        if counts:
            yield f"{word}, with intervals {side} 0: {', '.join(counts)}."


def _overconfidence_by_column(overview: Overview) -> Iterator[tuple[str, list[Estimated]]]:
    for column in overview.columns:
        entries = [overview.estimate(model, column, "overconfidence") for model in overview.models]
        yield column, [entry for entry in entries if entry is not None]


_BEYOND: tuple[tuple[str, str, float, Callable[[Estimated], bool]], ...] = (
    ("Overconfident", "above", 1.0, lambda entry: entry.interval.low > 0.0),
    ("Underconfident", "below", -1.0, lambda entry: entry.interval.high < 0.0),
)
"""Directions of error: word, side of 0, sign, and whether the interval of an estimate lies on that side."""
