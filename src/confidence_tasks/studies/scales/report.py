"""The confidence-scale study in the report: what was stated on each scale, and what its measures hang on.

Dai (2026), arXiv:2603.09309, figures 2 to 5 and appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.report.checks import Notice, cells_of, notice_if_any
from confidence_tasks.report.extra_tables import ExtraTable, side_by_side
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Colour, Figure, LegendEntry, Panel, ordered
from confidence_tasks.report.figures.general import (
    ModelStyles,
    averaged,
    interval_line,
    judged,
    line_of_intervals,
    model_keys,
    rows_of_models,
)
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm
from confidence_tasks.report.staged import metrics_of_items
from confidence_tasks.statistics import complete, ece
from confidence_tasks.statistics.discretization import top_value
from confidence_tasks.statistics.sdt import fit_meta_d_threshold, threshold_table
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.scales.prompts import ELICITATIONS, Scale
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


def histograms(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw what was stated on every scale, by model and condition."""
    rows = []
    for model in results.models:
        its_panels = []
        for label in results.conditions:
            cells = averaged(results, model, label)
            if not cells:
                continue
            stated = [~np.isnan(cell["confidence_raw"]) for cell in cells]
            raw, correct = (
                np.concatenate([cell[name][of] for cell, of in zip(cells, stated, strict=True)])
                for name in ("confidence_raw", "correct")
            )
            draw = partial(
                panels.histogram,
                raw=raw,
                correct=correct,
                weights=np.concatenate([np.full(of.sum(), 1.0 / max(of.sum(), 1)) for of in stated])
                / len(cells),
                lower=float(cells[0]["lower"][0]),
                upper=float(cells[0]["upper"][0]),
            )
            its_panels.append(Panel(label, draw))
        rows.append((model.label, tuple(its_panels)))
    return Figure(
        f"{results.task_trials.slug}_histograms",
        "What was stated",
        "Share of replies by the confidence stated, as stated, averaged over sources. Dashed lines mark the three most"
        " frequent values, the anchors that models are drawn to.",
        rows_of_models(rows),
        (LegendEntry("right", Colour.RIGHT), LegendEntry("wrong or not judged", Colour.WRONG)),
        size=(1.95, 1.65),
    )


