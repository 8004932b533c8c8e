"""The machinery of resampling: units, their weights, the chunks they come in, and the BCa corrections."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from confidence_tasks.statistics.core import Estimate, FloatArray, IntArray, Reason, same_length, undefined

Statistic: TypeAlias = Callable[..., Any]
"""``statistic(*arrays, weights=W)``: a number for W of shape (n,), an array (R,) for W of shape (R, n)."""

Method: TypeAlias = Literal[
    "percentile",
    "bca",
    "student",
    "robust",
    "skewed",
    "mean",
    "logit",
    "log",
    "largest",
    "wilson",
    "none",
]
METHODS: tuple[Method, ...] = get_args(Method)
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
Seed: TypeAlias = int | np.random.Generator
UnitStatistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Values (k,) of a statistic for k rows of weights, shape (k, units)."""

FEWEST_DECISIVE = 5
"""Units that must decide a statistic before it has an interval: with fewer, intervals miss more than they say."""

_CHUNK_ELEMENTS = 1 << 20
"""Weights held at a time: 8 MiB, measured to be fastest; smaller arrays are mapped anew, page by page, each time."""

_TIE = 1e-12
"""Values of a statistic closer than this, relative to the largest of them, differ by rounding only."""

_ROUNDING = 1e-9
"""Differences of a statistic smaller than this, relative to the statistic itself, are rounding: solvers and sums over
thousands of trials leave so much."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A statistic of some rows as a function of the weights of the units that the rows belong to."""

    statistic: Statistic
    arrays: tuple[NDArray[Any], ...]
    unit: IntArray | None = None  # of each row; None when every row is a unit of its own

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.arrays[0])

    def row_weights(self, unit_weights: FloatArray) -> FloatArray:
        """Hand the weight of each unit to its rows."""
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
        """Evaluate the difference; where it is undefined, for the reason of the first undefined term."""
        terms = self.first.estimate(), self.second.estimate()
        reasons = [term.reason for term in terms if np.isnan(term)]
        return Estimate(terms[0] - terms[1], reasons[0] if reasons else None)

    def __call__(self, unit_weights: FloatArray) -> FloatArray:
        """Evaluate the statistic for each row of weights of the units."""
        return _minus(self.first(unit_weights), self.second(unit_weights))


@dataclass(frozen=True)
class Resampled:
    """An estimate with its bootstrap distribution and what is needed to read limits off it.

    Attributes
    ----------
    estimate : Estimate
        The statistic of the data.
    distribution : ndarray, shape (R,)
        That of each resample.
    n_units : int
        Units resampled.
    bias, acceleration : float
        Corrections of BCa.
    decisive : float
        Number of units that decide the statistic, such as the questions answered wrong for an AUROC; infinite if all
        do.
    freedom : float
        Degrees of freedom of its standard error, if fewer than units less one.
    """

    estimate: Estimate
    distribution: FloatArray
    n_units: int
    bias: float = 0.0
    acceleration: float = 0.0
    decisive: float = math.inf
    freedom: float = math.inf

    @cached_property
    def defined(self) -> FloatArray:
        """The resamples in which the statistic is defined and finite."""
        return self.distribution[np.isfinite(self.distribution)]

    @property
    def reason(self) -> Reason | None:
        """Why there can be no interval, if so."""
        if np.isnan(self.estimate):
            return self.estimate.reason or Reason.NOT_IDENTIFIED
        if np.isinf(self.estimate):
            return Reason.INFINITE
        if self.n_units < 2:
            return Reason.TOO_FEW
        if self.decisive < FEWEST_DECISIVE - _TIE:
            return Reason.FEW_DECISIVE
        corrections = self.bias, self.acceleration
        return None if len(self.defined) and np.isfinite(corrections).all() else Reason.NOT_IDENTIFIED

    def limit(self, level: float) -> Estimate:
        """Return the upper end of the one-sided interval of the given level."""
        if self.reason:
            return undefined(self.reason)
        shifted = self.bias + float(ndtri(level))
        stretch = 1.0 - self.acceleration * shifted
        if stretch <= 0.0:
            return undefined(Reason.NOT_IDENTIFIED)
        return Estimate(np.quantile(self.defined, float(ndtr(self.bias + shifted / stretch))))

    def p_below(self, value: float) -> Estimate:
        """Return the level whose :meth:`limit` is ``value``: the p-value of "not above ``value``"."""
        if self.reason:
            return undefined(self.reason)
        share = (np.sum(self.defined <= value) + 0.5) / (len(self.defined) + 1.0)
        shifted = float(ndtri(share)) - self.bias
        stretch = 1.0 + self.acceleration * shifted
        if stretch <= 0.0:
            return undefined(Reason.NOT_IDENTIFIED)
        return Estimate(ndtr(shifted / stretch - self.bias))

    def p_outside(self, margin: float) -> Estimate:
        """Return the p-value of "at least ``margin`` away from zero", the larger of its two sides."""
        below, above = self.p_below(-margin), self.p_below(margin)
        missing = below.reason or above.reason
        return undefined(missing) if missing else Estimate(max(below, 1.0 - above))


