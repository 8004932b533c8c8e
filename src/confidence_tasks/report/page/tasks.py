"""A task as the page shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from confidence_tasks.report.checks import notices
from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures.figure import Figure, Panel
from confidence_tasks.report.figures.general import MANY_PANELS, ModelStyles, by_condition
from confidence_tasks.report.figures.svg import panel_svg
from confidence_tasks.report.labels import STATUSES, group_label, measure_label, printable
from confidence_tasks.report.page.numbers import number
from confidence_tasks.report.page.sentences import sentences
from confidence_tasks.report.page.tables import (
    contrast_table,
    extra_view,
    measure_tables,
    model_tables,
    sample_link,
    source_tables,
)
from confidence_tasks.report.page.views import (
    ErrorView,
    FigureView,
    MeasureView,
    StatusView,
    TableView,
    TaskView,
)
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.variants import ways_figure
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.reference import loaded

ERRORS_SHOWN = 5
"""Confident errors listed of each model."""

ANSWER_SHOWN = 80
"""Characters of an answer that are shown."""

_READ_OF_ANSWER = 1000
"""Characters of an answer that are looked at."""

_PIXELS_PER_INCH = 76
"""What an inch of a drawing takes at least on the page: a little more than in print."""

DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": ""}
REFERENCES = {"mratio": 1.0, "auroc": 0.5, "overconfidence": 0.0, "hard_easy": 0.0}
"""Values that mean something: drawn as a dashed line."""


def figures_of(results: TaskResults, styles: ModelStyles) -> list[Figure]:
    """Return every figure of a task: its headline measures by condition, then those of its study."""
    headline = [_measure_figure(results, styles, measure) for measure in results.headline]
    others = [make(results, styles) for make in (ways_figure, *loaded(results.task_trials.study.figures))]
    return [figure for figure in (*headline, *others) if any(panels for _, panels in figure.rows)]


def _measure_figure(results: TaskResults, styles: ModelStyles, measure: Measure) -> Figure:
    return by_condition(
        results,
        styles,
        measure.name,
        title=measure_label(measure.name),
        caption=measure_caption(measure, results.settings),
        reference=REFERENCES.get(measure.name),
    )


def measure_caption(measure: Measure, settings: Settings) -> str:
    """Say what the figure of a measure shows."""
    direction = DIRECTIONS[measure.better]
    return f"{measure.description} Lines are {settings.level:.0%} intervals" + (
        f"; {direction}." if direction else "."
    )


def task_view(
    results: TaskResults, figures: Sequence[Figure], extras: Sequence[ExtraTable], viewer: str
) -> TaskView:
    """Lay out a task.

    Parameters
    ----------
    results : TaskResults
        Its numbers.
    figures : list of Figure
        Its figures, as :func:`figures_of` gives them.
    extras : list of ExtraTable
        Its tables beside the measures.
    viewer : str
        Address of Inspect's viewer, for links to samples.
    """
    study, design = results.task_trials.study, results.task_trials.design
    headline = results.headline
    views = [figure_view(figure) for figure in figures]
    by_name = {figure.name: figure for figure in views}
    measures = tuple(
        measure_view(
            measure, by_name[f"{results.task_trials.slug}_{measure.name}"], measure_tables(results, measure)
        )
        for measure in headline
    )
    shown = {measure.figure.name for measure in measures}
    return TaskView(
        name=results.task_trials.slug,
        title=design.title,
        question=design.question,
        study=study.title,
        paper=study.paper.cited if study.paper else "",
        paper_url=study.paper.url if study.paper else "",
        sentences=tuple(sentences(results)),
        notices=tuple(notices(results, loaded(study.checks))),
        measures=measures,
        figures=tuple(figure for figure in views if figure.name not in shown),
        all_measures=(every := model_tables(results)),
        definitions=_definitions(results, {row.label for table in every for row in table.rows}),
        extras=tuple((extra.title, extra.note, extra_view(extra, viewer)) for extra in extras),
        contrasts=contrast_table(results),
        contrasts_baseline=group_label(design.baseline),
        sources=source_tables(results, headline),
        statuses=tuple(_statuses(results)),
        errors=tuple(_errors(results, viewer)),
        n_trials=sum(len(model) for model in results.models),
        n_questions=len({name for model in results.models for name in model.columns["question_id"]}),
    )


def _definitions(results: TaskResults, shown: set[str]) -> tuple[tuple[str, str], ...]:
    """Say what the measures are that the tables show."""
    named = (
        (measure_label(measure.name), measure.description) for measure in results.task_trials.study.measures
    )
    return tuple((label, description) for label, description in named if label in shown)


def measure_view(measure: Measure, figure: FigureView, tables: tuple[TableView, ...]) -> MeasureView:
    """Put a measure's figure and tables under its name."""
    label, direction = measure_label(measure.name), DIRECTIONS[measure.better]
    return MeasureView(measure.name, label, measure.description, direction, figure, tables)


def figure_view(figure: Figure) -> FigureView:
    """Draw a figure's panels for the page; of very many, some of each row."""
    a_row = max(1, MANY_PANELS // max(len(figure.rows), 1))
    kept = [(label, _some(panels, a_row)) for label, panels in figure.rows]
    n, drawn = (sum(len(panels) for _, panels in rows) for rows in (figure.rows, kept))
    rows = tuple(
        (
            label,
            tuple(
                Markup(  # noqa: S704 - matplotlib escapes
                    panel_svg(
                        panel,
                        figure.size,
                        f"{figure.name}/{r}/{c}",
                        ", ".join(filter(None, (figure.title, label, panel.title))),
                    )
                )
                for c, panel in enumerate(panels)
            ),
        )
        for r, (label, panels) in enumerate(kept)
    )
    keys = tuple((key.label, key.colour.variable, key.marker) for key in figure.keys)
    width = round(figure.size[0] * _PIXELS_PER_INCH)
    left_out = f"Shown are {drawn} of {n} panels: `--figures` writes all of them." if drawn < n else ""
    wide = figure.size[0] > 4
    return FigureView(figure.name, figure.title, figure.caption, rows, keys, width, wide, left_out)


def _some(panels: Sequence[Panel], most: int) -> list[Panel]:
    """Keep the first panel, the last, and as many between them as may be."""
    chosen = np.unique(np.linspace(0, len(panels) - 1, min(most, len(panels))).round().astype(int))
    return [panels[i] for i in chosen]


def _statuses(results: TaskResults) -> Iterator[StatusView]:
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
            yield StatusView(model.label, group_label(condition), len(statuses), parts)


def _errors(results: TaskResults, viewer: str) -> Iterator[ErrorView]:
    """The wrong answers given with most confidence, a few of each model."""
    for model in results.models:
        columns = model.columns
        wrong = np.flatnonzero((columns["correct"] == 0.0) & ~np.isnan(columns["confidence"]))
        worst = wrong[np.argsort(-columns["confidence"][wrong], kind="stable")][:ERRORS_SHOWN]
        answers = columns.get("answer", columns["question_id"])
        for row in worst:
            answer = printable(" ".join(str(answers[row])[:_READ_OF_ANSWER].split()))
            yield ErrorView(
                model.label,
                group_label(str(columns["condition"][row])),
                printable(str(columns["question_id"][row])[:ANSWER_SHOWN]),
                answer[:ANSWER_SHOWN] + ("…" if len(answer) > ANSWER_SHOWN else ""),
                number(float(columns["confidence"][row])),
                sample_link(model, int(row), viewer),
            )
