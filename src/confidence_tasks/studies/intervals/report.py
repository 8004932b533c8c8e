"""The report of stated intervals: coverage against nominal coverage."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.own_replies.intervals import level_of
from confidence_tasks.report.checks import READING
from confidence_tasks.report.figures import LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model, interval_line
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport


def _legend(results: TaskResults, styles: ModelStyles) -> tuple[LegendEntry, ...]:
    stated = (LegendEntry(model.label, *styles[model.label]) for model in results.models)
    return LegendEntry("nominal", Colour.MUTED), *stated


@figure_by_model(
    "coverage",
    "Coverage against nominal coverage",
    "Share of the intervals that contain the truth, with its confidence interval. Grey is the nominal coverage; below"
    " it a model is overconfident.",
    keys=_legend,
    size=(2.5, 2.1),
)
def coverage(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw observed against nominal coverage."""
    labels = results.conditions
    stated = interval_line(results, model.label, labels, "coverage", *styles[model.label])
    nominal = Line("nominal", Colour.MUTED, stated.x, np.array([level_of(label) for label in labels]))
    yield panel(
        "",
        panels.trends,
        labels=[label.removeprefix("p=") for label in labels],
        lines=[nominal, stated],
        x="nominal coverage",
        y="observed",
        lowest=None,
    )


REPORT = StudyReport(figures=(coverage,), checks=READING)
