"""Resamples and exchanges of questions: one draw serves every table, condition and measure of a report."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import FloatArray, IntArray, same_length

Seed: TypeAlias = int | np.random.Generator


def drawn_counts(n_units: int, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """How often each unit is drawn in k resamples, shape (U, k); drawn in an order that does not depend on k."""
    place = (rng.random((k, n_units)) * n_units).astype(np.intp)
    place *= k
    place += np.arange(k)[:, np.newaxis]
    return np.bincount(place.ravel(), minlength=k * n_units).reshape(n_units, k)


def is_exact(n_units: int, n_resamples: int) -> bool:
    """Return True if all exchanges of the units, 2 ** n_units, are at most ``n_resamples``."""
    return n_units <= math.log2(n_resamples)


def exchanges(n_units: int, exact: bool, rng: np.random.Generator) -> Callable[[int], NDArray[np.uint8]]:
    """Return a function that makes the next k exchanges, zeros and ones of shape (U, k): all in turn, or at random."""
    numbers = itertools.count()

    def next_of_all(k: int) -> NDArray[np.uint8]:
        bits = np.fromiter(itertools.islice(numbers, k), dtype=np.int64) >> np.arange(n_units)[:, np.newaxis]
        return (bits & 1).astype(np.uint8)

    def random(k: int) -> NDArray[np.uint8]:
        words = rng.integers(0, 2**64, size=(k, -(-n_units // 64)), dtype=np.uint64)
        return np.unpackbits(words.view(np.uint8), axis=1, count=n_units).T

    return next_of_all if exact else random


_BLOCK_ELEMENTS = 1 << 19
"""Numbers held at a time, 4 MiB: more does not fit into the cache, and saves no calls."""

_CACHED = 1 << 17
"""Weights drawn at a time: counting accesses memory at random, which is fast in the cache only."""


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """Rows gathered by kind.

    Attributes
    ----------
    example : ndarray of int, shape (K,)
        A row of each kind.
    members : sparse array, shape (K, U)
        Number of rows of each kind that each unit has.
    """

    example: IntArray
    members: scipy.sparse.csr_array

    @property
    def counts(self) -> FloatArray:
        """Number of rows of each kind, shape (K,)."""
        return np.asarray(self.members.sum(axis=1), dtype=np.float64)


def count_alike(columns: Sequence[ArrayLike], unit: ArrayLike, n_units: int) -> TrialCounts:
    """Gather rows that are alike in every column, of numbers or texts; NaN is like NaN.

    ``unit`` (n,) numbers the unit of each row, such as its question, from 0; some of the ``n_units`` may have no row.

    Examples
    --------
    >>> kinds = count_alike([[0.9, 0.9, 0.5], ["ok", "ok", "ok"]], unit=[0, 1, 1], n_units=2)
    >>> kinds.example, kinds.counts, kinds.members.toarray()
    (array([2, 0]), array([1., 2.]), array([[0., 1.],
           [1., 1.]]))
    """
    units = np.asarray(unit, dtype=np.int64)
    code = np.zeros(len(units), dtype=np.int64)
    for column in columns:
        values = np.asarray(column)
        same_length(unit=units, column=values)
        distinct, index = numbered(values)
        # Renumbered after each column, so that the product cannot overflow.
        code = np.unique(code * len(distinct) + index, return_inverse=True)[1]
    _, example, kind = np.unique(code, return_index=True, return_inverse=True)
    members = scipy.sparse.csr_array((np.ones(len(units)), (kind, units)), shape=(len(example), n_units))
    return TrialCounts(example, members)


def numbered(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Return the distinct values in order, and the number of each value; texts are hashed, as sorting all is slow."""
    if values.dtype != object:
        distinct, index = np.unique(values, return_inverse=True)
        return distinct, index
    texts = values.tolist()
    ordered = sorted(set(texts))
    number = dict(zip(ordered, range(len(ordered)), strict=True))
    return np.array(ordered, dtype=object), np.array([number[text] for text in texts], dtype=np.int64)


def alike_units(samples: Sequence[TrialCounts]) -> TrialCounts:
    """Gather the units that have rows of the same kinds in every sample; those without a row are left out.

    ``samples`` are tables of the same units, such as two conditions.

    Examples
    --------
    >>> before = count_alike([[0.0, 0.0, 1.0]], unit=[0, 1, 2], n_units=4)
    >>> after = count_alike([[1.0, 1.0, 0.0]], unit=[0, 1, 2], n_units=4)
    >>> alike = alike_units([before, after])
    >>> alike.example, alike.counts
    (array([0, 2]), array([2., 1.]))
    """
    members = scipy.sparse.vstack([sample.members for sample in samples], format="csc")
    members.sort_indices()
    kinds, counts = members.indices.tobytes(), members.data.tobytes()
    width, wide = members.indices.itemsize, members.data.itemsize
    number: dict[bytes, int] = {}
    example: list[int] = []
    kind: list[int] = []
    units: list[int] = []
    for unit, (start, end) in enumerate(itertools.pairwise(members.indptr.tolist())):
        if start < end:
            held = kinds[start * width : end * width] + counts[start * wide : end * wide]
            if number.setdefault(held, len(number)) == len(example):
                example.append(unit)
            kind.append(number[held])
            units.append(unit)
    shape = (len(example), members.shape[1])
    return TrialCounts(
        np.array(example, dtype=np.int64),
        scipy.sparse.csr_array((np.ones(len(kind)), (kind, units)), shape=shape),
    )


