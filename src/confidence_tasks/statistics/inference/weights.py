"""Frequency weights: one vector of counts for a plain call, one row per resample for a bootstrap; and their draws.

One draw of questions serves every table, condition and measure of a report.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    BoolArray,
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    as_binary,
    as_probability,
    same_length,
    undefined,
)

Result: TypeAlias = Estimate | FloatArray
"""An :class:`Estimate` of a plain call, or an array of shape (resamples,) for weights of that many rows."""

Weights: TypeAlias = ArrayLike | None
"""How often each trial counts: (n,), or (R, n) with a row for each of R resamples; None counts every trial once."""

Case: TypeAlias = tuple[BoolArray, Reason]
"""For which rows (R,) a number is NaN, and why; of several cases, the first that applies."""

Part = TypeVar("Part")


def defined(cases: Sequence[Case]) -> BoolArray:
    """Return for which rows none of the cases applies."""
    return np.asarray(~np.logical_or.reduce([applies for applies, _ in cases]))


def settle(values: FloatArray, cases: Sequence[Case], batch: bool) -> Result:
    """Return values (R,), NaN where a case applies; of no batch, the only one as an Estimate with its reason."""
    if batch:
        return np.where(defined(cases), values, np.nan)
    reason = next((reason for applies, reason in cases if applies[0]), None)
    return Estimate(values[0]) if reason is None else undefined(reason)


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
    for before, here in itertools.pairwise(sums.T):
        here += before
    return sums


@dataclass(frozen=True, slots=True)
class Weighting:
    """Weights of trials, in every resample."""

    rows: FloatArray  # (R, n); a plain call has one row
    batch: bool  # whether the caller gave a row per resample, and so expects R numbers
    narrow: NDArray[
        Any
    ]  # (R, n) in the type drawn, which holds their sum: whole numbers are added faster in it
    known: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, weights: Weights, n: int) -> Weighting:
        """Bring ``weights`` to rows; ValueError unless they are finite, not negative and of shape (n,) or (R, n)."""
        shared: Weighting | None = getattr(weights, "weighting", None)
        if shared and shared.rows.shape[1] == n:
            return shared
        array = np.asarray(np.ones(n) if weights is None else weights, dtype=np.float64)
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            raise ValueError(f"weights must have shape ({n},) or (resamples, {n}), got {array.shape}")
        if array.size and not (array.min() >= 0.0 and array.max() < np.inf):  # neither holds of NaN
            raise ValueError("weights must be finite and non-negative")
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

    def mean(self, column: FloatArray) -> FloatArray:
        """Weighted mean of a column of shape (n,) in each row, NaN where the row is empty."""
        return ratio(self.rows @ column, self.total)

    def average(self, column: FloatArray) -> Result:
        """Weighted mean of a column of shape (n,); infinite where a trial that counts is, NaN without trials."""
        infinite = np.isinf(column)
        if not infinite.any():
            return self.settle(self.mean(column))
        # Infinity times a weight of 0 would be NaN: a trial that was not drawn must not count.
        finite = self.mean(np.where(infinite, 0.0, column))
        return self.settle(np.where(self.rows @ infinite > 0.0, np.inf, finite))

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

    def settle(self, values: FloatArray, *cases: Case) -> Result:
        """Return the values, NaN in rows without trials and where a case applies; the first gives the reason."""
        return settle(values, ((self.total == 0, Reason.EMPTY), *cases), self.batch)


def trials(
    correct: ArrayLike, confidence: ArrayLike, weights: Weights, *, binary: bool = False
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
    """Trials gathered by distinct value, ascending."""

    values: FloatArray  # (g,)
    counts: FloatArray  # (R, g) weight of each value in each row
    sums: tuple[FloatArray, ...]  # (R, g) each: weighted sum of a column over the trials of that value
    index: NDArray[np.intp]  # (n,) position of each trial's value in values


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


Seed: TypeAlias = int | np.random.Generator


def drawn_counts(n_units: int, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Count how often each unit is drawn in k resamples, shape (U, k). The order of draws does not depend on k."""
    place = (rng.random((k, n_units)) * n_units).astype(np.intp)
    place *= k
    place += np.arange(k)[:, np.newaxis]
    return np.bincount(place.ravel(), minlength=k * n_units).reshape(n_units, k)


