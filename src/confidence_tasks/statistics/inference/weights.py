"""Frequency weights of trials: their checks, sums and means, and draws of them for resampling.

A plain call of a statistic has one vector of weights, a bootstrap one row for each resample. All tables, conditions and
measures of a report share one draw of questions.
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
    as_floats,
    as_probability,
    same_length,
    undefined,
)

Result: TypeAlias = Estimate | FloatArray
"""An :class:`Estimate` of a plain call, or an array of shape (resamples,) for weights of that many rows."""

Weights: TypeAlias = ArrayLike | None
"""Weight of each trial: (n,), or (R, n) with a row for each of R resamples; None counts every trial once."""

Case: TypeAlias = tuple[BoolArray, Reason]
"""The rows (R,) in which a number is NaN, and the reason; of several cases, the first that applies."""

Part = TypeVar("Part")


def defined(cases: Sequence[Case]) -> BoolArray:
    """Return the rows to which no case applies."""
    return np.asarray(~np.logical_or.reduce([applies for applies, _ in cases]))


def settle(values: FloatArray, cases: Sequence[Case], batch: bool) -> Result:
    """Return values (R,), NaN where a case applies; without a batch, the value as an Estimate with its reason."""
    if batch:
        return np.where(defined(cases), values, np.nan)
    reason = next((reason for applies, reason in cases if applies[0]), None)
    return Estimate(values[0]) if reason is None else undefined(reason)


_FEWEST_TRIALS, _MOST_TRIALS = 1e-100, 1e15
"""Bounds of the sum of weights. Beyond them, products of sums leave the range of floats, and counts are not exact."""


class SharedWeights(np.ndarray[Any, np.dtype[np.float64]]):
    """Weights (R, n) for several statistics; sums that these have in common are computed once."""

    weighting: Weighting | None = None

    @classmethod
    def of(cls, weights: NDArray[Any]) -> Self:
        """Share weights, whose type must hold their sum; they must not be changed afterwards."""
        shared = (rows := weights.astype(np.float64, copy=False)).view(cls)
        shared.weighting = Weighting(rows, True, weights)
        return shared


def take(rows: NDArray[Any], which: NDArray[np.intp]) -> NDArray[Any]:
    """Take columns of an array (R, n) in a given order; the result has the memory layout of the array."""
    return np.take(rows, which, axis=1) if rows.flags.c_contiguous else np.take(rows.T, which, axis=0).T


def running_sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the cumulative sums of each row, shape (R, n).

    NumPy sums row by row, which is slow if the entries of a row are not adjacent in memory.
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
    batch: bool  # True if the caller passed one row per resample and expects R numbers
    narrow: NDArray[Any]  # (R, n) in a small integer type that holds their sum, in which sums are faster
    known: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, weights: Weights, n: int) -> Weighting:
        """Check weights: ValueError unless they are finite, not negative and of shape (n,) or (R, n).

        The sum of each row must be a number of trials that can be counted, or 0.
        """
        shared: Weighting | None = getattr(weights, "weighting", None)
        if shared and shared.rows.shape[1] == n:
            return shared
        array = np.ones(n) if weights is None else as_floats(weights, "weights")
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            raise ValueError(f"weights must have shape ({n},) or (resamples, {n}), got {array.shape}")
        if array.size and not (array.min() >= 0.0 and array.max() < np.inf):  # neither holds of NaN
            raise ValueError("weights must be finite and non-negative")
        rows = np.atleast_2d(array)
        with np.errstate(over="ignore"):
            total = rows.sum(axis=1)
        if ((total > _MOST_TRIALS) | ((total > 0.0) & (total < _FEWEST_TRIALS))).any():
            raise ValueError(
                f"weights are numbers of trials: their sum must be 0 or lie in [{_FEWEST_TRIALS:g}, {_MOST_TRIALS:g}];"
                " multiply them by a constant, so that the sum is the number of trials"
            )
        return cls(rows, array.ndim == 2, rows, {"total": total})

    def once(self, key: Hashable, compute: Callable[[], Part]) -> Part:
        """Return the result of ``compute``, which is called once for each key."""
        result: Part = self.known[key] if key in self.known else self.known.setdefault(key, compute())
        return result

    @property
    def total(self) -> FloatArray:
        """The total weight of each row, shape (R,)."""
        return self.once("total", lambda: np.asarray(self.rows.sum(axis=1)))

    def up_to(self, order: NDArray[np.intp]) -> NDArray[Any]:
        """Return cumulative sums of the weights of some trials in a given order, shape (R, k), in the narrow type."""
        return self.once(order.tobytes(), lambda: running_sums(take(self.narrow, order)))

    def take(self, rows: IntArray) -> Weighting:
        """Return some of the rows, without a copy if these are all."""
        if len(rows) == len(self.rows):
            return self
        return Weighting(self.rows[rows], self.batch, self.narrow[rows])

    def kept(self, keep: BoolArray) -> SharedWeights:
        """Return the weights of some trials, to be shared by several statistics."""
        some = np.flatnonzero(keep)
        return self.once(("kept", keep.tobytes()), lambda: SharedWeights.of(take(self.narrow, some)))

    def mean(self, column: FloatArray) -> FloatArray:
        """Return the weighted mean of a column (n,) in each row; NaN in rows without weight."""
        return ratio(self.rows @ column, self.total)

    def average(self, column: FloatArray) -> Result:
        """Return the weighted mean of a column (n,): infinite if a trial with weight is, NaN without trials."""
        infinite = np.isinf(column)
        if not infinite.any():
            return self.settle(self.mean(column))
        # Infinity times a weight of 0 is NaN, but a trial that was not drawn must not count.
        finite = self.mean(np.where(infinite, 0.0, column))
        return self.settle(np.where(self.rows @ infinite > 0.0, np.inf, finite))

    def centred(self, column: FloatArray) -> FloatArray:
        """Subtract from a column its mean in each row, shape (R, n): one mean for all rows would lose digits."""
        return np.asarray(column - self.mean(column)[:, np.newaxis])

    def grouped(self, index: NDArray[np.intp], size: int, column: FloatArray) -> FloatArray:
        """Return weighted sums of ``column`` by group, shape (R, size); ``index`` holds the group of each trial."""
        if not self.batch:
            return np.bincount(index, self.rows[0] * column, minlength=size)[None].astype(
                np.float64, copy=False
            )
        n = index.shape[0]
        members = scipy.sparse.csc_array((column, index, np.arange(n + 1)), shape=(size, n))
        return np.asarray(members @ self.rows.T).T

    def settle(self, values: FloatArray, *cases: Case) -> Result:
        """Return values (R,), NaN in rows without trials and where a case applies."""
        return settle(values, ((self.total == 0, Reason.EMPTY), *cases), self.batch)


def trials(
    correct: ArrayLike, confidence: ArrayLike, weights: Weights, *, binary: bool = False
) -> tuple[FloatArray, FloatArray, Weighting]:
    """Check the arguments of a statistic of trials; return correctness, confidence and weights.

    ``correct`` may hold probabilities unless ``binary`` is True.
    """
    checked = (as_binary if binary else as_probability)(correct, "correct")
    stated = as_probability(confidence, "confidence")
    return checked, stated, Weighting.of(weights, same_length(correct=checked, confidence=stated))


def ratio(numerator: FloatArray, denominator: FloatArray, *, otherwise: float = np.nan) -> FloatArray:
    """Divide elementwise; where the denominator is 0 the result is ``otherwise``."""
    with np.errstate(divide="ignore", invalid="ignore"):  # faster than to divide some of the entries only
        quotient = np.asarray(np.divide(numerator, denominator))
    np.copyto(quotient, otherwise, where=denominator == 0.0)
    return quotient


@dataclass(frozen=True, slots=True)
class Tied:
    """Weights and sums of trials by distinct value, in ascending order."""

    values: FloatArray  # (g,)
    counts: FloatArray  # (R, g) weight of each value in each row
    sums: tuple[FloatArray, ...]  # (R, g) each: weighted sum of a column over the trials of that value
    index: NDArray[np.intp]  # (n,) position of each trial's value in values


def tied(values: FloatArray, weighting: Weighting, *columns: FloatArray) -> Tied:
    """Sum the weights, and the weighted columns of shape (n,), by distinct value."""
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
    """Return the number of entries of each ascending row (R, n) that do not exceed each limit of the row (R, m).

    This bisects all rows at once, which :func:`numpy.searchsorted` cannot.
    """
    n = up_to.shape[1]
    if n <= _FEW and up_to.dtype.kind == "u" and limits.min(initial=0.0) >= 0.0:
        whole = np.floor(limits.T).astype(up_to.dtype)
        number = np.zeros(whole.shape, dtype=np.uint8)
        for sums in up_to.T:
            number += sums <= whole
        return number.T.astype(np.intp)
    row = np.arange(len(limits))[:, np.newaxis]
    found = np.zeros(limits.shape, dtype=np.intp)
    for bit in reversed(range(n.bit_length())):
        more = found + (1 << bit)
        found = np.where((more <= n) & (up_to[row, np.minimum(more, n) - 1] <= limits), more, found)
    return found


_FEW = 128
"""Number of entries up to which all of them are compared with a limit: bisection reads memory at random."""


def row_quantiles(values: FloatArray, up_to: FloatArray, shares: FloatArray) -> FloatArray:
    """Return weighted quantiles, shape (R, m), of ascending values (g,), given cumulative weights (R, g).

    A weight counts as that many equal trials. Quantiles interpolate linearly, as :func:`numpy.quantile` does.
    """
    rank = np.maximum(up_to[:, -1:] - 1.0, 0.0) * shares
    whole = np.floor(rank)
    places = first_beyond(up_to, np.concatenate([whole, whole + 1.0], axis=1))
    below, above = np.split(values[np.minimum(places, values.size - 1)], 2, axis=1)
    share, step = rank - whole, above - below
    # Written so that both ends are exact.
    return np.where(share < 0.5, below + step * share, above - step * (1.0 - share))


def between(up_to: FloatArray, edges: NDArray[np.intp]) -> FloatArray:
    """Return the sums between edges, shape (R, E + 1), from cumulative sums; an edge (R, E) is a number of entries."""
    if not up_to.shape[1]:
        return np.zeros((len(edges), edges.shape[1] + 1))
    # Memory layout: rows are contiguous.
    sums, last = np.empty((edges.shape[1] + 1, len(edges))), edges.T - 1
    sums[:-1] = up_to.T[np.maximum(last, 0), np.arange(len(edges))]
    sums[:-1][last < 0] = 0.0
    sums[-1] = up_to[:, -1]
    sums[1:] -= sums[:-1].copy()
    return sums.T


Seed: TypeAlias = int | np.random.Generator


def drawn_counts(n_units: int, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Count how often each unit is drawn in each of k resamples, shape (U, k); the draws do not depend on k."""
    place = (rng.random((k, n_units)) * n_units).astype(np.intp)
    place *= k
    place += np.arange(k)[:, np.newaxis]
    return np.bincount(place.ravel(), minlength=k * n_units).reshape(n_units, k)


