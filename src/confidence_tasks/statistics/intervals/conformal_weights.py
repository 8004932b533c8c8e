"""Conformal adjustment fitted for each row of weights, as tests need it that exchange trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.inference.running_sums import first_beyond
from confidence_tasks.statistics.intervals.conformal import (
    _misses,
    _moved,
    _scale,
    conformal_rank,
    fit_conformal,
)
from confidence_tasks.statistics.ranks import as_decimal, rank

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

    Parameters
    ----------
    known : (truth, lower, upper), each of shape (n,)
        The calibration questions.
    new : (lower, upper), each of shape (m,)
        Ends of the new intervals.
    nominal, asymmetric, normalized
        As in :func:`confidence_tasks.statistics.fit_conformal`.
    weights : ndarray, shape (R, n)
        How often each calibration question counts: whole numbers.

    Returns
    -------
    adjusted : list of (lower, upper)
        The new intervals by each adjustment that occurs.
    which : ndarray of int, shape (R,)
        Which of these each row calls for.
    """
    plain = fit_conformal(*known, nominal, asymmetric=asymmetric, normalized=normalized)
    truth, low, high = known
    scale = _scale(low, high, plain.width_floor)
    below, above = (miss / scale for miss in _misses(truth, low, high))
    if not asymmetric:
        below = above = np.maximum(below, above)
    asked = as_decimal(nominal, "nominal")
    k = _of_totals(weights, lambda n: rank((1 + asked) / 2 if asymmetric else asked, n + 1))
    moves, which = _distinct(_kth(below, weights, k), _kth(above, weights, k))
    return [replace(plain, below=down, above=up).apply(*new) for down, up in moves], which


def refit_jackknife(asked: Intervals, nominal: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
    """Adjust the interval of each question by the others, for each row of weights of the questions.

    Parameters
    ----------
    asked : (truth, lower, upper), each of shape (n,)
        The questions.
    nominal : float
        As in :func:`confidence_tasks.statistics.jackknife_conformal`.
    weights : ndarray, shape (R, n)
        How often each question counts: whole numbers.

    Returns
    -------
    adjusted : list of (lower, upper)
        The intervals by each adjustment that occurs.
    which : ndarray of int, shape (R,)
        Which of these each row calls for.
    """
    truth, low, high = asked
    scores = np.maximum(*_misses(truth, low, high))
    k = _of_totals(weights, lambda n: conformal_rank(max(n - 1, 0), nominal))
    following = _kth(scores, weights, k + 1)
    enough = np.isfinite(following)
    moves, which = _distinct(np.where(enough, _kth(scores, weights, k), np.inf), following)
    shifts = [np.where(scores <= kth, after, kth) for kth, after in moves]
    return [_moved(low, high, shift, shift) for shift in shifts], which


def _of_totals(weights: FloatArray, of_n: Callable[[int], int]) -> IntArray:
    """Evaluate a function of the number of questions for each row."""
    totals, which = np.unique(weights.sum(axis=1), return_inverse=True)
    return np.array([of_n(int(total)) for total in totals], dtype=np.int64)[which]


def _kth(scores: FloatArray, weights: FloatArray, k: IntArray) -> FloatArray:
    """Return the k-th smallest score of each row, infinite where there are not so many."""
    order = np.argsort(scores, kind="stable")
    # Weights are whole: k is reached where the sum passes k - 1/2.
    limits = k.astype(np.float64) - 0.5
    place = first_beyond(np.cumsum(weights[:, order], axis=1), limits[:, np.newaxis])
    return np.append(scores[order], np.inf)[place[:, 0]]


def _distinct(first: FloatArray, second: FloatArray) -> tuple[list[tuple[float, float]], IntArray]:
    pairs, which = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)
    return [(float(one), float(other)) for one, other in pairs], np.asarray(which).ravel()
