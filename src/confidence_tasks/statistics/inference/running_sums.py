"""Running sums of weights, one row a resample: where they pass a limit, quantiles, and what lies between two places."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics.core import FloatArray


def running_sums(rows: FloatArray) -> FloatArray:
    """Sums of each row (R, n) up to and with each entry.

    NumPy adds up one row after the other, which takes long where the entries of a row do not lie side by side.
    """
    if rows.flags.c_contiguous:
        return np.cumsum(rows, axis=1)
    sums = rows.copy(order="K")
    for before, here in pairwise(sums.T):
        here += before
    return sums


def first_beyond(up_to: FloatArray, limits: FloatArray) -> NDArray[np.intp]:
    """Number of entries of each ascending row (R, n) that are no more than each of its limits (R, m).

    By bisection in all rows at once, as :func:`numpy.searchsorted` cannot.
    """
    low = np.zeros_like(limits, dtype=np.intp)
    high = np.full_like(limits, up_to.shape[1], dtype=np.intp)
    while (open_ := low < high).any():
        middle = (low + high) // 2
        beyond = np.take_along_axis(up_to, np.minimum(middle, up_to.shape[1] - 1), axis=1) > limits
        high = np.where(open_ & beyond, middle, high)
        low = np.where(open_ & ~beyond, middle + 1, low)
    return low


def row_quantiles(values: FloatArray, up_to: FloatArray, shares: FloatArray) -> FloatArray:
    """Quantiles (R, m) of ascending values (g,) under running sums of weights (R, g), trials as if repeated.

    They interpolate between trials linearly, as :func:`numpy.quantile` does.
    """
    rank = np.maximum(up_to[:, -1:] - 1.0, 0.0) * shares
    whole = np.floor(rank)
    below, above = (
        values[np.minimum(first_beyond(up_to, ranks), values.size - 1)] for ranks in (whole, whole + 1.0)
    )
    return interpolated(below, above, rank - whole)


def interpolated(lower: FloatArray, upper: FloatArray, share: FloatArray) -> FloatArray:
    """Go from lower to upper by a share, exactly at both ends and as :func:`numpy.quantile` rounds."""
    step = upper - lower
    return np.where(share < 0.5, lower + step * share, upper - step * (1.0 - share))


def between(up_to: FloatArray, edges: NDArray[np.intp]) -> FloatArray:
    """Sums (R, E + 1) between edges (R, E), of which running sums are given; an edge is a number of entries."""
    if not up_to.shape[1]:
        return np.zeros((len(edges), edges.shape[1] + 1))
    at_edge = np.where(edges > 0, np.take_along_axis(up_to, np.maximum(edges - 1, 0), axis=1), 0.0)
    sums: FloatArray = np.diff(at_edge, axis=1, prepend=0.0, append=up_to[:, -1:])
    return sums