def _minus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Subtract; two infinite values, such as open intervals' widths, differ by NaN."""
    with np.errstate(invalid="ignore"):
        return first - second


def as_estimate(value: Any) -> Estimate:
    """Return a statistic's value as an estimate; a NaN without a reason is not identified."""
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


def check_options(n_resamples: int, level: float, method: str) -> None:
    """Raise ValueError for an option outside its domain."""
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie within (0, 1), got {level}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def as_rows(arrays: Sequence[ArrayLike]) -> tuple[NDArray[Any], ...]:
    """Return the arrays of a statistic; ValueError unless there is one and all are vectors of one length."""
    vectors = tuple(np.asarray(array) for array in arrays)
    if not vectors or any(vector.ndim != 1 for vector in vectors):
        raise ValueError("give at least one array, each of them one-dimensional: a value per row")
    same_length(**{f"array {i}": vector for i, vector in enumerate(vectors)})
    return vectors


def as_labels(labels: ArrayLike, name: str, n_rows: int) -> NDArray[Any]:
    """Return the labels of ``n_rows`` rows; ValueError for another length or a missing label."""
    array = np.asarray(labels)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one label a row, got {array.shape}")
    if any(label is None or label != label for label in array.tolist()):  # only NaN differs from itself
        raise ValueError(f"{name} has missing labels; drop these rows or give each a label of its own")
    return array


def unit_index(labels: ArrayLike | None, name: str, n_rows: int) -> tuple[IntArray | None, int]:
    """Return the unit of each row (None: each row its own) and the number of units."""
    if labels is None:
        return None, n_rows
    units, index = np.unique(as_labels(labels, name, n_rows), return_inverse=True)
    return index, len(units)


def stratum_index(strata: ArrayLike | None, unit: IntArray | None, n_units: int, n_rows: int) -> IntArray:
    """Return the stratum of each unit; ValueError when a unit has rows in two strata."""
    if strata is None:
        return np.zeros(n_units, dtype=np.int64)
    row_stratum = np.unique(as_labels(strata, "strata", n_rows), return_inverse=True)[1]
    if unit is None:
        return row_stratum
    unit_stratum = np.zeros(n_units, dtype=np.int64)
    unit_stratum[unit] = row_stratum
    if (unit_stratum[unit] != row_stratum).any():
        raise ValueError("strata must be constant within a cluster")
    return unit_stratum


def paired_contrast(
    statistic: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    questions: tuple[ArrayLike, ArrayLike] | None,
) -> Contrast:
    """Line up two conditions by their common questions."""
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


def unit_sampler(stratum: IntArray, rng: np.random.Generator) -> Callable[[int], FloatArray]:
    """Return a function that draws the unit weights of k resamples, shape (k, units).

    Units are drawn with replacement, each from its stratum. A draw takes one uniform number, in row-major
    order, so that the weights do not depend on the size of the chunks.
    """
    n_units = len(stratum)
    order = np.argsort(stratum, kind="stable")
    sizes = np.bincount(stratum)
    size = np.repeat(sizes, sizes).astype(np.float64)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)

    def draw(k: int) -> FloatArray:
        uniform = rng.random((k, n_units))
        picked = np.multiply(uniform, size, out=uniform).astype(np.intp)
        if len(sizes) > 1:
            picked = order[picked + start]
        picked += n_units * np.arange(k)[:, None]
        counts = np.bincount(picked.ravel(), minlength=k * n_units)
        return counts.reshape(k, n_units).astype(np.float64)

    return draw


