"""The perception tunnel in FermiEval's report: its theory, and the tunnel index of sampled exponents.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, theory 1 and appendix G.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.estimated import estimates
from confidence_tasks.report.extra_tables import extra_table, interval_cells
from confidence_tasks.report.figures import LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.intervals import (
    adjusted_interval_covariance,
    empirical_distribution,
    tunnel_index,
)
from confidence_tasks.studies.fermieval.adjustments import within_split
from confidence_tasks.studies.fermieval.replies import TEST
from confidence_tasks.studies.fermieval.sampling.measures import (
    AGREEMENT,
    rows_by_question,
    rows_in,
    sampling_measures,
)
from confidence_tasks.study.measure import Measure

_X = np.linspace(-3.2, 3.2, 321)


def estimate_perception(model: ModelTrials) -> tuple[float, float]:
    """Estimate the mass of the part of its belief that a model sees, from its coverage at the highest level.

    By theory 1, the coverage at level p is p times the perception.

    Returns
    -------
    perception, level : float
        Coverage on the test half divided by the level, at most 1, and the level; NaN without intervals.
    """
    intervals = within_split(model.columns, TEST)
    if not len(intervals["level"]):
        return math.nan, math.nan
    level = float(intervals["level"].max())
    correct = intervals["correct"][intervals["level"] == level]
    return min(float(correct.mean()) / level, 1.0), level


@extra_table(
    "perception",
    "Part of its belief that a model sees",
    "If a model saw a random part of its belief in each call and took it for the whole, its coverage would be the"
    " level times the mass of that part. Perception is therefore coverage divided by the level, at the highest level,"
    " and at most 1. The outer quantiles of sampled intervals would then be unbiased, with the standard error shown, in"
    " standard deviations of a normal belief (proposition 1, with the square of 1 - perception, as in its proof).",
)
def perception(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return proposition 1 of the paper for every model: its perception, and the standard error of adjusted ends.

    The standard error of either end is in standard deviations of a normal belief and falls with the square root of the
    number of samples.
    """
    for model in results.models:
        beta, level = estimate_perception(model)
        if math.isnan(beta) or beta == 0.0:
            continue
        density = float(_density(scipy.special.ndtri((1.0 - level) / 2.0)))
        errors = {
            f"error, {n} samples": math.sqrt(
                adjusted_interval_covariance(level, beta, (density, density), n)[0, 0]
            )
            for n in (20, 100)
        }
        yield {"model": model.label, "level": level, "perception": beta, **errors}


def _density(x: ArrayLike) -> NDArray[np.float64]:
    """Return the standard normal density; every report would take half a second longer to import scipy.stats."""
    density: NDArray[np.float64] = np.exp(-np.square(x) / 2.0) / np.sqrt(2.0 * np.pi)
    return density


_BELIEF_LINE = Line("belief", Colour.INK, _X, _density(_X))
"""The belief in the figures; theory 1 holds for any belief."""

_QUERY_KEYS = (("leftmost part", Colour.SERIES_5), ("rightmost part", Colour.SERIES_2))
_END_KEYS = (("lower end", Colour.WRONG), ("upper end", Colour.RIGHT))


def _between(low: float, high: float) -> NDArray[np.bool_]:
    """Return which points of the belief lie between two of its quantiles."""
    share = scipy.special.ndtr(_X)
    return (share >= low) & (share <= high)


def _belief_panel(lines: Iterable[Line]) -> Panel:
    axes = {"x": "belief (SD)", "y": "density", "shares": False}
    return panel("", panels.over_range, lines=[_BELIEF_LINE, *lines], **axes)


def _theory_legend(keys: Iterable[tuple[str, Colour]]) -> tuple[LegendEntry, ...]:
    return LegendEntry("belief", Colour.INK), *(LegendEntry(*key) for key in keys)


