"""Bootstrap intervals of d', meta-d', M-ratio and M-diff, drawn on the count table and fitted in one batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.bootstrap import Interval, interval_of
from confidence_tasks.statistics.inference.draws import Seed
from confidence_tasks.statistics.inference.limits import Resampled
from confidence_tasks.statistics.inference.table_resampling import resample_binned, resample_cells
from confidence_tasks.statistics.inference.units import as_estimate, check_options
from confidence_tasks.statistics.sdt.count_tables import Padding, correctness_table
from confidence_tasks.statistics.sdt.meta_d import MetaDOptions, fit_meta_d
from confidence_tasks.statistics.sdt.results import Metacognition
from confidence_tasks.statistics.sdt.threshold import TypeOneObserver, fit_meta_d_threshold
from confidence_tasks.statistics.sdt.trials import fold_responses, label_cells, two_choice_table


@dataclass(frozen=True, slots=True)
class MetaDIntervals:
    """Percentile bootstrap intervals over trials.

    Attributes
    ----------
    d_prime, meta_d, m_diff : Interval
        Each leaves out the resamples in which it is undefined, and counts them.
    m_ratio : Interval
        Also leaves out the resamples with abs(M) above the largest ratio allowed; ``n_undefined`` includes them.
    n_dropped : int
        How many resamples that were: report it.
    """

    d_prime: Interval
    meta_d: Interval
    m_ratio: Interval
    m_diff: Interval
    n_dropped: int


def meta_d_intervals(
    nR_S1: ArrayLike,
    nR_S2: ArrayLike,
    *,
    n_resamples: int = 10_000,
    level: float = 0.95,
    largest_ratio: float = 10.0,
    seed: Seed = 0,
    **options: Unpack[MetaDOptions],
) -> MetaDIntervals:
    """Compute bootstrap intervals for the fit of one count table.

    Counting trials drawn with replacement is a multinomial draw from their table, so this is the bootstrap over
    trials with fixed rating edges.

    Parameters
    ----------
    nR_S1, nR_S2 : array_like of int, shape (2K,)
        Counts from "S1, highest rating" to "S2, highest rating". Resamples are padded, not the table itself.
    n_resamples : int, default 10000
        Number of resamples.
    level : float, default 0.95
        Nominal coverage, in (0, 1).
    largest_ratio : float, default 10
        Resamples whose M-ratio is larger in size are dropped from its interval, and counted.
    seed : int or numpy.random.Generator, default 0
        Source of the draws.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    MetaDIntervals
        Limits are NaN, with a reason, where the estimate is.

    Raises
    ------
    ValueError
        If the table is not one of whole counts, or an option is out of its domain.

    Examples
    --------
    >>> intervals = meta_d_intervals([100, 50, 20, 10, 5, 1], [3, 7, 8, 12, 27, 89], n_resamples=2000)
    >>> round(intervals.m_ratio.estimate, 2), intervals.m_ratio.low < 0.7, intervals.n_dropped
    (0.92, True, 0)
    """
    table = np.stack([np.asarray(nR_S1, dtype=np.float64), np.asarray(nR_S2, dtype=np.float64)])
    if table.ndim != 2:
        raise ValueError(f"nR_S1 and nR_S2 must have shape (2K,), got {table.shape[1:]}")
    check_options(n_resamples, level, "percentile")
    point = fit_meta_d(table[0], table[1], **options)
    draws = resample_cells(table, n_resamples, np.random.default_rng(seed))
    resampled = fit_meta_d(draws[:, 0], draws[:, 1], **options)
    return _intervals(point, resampled, int(table.sum()), level, largest_ratio, seed)


def meta_d_threshold_intervals(
    table: ArrayLike,
    *,
    padding: Padding = "1/2K",
    type1: TypeOneObserver = "2afc",
    n_alternatives: int | None = None,
    n_resamples: int = 10_000,
    level: float = 0.95,
    largest_ratio: float = 10.0,
    seed: Seed = 0,
) -> MetaDIntervals:
    """Compute bootstrap intervals for confidence split at a threshold.

    Parameters
    ----------
    table : array_like of int, shape (2, 2)
        ``[[wrong low, wrong high], [correct low, correct high]]``, from :func:`threshold_table`.
    padding, type1, n_alternatives
        As in :func:`fit_meta_d_threshold`.
    n_resamples, level, largest_ratio, seed
        As in :func:`meta_d_intervals`.

    Returns
    -------
    MetaDIntervals
        Limits are NaN, with a reason, where the estimate is.

    Raises
    ------
    ValueError
        If the table is not one of whole counts, or an option is out of its domain.

    Examples
    --------
    >>> intervals = meta_d_threshold_intervals([[60, 40], [50, 250]], n_resamples=2000)
    >>> round(intervals.meta_d.estimate, 2), intervals.meta_d.low > 1.0
    (2.15, True)
    """
    check_options(n_resamples, level, "percentile")
    counts = np.asarray(table, dtype=np.float64)
    if counts.shape != (2, 2):
        raise ValueError(f"table must have shape (2, 2), got {counts.shape}")

    def fit(tables: FloatArray) -> Metacognition:
        return fit_meta_d_threshold(tables, padding=padding, type1=type1, n_alternatives=n_alternatives)

    point = fit(counts)
    resampled = fit(resample_cells(counts, n_resamples, np.random.default_rng(seed)))
    return _intervals(point, resampled, int(counts.sum()), level, largest_ratio, seed)


def meta_d_2afc_intervals(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    n_resamples: int = 10_000,
    level: float = 0.95,
    largest_ratio: float = 10.0,
    seed: Seed = 0,
    **options: Unpack[MetaDOptions],
) -> MetaDIntervals:
    """Compute bootstrap intervals for items with two alternatives, rating edges being part of the estimate.

    The edges are the quantiles i/K of all confidences and are taken anew in each resample. With fixed edges,
    hand :func:`two_choice_table` to :func:`meta_d_intervals`.

    Parameters
    ----------
    correct, confidence, stimulus, n_ratings
        As in :func:`two_choice_table`.
    n_resamples, level, largest_ratio, seed, **options
        As in :func:`meta_d_intervals`.

    Returns
    -------
    MetaDIntervals
        Limits are NaN, with a reason, where the estimate is.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is out of its domain.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimulus = rng.integers(0, 2, 1000)
    >>> evidence = rng.normal(1.5 * (stimulus - 0.5))
    >>> correct = (evidence > 0) == stimulus
    >>> result = meta_d_2afc_intervals(correct, np.abs(evidence), stimulus, n_resamples=1000)
    >>> result.m_ratio.low < 1.0 < result.m_ratio.high
    True
    """
    check_options(n_resamples, level, "percentile")
    point = fit_meta_d(*two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings), **options)
    sure, label = np.asarray(confidence, dtype=np.float64), label_cells(correct, stimulus)
    draws = resample_binned(label, sure, 4, n_ratings, n_resamples, np.random.default_rng(seed))
    resampled = fit_meta_d(*fold_responses(draws), **options)
    return _intervals(point, resampled, sure.size, level, largest_ratio, seed)


def meta_d_ratings_intervals(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    n_resamples: int = 10_000,
    level: float = 0.95,
    largest_ratio: float = 10.0,
    seed: Seed = 0,
    **options: Unpack[MetaDOptions],
) -> MetaDIntervals:
    """Compute bootstrap intervals with correctness in the place of the stimulus, bin edges being part of the estimate.

    .. warning::
       M-ratio is near 1 by construction here: see :func:`meta_d_ratings`. For replication only.

    The edges are the quantiles i/2K of all confidences and are taken anew in each resample. With fixed edges,
    hand :func:`correctness_table` to :func:`meta_d_intervals`.

    Parameters
    ----------
    correct, confidence, n_ratings
        As in :func:`correctness_table`.
    n_resamples, level, largest_ratio, seed, **options
        As in :func:`meta_d_intervals`.

    Returns
    -------
    MetaDIntervals
        Limits are NaN, with a reason, where the estimate is.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is out of its domain.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> correct = rng.integers(0, 2, 1000)
    >>> result = meta_d_ratings_intervals(correct, rng.normal(1.5 * correct), n_resamples=1000)
    >>> result.m_ratio.low < 1.0 < result.m_ratio.high
    True
    """
    check_options(n_resamples, level, "percentile")
    point = fit_meta_d(*correctness_table(correct, confidence, n_ratings=n_ratings), **options)
    right, sure = np.asarray(correct, dtype=np.float64), np.asarray(confidence, dtype=np.float64)
    draws = resample_binned(
        right.astype(np.intp), sure, 2, 2 * n_ratings, n_resamples, np.random.default_rng(seed)
    )
    resampled = fit_meta_d(draws[:, 0], draws[:, 1], **options)
    return _intervals(point, resampled, right.size, level, largest_ratio, seed)


def _intervals(
    point: Metacognition,
    resampled: Metacognition,
    n_trials: int,
    level: float,
    largest_ratio: float,
    seed: Seed,
) -> MetaDIntervals:
    if not largest_ratio > 0.0:
        raise ValueError(f"largest_ratio must be positive, got {largest_ratio}")
    ratio = np.asarray(resampled.m_ratio)
    extreme = np.abs(ratio) > largest_ratio
    distributions = {
        "d_prime": (point.d_prime, resampled.d_prime),
        "meta_d": (point.meta_d, resampled.meta_d),
        "m_ratio": (point.m_ratio, np.where(extreme, np.nan, ratio)),
        "m_diff": (point.m_diff, resampled.m_diff),
    }
    intervals = {
        name: interval_of(
            Resampled(as_estimate(estimate), np.asarray(values), n_trials), level, "percentile", seed
        )
        for name, (estimate, values) in distributions.items()
    }
    return MetaDIntervals(**intervals, n_dropped=int(extreme.sum()))