def in_chunks(
    evaluate: UnitStatistic, weights: Callable[[int, int], FloatArray], size: int, n_rows: int
) -> FloatArray:
    """Evaluate a statistic on ``size`` rows of unit weights, as many at a time as the cache holds.

    ``weights(start, stop)`` makes the rows from start to stop, and is called in order.
    """
    step = max(1, _CHUNK_ELEMENTS // max(n_rows, 1))
    bounds = [(start, min(start + step, size)) for start in range(0, size, step)]
    parts = [evaluate(weights(start, stop)) for start, stop in bounds]
    return np.concatenate(parts) if parts else np.empty(0)


def one_stratum(n_units: int) -> IntArray:
    """Return the stratum of units that are all drawn from the same pool."""
    return np.zeros(n_units, dtype=np.int64)


def resample_values(
    evaluate: UnitStatistic, stratum: IntArray, n_rows: int, n_resamples: int, seed: Seed
) -> FloatArray:
    """Evaluate a statistic on ``n_resamples`` bootstrap resamples of the units."""
    draw = unit_sampler(stratum, np.random.default_rng(seed))
    return in_chunks(evaluate, lambda start, stop: draw(stop - start), n_resamples, n_rows)


def jackknife(evaluate: UnitStatistic, n_units: int, n_rows: int) -> FloatArray:
    """Evaluate a statistic without each of the units in turn."""

    def without(start: int, stop: int) -> FloatArray:
        weights = np.ones((stop - start, n_units))
        weights[np.arange(stop - start), np.arange(start, stop)] = 0.0
        return weights

    return in_chunks(evaluate, without, n_units, n_rows)


def resample(
    source: Sample | Contrast, stratum: IntArray, n_resamples: int, method: Method, seed: Seed
) -> Resampled:
    """Resample a statistic or a contrast, with the corrections that the method needs."""
    values = resample_values(source, stratum, source.n_rows, n_resamples, seed)
    plain = Resampled(source.estimate(), values, len(stratum))
    if method != "bca":
        return plain
    left_out = jackknife(source, len(stratum), source.n_rows)
    return corrected(plain, left_out, stratum, np.ones(len(stratum)))


def corrected(
    plain: Resampled, left_out: FloatArray, stratum: IntArray, multiplicity: FloatArray
) -> Resampled:
    """Add the BCa corrections, from the statistic without each unit."""
    return replace(
        plain,
        bias=bias_correction(plain.estimate, plain.defined),
        acceleration=acceleration(left_out, stratum, multiplicity),
    )


def bias_correction(estimate: float, defined: FloatArray) -> float:
    """Return z0, the normal score of the estimate among its resamples, ties counted by half."""
    if not len(defined):
        return float("nan")
    tie = _TIE * np.abs(defined).max()
    below = np.mean(defined < estimate - tie) + np.mean(defined <= estimate + tie)
    return float(ndtri(below / 2.0))


def acceleration(left_out: FloatArray, stratum: IntArray, multiplicity: FloatArray) -> float:
    """Return the acceleration from the statistic without each unit; NaN where one of these is undefined.

    Unit i stands for ``multiplicity[i]`` units like it. Each stratum has its own mean, and its influence values
    are divided by its size (Davison & Hinkley 1997, section 5.3).
    """
    if not np.isfinite(left_out).all():
        return float("nan")
    size = np.bincount(stratum, weights=multiplicity)[stratum]
    mean = np.bincount(stratum, weights=multiplicity * left_out)[stratum] / size
    influence = (mean - left_out) * (size - 1.0) / size
    squares = float(np.sum(multiplicity * influence**2))
    if squares == 0.0:
        return 0.0
    return float(np.sum(multiplicity * influence**3) / (6.0 * squares**1.5))


def exchanged(contrast: Contrast, size: int, exact: bool, rng: np.random.Generator) -> FloatArray:
    """Evaluate a contrast with its two conditions exchanged within some of the units.

    The rows of both conditions are stacked; a weight of one or zero says whether a row counts as the first
    condition. ``exact`` runs through all ``size`` exchanges, otherwise they are drawn.
    """
    first, second = contrast.first, contrast.second
    rows = tuple(np.concatenate(pair) for pair in zip(first.arrays, second.arrays, strict=True))
    stacked = Sample(first.statistic, rows)

    def swaps(start: int, stop: int) -> FloatArray:
        if exact:
            bits = np.arange(start, stop)[:, None] >> np.arange(contrast.n_units)
            return (bits & 1).astype(np.float64)
        return (rng.random((stop - start, contrast.n_units)) < 0.5).astype(np.float64)

    def difference(swap: FloatArray) -> FloatArray:
        as_first = np.concatenate([1.0 - first.row_weights(swap), second.row_weights(swap)], axis=1)
        return _minus(stacked.values(as_first), stacked.values(1.0 - as_first))

    return in_chunks(difference, swaps, size, stacked.n_rows)


def rounding_of(*terms: float) -> float:
    """Return how far apart differences of such values must be to be more than rounding."""
    return _ROUNDING * max((abs(term) for term in terms if np.isfinite(term)), default=0.0) + _TIE


def share_as_extreme(
    estimate: Estimate, values: FloatArray, alternative: Alternative, exact: bool, tie: float
) -> Estimate:
    """Return the permutation p-value of an estimate.

    An undefined value tells nothing of how large a difference is by chance and is left out. Values closer than
    ``tie`` are alike.
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
