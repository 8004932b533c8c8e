"""The perception tunnel in FermiEval's report: what intervals tell of it by theory, and what samples of exponents show.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, theory 1 and appendix G.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates import distributions, estimates
from confidence_tasks.report.extra_tables import extra_table, interval_cells
from confidence_tasks.report.figures import Colour, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import Group, ModelTrials, split_by_source
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.intervals import (
    adjusted_interval_covariance,
    empirical_distribution,
    tunnel_index,
)
from confidence_tasks.studies.fermieval.replies import TEST
from confidence_tasks.studies.fermieval.trials import within_split
from confidence_tasks.studies.fermieval_sampling.trials import (
    AGREEMENT,
    samples_by_question,
    sampling_measures,
)
from confidence_tasks.study.measures import Measure, rows_of

_BELIEF = NormalDist()
"""The belief of the pictures; theory 1 holds for any."""

_X = np.linspace(-3.2, 3.2, 321)
_QUERIES = (20, 100)
"""Numbers of samples that proposition 1 is shown for."""


def perception_of(model: ModelTrials) -> tuple[float, float]:
    """Estimate the mass of its belief that a model sees, from the strictest level that it was asked.

    Coverage stagnates at the perception as the level rises (theory 1); at level p it is p times the perception.

    Returns
    -------
    perception, level : float
        Coverage on the test half over the level, at most 1, and the level; NaN without intervals.
    """
    judged = within_split(model.columns, TEST)
    if not len(judged["level"]):
        return math.nan, math.nan
    level = float(judged["level"].max())
    held = judged["correct"][judged["level"] == level]
    return min(float(held.mean()) / level, 1.0), level


@extra_table(
    "perception",
    "How much of its belief a model sees",
    "If a model saw a random part of its belief in each call and took it for the whole, its coverage would be the"
    " level times the mass of that part: perception is coverage over the strictest level, at most 1. The outer"
    " quantiles of sampled intervals would then be right on average, with this standard error (proposition 1, with"
    " the square of one less the perception that its proof calls for), in standard deviations of a normal belief.",
)
def perception(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return proposition 1 of the paper for every model: its perception, and how exact adjusted intervals become.

    The standard error of either end is in standard deviations of a normal belief; it falls with the square root of the
    number of samples.
    """
    for model in results.models:
        beta, level = perception_of(model)
        if math.isnan(beta) or beta == 0.0:
            continue
        density = _BELIEF.pdf(_BELIEF.inv_cdf((1.0 - level) / 2.0))
        errors = {
            f"error, {n} samples": math.sqrt(
                adjusted_interval_covariance(level, beta, (density, density), n)[0, 0]
            )
            for n in _QUERIES
        }
        yield {"model": model.label, "level": level, "perception": beta, **errors}


_BELIEF_LINE = Line("belief", Colour.INK, _X, np.array([_BELIEF.pdf(x) for x in _X]))
_QUERY_KEYS = (("leftmost part", Colour.SERIES_5), ("rightmost part", Colour.SERIES_2))
_END_KEYS = (("lower end", Colour.WRONG), ("upper end", Colour.RIGHT))


def _over_belief(lines: Iterable[Line]) -> Panel:
    drawn = [_BELIEF_LINE, *lines]
    return panel("", panels.over_range, lines=drawn, x="belief (SD)", y="density", shares=False)


def _theory_legend(keys: Iterable[tuple[str, Colour]]) -> tuple[LegendEntry, ...]:
    return LegendEntry("belief", Colour.INK), *(LegendEntry(*key) for key in keys)