_MOST_KEPT = 1 << 25
"""Maximum number of counts of a draw that is kept, 32 MiB."""


@lru_cache(maxsize=3)
def _kept_counts(n_units: int, n_resamples: int, seed: int | tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the counts of every resample, shape (U, R), which all models that were asked the same questions share."""
    rng, step = np.random.default_rng(seed), max(1, _CACHED // max(n_units, 1))
    counts = np.empty((n_units, n_resamples), dtype=np.uint8)  # a unit is drawn once on average
    for start in range(0, n_resamples, step):
        block = counts[:, start : start + step]
        block[:] = drawn_counts(n_units, block.shape[1], rng)
    counts.flags.writeable = False
    return counts


def _bootstrap_counts(
    n_units: int, n_resamples: int, seed: Seed | tuple[int, ...]
) -> Callable[[int], NDArray[Any]]:
    """Return a function that gives the counts of the next k resamples, shape (U, k)."""
    if isinstance(seed, np.random.Generator) or n_units * n_resamples > _MOST_KEPT:
        rng = np.random.default_rng(seed)
        return lambda k: drawn_counts(n_units, k, rng)
    counts, end = _kept_counts(n_units, n_resamples, seed), 0

    def kept(k: int) -> NDArray[Any]:
        nonlocal end
        end += k
        return counts[:, end - k : end]

    return kept


def _exponential_weights(n_units: int, seed: Seed | tuple[int, ...]) -> Callable[[int], NDArray[Any]]:
    """Return a function that draws the next k rows of standard exponential weights, shape (U, k)."""
    rng = np.random.default_rng(seed)
    return lambda k: rng.standard_exponential((k, n_units)).T


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
    """Rows gathered by kind."""

    example: IntArray  # (K,) a row of each kind
    members: scipy.sparse.csr_array  # (K, U) number of rows of each kind that each unit has

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
    samples: Sequence[TrialCounts],
    *,
    n_resamples: int = 10_000,
    seed: Seed | tuple[int, ...] = 0,
    bayesian: bool = False,
) -> Iterator[list[NDArray[Any]]]:
    """Resample units, and yield the weights of the kinds of every sample, (r, K), of a type that holds their sum.

    One draw of units serves all samples, so that differences between samples are paired by unit. Units are drawn with
    replacement or, if ``bayesian``, have standard exponential weights: the weights of a sample's kinds over their sum
    are then draws from the posterior distribution of their proportions (Rubin 1981, doi:10.1214/aos/1176345338).

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
    weights = (
        _exponential_weights(n_units, seed) if bayesian else _bootstrap_counts(n_units, n_resamples, seed)
    )
    yield from _of_kinds(samples, n_resamples, weights, np.dtype(np.float64) if bayesian else _whole(samples))


def exchanged_kinds(
    pairs: Sequence[tuple[TrialCounts, TrialCounts, TrialCounts]],
    *,
    n_resamples: int = 10_000,
    seed: Seed = 0,
) -> Iterator[list[tuple[FloatArray, FloatArray, FloatArray]]]:
    """Exchange the samples of each pair within units, and yield the weights of the kinds on either side.

    A unit is exchanged in all pairs or in none. Exchanges are random; where there are no more than ``n_resamples`` in
    all, 2 ** units, each is made once (Phipson & Smyth 2010, doi:10.2202/1544-6115.1585). A pair, such as two
    conditions of a source, is two tables of the same units and their :func:`alike_units`. For each, weights (r, K1 +
    K2) of the kinds of the first sample and of the second on either side of the contrast, and how many (r, J) of each
    kind of units were exchanged, are yielded.

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
