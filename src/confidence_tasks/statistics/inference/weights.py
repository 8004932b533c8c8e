"""Frequency weights: one vector of counts for a plain call, one row per resample for a bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    BoolArray,
    Estimate,
    FloatArray,
    Reason,
    as_binary,
    as_probability,
    as_weights,
    same_length,
    undefined,
)

Result: TypeAlias = Estimate | FloatArray
"""An :class:`Estimate` of a plain call, or an array of shape (resamples,) for weights of that many rows."""

Part = TypeVar("Part")


class SharedWeights(np.ndarray[Any, np.dtype[np.float64]]):
    """Weights (R, n) that several statistics take: what these have in common is computed once."""

    weighting: Weighting | None = None

    @classmethod
    def of(cls, weights: NDArray[Any]) -> Self:
        """Share weights, of a type that holds their sum and which must not be changed from here on."""
        shared = (rows := weights.astype(np.float64, copy=False)).view(cls)
        shared.weighting = Weighting(rows, True, weights)
        return shared


def take(rows: NDArray[Any], which: NDArray[np.intp]) -> NDArray[Any]:
    """Take columns of rows (R, n), in the order given and in the memory layout of the rows."""
    return np.take(rows, which, axis=1) if rows.flags.c_contiguous else np.take(rows.T, which, axis=0).T


def running_sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Sums of each row (R, n) up to and with each entry.

    NumPy adds up one row after the other, which takes long where the entries of a row do not lie side by side.
    """
    if rows.flags.c_contiguous:
        return np.cumsum(rows, axis=1)
    sums = rows.copy(order="K")
    for before, here in pairwise(sums.T):
        here += before
    return sums


@dataclass(frozen=True, slots=True)
class Weighting:
    """How often each trial counts, in every resample.

    Attributes
    ----------
    rows : ndarray, shape (R, n)
        Weights; a plain call has one row.
    batch : bool
        Whether the caller gave a row per resample, and so expects R numbers.
    narrow : ndarray, shape (R, n)
        The weights in the type that they were drawn in, which holds their sum: whole numbers are added faster in it.
    """

    rows: FloatArray
    batch: bool
    narrow: NDArray[Any]
    known: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, weights: ArrayLike | None, n: int) -> Weighting:
        """Check ``weights`` and bring them to rows."""
        shared: Weighting | None = getattr(weights, "weighting", None)
        if shared and shared.rows.shape[1] == n:
            return shared
        array = np.asarray(as_weights(np.ones(n) if weights is None else weights, n))
        rows = np.atleast_2d(array)
        return cls(rows, array.ndim == 2, rows)

    def once(self, key: Hashable, compute: Callable[[], Part]) -> Part:
        """Return what ``compute`` returns, which is not computed again of these weights."""
        found: Part = self.known[key] if key in self.known else self.known.setdefault(key, compute())
        return found

    @property
    def total(self) -> FloatArray:
        """Number of trials in each row, shape (R,)."""
        return self.once("total", lambda: np.asarray(self.rows.sum(axis=1)))

    def up_to(self, order: NDArray[np.intp]) -> NDArray[Any]:
        """Running sums of the weights of some trials, in the order given, shape (R, k) and of the narrow type."""
        return self.once(order.tobytes(), lambda: running_sums(take(self.narrow, order)))

    def kept(self, keep: BoolArray) -> SharedWeights:
        """Return the weights of some trials, shared by what takes these."""
        some = np.flatnonzero(keep)
        return self.once(("kept", keep.tobytes()), lambda: SharedWeights.of(take(self.narrow, some)))

    @property
    def empty(self) -> tuple[BoolArray, Reason]:
        """Rows without a trial, with the reason: the first case of most statistics."""
        return self.total == 0, Reason.EMPTY

    def mean(self, column: FloatArray) -> FloatArray:
        """Weighted mean of a column of shape (n,) in each row, NaN where the row is empty."""
        return ratio(self.rows @ column, self.total)

    def average(self, column: FloatArray) -> Result:
        """Weighted mean of a column of shape (n,); infinite where a trial that counts is, NaN without trials."""
        infinite = np.isinf(column)
        if not infinite.any():
            return self.settle(self.mean(column), self.empty)
        # Infinity times a weight of 0 would be NaN: a trial that was not drawn must not count.
        finite = self.mean(np.where(infinite, 0.0, column))
        return self.settle(np.where(self.rows @ infinite > 0.0, np.inf, finite), self.empty)

    def centred(self, column: FloatArray) -> FloatArray:
        """Subtract each row's own mean, shape (R, n): one mean for all rows would lose digits."""
        return np.asarray(column - self.mean(column)[:, np.newaxis])

    def grouped(self, index: NDArray[np.intp], size: int, column: FloatArray) -> FloatArray:
        """Weighted sums of ``column`` within the groups that ``index`` names, shape (R, size)."""
        if not self.batch:
            return np.bincount(index, self.rows[0] * column, minlength=size)[None].astype(
                np.float64, copy=False
            )
        n = index.shape[0]
        members = scipy.sparse.csc_array((column, index, np.arange(n + 1)), shape=(size, n))
        return np.asarray(members @ self.rows.T).T

    def settle(self, values: FloatArray, *cases: tuple[BoolArray, Reason]) -> Result:
        """Return the values, NaN where a case applies; the Estimate of a plain call has the reason of the first."""
        if self.batch:
            return np.where(np.logical_or.reduce([applies for applies, _ in cases]), np.nan, values)
        reason = next((reason for applies, reason in cases if applies[0]), None)
        return Estimate(values[0]) if reason is None else undefined(reason)


