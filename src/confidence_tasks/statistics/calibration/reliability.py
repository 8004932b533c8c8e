"""The reliability curve: accuracy over bins of confidence, with what chance allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.calibration.binning import Binning, Bins, Edges
from confidence_tasks.statistics.core import FloatArray, check_level, label_index, same_length
from confidence_tasks.statistics.inference.limits import wilson_interval
from confidence_tasks.statistics.inference.weights import ratio, trials


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """A table with one row per bin; the numbers of an empty bin are NaN.

    Attributes
    ----------
    low, high : ndarray, shape (B,)
        Edges of the bin.
    count : ndarray, shape (B,)
        Number of trials.
    confidence : ndarray, shape (B,)
        Mean confidence.
    accuracy : ndarray, shape (B,)
        Share right.
    accuracy_low, accuracy_high : ndarray, shape (B,)
        Wilson interval of the accuracy.
    consistency_low, consistency_high : ndarray, shape (B,)
        Where the share right falls, at least this often, when the confidence is calibrated.
    level : float
        Nominal coverage of both intervals.
    """

    low: FloatArray
    high: FloatArray
    count: FloatArray
    confidence: FloatArray
    accuracy: FloatArray
    accuracy_low: FloatArray
    accuracy_high: FloatArray
    consistency_low: FloatArray
    consistency_high: FloatArray
    level: float


def reliability_curve(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    level: float = 0.95,
    questions: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Tabulate accuracy against confidence.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1]. The intervals are those of binary outcomes, and
        too wide for probabilities.
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    bins, binning, edges
        As in :func:`~confidence_tasks.statistics.ece`.
    level : float, default 0.95
        Nominal coverage of the intervals of each bin, in (0, 1).
    questions : array_like, shape (n,), optional
        Which question each trial asked, by any labels, where one was asked several times: its trials are right or wrong
        together. By default each trial is a question of its own.

    Returns
    -------
    ReliabilityCurve
        One row per bin. The gap between accuracy and confidence, weighted by the count, is the ECE.

    Notes
    -----
    The consistency interval runs between the quantiles of a binomial number right at the mean confidence of the bin.
    It is exact for trials of one confidence, and too wide otherwise, as mixed confidences make the number right less
    variable.

    Where a bin holds n(q) trials of each question q, both intervals are those of (sum n(q))^2 / sum n(q)^2 independent
    trials, the number of questions if all have as many. So much are they worth if the trials of a question are all
    right or all wrong; otherwise they are worth more, and the intervals are too wide.

    References
    ----------
    Kish (1965), Survey Sampling, for the number of independent trials.
    Broecker & Smith (2007), Increasing the reliability of reliability diagrams, doi:10.1175/WAF993.1, for the
    consistency interval. Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> curve = reliability_curve([1, 1, 0, 1], [0.9, 0.9, 0.9, 0.5], bins=2)
    >>> curve.count, curve.confidence, curve.accuracy.round(3)
    (array([1., 3.]), array([0.5, 0.9]), array([1.   , 0.667]))
    """
    check_level(level)
    right, stated, weighting = trials(correct, confidence, None)
    partition = Bins(bins, binning, edges)
    sums = partition.sums(stated, weighting, np.ones_like(stated), right, stated)
    count, hits, total = (column[0] for column in sums)
    mean = ratio(total, count)
    low, high = partition.limits(stated)
    question = label_index(questions, "questions", len(stated))
    worth = count if questions is None else independent_trials(question, partition, stated, count)
    worth_right = worth * ratio(hits, count, otherwise=0.0)
    accuracy_low, accuracy_high = wilson_interval(worth_right, worth, level=level)
    consistency_low, consistency_high = _consistency_limits(mean, worth, level)
    return ReliabilityCurve(
        low=low,
        high=high,
        count=count,
        confidence=mean,
        accuracy=ratio(hits, count),
        accuracy_low=accuracy_low,
        accuracy_high=accuracy_high,
        consistency_low=consistency_low,
        consistency_high=consistency_high,
        level=level,
    )


_ROUNDING = 1e-9
"""Rounding error that a whole number of trials may have."""


def _consistency_limits(
    confidence: FloatArray, n_trials: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles of the accuracy of trials that are right as often as stated."""
    whole, chance = np.floor(n_trials + _ROUNDING), np.clip(confidence, 0.0, 1.0)
    low, high = (
        ratio(np.asarray(scipy.stats.binom.ppf(tail, whole, chance)), whole)
        for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    )
    return low, high


def independent_trials(
    questions: NDArray[Any], partition: Bins, confidence: FloatArray, count: FloatArray
) -> FloatArray:
    """Return the effective number of independent trials of each bin if a question is always right or always wrong."""
    same_length(questions=questions, confidence=confidence)
    number = np.unique(questions, return_inverse=True)[1]
    pairs, sizes = np.unique(np.stack([partition.numbers(confidence), number]), axis=1, return_counts=True)
    squares = np.bincount(pairs[0], sizes**2, minlength=partition.size).astype(np.float64)
    return ratio(count**2, squares, otherwise=0.0)
