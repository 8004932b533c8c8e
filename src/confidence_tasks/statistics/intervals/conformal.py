"""Conformal adjustment: stated intervals are adjusted on calibration questions, with a coverage guarantee."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, IntArray, as_vector, label_index
from confidence_tasks.statistics.inference.weights import first_beyond
from confidence_tasks.statistics.intervals.scores import as_decimal, as_intervals, ordered_ends, rank

Ends: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends of intervals."""

Intervals: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""True values, and lower and upper ends of the intervals."""


@dataclass(frozen=True, slots=True)
class ConformalAdjustment:
    """Distances by which the ends of an interval are moved, fitted on n calibration questions.

    Attributes
    ----------
    below, above : float
        Distance by which the lower end moves down and the upper end moves up; negative values move the ends inwards. In
        the units of the ends, or in widths if normalized. Infinite if ``rank`` exceeds n, as no finite distance has the
        guarantee.
    rank : int
        Rank of the selected score, counted from 1 in ascending order.
    n : int
        Number of calibration questions.
    nominal : float
        Guaranteed coverage.
    width_floor : float or None
        Lower bound of the width by which scores are divided; None if scores are not normalized.
    """

    below: float
    above: float
    rank: int
    n: int
    nominal: float
    width_floor: float | None

    @property
    def finite(self) -> bool:
        """True if there are enough calibration questions for the nominal coverage."""
        return self.rank <= self.n

    def apply(self, lower: ArrayLike, upper: ArrayLike) -> Ends:
        """Adjust the ends (m,) of new intervals; ends that would cross are set to their midpoint."""
        low, high = ordered_ends(as_vector(lower, "lower"), as_vector(upper, "upper"))
        scale = _scale(low, high, self.width_floor)
        return _move_ends(low, high, self.below * scale, self.above * scale)


def fit_conformal(
    truth: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    nominal: float,
    *,
    asymmetric: bool = False,
    normalized: bool = False,
    width_floor: float = 1.0,
    questions: ArrayLike | None = None,
) -> ConformalAdjustment:
    """Fit a conformal adjustment, after which new intervals contain the truth with a guaranteed probability.

    The score of a calibration question is the distance by which the truth lies outside its interval, negative if it
    lies inside. Both ends are moved by the score whose rank guarantees the nominal coverage.

    Parameters
    ----------
    truth : array_like, shape (n,)
        True values of the calibration questions.
    lower, upper : array_like, shape (n,)
        Ends of the intervals that the model stated, lower <= upper.
    nominal : float
        Coverage to be guaranteed, 1 - alpha, in (0, 1).
    asymmetric : bool, default False
        If True, the two ends have separate scores, and each is missed with probability at most alpha/2. Intervals are
        wider on average, but the guarantee holds for each side.
    normalized : bool, default False
        If True, divide scores by the width of the interval, so that wide intervals move by more.
    width_floor : float, default 1
        Lower bound of the width by which scores are divided, above 0, as intervals may be single points. The default is
        one order of magnitude if the ends are exponents.
    questions : array_like, shape (n,), optional
        Label of the question, or of another exchangeable unit, of each interval. A question whose intervals are
        repeated counts once: its m intervals have the weight 1/m each. By default each interval is a question.

    Returns
    -------
    ConformalAdjustment
        Infinite if there are too few questions; see ``finite``.

    Notes
    -----
    If calibration questions and new questions are exchangeable, the coverage averaged over calibration sets is at least
    1 - alpha. Without ties among scores it is at most 1 - alpha + 1/(n + 1), and the coverage given a calibration set
    has the distribution Beta(k, n + 1 - k), where k is ``rank``.

    References
    ----------
    Romano, Patterson & Candès (2019), arXiv:1905.03222, theorems 1 and 2. Lee, Barber & Willett (2023),
    Distribution-free inference with hierarchical data, arXiv:2306.06342, for repeated questions. Lei et al. (2018),
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
    known = _finite_intervals(truth, lower, upper)
    counts = _UnitCounts.of(np.ones((1, len(known[0]))), questions)
    k = _ranks(counts.totals, 1, nominal, asymmetric)
    below, above = (
        float(_kth_smallest(scores, counts.shares, k)[0]) for scores in _scores(known, floor, asymmetric)
    )
    return ConformalAdjustment(below, above, int(k[0]), int(counts.totals[0]), nominal, floor)


