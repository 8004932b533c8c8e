"""Numerical tools that several families share: running sums, weighted quantiles, ranks, roots, folded normals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import numpy as np
import scipy
from numpy.typing import NDArray

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.weights import ratio


def first_beyond(up_to: FloatArray, limits: FloatArray) -> NDArray[np.intp]:
    """Number of entries of each ascending row (R, n) that are no more than each of its limits (R, m).

    By bisection in all rows at once, as :func:`numpy.searchsorted` cannot.
    """
    n, row = up_to.shape[1], np.arange(len(limits))[:, np.newaxis]
    found = np.zeros(limits.shape, dtype=np.intp)
    for bit in reversed(range(n.bit_length())):
        more = found + (1 << bit)
        found = np.where((more <= n) & (up_to[row, np.minimum(more, n) - 1] <= limits), more, found)
    return found


def row_quantiles(values: FloatArray, up_to: FloatArray, shares: FloatArray) -> FloatArray:
    """Quantiles (R, m) of ascending values (g,) under running sums of weights (R, g), trials as if repeated.

    They interpolate between trials linearly, as :func:`numpy.quantile` does.
    """
    rank = np.maximum(up_to[:, -1:] - 1.0, 0.0) * shares
    whole = np.floor(rank)
    places = first_beyond(up_to, np.concatenate([whole, whole + 1.0], axis=1))
    below, above = np.split(values[np.minimum(places, values.size - 1)], 2, axis=1)
    share, step = rank - whole, above - below
    # Exact at both ends.
    return np.where(share < 0.5, below + step * share, above - step * (1.0 - share))


def between(up_to: FloatArray, edges: NDArray[np.intp]) -> FloatArray:
    """Sums (R, E + 1) between edges (R, E), of which running sums are given; an edge is a number of entries."""
    if not up_to.shape[1]:
        return np.zeros((len(edges), edges.shape[1] + 1))
    row = np.arange(len(edges))[:, np.newaxis]
    at_edge = np.where(edges > 0, up_to[row, np.maximum(edges - 1, 0)], 0.0)
    sums: FloatArray = np.diff(at_edge, axis=1, prepend=0.0, append=up_to[:, -1:])
    return sums


def as_decimal(probability: float, name: str) -> Fraction:
    """Return a probability as the exact decimal number that its text shows: 0.998 is 998/1000, not the nearest double.

    Ranks are products such as 0.07 * 100, which floats would round up to 8.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"{name} must lie within (0, 1), got {probability}")
    return Fraction(repr(float(probability)))


def rank(probability: Fraction, n: int) -> int:
    """Return the rank k of the smallest order statistic, counted from 1, that covers ``probability`` of n."""
    return ceil(probability * n)


_MAX_ROOT_STEPS = 200


def decreasing_root(
    function: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    *,
    tolerance: float = 1e-12,
) -> FloatArray:
    """Find where a decreasing function is 0, in each row, by false position with the Illinois rule.

    ``function`` takes and returns an array (R,), row by row; it is 0 or above at ``low`` and 0 or below at ``high``,
    and within ``tolerance`` of 0 at the root. Dowell & Jarratt (1971), doi:10.1007/BF01934364.

    Examples
    --------
    >>> decreasing_root(lambda x: 2.0 - x**2, np.zeros(1), np.full(1, 2.0)).round(6)
    array([1.414214])
    """
    above, below = function(low), function(high)
    middle, rose = low, np.zeros(low.shape, dtype=bool)
    for step in range(_MAX_ROOT_STEPS):
        span = below - above
        middle = np.divide(low * below - high * above, span, out=middle.copy(), where=span != 0.0)
        value = function(middle)
        if np.abs(value).max(initial=0.0) < tolerance:
            break
        rises = value > 0.0
        # An end of the bracket that stays twice in a row counts half, so that the other one moves too.
        stays = (rises == rose) & (step > 0)
        above = np.where(rises, value, np.where(stays, above / 2.0, above))
        below = np.where(rises, np.where(stays, below / 2.0, below), value)
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        rose = rises
    return middle


def folded_normal_mean(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """E|X| of X ~ N(mean, deviation**2); |mean| where the deviation is 0."""
    distance = np.abs(mean)
    scaled = ratio(distance, deviation)
    spread = np.sqrt(2.0 / np.pi) * deviation * np.exp(-0.5 * scaled**2) + distance * (
        1.0 - 2.0 * scipy.special.ndtr(-scaled)
    )
    return np.where(deviation > 0.0, spread, distance)
