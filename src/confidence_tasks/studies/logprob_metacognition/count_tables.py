"""Measures of count tables, the answers of a cell by rating: version 1's, and others that its checks need.

Cacioli (2026), arXiv:2603.25112, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.statistics import Estimate, Reason, fit_meta_d, information
from confidence_tasks.statistics.core import FloatArray, undefined
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.sdt import MetaD, fit_uv_sdt, stable_m_ratio, type1
from confidence_tasks.statistics.sdt.count_tables import Padding
from confidence_tasks.studies.logprob_metacognition.measures import (
    FEWEST_OF_A_CLASS,
    PADDING,
    RATINGS,
    drop_large_ratios,
)
from confidence_tasks.study.columns import right_and_wrong, smallest_of
from confidence_tasks.study.computations import inverted_test_of, statistic_of
from confidence_tasks.study.inference import Inference, Inverted, Percentile, Posterior, Value
from confidence_tasks.study.measure import Measure

RESAMPLED = "mratio_v1_resampled"
"""M-ratio with a bootstrap distribution instead of a posterior one. A change of bins moves trials over an edge, and how
many it moves varies between resamples as it does between studies."""


def _tables(trials: Columns, weights: FloatArray, included: FloatArray) -> FloatArray:
    """Count wrong and right answers by rating for each row of ``weights`` (R, n), shape (R, 2, 2K).

    ``included``, of shape (n,), is 1 for the trials that count and 0 for the others.
    """
    n_bins = int(trials["n_bins"][0])
    indicator = np.zeros((len(included), 2 * n_bins))
    position = (n_bins * trials["correct"] + trials["rating"]).astype(np.int64)
    indicator[np.arange(len(included)), position] = included
    return np.asarray(weights @ indicator).reshape(-1, 2, n_bins)


def observed_table(trials: Columns) -> FloatArray:
    """Count wrong and right answers by rating, shape (2, 2K)."""
    included = trials["in_cell"] * (1.0 - trials["prior"])
    return np.asarray(_tables(trials, np.ones((1, len(included))), included)[0])


def _bootstrap_tables(trials: Columns, weights: FloatArray) -> FloatArray:
    """Count the trials of each resample; bins of equal width have edges of their own in each."""
    if np.isnan(trials["equal_width_evidence"]).any():
        return _tables(trials, weights, trials["in_cell"])
    order = np.argsort(trials["equal_width_evidence"], kind="stable")
    evidence, correct = trials["equal_width_evidence"][order], trials["correct"][order].astype(np.int64)
    drawn = weights[:, order]
    n_bins = int(trials["n_bins"][0])
    low = evidence[(drawn > 0.0).argmax(axis=1)]
    high = evidence[::-1][(drawn[:, ::-1] > 0.0).argmax(axis=1)]
    edges = low[:, np.newaxis] + (high - low)[:, np.newaxis] * np.arange(1, n_bins) / n_bins
    tables = np.empty((len(drawn), 2, n_bins))
    for table, inner_edges, weight in zip(tables, edges, drawn, strict=True):
        position = n_bins * correct + np.searchsorted(inner_edges, evidence, side="right")
        table[:] = np.bincount(position, weight, 2 * n_bins).reshape(2, n_bins)
    return tables


def _posterior_tables(trials: Columns, weights: FloatArray) -> FloatArray:
    """Count the trials of each draw from the posterior distribution, between quantiles of the draw.

    Each cell of the table starts from 1/(2K) trials, half a trial on either side of the criterion (Jeffreys). The
    paper's 0.5 trials in each cell are part of the estimate, as in the log, and not of the draws: they would pull d'
    towards 0 a second time where few answers are wrong.
    """
    observed = 1.0 - trials["prior"]
    n_alike = trials["n_alike"][np.newaxis]
    cell, reference = (
        (_tables(trials, n_alike, included)[0], _tables(trials, weights, included))
        for included in (trials["in_cell"] * observed, (1.0 - trials["in_cell"]) * observed)
    )
    return at_quantiles(*cell, *reference) + _tables(trials, weights, trials["prior"])


def at_quantiles(
    counts: FloatArray, drawn: FloatArray, reference: FloatArray, reference_drawn: FloatArray
) -> FloatArray:
    """Move the edges of the bins in each draw to quantiles of the draw.

    Where a draw has too many reference trials below an edge, its quantile lies lower, and the surplus belongs to the
    bin above. The surplus is taken from wrong and right answers in proportion to their numbers in the two bins that
    meet at the edge. Fixed edges would make the draws vary too much: with 200 questions, 95% intervals of M-ratio would
    cover the true value in 99% of studies.

    Parameters
    ----------
    counts : ndarray, shape (2, 2K)
        Wrong and right answers of the cell by bin.
    drawn : ndarray, shape (R, 2, 2K)
        The same in each draw.
    reference, reference_drawn : ndarray, shapes (2, 2K) and (R, 2, 2K)
        Counts of the trials whose quantiles are the edges, drawn together with those of the cell.

    Examples
    --------
    >>> counts = np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> drawn = np.array([[[4.0, 1.0], [2.0, 1.0]]])  # six of eight below the median
    >>> at_quantiles(counts, drawn, counts, drawn)
    array([[[3., 2.],
            [1., 2.]]])
    """
    below, below_drawn = (np.cumsum(table.sum(axis=-2), axis=-1) for table in (reference, reference_drawn))
    surplus = below_drawn[:, :-1] - below_drawn[:, -1:] * below[:-1] / below[-1]
    meeting = reference.sum(axis=0)[:-1] + reference.sum(axis=0)[1:]
    proportion = (counts[:, :-1] + counts[:, 1:]) / np.maximum(meeting, 1.0)
    moved = np.pad(surplus[:, np.newaxis] * proportion, ((0, 0), (0, 0), (1, 1)))
    adjusted: FloatArray = np.maximum(drawn + moved[..., :-1] - moved[..., 1:], 0.0)
    return adjusted


def _one_of_each(trials: Columns) -> Columns:
    """Return one trial of each cell of the table, to which the prior adds its trials."""
    n_bins = int(trials["n_bins"][0])
    n = 2 * n_bins
    constant = {name: np.repeat(column[:1], n) for name, column in trials.items()}
    return constant | {
        "correct": np.repeat([0.0, 1.0], n_bins),
        "rating": np.tile(np.arange(float(n_bins)), 2),
        "decile": np.full(n, np.nan),
        "in_cell": np.ones(n),
        "prior": np.ones(n),
    }


TableStatistic: TypeAlias = Callable[[FloatArray, FloatArray, Padding], Any]
"""A statistic of the counts of wrong and of right answers, with the padding added to each cell."""


def _table_measure(
    name: str, description: str, statistic: TableStatistic, *, posterior: bool = True, enough: int = 5
) -> Measure:
    """Make a measure of count tables, with an interval from ``enough`` right and ``enough`` wrong answers on."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        if weights is None:
            wrong, right = observed_table(trials)
            return as_estimate(statistic(wrong, right, PADDING))
        tables = _bootstrap_tables(trials, weights)
        return np.asarray(statistic(tables[:, 0], tables[:, 1], PADDING))

    def compute_posterior(trials: Columns, weights: FloatArray | None) -> Value:
        assert weights is not None
        tables = _posterior_tables(trials, weights)
        values = np.asarray(statistic(tables[:, 0], tables[:, 1], "none"))
        return values if observed_table(trials).any(axis=1).all() else np.full(len(values), np.nan)

    informative = smallest_of(*right_and_wrong(confidence="decile"), enough=enough)
    inference: Inference = Percentile(informative=informative)
    if posterior:
        inference = Posterior(_one_of_each, compute_posterior, prior=0.5 / RATINGS, informative=informative)
    return Measure(
        name,
        compute,
        description,
        inference=inference,
    )


