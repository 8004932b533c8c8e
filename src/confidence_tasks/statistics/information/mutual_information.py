"""Mutual information of count tables, and what it is on average when it is sampled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from confidence_tasks.statistics.core import FloatArray, IntArray

#: Up to here the expectation of x log x is summed, from here on its Taylor series is exact to 1e-8.
_SUMMED = 512
#: Half-width of the sums in standard deviations, and what is added for skewed distributions.
_REACH, _EXTRA = 10.0, 40
_CHUNK = 1 << 20
_LARGEST_TABLE = 1 << 22


def information(tables: FloatArray) -> FloatArray:
    """Return the mutual information of rows and columns in bits, tables (R, 2, J) -> (R,); NaN without counts."""
    return _from_sums(tables, _x_log_x(tables), _x_log_x(tables.sum(axis=2)), _x_log_x(tables.sum(axis=1)))


def entropy(counts: FloatArray) -> FloatArray:
    """Return the entropy in bits of counts (R, J) -> (R,); NaN without counts."""
    n = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: FloatArray = (np.log(n) - _x_log_x(counts).sum(axis=1) / n) / np.log(2.0)
    return bits


def sampled_mean(tables: FloatArray) -> FloatArray:
    """Return the expected information of samples as large as the table, drawn from its proportions, (R,).

    Cells and margins of a multinomial sample are binomial, so that the expectation is a sum of expectations of
    x log x: no sample is drawn.
    """
    n = np.rint(tables.sum(axis=(1, 2)))
    # Cells and margins in one: the work is in the call more often than in the numbers.
    counts = np.concatenate([tables, tables.sum(axis=1, keepdims=True)], axis=1)
    counts = np.concatenate([counts, counts.sum(axis=2, keepdims=True)], axis=2)
    means = _binomial_mean(np.rint(counts).T, n).T
    return _from_sums(tables, means[:, :2, :-1], means[:, :2, -1], means[:, 2, :-1])


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.xlogy(x, x), dtype=np.float64)


def _from_sums(tables: FloatArray, cells: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Combine sums of x log x, a table's own or their expectations, into information in bits."""
    n = tables.sum(axis=(1, 2))
    total = cells.sum(axis=(1, 2)) - rows.sum(axis=1) - columns.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: FloatArray = (total / n + np.log(n)) / np.log(2.0)
    return bits


def _binomial_mean(counts: FloatArray, n: FloatArray) -> FloatArray:
    """Return E[X log X] for X binomial with n draws and mean ``counts``; n (R,), counts (..., R)."""
    means: FloatArray = np.empty(counts.shape)
    for size in np.unique(n):
        rows = n == size
        means[..., rows] = _binomial_mean_of(int(size), counts[..., rows])
    return means


def _binomial_mean_of(n: int, counts: FloatArray) -> FloatArray:
    means: FloatArray = np.empty(counts.shape)
    few = counts <= _SUMMED
    means[few] = _binomial_sums(n)[counts[few].astype(np.intp)]
    many, position = np.unique(counts[~few], return_inverse=True)
    means[~few] = _binomial_series(n, many)[position]
    return means


@lru_cache(maxsize=1024)  # resamples of all conditions of a study have few sizes between them
def _binomial_sums(n: int) -> FloatArray:
    """Return E[X log X] by mean, as far as it is summed."""
    return _binomial_sum(n, np.arange(min(n, _SUMMED) + 1.0))


def _binomial_sum(n: int, mean: FloatArray) -> FloatArray:
    """Return E[X log X] for X binomial with n draws, by summation."""
    share = mean / max(n, 1)
    log_factorial = log_factorials(n)

    def terms(x: IntArray, of: IntArray) -> FloatArray:
        p = share[of]
        log_p = (
            log_factorial(n)
            - log_factorial(x)
            - log_factorial(n - x)
            + scipy.special.xlogy(x, p)
            + scipy.special.xlog1py(n - x, -p)
        )
        values: FloatArray = np.exp(log_p) * scipy.special.xlogy(x, x)
        return values

    reach = _REACH * np.sqrt(mean) + _EXTRA
    return _sum_terms(terms, np.maximum(mean - reach, 0.0), np.minimum(mean + reach, n))


def _binomial_series(n: int, mean: FloatArray) -> FloatArray:
    """Return E[X log X] from the first six central moments."""
    p = np.minimum(mean / max(n, 1), 1.0)
    q = 1.0 - p
    v = mean * q
    moments = (
        v,
        v * (q - p),
        v * (1.0 - 6.0 * p * q + 3.0 * v),
        v * (q - p) * (1.0 - 12.0 * p * q + 10.0 * v),
        v * (1.0 - 30.0 * p * q * (1.0 - 4.0 * p * q) + 5.0 * v * (5.0 - 26.0 * p * q) + 15.0 * v**2),
    )
    # The derivatives of x log x, over the factorials.
    coefficients = (1 / 2, -1 / 6, 1 / 12, -1 / 20, 1 / 30)
    terms = (c * m / mean**r for r, (c, m) in enumerate(zip(coefficients, moments, strict=True), start=1))
    return _x_log_x(mean) + sum(terms)


def _sum_terms(
    terms: Callable[[IntArray, IntArray], FloatArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Sum ``terms(x, which)`` over whole x from low to high for each of many sums of different length."""
    start, stop = np.ceil(low).astype(np.int64), np.floor(high).astype(np.int64)
    length = stop - start + 1
    sums = np.empty(length.size)
    block = np.cumsum(length) // _CHUNK
    for number in np.unique(block):
        which = np.flatnonzero(block == number)
        ends = np.cumsum(length[which])
        begins = ends - length[which]
        of = np.repeat(which, length[which])
        x = np.arange(ends[-1]) - np.repeat(begins - start[which], length[which])
        sums[which] = np.add.reduceat(terms(x, of), begins)
    return sums


def log_factorials(n: int) -> Callable[[Any], Any]:
    """Return a function for the logarithms of factorials up to n, which reads a table unless n is large."""
    if n > _LARGEST_TABLE:
        return lambda x: scipy.special.gammaln(x + 1.0)
    return _table_of_log_factorials(n).__getitem__


@lru_cache(maxsize=4)
def _table_of_log_factorials(n: int) -> FloatArray:
    logs: FloatArray = scipy.special.gammaln(np.arange(n + 1) + 1.0)
    return logs
