"""Conformal adjustment: intervals moved by as much as calibration questions call for, with guaranteed coverage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, IntArray, as_vector, same_length
from confidence_tasks.statistics.numerics import as_decimal, first_beyond, rank


@dataclass(frozen=True, slots=True)
class ConformalAdjustment:
    """How far to move the ends of an interval, fitted on n calibration questions.

    Attributes
    ----------
    below, above : float
        How far down the lower end and how far up the upper end move; below 0 they move inwards. In the units of the
        ends, or in widths if normalized. Infinite when the rank exceeds n: no finite interval is guaranteed.
    rank : int
        Which of the scores, in ascending order from 1, was taken.
    n : int
        Number of calibration questions.
    nominal : float
        Coverage that is guaranteed.
    width_floor : float or None
        The least width by which scores were divided; None when they were not normalized.
    """

    below: float
    above: float
    rank: int
    n: int
    nominal: float
    width_floor: float | None

    @property
    def finite(self) -> bool:
        """Whether there were enough calibration questions for this coverage."""
        return self.rank <= self.n

    def apply(self, lower: ArrayLike, upper: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Adjust the ends (m,) of new questions' intervals; where they would cross, both are where they meet."""
        low, high = _ends(lower, upper)
        scale = _scale(low, high, self.width_floor)
        return _moved(low, high, self.below * scale, self.above * scale)


def conformal_rank(n: int, nominal: float) -> int:
    """Compute which score of n calibration questions guarantees a coverage: k = ceil(nominal (n + 1)).

    Parameters
    ----------
    n : int
        Number of calibration questions, 0 or above.
    nominal : float
        Coverage to be guaranteed, in (0, 1), taken as the decimal number that it is written as.

    Returns
    -------
    int
        k, from 1. There are not enough questions when k > n.

    References
    ----------
    Vovk, Gammerman & Shafer (2005), Algorithmic Learning in a Random World, doi:10.1007/b106715.

    Examples
    --------
    >>> conformal_rank(500, 0.9), conformal_rank(500, 0.998), conformal_rank(50, 0.99)
    (451, 500, 51)
    """
    if n < 0:
        raise ValueError(f"n must be 0 or above, got {n}")
    return rank(as_decimal(nominal, "nominal"), n + 1)


