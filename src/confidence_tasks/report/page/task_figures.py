"""The figures of a task, and of several tasks side by side: those of its measures and those of its study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import Overview
from confidence_tasks.report.figures import Figure, LegendEntry, Line, panel, panels
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
    study = results.task_trials.study.name
    of_papers = (make for paper in report.replications for make in paper.figures.get(study, ()))
    for make in (*makers, *of_papers, acceptance):
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
