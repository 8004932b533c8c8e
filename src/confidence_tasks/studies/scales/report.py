"""Figures, tables, checks and power design of the confidence-scale study.

Dai (2026), arXiv:2603.09309, figures 2 to 5 and appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap

import numpy as np

from confidence_tasks.drawing import Colour, ordered
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report import checks
from confidence_tasks.report.figures import LegendEntry, Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import (
    ModelStyles,
    complete_by_source,
    figure_by_model,
    figure_of,
    interval_line,
    trials_by_source,
)
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.notices import check, subsets_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.statistics import complete, ece
from confidence_tasks.statistics.sdt import fit_meta_d_threshold, threshold_table
from confidence_tasks.studies.scales.forms import REPLY_FORMS
from confidence_tasks.studies.scales.power import POWER
from confidence_tasks.studies.scales.replies import BASELINE
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.standard import HIGH_CONFIDENCE

BIN_COUNTS = (5, 10, 15, 20, 30, 50)
"""Numbers of bins of the paper's figure 3."""


@figure_by_model(
    "histograms",
    "Stated confidence",
    "Share of replies by stated confidence, averaged over sources. Dashed lines mark the three most frequent"
    " values.",
    keys=(LegendEntry("right", Colour.RIGHT), LegendEntry("wrong or not judged", Colour.WRONG)),
    size=(1.95, 1.65),
)
def histograms(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw a histogram of a model's reports on every scale; each source has the same weight."""
    for label in results.conditions:
        sources = trials_by_source(results, model, label, "confidence_raw", "correct", "lower", "upper")
        if not sources:
            continue
        stated = [rows_of(source, ~np.isnan(source["confidence_raw"])) for source in sources]
        raw, correct = (
            np.concatenate([source[name] for source in stated]) for name in ("confidence_raw", "correct")
        )
        counts = [len(source["correct"]) for source in stated]
        weights = np.concatenate([np.full(n, 1.0 / max(n, 1)) for n in counts]) / len(sources)
        bounds = {name: float(sources[0][name][0]) for name in ("lower", "upper")}
        yield panel(label, panels.histogram, raw=raw, correct=correct, weights=weights, **bounds)


def _condition_colours(results: TaskResults) -> dict[str, Colour]:
    conditions = results.conditions
    return {label: ordered(i, len(conditions)) for i, label in enumerate(conditions)}


@figure_by_model(
    "ece_by_bins",
    "ECE against the number of bins",
    "If replies have few distinct confidences, ECE depends on how the bins divide these values. Trust an order of"
    " conditions only if it holds at every number of bins. As in the tables, ECE is the mean over the sources.",
    keys=lambda results, styles: tuple(starmap(LegendEntry, _condition_colours(results).items())),
)
def ece_by_bins(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw ECE against the number of bins, for every condition of a model."""
    x = np.arange(len(BIN_COUNTS), dtype=np.float64)
    lines = []
    for label, colour in _condition_colours(results).items():
        pairs = complete_by_source(results, model, label)
        values = [
            np.mean([ece(*pair, bins=bins) for pair in pairs]) if pairs else np.nan for bins in BIN_COUNTS
        ]
        lines.append(Line(label, colour, x, np.array(values)))
    yield panel("", panels.trends, labels=list(map(str, BIN_COUNTS)), lines=lines, x="bins", y="ECE")


_PROFILE = {"top1_share": 1.0, "top3_share": 1.0, "distinct": 101.0}
"""Measures of the paper's figure 2, with the largest possible value of each."""


@figure_of(
    "discretisation_profile",
    "Discretisation on 0-100",
    "Share of the most frequent confidence, share of the three most frequent, and number of distinct values of 101,"
    " averaged over sources. The bootstrap gives no valid intervals for these measures. Models that state few round"
    " numbers have high shares and few values.",
    size=(2.4, 2.0),
)
def discretisation_profile(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 2 of the paper: how concentrated each model's reports on 0-100 are."""
    if BASELINE.label not in results.conditions:
        return
    for name, maximum in _PROFILE.items():
        lines = [
            interval_line(results, model.label, [BASELINE.label], name, *styles[model.label])
            for model in results.models
        ]
        unit, span = "proportion" if maximum == 1.0 else "values", (0.0, maximum)
        yield panel(measure_label(name), panels.intervals, labels=[""], lines=lines, y=unit, span=span)


@check(
    "warning",
    "M-ratio divides by a d′ near 0",
    "Accuracy is close to one half, so that d′ is close to 0 and the ratio can take any value. Use meta-d′ instead.",
)
def unstable_m_ratio(results: TaskResults) -> Iterator[str]:
    """Find models and conditions with a d' too close to 0."""
    for model, condition, columns in subsets_of(results, "correct", "confidence"):
        correct, confidence = complete(columns["correct"], columns["confidence"])
        fit = fit_meta_d_threshold(threshold_table(correct, confidence, HIGH_CONFIDENCE))
        if fit.unstable and not np.isnan(fit.d_prime):
            yield f"{model}, {condition}: d′ = {fit.d_prime:.2f}"


REPORT = StudyReport(
    figures=(
        histograms,
        discretisation_profile,
        general.reliability,
        general.type2_roc,
        general.selective,
        ece_by_bins,
    ),
    checks=(*checks.GENERAL, unstable_m_ratio),
    corroborating_measures={"mratio": ("auroc", "meta_information")},
    replication="confidence_tasks.replications.scales:REPLICATION",
    reply_forms=REPLY_FORMS,
    power=(POWER,),
)