def nonconformity(truth: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> FloatArray:
    """Measure how far the truth lies outside its interval: max(lower - truth, truth - upper).

    Parameters
    ----------
    truth : array_like, shape (n,)
        The numbers that were asked for.
    lower, upper : array_like, shape (n,)
        Ends of the intervals, lower <= upper.

    Returns
    -------
    ndarray, shape (n,)
        Distance to the nearer end, below 0 inside the interval.

    References
    ----------
    Romano, Patterson & Candès (2019), Conformalized quantile regression, arXiv:1905.03222, equation 6.

    Examples
    --------
    >>> nonconformity([13, 6, 11], [12, 6, 8], [15, 6, 10])
    array([-1.,  0.,  1.])
    """
    below, above = _misses(truth, *_ends(lower, upper))
    return np.maximum(below, above)


def fit_conformal(
    truth: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    nominal: float,
    *,
    asymmetric: bool = False,
    normalized: bool = False,
    width_floor: float = 1.0,
) -> ConformalAdjustment:
    """Fit the adjustment under which new intervals hold the truth with a guaranteed probability.

    Parameters
    ----------
    truth : array_like, shape (n,)
        True values of the calibration questions.
    lower, upper : array_like, shape (n,)
        Ends that the model stated for them, lower <= upper.
    nominal : float
        Coverage to be guaranteed, 1 - alpha, in (0, 1).
    asymmetric : bool, default False
        Move each end by its own score, each missed with probability alpha/2 at most. Wider on average, but the
        guarantee holds for either side.
    normalized : bool, default False
        Divide scores by the width of their interval, so that wide intervals move more.
    width_floor : float, default 1
        Least width to divide by, above 0, as intervals may be single points; the default is one order of magnitude
        where the ends are exponents.

    Returns
    -------
    ConformalAdjustment
        Infinite when there are too few questions; see its ``finite``.

    Notes
    -----
    If calibration and new questions are exchangeable, coverage is at least 1 - alpha on average over calibration sets,
    and at most 1/(n + 1) more when scores do not tie. For a single calibration set it is then a draw from
    Beta(k, n + 1 - k).

    References
    ----------
    Romano, Patterson & Candès (2019), arXiv:1905.03222, theorems 1 and 2. Lei et al. (2018),
    doi:10.1080/01621459.2017.1307116, for normalized scores. Vovk (2012), arXiv:1209.2673, for the Beta distribution.

    Examples
    --------
    >>> adjustment = fit_conformal([13, 6, 11, 3], [12, 6, 8, 5], [15, 6, 10, 9], 0.8)
    >>> adjustment.above, adjustment.finite, adjustment.apply([4], [6])
    (2.0, True, (array([2.]), array([8.])))
    """
    if not (width_floor > 0.0 and np.isfinite(width_floor)):
        raise ValueError(f"width_floor must be above 0, got {width_floor}")
    floor = width_floor if normalized else None
    low, high = _ends(lower, upper)
    below, above = _scores(truth, low, high, floor, asymmetric)
    k = _rank(nominal, len(low), asymmetric)
    return ConformalAdjustment(_kth(below, k), _kth(above, k), k, len(low), nominal, floor)


def jackknife_conformal(
    truth: ArrayLike, lower: ArrayLike, upper: ArrayLike, nominal: float
) -> tuple[FloatArray, FloatArray]:
    """Adjust the interval of each question by what all other questions call for: the jackknife+ without a model.

    It spares the calibration set. As an interval that a model states is not fitted to anything,
    :func:`cross_conformal` with one fold per question comes down to this.

    Parameters
    ----------
    truth, lower, upper, nominal
        As in :func:`fit_conformal`.

    Returns
    -------
    lower, upper : ndarray, shape (n,)
        Adjusted ends, infinite where n - 1 questions are too few. Where moving inwards would cross them, both are where
        they would meet.

    Notes
    -----
    The chance that the next question's interval, adjusted by these n, holds the truth is 1 - alpha or more. The share
    of these n that hold it is no evidence of that: without ties it is k / n for every sample, k being the rank among
    n - 1. What can be compared is their width and their Winkler score.

    References
    ----------
    Barber, Candès, Ramdas & Tibshirani (2021), Predictive inference with the jackknife+, doi:10.1214/20-AOS1965.

    Examples
    --------
    >>> jackknife_conformal([13, 6, 11, 3], [12, 6, 8, 5], [15, 6, 10, 9], 0.5)
    (array([11.,  5.,  8.,  5.]), array([16.,  7., 10.,  9.]))
    """
    low, high = _ends(lower, upper)
    scores = np.maximum(*_misses(truth, low, high))
    k = conformal_rank(max(len(scores) - 1, 0), nominal)
    if k >= len(scores):
        return np.full(len(low), -np.inf), np.full(len(high), np.inf)
    kth, next_one = np.partition(scores, [k - 1, k])[k - 1 : k + 1]
    # Without a score that is among the k smallest, the next one takes the k-th place.
    shift = np.where(scores <= kth, next_one, kth)
    return _moved(low, high, shift, shift)


def cross_conformal(
    scores: ArrayLike, fold: ArrayLike, lower: ArrayLike, upper: ArrayLike, nominal: float
) -> tuple[FloatArray, FloatArray]:
    """Adjust intervals by CV+: for a model whose intervals were themselves fitted, such as by a temperature.

    Calibration questions are split into folds, and what is fitted is fitted once without each fold. Every question
    is then scored by an interval that was fitted without it, and none is spent on fitting alone. One fold per question
    is the jackknife+.

    Parameters
    ----------
    scores : array_like, shape (n,)
        :func:`nonconformity` of each calibration question, to its interval fitted without its fold.
    fold : array_like of int, shape (n,)
        Fold of each calibration question, 0 .. F - 1.
    lower, upper : array_like, shape (F, m)
        Ends for each new question, as fitted without each fold.
    nominal : float
        Coverage asked for, 1 - alpha, in (0, 1).

    Returns
    -------
    lower, upper : ndarray, shape (m,)
        Adjusted ends, infinite when there are too few calibration questions.

    Notes
    -----
    Coverage is near 1 - alpha in practice; the guarantee without assumptions is 1 - 2 alpha for the jackknife+, and
    1 - 2 alpha - sqrt(2/n) for CV+.

    References
    ----------
    Barber, Candès, Ramdas & Tibshirani (2021), Predictive inference with the jackknife+, doi:10.1214/20-AOS1965.

    Examples
    --------
    >>> cross_conformal([1, 0, 2, 1], [0, 0, 1, 1], [[3], [4]], [[5], [6]], 0.8)
    (array([2.]), array([8.]))
    """
    score, group = as_vector(scores, "scores"), np.asarray(fold)
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.ndim != 2 or low.shape != high.shape:
        raise ValueError(
            f"lower and upper must have shape (folds, questions), got {low.shape} and {high.shape}"
        )
    _ends(low.ravel(), high.ravel())
    same_length(scores=score, fold=group)
    if group.dtype.kind not in "iu" or (group < 0).any() or (group >= len(low)).any():
        raise ValueError(f"fold must hold whole numbers from 0 to {len(low) - 1}")
    k = conformal_rank(len(score), nominal)
    if k > len(score):
        return np.full(low.shape[1], -np.inf), np.full(low.shape[1], np.inf)
    moved = score[:, None] - low[group], score[:, None] + high[group]
    below, above = (np.partition(ends, k - 1, axis=0)[k - 1] for ends in moved)
    return -below, above


def _ends(lower: ArrayLike, upper: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the finite ends of intervals; ValueError where a lower end exceeds its upper end."""
    low, high = as_vector(lower, "lower"), as_vector(upper, "upper")
    same_length(lower=low, upper=high)
    if (low > high).any():
        raise ValueError("lower must not exceed upper; order the ends or drop the trial first")
    return low, high


def _misses(truth: ArrayLike, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how far the truth lies below the lower and above the upper end."""
    y = as_vector(truth, "truth")
    same_length(truth=y, lower=lower)
    return lower - y, y - upper


def _scores(
    truth: ArrayLike, lower: FloatArray, upper: FloatArray, width_floor: float | None, asymmetric: bool
) -> tuple[FloatArray, FloatArray]:
    """Return how far the truth lies beyond either end, or beyond either of the two, in the scale of the scores."""
    scale = _scale(lower, upper, width_floor)
    below, above = (miss / scale for miss in _misses(truth, lower, upper))
    return (below, above) if asymmetric else (np.maximum(below, above),) * 2


def _rank(nominal: float, n: int, asymmetric: bool) -> int:
    """Return which score of n is taken, of each side by itself if ``asymmetric``."""
    asked = as_decimal(nominal, "nominal")
    return rank((1 + asked) / 2 if asymmetric else asked, n + 1)


def _moved(
    lower: FloatArray, upper: FloatArray, down: FloatArray, up: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Move both ends outwards; ends that would cross meet in the middle."""
    low, high = lower - down, upper + up
    crossed = low > high
    middle = np.where(crossed, low, 0.0) / 2.0 + np.where(crossed, high, 0.0) / 2.0
    return np.where(crossed, middle, low), np.where(crossed, middle, high)


def _scale(lower: FloatArray, upper: FloatArray, width_floor: float | None) -> FloatArray:
    """Return the scale of the scores: 1, or the width of the interval."""
    return np.ones(len(lower)) if width_floor is None else np.maximum(upper - lower, width_floor)


def _kth(scores: FloatArray, k: int) -> float:
    """Return the k-th smallest score, infinite when there are not so many."""
    return float(np.partition(scores, k - 1)[k - 1]) if k <= len(scores) else float("inf")


Ends: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends of some intervals."""

Intervals: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""Truth, lower and upper ends of some questions."""


def refit_conformal(
    known: Intervals,
    new: Ends,
    nominal: float,
    weights: FloatArray,
    *,
    asymmetric: bool = False,
    normalized: bool = False,
) -> tuple[list[Ends], IntArray]:
    """Fit an adjustment for each row of weights of the calibration questions, and apply it to new intervals.

    ``known`` are truth, lower and upper ends (n,), ``new`` lower and upper ends (m,), ``weights`` (R, n) whole numbers;
    the rest is as in :func:`fit_conformal`. Returns the new intervals by each adjustment that occurs, and which of
    these each row calls for.
    """
    plain = fit_conformal(*known, nominal, asymmetric=asymmetric, normalized=normalized)
    below, above = _scores(*known, plain.width_floor, asymmetric)
    k = _of_totals(weights, lambda n: _rank(nominal, n, asymmetric))
    moves, which = _distinct(_kth_weighted(below, weights, k), _kth_weighted(above, weights, k))
    return [replace(plain, below=down, above=up).apply(*new) for down, up in moves], which


def refit_jackknife(asked: Intervals, nominal: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
    """Adjust the interval of each question by the others, for each row of weights of the questions.

    ``asked`` are truth, lower and upper end of the questions; the rest is as in :func:`refit_conformal`.
    """
    truth, low, high = asked
    scores = np.maximum(*_misses(truth, low, high))
    k = _of_totals(weights, lambda n: conformal_rank(max(n - 1, 0), nominal))
    following = _kth_weighted(scores, weights, k + 1)
    enough = np.isfinite(following)
    moves, which = _distinct(np.where(enough, _kth_weighted(scores, weights, k), np.inf), following)
    shifts = [np.where(scores <= kth, after, kth) for kth, after in moves]
    return [_moved(low, high, shift, shift) for shift in shifts], which


def _of_totals(weights: FloatArray, of_n: Callable[[int], int]) -> IntArray:
    """Evaluate a function of the number of questions for each row."""
    totals, which = np.unique(weights.sum(axis=1), return_inverse=True)
    return np.array([of_n(int(total)) for total in totals], dtype=np.int64)[which]


def _kth_weighted(scores: FloatArray, weights: FloatArray, k: IntArray) -> FloatArray:
    """Return the k-th smallest score of each row, infinite where there are not so many."""
    order = np.argsort(scores, kind="stable")
    # Weights are whole: k is reached where the sum passes k - 1/2.
    limits = k.astype(np.float64) - 0.5
    place = first_beyond(np.cumsum(weights[:, order], axis=1), limits[:, np.newaxis])
    return np.append(scores[order], np.inf)[place[:, 0]]


def _distinct(first: FloatArray, second: FloatArray) -> tuple[list[tuple[float, float]], IntArray]:
    pairs, which = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)
    return [(float(one), float(other)) for one, other in pairs], np.asarray(which).ravel()
