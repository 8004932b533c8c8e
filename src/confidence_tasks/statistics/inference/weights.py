"""Frequency weights: one vector of counts for a plain call, one row per resample for a bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Weighting:
    """How often each trial counts, in every resample.

    Attributes
    ----------
    rows : ndarray, shape (R, n)
        Weights; a plain call has one row.
    batch : bool
        Whether the caller gave a row per resample, and so expects R numbers.
    """

    rows: FloatArray
    batch: bool

    @classmethod
    def of(cls, weights: ArrayLike | None, n: int) -> Self:
        """Check ``weights`` and bring them to rows."""
        array = as_weights(weights, n)
        if array is None:
            array = np.ones(n)
        return cls(np.atleast_2d(array), batch=array.ndim == 2)

    @property
    def total(self) -> FloatArray:
        """Number of trials in each row, shape (R,)."""
        total: FloatArray = self.rows.sum(axis=1)
        return total

    @property
    def empty(self) -> tuple[BoolArray, Reason]:
        """Rows without a trial, with the reason: the first case of most statistics."""
        return self.total == 0, Reason.EMPTY

    def mean(self, column: FloatArray) -> FloatArray:
        """Weighted mean of a column of shape (n,) in each row, NaN where the row is empty."""
        return ratio(self.rows @ column, self.total)

    def centred(self, column: FloatArray) -> FloatArray:
        """Subtract each row's own mean, shape (R, n): one mean for all rows would lose digits."""
        return np.asarray(column - self.mean(column)[:, np.newaxis])

    def columns(self, which: NDArray[np.intp]) -> FloatArray:
        """Weights of some trials, in the order given, shape (R, k), in the memory layout of all weights."""
        if self.rows.flags.c_contiguous:
            return np.take(self.rows, which, axis=1)
        return np.take(self.rows.T, which, axis=0).T

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
        rows = weighting.columns(order)
        return Tied(ascending, rows, tuple(rows * column[order] for column in columns), index)
    distinct = ascending[differs]
    every = (np.ones(values.shape[0]), *columns)
    counts, *sums = (weighting.grouped(index, distinct.shape[0], column) for column in every)
    return Tied(distinct, counts, tuple(sums), index)
