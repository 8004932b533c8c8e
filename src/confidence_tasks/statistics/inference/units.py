"""The machinery of resampling: units, their weights, and the chunks they come in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    as_labels,
    check_level,
    check_option,
    same_length,
    undefined,
)
from confidence_tasks.statistics.inference.draws import Seed, drawn_counts, exchanges
from confidence_tasks.statistics.inference.limits import METHODS, Method

Statistic: TypeAlias = Callable[..., Any]
"""``statistic(*arrays, weights=W)``: a number for W of shape (n,), an array (R,) for W of shape (R, n)."""

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
UnitStatistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Values (k,) of a statistic for k rows of weights, shape (k, units)."""

_CHUNK_ELEMENTS = 1 << 20
"""Weights held at a time: 8 MiB, measured to be fastest; smaller arrays are mapped anew, page by page, each time."""

_TIE = 1e-12
"""Values of a statistic closer than this, relative to the largest of them, differ by rounding only."""

_ROUNDING = 1e-9
"""Relative tolerance up to which differences of a statistic are rounding, as solvers and long sums leave it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A statistic of some rows as a function of the weights of the units that the rows belong to."""

    statistic: Statistic
    arrays: tuple[NDArray[Any], ...]
    unit: IntArray | None = None  # of each row; None when every row is a unit of its own

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.n_rows if self.unit is None else int(self.unit.max(initial=-1)) + 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.arrays[0])

    def row_weights(self, unit_weights: FloatArray) -> FloatArray:
        """Return the weight of each row, that of its unit."""
        return unit_weights if self.unit is None else np.take(unit_weights, self.unit, axis=-1)

    def estimate(self) -> Estimate:
        """Evaluate the statistic with every row counted once."""
        return as_estimate(self.statistic(*self.arrays, weights=np.ones(self.n_rows)))

    def values(self, row_weights: FloatArray) -> FloatArray:
        """Evaluate the statistic for each row of a weight matrix."""
        values = np.asarray(self.statistic(*self.arrays, weights=row_weights), dtype=np.float64)
        return check_values(values, len(row_weights))

    def __call__(self, unit_weights: FloatArray) -> FloatArray:
        """Evaluate the statistic for each row of weights of the units."""
        return self.values(self.row_weights(unit_weights))


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of one statistic between two samples of the same units."""

    first: Sample
    second: Sample
    n_units: int

    @property
    def n_rows(self) -> int:
        """Number of rows in both samples."""
        return self.first.n_rows + self.second.n_rows

    def estimate(self) -> Estimate:
        """Evaluate the difference; an undefined one has the reason of its first undefined term."""
        terms = self.first.estimate(), self.second.estimate()
        reasons = [term.reason for term in terms if np.isnan(term)]
        return Estimate(terms[0] - terms[1], reasons[0] if reasons else None)

    def __call__(self, unit_weights: FloatArray) -> FloatArray:
        """Evaluate the statistic for each row of weights of the units."""
        return _minus(self.first(unit_weights), self.second(unit_weights))


def _minus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Subtract; the difference of two infinite values is NaN."""
    with np.errstate(invalid="ignore"):
        return first - second


def as_estimate(value: Any) -> Estimate:
    """Return a statistic's value as an estimate; a NaN without a reason gets NOT_IDENTIFIED."""
    if isinstance(value, Estimate):
        return value
    return Estimate(value, Reason.NOT_IDENTIFIED if np.isnan(value) else None)


def check_values(values: FloatArray, size: int) -> FloatArray:
    """Return ``values`` if the statistic gave one per row of weights; ValueError otherwise."""
    if values.shape != (size,):
        raise ValueError(
            f"the statistic must return one value per row of weights: shape ({size},), got {values.shape}"
        )
    return values


def check_options(n_resamples: int, level: float = 0.95, method: Method = "percentile") -> None:
    """Raise ValueError for an option outside its domain."""
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    check_level(level)
    check_option("method", method, METHODS)