def ece_by_bins(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw ECE against the number of bins, for every model and condition."""
    conditions = results.conditions
    colours = {label: ordered(i, len(conditions)) for i, label in enumerate(conditions)}
    its_panels = []
    for model in results.models:
        lines = []
        for label in conditions:
            pairs = judged(results, model, label)
            values = np.array(
                [
                    np.mean([ece(*pair, bins=bins) for pair in pairs]) if pairs else np.nan
                    for bins in BIN_COUNTS
                ]
            )
            lines.append(Line(label, colours[label], np.arange(len(BIN_COUNTS), dtype=np.float64), values))
        draw = partial(
            panels.trends, labels=[str(bins) for bins in BIN_COUNTS], lines=lines, x="bins", y="ECE"
        )
        its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_ece_by_bins",
        "ECE against the number of bins",
        "Few distinct confidences fall into other bins when the bins change, so that ECE moves without any reply having"
        " changed. Trust an order of conditions that holds at every number of bins. As in the tables, ECE is the mean"
        " over the sources.",
        (("", tuple(its_panels)),),
        tuple(LegendEntry(label, colour) for label, colour in colours.items()),
    )


def efficiency_space(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-d' against d', every model under each condition."""
    its_panels = []
    for label in results.conditions:
        lines = []
        for model in results.models:
            entry = results.estimate(model.label, label, "meta_d")
            d_prime = _mean_d_prime(results, model, label)
            if entry is not None and not np.isnan([d_prime, entry.interval.estimate]).any():
                lines.append(
                    line_of_intervals(model.label, [entry.interval], *styles[model.label], x=[d_prime])
                )
        if lines:
            draw = partial(panels.points, lines=lines, x="d′", y="meta-d′", diagonal=True)
            its_panels.append(Panel(label, draw))
    return Figure(
        f"{results.task_trials.slug}_efficiency",
        "Metacognitive efficiency space",
        "What confidence knows (meta-d′, with intervals) against what the answers know (d′). On the dashed line nothing"
        " is lost, M-ratio = 1; the farther below it, the less of the model’s knowledge reaches its confidence.",
        (("", tuple(its_panels)),),
        model_keys(results, styles),
    )


def _mean_d_prime(results: TaskResults, model: ModelTrials, condition: str) -> float:
    """Return d' of a condition, as the mean over the sources, which is how meta-d' is pooled."""
    values = [
        float(fit_meta_d_threshold(threshold_table(*pair, HIGH_CONFIDENCE)).d_prime)
        for pair in judged(results, model, condition)
    ]
    return float(np.mean(values)) if values else np.nan


_BASELINE = "0-100"

_PROFILE = {"top1_share": 1.0, "top3_share": 1.0, "distinct": 101.0}
"""Measures of the paper's figure 2, and the largest value of each."""


def discretisation_profile(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 2 of the paper: how often each model states its favourite values on 0-100, and how many it uses."""
    its_panels = []
    for name, largest in _PROFILE.items():
        lines = [
            interval_line(results, model.label, [_BASELINE], name, *styles[model.label])
            for model in results.models
        ]
        unit = "share" if largest == 1.0 else "values"
        draw = partial(panels.intervals, labels=[""], lines=lines, y=unit, span=(0.0, largest))
        if _BASELINE in results.conditions:
            its_panels.append(Panel(measure_label(name), draw))
    return Figure(
        f"{results.task_trials.slug}_discretisation_profile",
        "Discretisation on 0–100",
        "Share of the most frequent confidence, share of the three most frequent, and number of distinct values of 101,"
        " averaged over sources; resamples give such numbers no intervals. Models that state a few round numbers have"
        " high shares and few values.",
        (("", tuple(its_panels)),),
        model_keys(results, styles),
        size=(2.4, 2.0),
    )


_diagnostics = side_by_side(
    "discretisation",
    "Discretisation on 0–100",
    "How few values are used, and which: the most frequent one, the shares of that and of the three most frequent,"
    " number and entropy of the values, share of multiples of five, and how much of the scale lies between the 5th and"
    " the 95th percentile.",
    _BASELINE,
    ("top1_share", "top3_share", "distinct", "entropy", "round_share", "utilization"),
)


def discretisation(results: TaskResults) -> ExtraTable:
    """Return how few values each model uses on the paper's baseline, as in its table 1."""
    table = _diagnostics(results)
    if len(table.frame):
        usual = {model.label: _most_frequent(results, model) for model in results.models}
        table.frame.insert(1, "stated most often", table.frame["model"].map(usual))
    return table


def _most_frequent(results: TaskResults, model: ModelTrials) -> str:
    """Return what is stated most often on the baseline, of each source where they differ."""
    raw = [columns["confidence_raw"] for columns in averaged(results, model, _BASELINE)]
    values = [float(top_value(each[~np.isnan(each)])) for each in raw]
    return " / ".join(dict.fromkeys(f"{value:g}" for value in values if not np.isnan(value)))


def unstable_m_ratio(results: TaskResults) -> Iterator[Notice]:
    """Where d' is too near 0 to divide by."""
    where = []
    for model, condition, columns in cells_of(results):
        correct, confidence = complete(columns["correct"], columns["confidence"])
        fit = fit_meta_d_threshold(threshold_table(correct, confidence, HIGH_CONFIDENCE))
        if fit.unstable and not np.isnan(fit.d_prime):
            where.append(f"{model}, {condition}: d′ = {fit.d_prime:.2f}")
    yield from notice_if_any(
        "warning",
        "M-ratio divides by a d′ near 0",
        "Accuracy is too near one half for a two-choice observer. The ratio can take any value; read meta-d′ itself.",
        where,
    )


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
