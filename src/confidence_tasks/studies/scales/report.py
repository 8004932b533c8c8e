"""The confidence-scale study in the report: what was stated on each scale, and what its measures hang on.

Dai (2026), arXiv:2603.09309, figures 2 to 5 and appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.report.checks import cells_of, check
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Colour, LegendEntry, Panel, ordered, panel
from confidence_tasks.report.figures.general import (
    ModelStyles,
    averaged,
    figure_by_model,
    figure_of,
    interval_line,
    judged,
)
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.reply_form import ReplyForm, Row, metrics_of_items
from confidence_tasks.statistics import complete, ece
from confidence_tasks.statistics.sdt import fit_meta_d_threshold, threshold_table
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.scales.prompts import BASELINE, ELICITATIONS, Scale
from confidence_tasks.study.question import Question
from confidence_tasks.study.standard import HIGH_CONFIDENCE

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials


BIN_COUNTS = (5, 10, 15, 20, 30, 50)
"""Numbers of bins of the paper's figure 3."""


def bounds_of(condition: str) -> dict[str, float]:
    """Return the bounds that a condition stands for.

    Examples
    --------
    >>> bounds_of("14-86")
    {'lower': 14, 'upper': 86}
    """
    scale = Scale.parse(condition)
    return {"lower": scale.lower, "upper": scale.upper}


@figure_by_model(
    "histograms",
    "What was stated",
    "Share of replies by the confidence stated, as stated, averaged over sources. Dashed lines mark the three most"
    " frequent values, the anchors that models are drawn to.",
    keys=(LegendEntry("right", Colour.RIGHT), LegendEntry("wrong or not judged", Colour.WRONG)),
    size=(1.95, 1.65),
)
def histograms(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw what a model stated on every scale."""
    for label in results.conditions:
        cells = averaged(results, model, label)
        if not cells:
            continue
        stated = [~np.isnan(cell["confidence_raw"]) for cell in cells]
        raw, correct = (
            np.concatenate([cell[name][of] for cell, of in zip(cells, stated, strict=True)])
            for name in ("confidence_raw", "correct")
        )
        weights = np.concatenate([np.full(of.sum(), 1.0 / max(of.sum(), 1)) for of in stated]) / len(cells)
        bounds = {name: float(cells[0][name][0]) for name in ("lower", "upper")}
        yield panel(label, panels.histogram, raw=raw, correct=correct, weights=weights, **bounds)


def _scale_colours(results: TaskResults) -> dict[str, Colour]:
    conditions = results.conditions
    return {label: ordered(i, len(conditions)) for i, label in enumerate(conditions)}


@figure_by_model(
    "ece_by_bins",
    "ECE against the number of bins",
    "Few distinct confidences fall into other bins when the bins change, so that ECE moves without any reply having"
    " changed. Trust an order of conditions that holds at every number of bins. As in the tables, ECE is the mean"
    " over the sources.",
    keys=lambda results, styles: tuple(starmap(LegendEntry, _scale_colours(results).items())),
)
def ece_by_bins(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw ECE against the number of bins, for every condition of a model."""
    x = np.arange(len(BIN_COUNTS), dtype=np.float64)
    lines = []
    for label, colour in _scale_colours(results).items():
        pairs = judged(results, model, label)
        values = [
            np.mean([ece(*pair, bins=bins) for pair in pairs]) if pairs else np.nan for bins in BIN_COUNTS
        ]
        lines.append(Line(label, colour, x, np.array(values)))
    yield panel("", panels.trends, labels=list(map(str, BIN_COUNTS)), lines=lines, x="bins", y="ECE")


_PROFILE = {"top1_share": 1.0, "top3_share": 1.0, "distinct": 101.0}
"""Measures of the paper's figure 2, and the largest value of each."""


@figure_of(
    "discretisation_profile",
    "Discretisation on 0–100",
    "Share of the most frequent confidence, share of the three most frequent, and number of distinct values of 101,"
    " averaged over sources; resamples give such numbers no intervals. Models that state a few round numbers have"
    " high shares and few values.",
    size=(2.4, 2.0),
)
def discretisation_profile(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 2 of the paper: how often each model states its favourite values on 0-100, and how many it uses."""
    for name, largest in _PROFILE.items() if BASELINE.label in results.conditions else ():
        lines = [
            interval_line(results, model.label, [BASELINE.label], name, *styles[model.label])
            for model in results.models
        ]
        unit, span = "share" if largest == 1.0 else "values", (0.0, largest)
        yield panel(measure_label(name), panels.intervals, labels=[""], lines=lines, y=unit, span=span)


@check(
    "warning",
    "M-ratio divides by a d′ near 0",
    "Accuracy is too near one half for a two-choice observer. The ratio can take any value; read meta-d′ itself.",
)
def unstable_m_ratio(results: TaskResults) -> Iterator[str]:
    """Where d' is too near 0 to divide by."""
    for model, condition, columns in cells_of(results):
        correct, confidence = complete(columns["correct"], columns["confidence"])
        fit = fit_meta_d_threshold(threshold_table(correct, confidence, HIGH_CONFIDENCE))
        if fit.unstable and not np.isnan(fit.d_prime):
            yield f"{model}, {condition}: d′ = {fit.d_prime:.2f}"


def _scale(question: Question, row: Row) -> Item:
    elicitation = one_of(ELICITATIONS, str(row.get("elicitation") or "verbal"), "elicitation")
    label = Scale.parse(str(row["scale"])).label
    return Item(question, label, question.text, metadata={"elicitation": elicitation})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "scales": ReplyForm(
        {"scale": "bounds of the confidence scale, such as 0-100"},
        "",
        _scale,
        STUDY.make_scorer,
        lambda items: metrics_of_items(STUDY, items),
    ),
}
