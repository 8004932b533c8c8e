"""One draw of questions for many tables of continuous evidence, where hardly two trials are alike.

Weights are kept in columns, one a resample: a trial's weights in all resamples then lie side by side, so that walking
through the trials once in order of their evidence serves thousands of resamples, without sorting or copying any.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import FloatArray, as_binary, as_vector, same_length
from confidence_tasks.statistics.inference.draws import Seed, drawn_counts
from confidence_tasks.statistics.inference.weights import ratio

WeightColumns: TypeAlias = NDArray[np.int32] | NDArray[np.float32]
"""How often each of U units is drawn, or what it weighs, in each of r resamples, shape (U, r)."""

_BLOCK_ELEMENTS = 12 << 20
"""Weights held at a time, 48 MiB: with fewer resamples the steps from trial to trial cost more than the arithmetic."""

_CACHED = 1 << 17
"""Weights drawn at a time: counting jumps about, and must stay in the cache."""

_MANY_TRIALS = 40_000
"""Trials from which pairs of them are counted in 64 bits."""


def weight_columns(
    n_units: int, *, n_resamples: int = 10_000, seed: Seed = 0, bayesian: bool = False
) -> Iterator[WeightColumns]:
    """Resample units, many resamples at a time.

    Parameters
    ----------
    n_units : int
        Number of units U, such as questions.
    n_resamples : int, default 10000
        Number of resamples R.
    seed : int or numpy.random.Generator, default 0
        Source of the draws; how often units are drawn depends on nothing else.
    bayesian : bool, default False
        Whether units have standard exponential weights, the Bayesian bootstrap, instead of being drawn with
        replacement.

    Yields
    ------
    ndarray, shape (U, r)
        How often each unit is drawn, or what it weighs, in some of the resamples; R columns over all blocks. The next
        block may take the place of the one before.

    Raises
    ------
    ValueError
        If a number is below 1.

    References
    ----------
    Efron (1979), doi:10.1214/aos/1176344552. Rubin (1981), doi:10.1214/aos/1176345338.

    Examples
    --------
    >>> [weights] = weight_columns(4, n_resamples=3)
    >>> weights.sum(axis=0)
    array([4, 4, 4])
    >>> [weights] = weight_columns(4, n_resamples=10_000, bayesian=True)
    >>> weights.shape, weights.mean(axis=1).round(1)
    ((4, 10000), array([1., 1., 1., 1.], dtype=float32))
    """
    if n_units < 1 or n_resamples < 1:
        raise ValueError(f"units and resamples must be at least 1, got {n_units} and {n_resamples}")
    rng = np.random.default_rng(seed)
    step, part = max(1, _BLOCK_ELEMENTS // n_units), max(1, _CACHED // n_units)
    # Memory fresh from the system costs more than the draws.
    buffer = np.empty(0 if bayesian else n_units * min(step, n_resamples), dtype=np.int32)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        if bayesian:
            yield rng.standard_exponential((n_units, size), dtype=np.float32)
            continue
        block = buffer[: n_units * size].reshape(n_units, size)
        for first in range(0, size, part):
            some = block[:, first : first + part]
            some[:] = drawn_counts(n_units, some.shape[1], rng)
        yield block


def cells_columns(cell: ArrayLike, unit: ArrayLike, n_cells: int, columns: WeightColumns) -> FloatArray:
    """Count trials by cell in every resample.

    Parameters
    ----------
    cell : array_like of int, shape (n,)
        The cell of a table, from 0, that each trial falls into.
    unit : array_like of int, shape (n,)
        The unit that each trial belongs to.
    n_cells : int
        Number of cells.
    columns : ndarray, shape (U, R)
        How often each unit was drawn, or its weights, from :func:`weight_columns`.

    Returns
    -------
    ndarray, shape (R, n_cells)

    Raises
    ------
    ValueError
        If lengths differ.

    Examples
    --------
    >>> cells_columns([0, 1, 1], [0, 0, 1], 2, np.array([[2], [1]]))
    array([[2., 3.]])
    """
    where, units = np.asarray(cell, dtype=np.intp), np.asarray(unit, dtype=np.intp)
    one = np.ones(same_length(cell=where, unit=units), dtype=np.int32)
    members = scipy.sparse.csr_array((one, (where, units)), shape=(n_cells, columns.shape[0]))
    return np.asarray(members @ columns).T.astype(np.float64, order="C")


def auroc2_columns(
    correct: ArrayLike, evidence: ArrayLike, unit: ArrayLike, columns: WeightColumns
) -> FloatArray:
    """Compute :func:`~confidence_tasks.statistics.auroc2` of every resample.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    evidence : array_like, shape (n,)
        Any real number, such as a log-probability: only its order counts.
    unit : array_like of int, shape (n,)
        The unit that each trial belongs to.
    columns : ndarray of int, shape (U, R)
        How often each unit was drawn, from :func:`weight_columns`.

    Returns
    -------
    ndarray, shape (R,)
        In [0, 1]; NaN where a resample has no right or no wrong answer.

    Raises
    ------
    ValueError
        If lengths differ, or an input is NaN or outside its range.

    Examples
    --------
    >>> auroc2_columns([1, 0, 1, 0], [-0.1, -0.1, -0.1, -2.3], range(4), np.ones((4, 1), dtype=np.int32))
    array([0.75])
    """
    right, value = as_binary(correct, "correct") == 1.0, as_vector(evidence, "evidence")
    units = np.asarray(unit, dtype=np.intp)
    n = same_length(correct=right, evidence=value, unit=units)
    order = np.argsort(value, kind="stable")
    right, units = right[order], units[order]
    bounds = np.append(np.flatnonzero(np.diff(value[order], prepend=-np.inf)), n).tolist()
    counted = np.int32 if n < _MANY_TRIALS else np.int64
    below, above, product = np.zeros((3, columns.shape[1]), dtype=counted)
    tied = np.zeros(columns.shape[1])
    # Goes through the trials, not the resamples: each step adds one trial's weights in all resamples.
    for first, end in pairwise(bounds):
        if end - first == 1:
            weights = columns[units[first]]
            if right[first]:
                above += np.multiply(weights, below, out=product)
            else:
                below += weights
            continue
        here, its_right = columns[units[first:end]], right[first:end]
        hits, misses = here[its_right].sum(axis=0), here[~its_right].sum(axis=0)
        above += np.multiply(hits, below, out=product, casting="same_kind")
        tied += hits * misses
        below += misses.astype(counted)
    hits = cells_columns(np.zeros(int(right.sum())), units[right], 1, columns)[:, 0]
    return ratio(above + 0.5 * tied, hits * below)