def trials(
    correct: ArrayLike, confidence: ArrayLike, weights: ArrayLike | None, *, binary: bool = False
) -> tuple[FloatArray, FloatArray, Weighting]:
    """Check the arguments that every statistic of trials takes.

    ``correct`` may be a probability unless ``binary`` is set.
    """
    checked = (as_binary if binary else as_probability)(correct, "correct")
    stated = as_probability(confidence, "confidence")
    return checked, stated, Weighting.of(weights, same_length(correct=checked, confidence=stated))


def ratio(numerator: FloatArray, denominator: FloatArray, *, otherwise: float = np.nan) -> FloatArray:
    """Divide elementwise, with NaN or another number where the denominator is 0."""
    divisible = denominator != 0.0
    return np.where(divisible, numerator / np.where(divisible, denominator, 1.0), otherwise)


@dataclass(frozen=True, slots=True)
class Tied:
    """Trials gathered by distinct value, ascending.

    Attributes
    ----------
    values : ndarray, shape (g,)
        Distinct values.
    counts : ndarray, shape (R, g)
        Weight of each value in each row.
    sums : tuple of ndarray, shape (R, g)
        Weighted sum of each column over the trials of that value.
    index : ndarray of int, shape (n,)
        Position of each trial's value in ``values``.
    """

    values: FloatArray
    counts: FloatArray
    sums: tuple[FloatArray, ...]
    index: NDArray[np.intp]


def tied(values: FloatArray, weighting: Weighting, *columns: FloatArray) -> Tied:
    """Gather the weights, and the weighted columns of shape (n,), by distinct value."""
    order = np.argsort(values)
    ascending = values[order]
    differs = np.ones(values.shape[0], dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    index = np.empty_like(order)
    index[order] = np.cumsum(differs) - 1
    if differs.all():
        rows = take(weighting.rows, order)
        return Tied(ascending, rows, tuple(rows * column[order] for column in columns), index)
    distinct = ascending[differs]
    every = (np.ones(values.shape[0]), *columns)
    counts, *sums = (weighting.grouped(index, distinct.shape[0], column) for column in every)
    return Tied(distinct, counts, tuple(sums), index)


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
