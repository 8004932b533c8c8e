"""Meta-d' and M-ratio from trials, of two alternatives or of ratings; bootstrap intervals of a count table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.inference.draws import Seed
from confidence_tasks.statistics.inference.limits import Resampled
from confidence_tasks.statistics.inference.resampling import Interval, as_estimate, check_options, interval_of
from confidence_tasks.statistics.inference.weights import Result
from confidence_tasks.statistics.sdt.count_tables import correctness_table, two_choice_table
from confidence_tasks.statistics.sdt.meta_d import MetaDOptions, fit_meta_d


def meta_d_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' of items with two alternatives, such as true and false.

    The full fit to stimulus x response x rating, and the only textbook meta-d' among those offered here: d' and
    meta-d' come from different parts of the data.

    Parameters
    ----------
    correct, confidence, stimulus, n_ratings, edges, weights
        As in :func:`two_choice_table`.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where :func:`fit_meta_d` has no meta-d'. For d', criteria and standard errors call it with
        :func:`two_choice_table`.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 2, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(meta_d_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    2.081
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


def m_ratio_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' / d' of items with two alternatives, such as true and false.

    Arguments are those of :func:`meta_d_2afc`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where there is no meta-d' or d' is 0; unstable where d' is near 0.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 2, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(m_ratio_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    1.984
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio


def meta_d_ratings(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' with correctness in the place of the stimulus.

    .. warning::
       d' and meta-d' then come from one table of correctness x confidence, in which the "response" is high
       confidence. Meta-d' is about d' by construction: M-ratio is near 1 whatever the metacognition, and what
       moves it is the base rate and the ratio of variances. The author of the study that used it withdrew it
       (arXiv:2603.25112, version 2). It is here to replicate version 1; use :func:`meta_information`.

    Parameters
    ----------
    correct, confidence, n_ratings, edges, weights
        As in :func:`correctness_table`: 2K bins of confidence.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`. The study pads with
        0.5 (``"hautus"``).

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where :func:`fit_meta_d` has no meta-d'.

    References
    ----------
    Cacioli (2026), arXiv:2603.25112, version 1, section 3.2.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(meta_d_ratings(correct, range(16), n_ratings=2), 3)
    1.21
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


def m_ratio_ratings(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' / d' with correctness in the place of the stimulus.

    .. warning::
       Near 1 by construction, whatever the metacognition: see :func:`meta_d_ratings`. For replication only.

    Arguments are those of :func:`meta_d_ratings`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where there is no meta-d' or d' is 0; unstable where d' is near 0.

    References
    ----------
    Cacioli (2026), arXiv:2603.25112, version 1, section 3.2.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(m_ratio_ratings(correct, range(16), n_ratings=2), 3)
    0.957
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio


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

    Counting trials drawn with replacement is a multinomial draw from their table, so this is the bootstrap over trials
    with fixed rating edges. For edges taken anew in each resample, or repeated questions, hand :func:`meta_d_2afc` and
    its like to :func:`~confidence_tasks.statistics.bootstrap`.

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

    Examples
    --------
    >>> intervals = meta_d_intervals([100, 50, 20, 10, 5, 1], [3, 7, 8, 12, 27, 89], n_resamples=2000)
    >>> round(intervals.m_ratio.estimate, 2), intervals.m_ratio.low < 0.7, intervals.n_dropped
    (0.92, True, 0)
    """
    check_options(n_resamples, level)
    if not largest_ratio > 0.0:
        raise ValueError(f"largest_ratio must be positive, got {largest_ratio}")
    table = np.stack([np.asarray(nR_S1, dtype=np.float64), np.asarray(nR_S2, dtype=np.float64)])
    if table.ndim != 2:
        raise ValueError(f"nR_S1 and nR_S2 must have shape (2K,), got {table.shape[1:]}")
    if (table % 1.0).any():
        raise ValueError("only tables of whole counts can be resampled; padding is added afterwards")
    n_trials = int(table.sum())
    drawn = np.random.default_rng(seed).multinomial(n_trials, table.ravel() / max(n_trials, 1), n_resamples)
    s1, s2 = np.moveaxis(drawn.reshape(n_resamples, *table.shape), 1, 0)
    point, resampled = fit_meta_d(*table, **options), fit_meta_d(s1, s2, **options)
    extreme = np.abs(resampled.m_ratio) > largest_ratio
    values = {
        name: np.asarray(getattr(resampled, name)) for name in ("d_prime", "meta_d", "m_diff", "m_ratio")
    }
    values["m_ratio"] = np.where(extreme, np.nan, values["m_ratio"])
    intervals = {
        name: interval_of(
            Resampled(as_estimate(getattr(point, name)), its, n_trials), level, "percentile", seed
        )
        for name, its in values.items()
    }
    return MetaDIntervals(**intervals, n_dropped=int(extreme.sum()))