def resampled_kinds(
    samples: Sequence[TrialCounts], *, n_resamples: int = 10_000, seed: Seed = 0, bayesian: bool = False
) -> Iterator[list[NDArray[Any]]]:
    """Resample units, and yield the weights of the kinds of every sample, (r, K), of a type that holds their sum.

    One draw of units serves all samples, so that differences between samples are paired by unit. Units are drawn with
    replacement or, if ``bayesian``, have standard exponential weights: the weights of a sample's kinds over their sum
    are then draws from the posterior distribution of their proportions.

    References
    ----------
    Efron (1979), doi:10.1214/aos/1176344552. Rubin (1981), doi:10.1214/aos/1176345338.

    Examples
    --------
    >>> kinds = count_alike([[0.0, 1.0, 1.0, 1.0]], unit=range(4), n_units=4)
    >>> [(weights,)] = resampled_kinds([kinds], n_resamples=3)
    >>> weights.sum(axis=1).tolist()
    [4, 4, 4]
    >>> [(weights,)] = resampled_kinds([kinds], n_resamples=10_000, bayesian=True)
    >>> weights.mean(axis=0).round(1), weights.var(axis=0).round(1)  # gamma variates of shape 1 and 3
    (array([1., 3.]), array([1., 3.]))
    """
    n_units = _common_units(samples, n_resamples)
    rng = np.random.default_rng(seed)

    def weights(k: int) -> NDArray[Any]:
        return rng.standard_exponential((k, n_units)).T if bayesian else drawn_counts(n_units, k, rng)

    yield from _of_kinds(samples, n_resamples, weights, np.dtype(np.float64) if bayesian else _whole(samples))


def exchanged_kinds(
    pairs: Sequence[tuple[TrialCounts, TrialCounts, TrialCounts]],
    *,
    n_resamples: int = 10_000,
    seed: Seed = 0,
) -> Iterator[list[tuple[FloatArray, FloatArray, FloatArray]]]:
    """Exchange the samples of each pair within units, and yield the weights of the kinds on either side.

    A unit is exchanged in all pairs or in none. Exchanges are random; where there are no more than ``n_resamples`` in
    all, 2 ** units, each is made once. A pair, such as two conditions of a source, is two tables of the same units and
    their :func:`alike_units`. For each, weights (r, K1 + K2) of the kinds of the first sample and of the second on
    either side of the contrast, and how many (r, J) of each kind of units were exchanged, are yielded.

    References
    ----------
    Phipson & Smyth (2010), doi:10.2202/1544-6115.1585.

    Examples
    --------
    >>> a = count_alike([[1.0]], unit=[0], n_units=1)
    >>> b = count_alike([[2.0]], unit=[0], n_units=1)
    >>> [[(as_first, as_second, moved)]] = exchanged_kinds([(a, b, alike_units([a, b]))])
    >>> as_first, moved.ravel()
    (array([[1., 0.],
           [0., 1.]]), array([0., 1.]))
    """
    samples = [sample for pair in pairs for sample in pair]
    n_units = _common_units(samples, n_resamples)
    exact = is_exact(n_units, n_resamples)
    rng = np.random.default_rng(seed)
    swaps = exchanges(n_units, exact, rng)
    for moved in _of_kinds(samples, 2**n_units if exact else n_resamples, swaps, _whole(samples)):
        yield [
            (
                np.concatenate([first.counts - from_first, from_second], axis=1),
                np.concatenate([from_first, second.counts - from_second], axis=1),
                units.astype(np.float64),
            )
            for (first, second, _), from_first, from_second, units in zip(
                pairs, moved[::3], moved[1::3], moved[2::3], strict=True
            )
        ]


def _common_units(samples: Sequence[TrialCounts], n_resamples: int) -> int:
    sizes = {sample.members.shape[1] for sample in samples}
    if len(sizes) != 1:
        raise ValueError(f"samples must be tables of the same units, got {sorted(sizes)} of them")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    return int(sizes.pop())


def _whole(samples: Sequence[TrialCounts]) -> np.dtype[Any]:
    """The smallest type of the whole numbers that all kinds have together: sums are exact, and several times faster."""
    most = max(its.members.shape[1] * its.members.sum(axis=0).max(initial=0.0) for its in samples)
    return np.min_scalar_type(int(most))


def _of_kinds(
    samples: Sequence[TrialCounts],
    total: int,
    unit_weights: Callable[[int], NDArray[Any]],
    dtype: np.dtype[Any],
) -> Iterator[list[NDArray[Any]]]:
    """Yield the weights of the kinds of every sample, those of units being drawn as many at a time as the cache holds.

    The weights of a kind lie side by side in memory, so that what is computed of (r, K) of them goes through r at a
    time instead of K.
    """
    # By unit, whose weights are then read once for all samples.
    members = scipy.sparse.vstack([sample.members for sample in samples], format="csc", dtype=dtype)
    bounds = np.cumsum([sample.members.shape[0] for sample in samples])[:-1]
    step = max(1, _CACHED // max(members.shape[1], 1))
    widest = max(1, *(sample.members.shape[0] for sample in samples))
    # So many that the calls of a fit are few, unless these are eight times as many numbers.
    block = max(1, _BLOCK_ELEMENTS // widest, min(512, 8 * _BLOCK_ELEMENTS // widest))
    for size in (min(block, total - start) for start in range(0, total, block)):
        summed = np.empty((members.shape[0], size), dtype)
        for start in range(0, size, step):
            weights = unit_weights(min(step, size - start))
            summed[:, start : start + step] = members @ weights.astype(dtype, copy=False)
        yield [part.T for part in np.split(summed, bounds)]