_MOST_KEPT = 1 << 25
"""Maximum number of counts of a draw that is kept, 32 MiB."""


@lru_cache(maxsize=3)
def _kept_counts(n_units: int, n_resamples: int, seed: int | tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the counts of all resamples, shape (U, R): models that were asked the same questions share them."""
    rng, step = np.random.default_rng(seed), max(1, _CACHED // max(n_units, 1))
    # A unit is drawn once on average; that it is drawn 256 times has a probability of 1 in 10 ** 500.
    counts = np.empty((n_units, n_resamples), dtype=np.uint8)
    for start in range(0, n_resamples, step):
        block = counts[:, start : start + step]
        block[:] = drawn_counts(n_units, block.shape[1], rng)
    counts.flags.writeable = False
    return counts


def _bootstrap_counts(
    n_units: int, n_resamples: int, seed: Seed | tuple[int, ...]
) -> Callable[[int], NDArray[Any]]:
    """Return a function that gives the counts of the next k resamples, shape (U, k)."""
    # Only these seeds stand for one draw: a generator goes on.
    if not isinstance(seed, int | tuple) or n_units * n_resamples > _MOST_KEPT:
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
    """Return True if there are at most ``n_resamples`` possible exchanges of the units, 2 ** n_units."""
    return n_units <= math.log2(n_resamples)


def exchanges(n_units: int, exact: bool, rng: np.random.Generator) -> Callable[[int], NDArray[np.uint8]]:
    """Return a function that makes the next k exchanges, zeros and ones of shape (U, k).

    They are all possible exchanges in turn if ``exact``, otherwise random ones.
    """
    numbers = itertools.count()

    def next_of_all(k: int) -> NDArray[np.uint8]:
        bits = np.fromiter(itertools.islice(numbers, k), dtype=np.int64) >> np.arange(n_units)[:, np.newaxis]
        return (bits & 1).astype(np.uint8)

    def random(k: int) -> NDArray[np.uint8]:
        words = rng.integers(0, 2**64, size=(k, -(-n_units // 64)), dtype=np.uint64)
        return np.unpackbits(words.view(np.uint8), axis=1, count=n_units).T

    return next_of_all if exact else random


_BLOCK_ELEMENTS = 1 << 19
"""Maximum number of values held at a time, 4 MiB: more do not fit into the cache."""

_CACHED = 1 << 17
"""Number of weights drawn at a time: counting accesses memory at random, which is fast only in the cache."""


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """Rows counted by kind: equal rows are of one kind."""

    example: IntArray  # (K,) position of one row of each kind
    members: scipy.sparse.csr_array  # (K, U) number of rows of each kind that each unit has

    @property
    def counts(self) -> FloatArray:
        """Number of rows of each kind, shape (K,)."""
        return np.asarray(self.members.sum(axis=1), dtype=np.float64)


def count_alike(columns: Sequence[ArrayLike], unit: ArrayLike, n_units: int) -> TrialCounts:
    """Count rows by kind: rows of one kind are equal in every column of numbers or texts; NaN equals NaN.

    ``unit`` (n,) holds the number of the unit of each row, such as its question, from 0. Units may have no row.

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
        # Renumber after each column, so that the product cannot overflow.
        code = np.unique(code * len(distinct) + index, return_inverse=True)[1]
    _, example, kind = np.unique(code, return_index=True, return_inverse=True)
    members = scipy.sparse.csr_array((np.ones(len(units)), (kind, units)), shape=(len(example), n_units))
    return TrialCounts(example, members)


def numbered(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Return the distinct values in order, and the position of each value among them; texts are hashed, for speed."""
    if values.dtype != object:
        distinct, index = np.unique(values, return_inverse=True)
        return distinct, index
    texts = values.tolist()
    ordered = sorted(set(texts))
    number = dict(zip(ordered, range(len(ordered)), strict=True))
    return np.array(ordered, dtype=object), np.array([number[text] for text in texts], dtype=np.int64)


def alike_units(samples: Sequence[TrialCounts]) -> TrialCounts:
    """Count units by kind: units of one kind have the same number of rows of each kind in every sample.

    ``samples`` are counts for the same units, such as questions under two conditions. Units without rows are left out.

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
    """Resample units; yield the weights of the kinds of each sample, shape (r, K), block by block.

    All samples share one draw of units, so differences between samples are paired by unit. Units are drawn with
    replacement. If ``bayesian``, they get standard exponential weights instead: the normalised weights of the kinds are
    then draws from the posterior distribution of their proportions (Rubin 1981, doi:10.1214/aos/1176345338).

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
    """Exchange the samples of each pair within units; yield the weights of the kinds on either side, block by block.

    A unit is exchanged in all pairs or in none. Exchanges are random; if there are at most ``n_resamples`` possible
    exchanges, 2 ** units, each is made once (Phipson & Smyth 2010, doi:10.2202/1544-6115.1585).

    A pair, such as two conditions of a source, consists of two samples of the same units and their
    :func:`alike_units`. For each pair, a block holds the weights of the stacked kinds on the first side and on the
    second side, shape (r, K1 + K2), and the number of exchanged units of each kind, shape (r, J).

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
    """Return the smallest integer type that holds the total weight: sums are exact and several times faster."""
    most = max(sample.members.shape[1] * sample.members.sum(axis=0).max(initial=0.0) for sample in samples)
    return np.min_scalar_type(int(most))


def _of_kinds(
    samples: Sequence[TrialCounts],
    total: int,
    unit_weights: Callable[[int], NDArray[Any]],
    dtype: np.dtype[Any],
) -> Iterator[list[NDArray[Any]]]:
    """Yield the weights of the kinds of every sample; units are drawn in steps that fit into the cache.

    The r weights of a kind are adjacent in memory: operations on (r, K) weights then have long inner loops.
    """
    # In columns, so that the weights of a unit are read once for all samples.
    members = scipy.sparse.vstack([sample.members for sample in samples], format="csc", dtype=dtype)
    bounds = np.cumsum([sample.members.shape[0] for sample in samples])[:-1]
    step = max(1, _CACHED // max(members.shape[1], 1))
    widest = max(1, *(sample.members.shape[0] for sample in samples))
    # At least 512 rows, so that fits are called rarely, unless these would take eight times the memory.
    block = max(1, _BLOCK_ELEMENTS // widest, min(512, 8 * _BLOCK_ELEMENTS // widest))
    for size in (min(block, total - start) for start in range(0, total, block)):
        summed = np.empty((members.shape[0], size), dtype)
        for start in range(0, size, step):
            weights = unit_weights(min(step, size - start))
            summed[:, start : start + step] = members @ weights.astype(dtype, copy=False)
        yield [part.T for part in np.split(summed, bounds)]