def as_rows(arrays: Sequence[ArrayLike]) -> tuple[NDArray[Any], ...]:
    """Return the arrays of a statistic; ValueError unless there is one and all are vectors of one length."""
    vectors = tuple(np.asarray(array) for array in arrays)
    if not vectors or any(vector.ndim != 1 for vector in vectors):
        raise ValueError("give at least one array, each of them one-dimensional: a value per row")
    same_length(**{f"array {i}": vector for i, vector in enumerate(vectors)})
    return vectors


def paired_contrast(
    statistic: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    questions: tuple[ArrayLike, ArrayLike] | None,
) -> Contrast:
    """Pair two conditions by their common questions."""
    if len(first) != len(second):
        raise ValueError(f"first and second must hold the same arrays, got {len(first)} and {len(second)}")
    samples = as_rows(first), as_rows(second)
    if questions is None:
        n_units = same_length(first=samples[0][0], second=samples[1][0])
        return Contrast(Sample(statistic, samples[0]), Sample(statistic, samples[1]), n_units)
    labels = [
        as_labels(label, "questions", len(rows[0])) for label, rows in zip(questions, samples, strict=True)
    ]
    common = np.intersect1d(labels[0], labels[1])
    paired = []
    for label, rows in zip(labels, samples, strict=True):
        keep = np.isin(label, common)
        unit = np.searchsorted(common, label[keep])
        paired.append(Sample(statistic, tuple(row[keep] for row in rows), unit))
    return Contrast(paired[0], paired[1], len(common))


def in_chunks(
    evaluate: UnitStatistic, weights: Callable[[int], NDArray[Any]], size: int, n_rows: int
) -> FloatArray:
    """Evaluate a statistic on ``size`` rows of unit weights, as many at a time as the cache holds.

    ``weights(k)`` makes the next k rows.
    """
    step = max(1, _CHUNK_ELEMENTS // max(n_rows, 1))
    parts = [
        evaluate(np.ascontiguousarray(weights(min(step, size - start)), dtype=np.float64))
        for start in range(0, size, step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def resample_values(source: Sample | Contrast, n_resamples: int, seed: Seed) -> FloatArray:
    """Evaluate a statistic or a contrast on ``n_resamples`` bootstrap resamples of its units."""
    rng = np.random.default_rng(seed)

    return in_chunks(source, lambda k: drawn_counts(source.n_units, k, rng).T, n_resamples, source.n_rows)


def exchanged(contrast: Contrast, size: int, exact: bool, rng: np.random.Generator) -> FloatArray:
    """Evaluate a contrast with its two conditions exchanged within some of the units.

    The rows of both conditions are stacked; a weight of one or zero says whether a row counts as the first
    condition. ``exact`` runs through all ``size`` exchanges, otherwise they are drawn.
    """
    first, second = contrast.first, contrast.second
    rows = tuple(np.concatenate(pair) for pair in zip(first.arrays, second.arrays, strict=True))
    stacked = Sample(first.statistic, rows)

    swaps = exchanges(contrast.n_units, exact, rng)

    def difference(swap: FloatArray) -> FloatArray:
        as_first = np.concatenate([1.0 - first.row_weights(swap), second.row_weights(swap)], axis=1)
        return _minus(stacked.values(as_first), stacked.values(1.0 - as_first))

    return in_chunks(difference, lambda k: swaps(k).T, size, stacked.n_rows)


def rounding_of(*terms: float) -> float:
    """Return the tolerance up to which differences of such values are rounding."""
    return _ROUNDING * max((abs(term) for term in terms if np.isfinite(term)), default=0.0) + _TIE


def share_as_extreme(
    estimate: Estimate, values: FloatArray, alternative: Alternative, exact: bool, tie: float
) -> Estimate:
    """Return the permutation p-value of an estimate.

    Undefined values are left out. Values closer than ``tie`` are equal.
    """
    if np.isnan(estimate):
        return undefined(estimate.reason or Reason.NOT_IDENTIFIED)
    if np.isinf(estimate):
        return undefined(Reason.INFINITE)
    oriented = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    defined = values[~np.isnan(values)]
    extreme = int(np.sum(oriented(defined) >= oriented(float(estimate)) - tie))
    if exact:
        return Estimate(extreme / len(defined)) if len(defined) else undefined(Reason.NOT_IDENTIFIED)
    return Estimate((extreme + 1) / (len(defined) + 1))