@figure_by_model(
    "tunnels",
    "The perception tunnel",
    "Theory, not data: a normal belief, and the leftmost and the rightmost part of it that a query may see, with the"
    " mass estimated from the model’s coverage.",
    keys=_theory_legend(_QUERY_KEYS),
)
def tunnels(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw figure 3 of the paper: the belief, and the outermost parts of it that a query may see."""
    beta, _ = estimate_perception(model)
    if 0.0 < beta <= 1.0:
        lines = []
        for start, (name, colour) in zip((0.0, 1.0 - beta), _QUERY_KEYS, strict=True):
            visible = _between(start, start + beta)
            lines.append(Line(name, colour, _X[visible], _BELIEF_LINE.y[visible] / beta))
        yield _belief_panel(lines)


@figure_by_model(
    "stated_ends",
    "Ends of intervals under the perception tunnel",
    "Theory, not data: a normal belief, and the distributions over queries of the lower and the upper end stated at"
    " the highest level, with the perception estimated from the model’s coverage. The outer quantiles of the ends equal"
    " those of the belief, however small the visible part.",
    keys=_theory_legend(_END_KEYS),
)
def stated_ends(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw figure 4 of the paper: the distributions of the stated ends under a tunnel, and the belief."""
    beta, level = estimate_perception(model)
    if 0.0 < beta < 1.0:
        tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
        yield _belief_panel(
            Line(name, colour, *end_density(beta, tail))
            for (name, colour), tail in zip(_END_KEYS, tails, strict=True)
        )


def end_density(beta: float, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Return the density over queries of a quantile of the visible part: the points with a density, and the density.

    The end is the quantile ``start + quantile * beta`` of the belief, with ``start`` uniform on [0, 1 - beta].
    """
    inside = _between(quantile * beta, 1.0 - beta + quantile * beta)
    return _X[inside], _BELIEF_LINE.y[inside] / (1.0 - beta)


# Samples of exponents ------------------------------------------------------------------------------------------

_NAMES = (*AGREEMENT, "tunnel_index")


@extra_table(
    "self_consistency",
    "Agreement of samples, and the tunnel index",
    "On samples of exponents: accuracy of single samples and of the most frequent exponent, the share of samples that"
    " are the most frequent exponent, and the number of bits by which the entropy of samples after reasoning is lower"
    " than that of direct samples. The entropies of few samples are too low, for both kinds of sample alike.",
)
def self_consistency(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return agreement and tunnel index (appendix G of the paper) by model, kind of sample and temperature."""
    for model in results.models:
        measures = _exponent_measures(model)
        if not measures:
            continue
        group = Group("all", "all", split_by_source(model.columns, np.ones(len(model), dtype=bool)))
        resampled = distributions(model.columns, group.subsets, measures, results.settings)
        intervals = {
            each.measure: each.interval
            for each in estimates([group], measures, resampled, results.settings)
            if not each.source
        }
        for condition in dict.fromkeys(name.partition("/")[2] for name in intervals):
            row: dict[str, Any] = {"model": model.label, "asked": condition.replace(",", ", ")}
            for name in _NAMES:
                if interval := intervals.get(f"{name}/{condition}"):
                    row |= interval_cells(measure_label(name), interval)
            yield row


def _exponent_measures(model: ModelTrials) -> list[Measure]:
    temperatures = sorted(set(model.columns["temperature"].tolist()))
    asks = list(dict.fromkeys(map(str, model.columns["ask"])))
    measures = sampling_measures(asks, temperatures, ())
    return [measure for measure in measures if measure.name.partition("/")[0] in _NAMES]


def curve_over_samples(direct: Mapping[str, ArrayLike], reasoned: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Return the empirical tunnel index and the agreement of m samples after reasoning, for every m (theorem 2).

    ``direct`` and ``reasoned`` are samples of exponents by question. Each m up to the smallest number of reasoned
    samples of a question has a row: ``samples``, which is m, ``tunnel_index``, the entropy (bits) of all direct samples
    minus that of m pooled reasoned samples, and ``agreement``, the share of the most frequent exponent among m.
    Both are means over the questions with both kinds of sample, and over the runs of m consecutive reasoned samples.
    """
    samples = [(np.asarray(direct[name]), np.asarray(reasoned[name])) for name in direct if name in reasoned]
    rows = []
    for m in range(1, min((len(after) for _, after in samples), default=0) + 1):
        scores = [_pooled_scores(*pair, m) for pair in samples]
        index, agreement = np.mean(scores, axis=0)
        rows.append({"samples": m, "tunnel_index": index, "agreement": agreement})
    return pd.DataFrame(rows)


def _pooled_scores(direct: FloatArray, reasoned: FloatArray, m: int) -> tuple[float, float]:
    """Return tunnel index and agreement of one question, averaged over its runs of m reasoned samples."""
    runs = np.lib.stride_tricks.sliding_window_view(reasoned, m)
    reasoned_values, reasoned_shares = empirical_distribution(runs)
    direct_values, direct_shares = empirical_distribution(direct[None])
    support = np.union1d(reasoned_values[0], direct_values[0])
    p_reasoned, p_direct = np.zeros((2, len(runs), len(support)))
    p_reasoned[:, np.searchsorted(support, reasoned_values[0])] = reasoned_shares
    p_direct[:, np.searchsorted(support, direct_values[0])] = direct_shares
    index = tunnel_index(p_direct, p_reasoned[:, None], pooled=True)
    return float(np.mean(index)), float(np.mean(reasoned_shares.max(axis=1)))


_CURVES = (
    ("tunnel_index", "tunnel index (bits)", Colour.SERIES_0),
    ("agreement", "agreement", Colour.SERIES_1),
)


@figure_by_model(
    "tunnel_over_samples",
    "Tunnel index over the number of samples",
    "Entropy of direct samples minus that of m pooled samples after reasoning, in bits; it falls as more chains are"
    " pooled. Agreement is the share of the most frequent exponent among the m samples.",
    keys=tuple(LegendEntry(name, colour) for _, name, colour in _CURVES),
    size=(2.5, 2.1),
)
def tunnel_over_samples(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw the tunnel index and the agreement over the number m of pooled chains of reasoning (theorem 2)."""
    for temperature in sorted(set(model.columns["temperature"].tolist())):
        samples = rows_in(model.columns, temperature=temperature, split=TEST)
        direct, reasoned = (
            {name: samples["lower"][rows] for name, rows in rows_by_question(samples, ask=ask).items()}
            for ask in ("direct", "reasoned")
        )
        curve = curve_over_samples(direct, reasoned)
        if len(curve):
            m = curve["samples"].to_numpy(dtype=np.float64)
            lines = [Line(name, colour, m, curve[key].to_numpy()) for key, name, colour in _CURVES]
            yield panel(
                f"T = {temperature:g}", panels.points, lines=lines, x="samples m", y="", reference=0.0
            )
