"""Conformal adjustment: intervals moved by as much as calibration questions call for, with guaranteed coverage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, IntArray, as_vector, same_length
from confidence_tasks.statistics.inference.weights import first_beyond
from confidence_tasks.statistics.intervals.scores import as_decimal, ordered_ends, rank

Ends: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends of some intervals."""

Intervals: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""Truth, lower and upper ends of some questions."""


@dataclass(frozen=True, slots=True)
class ConformalAdjustment:
    """Distances by which the ends of an interval are moved, fitted on n calibration questions.

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

    def apply(self, lower: ArrayLike, upper: ArrayLike) -> Ends:
        """Adjust the ends (m,) of new questions' intervals; where they would cross, both are where they meet."""
        low, high = _ends(lower, upper)
        scale = _scale(low, high, self.width_floor)
        return _moved(low, high, self.below * scale, self.above * scale)


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
    known = _intervals(truth, lower, upper)
    once = np.ones((1, len(known[0])))
    k = _ranks(once, 1, nominal, asymmetric)
    below, above = (float(_kth(side, once, k)[0]) for side in _scores(known, floor, asymmetric))
    return ConformalAdjustment(below, above, int(k[0]), len(known[0]), nominal, floor)


def jackknife_conformal(truth: ArrayLike, lower: ArrayLike, upper: ArrayLike, nominal: float) -> Ends:
    """Adjust the interval of each question by what all other questions call for: the jackknife+ without a model.

    It spares the calibration set. Arguments are those of :func:`fit_conformal`. The adjusted ends, two arrays (n,), are
    infinite where n - 1 questions are too few. Where moving inwards would cross them, both are where they would meet.

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
    known = _intervals(truth, lower, upper)
    (ends,), _ = refit_jackknife(known, nominal, np.ones((1, len(known[0]))))
    return ends


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
    k = _ranks(weights, 1, nominal, asymmetric)
    below, above = (_kth(side, weights, k) for side in _scores(known, plain.width_floor, asymmetric))
    moves, which = _distinct(below, above)
    return [replace(plain, below=down, above=up).apply(*new) for down, up in moves], which


def refit_jackknife(asked: Intervals, nominal: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
    """Adjust the interval of each question by the others, for each row of weights of the questions.

    ``asked`` are truth, lower and upper end of the questions; the rest is as in :func:`refit_conformal`.
    """
    scores, _ = _scores(asked, None, False)
    k = _ranks(weights, 0, nominal)
    following = _kth(scores, weights, k + 1)
    moves, which = _distinct(np.where(np.isfinite(following), _kth(scores, weights, k), np.inf), following)
    # Without a score that is among the k smallest, the next one takes the k-th place.
    shifts = [np.where(scores <= kth, after, kth) for kth, after in moves]
    return [_moved(*asked[1:], shift, shift) for shift in shifts], which


def _intervals(truth: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Intervals:
    y, (low, high) = as_vector(truth, "truth"), _ends(lower, upper)
    same_length(truth=y, lower=low)
    return y, low, high


def _ends(lower: ArrayLike, upper: ArrayLike) -> Ends:
    """Return the finite ends of intervals; ValueError where a lower end exceeds its upper end."""
    return ordered_ends(as_vector(lower, "lower"), as_vector(upper, "upper"))


def _scores(known: Intervals, width_floor: float | None, asymmetric: bool) -> Ends:
    """Return how far the truth lies beyond either end, or beyond either of the two, in the scale of the scores."""
    truth, lower, upper = known
    scale = _scale(lower, upper, width_floor)
    below, above = (lower - truth) / scale, (truth - upper) / scale
    return (below, above) if asymmetric else (np.maximum(below, above),) * 2


def _scale(lower: FloatArray, upper: FloatArray, width_floor: float | None) -> FloatArray:
    """Return the scale of the scores: 1, or the width of the interval."""
    return np.ones(len(lower)) if width_floor is None else np.maximum(upper - lower, width_floor)


def _moved(lower: FloatArray, upper: FloatArray, down: FloatArray, up: FloatArray) -> Ends:
    """Move both ends outwards; ends that would cross meet in the middle."""
    low, high = lower - down, upper + up
    crossed = low > high
    middle = np.where(crossed, low, 0.0) / 2.0 + np.where(crossed, high, 0.0) / 2.0
    return np.where(crossed, middle, low), np.where(crossed, middle, high)


def _ranks(weights: FloatArray, new: int, nominal: float, asymmetric: bool = False) -> IntArray:
    """Return which score is taken for each row, of each side by itself if ``asymmetric``."""
    asked = as_decimal(nominal, "nominal")
    asked = (1 + asked) / 2 if asymmetric else asked
    totals, which = np.unique(weights.sum(axis=1), return_inverse=True)
    return np.array([rank(asked, int(total) + new) for total in totals], dtype=np.int64)[which]


def _kth(scores: FloatArray, weights: FloatArray, k: IntArray) -> FloatArray:
    """Return the k-th smallest score of each row, infinite in a row with fewer scores."""
    order = np.argsort(scores, kind="stable")
    # Weights are whole: k is reached where the sum passes k - 1/2.
    limits = k.astype(np.float64) - 0.5
    place = first_beyond(np.cumsum(weights[:, order], axis=1), limits[:, np.newaxis])
    return np.append(scores[order], np.inf)[place[:, 0]]


def _distinct(first: FloatArray, second: FloatArray) -> tuple[list[tuple[float, float]], IntArray]:
    pairs, which = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)
    return [(float(one), float(other)) for one, other in pairs], np.asarray(which).ravel()
