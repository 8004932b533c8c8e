"""Coverage against nominal coverage, as FermiEval's figure 1: arXiv:2510.26995."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report.figures import LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model, interval_line
from confidence_tasks.report.results import TaskResults
from confidence_tasks.studies.fermieval.adjustments import JACKKNIFE
from confidence_tasks.studies.fermieval.methods import (
    STATED,
    leaves_out,
    levels_in,
    method_table,
    within_paper,
)
from confidence_tasks.studies.fermieval.replies import PAPER_MAX_EXPONENT, condition_of, level_of

_SIZE = (2.5, 2.1)


def _coverage_legend(results: TaskResults, styles: ModelStyles) -> tuple[LegendEntry, ...]:
    stated = (LegendEntry(f"{model.label}, as stated", *styles[model.label]) for model in results.models)
    return LegendEntry("nominal", Colour.MUTED), LegendEntry("conformal", Colour.INK, "D"), *stated


@figure_by_model(
    "calibration",
    "Coverage against nominal coverage",
    "Share of the test half’s intervals that contain the truth, with its confidence interval: as stated, in the"
    " model’s colour, and after conformal adjustment by the calibration half or, without one, by the other questions."
    " Grey is the nominal coverage; below it a model is overconfident.",
    keys=_coverage_legend,
    size=_SIZE,
)
def calibration(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw observed against nominal coverage, for intervals as stated and as conformally adjusted."""
    labels = results.conditions
    stated = interval_line(results, model.label, labels, "coverage", *styles[model.label])
    adjusted = [
        interval_line(results, model.label, labels, name, Colour.INK, "D")
        for name in ("conformal_coverage", "conformal_jackknife_coverage")
    ]
    yield _coverage_panel(labels, stated, adjusted)


def _coverage_panel(labels: Sequence[str], stated: Line, adjusted: Iterable[Line]) -> Panel:
    """Return the panel of one model, without adjusted intervals that it does not have."""
    defined = [line for line in adjusted if not np.isnan(line.y).all()]
    nominal = Line("nominal", Colour.MUTED, stated.x, np.array([level_of(label) for label in labels]))
    return panel(
        "",
        panels.trends,
        labels=[label.removeprefix("p=0") for label in labels],
        lines=[nominal, *defined, stated],
        x="nominal coverage",
        y="observed",
        lowest=None,
    )


@figure_by_model(
    "calibration_as_published",
    "Coverage against nominal coverage, with the paper’s exclusions",
    f"The same without items whose truth or an end lies beyond ±{PAPER_MAX_EXPONENT}, which the paper’s figures leave"
    " out.",
    keys=_coverage_legend,
    size=_SIZE,
)
def paper_calibration(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw figure 1 of the paper with its exclusions; nothing if they leave no trial of any model out."""
    if not leaves_out(results):
        return
    levels = levels_in(results)
    scores = method_table(levels, {STATED: within_paper(model)}).set_index("method")
    lines = {
        name: _coverage_line(model.label, scores.loc[[name]], *style)
        for name, style in (
            ("base", styles[model.label]),
            ("conformal", (Colour.INK, "D")),
            (JACKKNIFE, (Colour.INK, "D")),
        )
        if name in scores.index
    }
    labels = [condition_of(level) for level in levels]
    yield _coverage_panel(labels, lines.pop("base"), lines.values())


def _coverage_line(label: str, scores: pd.DataFrame, colour: Colour, marker: str) -> Line:
    """Return the coverage of one method by level, with Wilson's intervals."""
    value, low, high = (
        scores[name].to_numpy(np.float64) for name in ("coverage", "coverage_low", "coverage_high")
    )
    return Line(label, colour, np.arange(len(value), dtype=np.float64), value, low, high, marker)