@figure_by_model(
    "tunnels",
    "The perception tunnel",
    "Theory, not data: a normal belief, and the parts of it that the first and the last of the possible queries"
    " see, each with the mass that a model's coverage tells.",
    keys=_theory_legend(_QUERY_KEYS),
)
def tunnels(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw figure 3 of the paper: the belief, and the parts of it that two queries may see."""
    beta, _ = perception_of(model)
    if 0.0 < beta <= 1.0:
        quantile = np.array([_BELIEF.cdf(x) for x in _X])
        lines = []
        for start, (name, colour) in zip((0.0, 1.0 - beta), _QUERY_KEYS, strict=True):
            seen = (quantile >= start) & (quantile <= start + beta)
            lines.append(Line(name, colour, _X[seen], _BELIEF_LINE.y[seen] / beta))
        yield _over_belief(lines)


@figure_by_model(
    "stated_ends",
    "Ends of intervals under the perception tunnel",
    "Theory, not data: a normal belief, and the distributions over queries of the lower and the upper end that are"
    " stated at the strictest level, with the perception that a model's coverage tells. Their outer quantiles are"
    " those of the belief, however small the part that is seen.",
    keys=_theory_legend(_END_KEYS),
)
def stated_ends(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw figure 4 of the paper: how the ends that a tunnel leads to are distributed, over the belief."""
    beta, level = perception_of(model)
    if 0.0 < beta < 1.0:
        tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
        yield _over_belief(
            Line(name, colour, *end_density(beta, tail))
            for (name, colour), tail in zip(_END_KEYS, tails, strict=True)
        )


def end_density(beta: float, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Return the density over queries of a quantile of the part that is seen: where it is above 0, and how high.

    The end lies at F = start + quantile * beta, the start being uniform on [0, 1 - beta].
    """
    low, high = quantile * beta, 1.0 - beta + quantile * beta
    mass = np.array([_BELIEF.cdf(x) for x in _X])
    some = (mass >= low) & (mass <= high)
    return _X[some], np.array([_BELIEF.pdf(x) for x in _X[some]]) / (1.0 - beta)


# What samples show ---------------------------------------------------------------------------------------------

_NAMES = (*AGREEMENT, "tunnel_index")


@extra_table(
    "self_consistency",
    "Agreement of samples, and the tunnel index",
    "On samples of exponents: accuracy of single samples and of the most frequent one, the share of samples that it"
    " is, and by how many bits the entropy of samples after reasoning lies below that of direct ones. Entropies of"
    " few samples are too low, both alike.",
)
def self_consistency(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return agreement and tunnel index (appendix G of the paper) by model, way of asking and temperature."""
    for model in results.models:
        measures = _measures_of(model)
        if not measures:
            continue
        group = Group("all", "all", split_by_source(model.columns, np.ones(len(model), dtype=bool)))
        drawn = distributions(model.columns, group.cells, measures, results.settings)
        made = estimates([group], measures, drawn, results.settings)
        found = {each.measure: each.interval for each in made if not each.source}
        for condition in dict.fromkeys(name.partition("/")[2] for name in found):
            row: dict[str, Any] = {"model": model.label, "asked": condition.replace(",", ", ")}
            for name in _NAMES:
                if interval := found.get(f"{name}/{condition}"):
                    row |= interval_cells(measure_label(name), interval)
            yield row


def _measures_of(model: ModelTrials) -> list[Measure]:
    """Return the measures of samples of exponents, by temperature and way of asking."""
    temperatures = sorted(set(model.columns["temperature"].tolist()))
    asks = list(dict.fromkeys(map(str, model.columns["ask"])))
    every = sampling_measures(asks, temperatures, ())
    return [measure for measure in every if measure.name.partition("/")[0] in _NAMES]


def curve_over_samples(
    direct: Mapping[str, Sequence[float]], reasoned: Mapping[str, Sequence[float]]
) -> pd.DataFrame:
    """Return the empirical tunnel index and the agreement of m samples after reasoning, for every m (theorem 2).

    ``direct`` and ``reasoned`` are samples of exponents by question. One row for each m up to the fewest samples of a
    question: ``samples``, ``tunnel_index`` in bits (entropy of all direct samples less that of m pooled reasoned ones),
    and ``agreement``, the share of the most frequent among m. Each is the mean over questions, and over the runs of m
    consecutive samples of each. Empty without questions that were asked in both ways.
    """
    shared = [name for name in direct if name in reasoned]
    most = min((len(reasoned[name]) for name in shared), default=0)
    rows = []
    for m in range(1, most + 1):
        found = np.array([_of_m(np.asarray(direct[name]), np.asarray(reasoned[name]), m) for name in shared])
        index, agreement = found.mean(axis=0)
        rows.append({"samples": m, "tunnel_index": index, "agreement": agreement})
    return pd.DataFrame(rows)


def _of_m(direct: FloatArray, reasoned: FloatArray, m: int) -> tuple[float, float]:
    """Return tunnel index and agreement of one question, averaged over its runs of m samples."""
    runs = np.lib.stride_tricks.sliding_window_view(reasoned, m)
    values, shares = empirical_distribution(runs)
    own, without = empirical_distribution(direct[None])
    every = np.union1d(values[0], own[0])
    padded = np.zeros((len(runs), len(every)))
    padded[:, np.searchsorted(every, values[0])] = shares
    beside = np.zeros((len(runs), len(every)))
    beside[:, np.searchsorted(every, own[0])] = without
    index = tunnel_index(beside, padded[:, None], pooled=True)
    return float(np.mean(index)), float(np.mean(shares.max(axis=1)))


_CURVES = (
    ("tunnel_index", "tunnel index (bits)", Colour.SERIES_0),
    ("agreement", "agreement", Colour.SERIES_1),
)


@figure_by_model(
    "tunnel_over_samples",
    "Tunnel index over the number of samples",
    "Entropy of direct samples less that of m pooled samples after reasoning, in bits: it falls as more chains are"
    " pooled. Agreement is the share of the most frequent exponent among the m.",
    keys=tuple(LegendEntry(name, colour) for _, name, colour in _CURVES),
    size=(2.5, 2.1),
)
def tunnel_over_samples(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw the tunnel index and the agreement over the number m of pooled chains of reasoning (theorem 2)."""
    for temperature in sorted(set(model.columns["temperature"].tolist())):
        here = (model.columns["temperature"] == temperature) & (model.columns["split"] == TEST)
        direct, reasoned = (
            samples_by_question(rows_of(model.columns, here & (model.columns["ask"] == ask)))
            for ask in ("direct", "reasoned")
        )
        curve = curve_over_samples(direct, reasoned)
        if len(curve):
            m = curve["samples"].to_numpy(dtype=np.float64)
            lines = [Line(name, colour, m, curve[key].to_numpy()) for key, name, colour in _CURVES]
            yield panel(
                f"T = {temperature:g}", panels.points, lines=lines, x="samples m", y="", reference=0.0
            )
