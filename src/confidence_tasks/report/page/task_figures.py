"""The figures of a task, and of several tasks side by side: those of its measures and those of its study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import Overview
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.acceptance import acceptance
from confidence_tasks.report.figures.general import GENERAL, ModelStyles, interval_line
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.page.first_screen import DIRECTIONS
from confidence_tasks.report.page.tasks import _NARROW, _WIDE
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import study_report
from confidence_tasks.study.measure import Measure

MANY_LINES = 12
"""Maximum number of lines in a figure: the reader cannot distinguish more."""

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
        yield measure_figure(
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
    study = results.task_trials.study.name
    of_papers = (make for paper in report.replications for make in paper.figures.get(study, ()))
    for make in (*makers, *of_papers, acceptance):
        yield replace(make(results, styles), leads=make is lead)


def measure_figure(
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
    drawn = [line for line in lines if not np.isnan(line.y).all()]
    look = {"reference": REFERENCES.get(measure.name)}
    if _fit_side_by_side(labels):
        shown = panel("", panels.intervals, labels=labels, lines=drawn, y=title, joined=joined, **look)
        size = _WIDE if len(labels) > 2 else _NARROW
    else:
        shown, size = _rows_of_intervals(labels, drawn, title, look)
    notes = [f"Error bars are {settings.level:.0%} intervals"] if _has_intervals(drawn) else []
    notes += [direction] if direction else []
    return Figure(
        f"{name}_{measure.name}",
        title,
        f"{measure.description}{_sentence(notes)}{left_out}",
        (("", (shown,)),),
        tuple(LegendEntry(line.label, line.colour, line.marker) for line in drawn),
        size=size,
    )


def _sentence(parts: Sequence[str]) -> str:
    """Return parts as a sentence that follows another; empty without any."""
    text = "; ".join(parts)
    return f" {text[0].upper()}{text[1:]}." if text else ""


def _has_intervals(lines: Sequence[Line]) -> bool:
    return any(line.low is not None and np.isfinite(line.low).any() for line in lines)


_LETTERS_SIDE_BY_SIDE = 100
"""Number of letters of labels that fit below the widest figure."""


def _fit_side_by_side(labels: Sequence[str]) -> bool:
    """Return whether labels below a figure have room for themselves and two letters between them.

    Examples
    --------
    >>> _fit_side_by_side(["radius = 1", "radius = 20"]), _fit_side_by_side(["semantic_entropy"] * 6)
    (True, False)
    """
    return len(labels) * (max(map(len, labels)) + 2) <= _LETTERS_SIDE_BY_SIDE


def _rows_of_intervals(
    labels: Sequence[str], lines: Sequence[Line], title: str, look: dict[str, float | None]
) -> tuple[Panel, tuple[float, float]]:
    """Return a panel with a row for each label that has a value, and its size in inches."""
    shown = [k for k in range(len(labels)) if any(not np.isnan(line.y[k]) for line in lines)]
    names = [labels[k] for k in shown]
    of_rows = [
        replace(
            line,
            x=np.arange(len(shown), dtype=np.float64),
            y=line.y[shown],
            low=None if line.low is None else line.low[shown],
            high=None if line.high is None else line.high[shown],
        )
        for line in lines
    ]
    left = 0.25 + 0.065 * max(map(len, names), default=0)
    height = 0.6 + len(shown) * max(0.2, 0.1 * len(lines))
    shown_rows = panel("", panels.interval_rows, labels=names, lines=of_rows, x=title, **look)
    return replace(shown_rows, left=left), (_WIDE[0], height)


# Overviews ---------------------------------------------------------------------------------------------------------


def overview_figures(overview: Overview, styles: ModelStyles) -> list[Figure]:
    """Return a figure of each measure: every model in every task, with intervals."""
    design, columns, settings = overview.design, overview.columns, overview.tasks[0].settings
    figures = []
    for measure in design.measures:
        lines = [
            interval_line(overview, model, columns, measure.name, *styles[model]) for model in overview.models
        ]
        figures.append(measure_figure(design.name, measure, settings, columns, lines, joined=False))
    return figures