def jackknife_conformal(
    truth: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    nominal: float,
    *,
    questions: ArrayLike | None = None,
) -> Ends:
    """Adjust the interval of each question by all other questions: the jackknife+ without a fitted model.

    No separate calibration set is needed. Arguments are those of :func:`fit_conformal`. The adjusted ends, two arrays
    (n,), are infinite if the other questions are too few. Ends that would cross are set to their midpoint.

    Notes
    -----
    If the interval of a new question is adjusted by these n questions, its coverage is at least 1 - alpha. The
    proportion of these n intervals that contain the truth is not an estimate of this coverage: without ties it is k / n
    for every sample, where k is the rank among n - 1 scores. Widths and Winkler scores can be compared.

    References
    ----------
    Barber, Candès, Ramdas & Tibshirani (2021), Predictive inference with the jackknife+, doi:10.1214/20-AOS1965.

    Examples
    --------
    >>> jackknife_conformal([13, 6, 11, 3], [12, 6, 8, 5], [15, 6, 10, 9], 0.5)
    (array([11.,  5.,  8.,  5.]), array([16.,  7., 10.,  9.]))
    """
    intervals = _finite_intervals(truth, lower, upper)
    (ends,), _ = refit_jackknife(intervals, nominal, np.ones((1, len(intervals[0]))), questions)
    return ends


def refit_conformal(
    known: Intervals,
    new: Ends,
    nominal: float,
    weights: FloatArray,
    *,
    asymmetric: bool = False,
    normalized: bool = False,
    questions: ArrayLike | None = None,
) -> tuple[list[Ends], IntArray]:
    """Fit an adjustment for each row of weights of the calibration questions, and apply it to new intervals.

    Parameters
    ----------
    known : tuple of ndarray, shape (n,)
        Truth, lower and upper ends of the calibration questions.
    new : tuple of ndarray, shape (m,)
        Lower and upper ends of the new questions.
    weights : ndarray, shape (R, n)
        Whole numbers.
    nominal, asymmetric, normalized, questions
        As in :func:`fit_conformal`.

    Returns
    -------
    ends : list of tuple of ndarray, shape (m,)
        The new intervals under each distinct adjustment.
    index : ndarray of int, shape (R,)
        Index into ``ends`` for each row of weights.
    """
    adjustment = fit_conformal(*known, nominal, asymmetric=asymmetric, normalized=normalized)
    counts = _UnitCounts.of(weights, questions)
    k = _ranks(counts.totals, 1, nominal, asymmetric)
    below, above = (
        _kth_smallest(scores, counts.shares, k)
        for scores in _scores(known, adjustment.width_floor, asymmetric)
    )
    pairs, index = _distinct_pairs(below, above)
    return [replace(adjustment, below=down, above=up).apply(*new) for down, up in pairs], index


def refit_jackknife(
    intervals: Intervals, nominal: float, weights: FloatArray, questions: ArrayLike | None = None
) -> tuple[list[Ends], IntArray]:
    """Adjust the interval of each question by the other questions, for each row of weights.

    ``intervals`` are truth, lower and upper ends (n,); the other arguments and the result are as in
    :func:`refit_conformal`.
    """
    scores, _ = _scores(intervals, None, False)
    counts = _UnitCounts.of(weights, questions)
    k = _ranks(counts.totals, 0, nominal)
    shifts, index = np.unique(_kth_of_the_others(scores, counts, k), axis=0, return_inverse=True)
    return [_move_ends(*intervals[1:], shift, shift) for shift in shifts], np.asarray(index).ravel()


@dataclass(frozen=True, slots=True)
class _UnitCounts:
    """How often the trials of n intervals count if each unit counts as often as it was drawn, for rows of weights.

    A unit was drawn as often as its most frequent interval. Its intervals share that number by their weights.
    """

    shares: FloatArray  # (R, n)
    once: FloatArray  # (R, n): the shares of a unit that was drawn once
    totals: IntArray  # (R,)
    unit: IntArray  # (n,)

    @classmethod
    def of(cls, weights: FloatArray, questions: ArrayLike | None) -> Self:
        """Count units for rows of weights (R, n), which are whole numbers."""
        unit = label_index(questions, "questions", weights.shape[1])
        order = np.argsort(unit, kind="stable")
        starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
        if not len(starts):
            return cls(weights, weights, np.zeros(len(weights), dtype=np.int64), unit)
        drawn = np.maximum.reduceat(weights[:, order], starts, axis=1)
        summed = np.add.reduceat(weights[:, order], starts, axis=1)[:, unit]
        # A unit that was not drawn has no weight; equal shares let rows with the same scores have the same ends.
        equal = np.broadcast_to(1.0 / np.bincount(unit)[unit], weights.shape).copy()
        once = np.divide(weights, summed, out=equal, where=summed > 0.0)
        return cls(once * drawn[:, unit], once, drawn.sum(axis=1).astype(np.int64), unit)