def _m_ratio(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    fit = fit_meta_d(wrong, right, padding=padding)
    return _of_one_table(fit) if wrong.ndim == 1 else drop_large_ratios(fit.m_ratio)


def m_ratio_of(counts: FloatArray, meta_d: Distribution, d_prime: Distribution) -> Distribution:
    """Return version 1's M-ratio of a table with ``counts`` (2, 2K), whose draws are the ratios of those of both."""
    with np.errstate(all="ignore"):
        m_ratio = drop_large_ratios(meta_d.resamples / d_prime.resamples)
    value = _of_one_table(fit_meta_d(*counts, padding=PADDING))
    if counts.sum(axis=1).min() < FEWEST_OF_A_CLASS:
        value = undefined(Reason.FEW_INFORMATIVE)
    return replace(meta_d, value=value, resamples=m_ratio)


def _of_one_table(fit: MetaD) -> Estimate:
    """Return the M-ratio of a fit to one table; NaN with a reason where it is not stable."""
    return stable_m_ratio(as_estimate(fit.m_ratio), as_estimate(fit.d_prime))


def _unequal_variance_m_ratio(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    """M-ratio with the ratio of standard deviations that is fitted to the same table."""
    s = fit_uv_sdt(wrong, right, padding="1/2K" if padding == PADDING else padding).slope
    if wrong.ndim == 1:
        single = as_estimate(s)
        return (
            single if np.isnan(single) else _of_one_table(fit_meta_d(wrong, right, padding=padding, s=single))
        )
    m_ratio = fit_meta_d(wrong, right, padding=padding, s=np.where(np.isnan(s), 1.0, s)).m_ratio
    return np.where(np.isnan(s), np.nan, drop_large_ratios(m_ratio))


def _criterion(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    """Minus the mean z-score of the proportions of wrong and of right answers above the middle edge.

    0.5 is added to each of the four counts, whatever the padding.
    """
    halves = (counts.reshape(*counts.shape[:-1], 2, -1).sum(axis=-1) for counts in (wrong, right))
    return type1(*halves, padding="hautus").criterion


def _meta_information(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Bias-corrected share of the uncertainty about correctness that the evidence removes.

    The bias is subtracted from a resample a second time, because the trials that it is drawn from are a sample too.
    """
    information = _CORRECTED_INFORMATION(trials, weights)
    return information if weights is None else information - trials["bias"][0]


_CORRECTED_INFORMATION = statistic_of(
    information.meta_information, "correct", "decile", by_unit=True, bins=None
)

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        _table_measure(
            "d_prime_v1",
            "d' of version 1.",
            lambda wrong, right, padding: type1(wrong, right, padding=padding).d_prime,
        ),
        _table_measure(
            "meta_d_v1",
            "Meta-d' of version 1.",
            lambda wrong, right, padding: fit_meta_d(wrong, right, padding=padding).meta_d,
        ),
        _table_measure(
            "mratio_v1_unequal", "M-ratio of the unequal-variance model.", _unequal_variance_m_ratio
        ),
        _table_measure(
            RESAMPLED, "M-ratio of resamples.", _m_ratio, posterior=False, enough=FEWEST_OF_A_CLASS
        ),
        _table_measure("criterion_v1", "Type-2 criterion of version 1.", _criterion, posterior=False),
        Measure(
            "meta_information",
            _meta_information,
            "Share of the uncertainty about correctness that the evidence removes.",
            inference=Inverted(
                inverted_test_of(information.InformationTables, "correct", "decile"),
                informative=smallest_of(*right_and_wrong(confidence="decile")),
            ),
        ),
    )
}
"""Measures of cells by name. At T = 1 their values are those of the log."""