def _kth_of_the_others(scores: FloatArray, counts: _UnitCounts, k: IntArray) -> FloatArray:
    """Return, for each row of weights and each interval, the k-th smallest score without one draw of its unit, (R, n).

    Infinite if the others are fewer than k. Without a draw of one unit, the score lies between the k-th and the next
    one of all: only those are looked at.
    """
    order = np.argsort(scores, kind="stable")
    sums = np.cumsum(counts.shares[:, order], axis=1)
    n_units = int(counts.unit.max(initial=-1)) + 1
    found = np.full((len(k), n_units), np.inf)
    for row, rank_of_row in enumerate(k.tolist()):
        first = int(np.searchsorted(sums[row], rank_of_row - _TIE))
        left_out = np.bincount(counts.unit[order[:first]], counts.once[row, order[:first]], minlength=n_units)
        for position in range(first, len(order)):
            at = order[position]
            left_out[counts.unit[at]] += counts.once[row, at]
            reached = sums[row, position] - left_out >= rank_of_row - _TIE
            found[row, reached & np.isinf(found[row])] = scores[at]
            if reached.all():
                break
    return found[:, counts.unit]


def _finite_intervals(truth: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Intervals:
    return as_intervals(truth, as_vector(lower, "lower"), as_vector(upper, "upper"))


def _scores(intervals: Intervals, width_floor: float | None, asymmetric: bool) -> Ends:
    """Return the scores for the lower and the upper end, which are equal unless ``asymmetric``."""
    truth, lower, upper = intervals
    scale = _scale(lower, upper, width_floor)
    below, above = (lower - truth) / scale, (truth - upper) / scale
    return (below, above) if asymmetric else (np.maximum(below, above),) * 2


def _scale(lower: FloatArray, upper: FloatArray, width_floor: float | None) -> FloatArray:
    """Return the scale of the scores: 1, or the width of the interval."""
    return np.ones(len(lower)) if width_floor is None else np.maximum(upper - lower, width_floor)


def _move_ends(lower: FloatArray, upper: FloatArray, down: FloatArray, up: FloatArray) -> Ends:
    """Move both ends outwards; ends that would cross are set to their midpoint."""
    low, high = lower - down, upper + up
    crossed = low > high
    middle = np.where(crossed, low, 0.0) / 2.0 + np.where(crossed, high, 0.0) / 2.0
    return np.where(crossed, middle, low), np.where(crossed, middle, high)


def _ranks(totals: IntArray, n_new: int, nominal: float, asymmetric: bool = False) -> IntArray:
    """Return the rank of the score to select for each number of units, with ``n_new`` units added."""
    level = as_decimal(nominal, "nominal")
    level = (1 + level) / 2 if asymmetric else level
    distinct, index = np.unique(totals, return_inverse=True)
    return np.array([rank(level, int(total) + n_new) for total in distinct], dtype=np.int64)[index]


def _kth_smallest(scores: FloatArray, shares: FloatArray, k: IntArray) -> FloatArray:
    """Return the smallest score up to which the shares add up to k, for each row; infinite if they never do."""
    order = np.argsort(scores, kind="stable")
    limits = k.astype(np.float64) - _TIE
    position = first_beyond(np.cumsum(shares[:, order], axis=1), limits[:, np.newaxis])
    return np.append(scores[order], np.inf)[position[:, 0]]


_TIE = 1e-6
"""Differences of sums of shares up to this value are rounding errors."""


def _distinct_pairs(first: FloatArray, second: FloatArray) -> tuple[list[tuple[float, float]], IntArray]:
    pairs, index = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)
    return [(float(a), float(b)) for a, b in pairs], np.asarray(index).ravel()
