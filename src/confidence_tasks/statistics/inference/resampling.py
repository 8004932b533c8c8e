"""Bootstrap intervals and paired exchanges whose unit of resampling is the question."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

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
    check_seed,
    label_index,
    same_length,
    undefined,
    unmasked,
)
from confidence_tasks.statistics.inference.limits import METHODS, PROPORTION, Bounds, Method, Resampled
from confidence_tasks.statistics.inference.weights import (
    Seed,
    SharedWeights,
    TrialCounts,
    alike_units,
    count_alike,
    exchanged_kinds,
    resampled_kinds,
)

Statistic: TypeAlias = Callable[..., Any]
"""``statistic(*arrays, weights=W)``: a number for W of shape (n,), an array (R,) for W of shape (R, n).

Equal rows are passed once, with the sum of their weights, and in another order: they may only count as repetitions.
"""

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]

_TIE = 1e-12
"""Values of a statistic closer than this, relative to the largest of them, differ by rounding only."""

_ROUNDING = 1e-9
"""Relative tolerance up to which differences of a statistic are rounding errors of solvers and long sums."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A statistic of some rows, which are counted by kind: equal rows are of one kind.

    ``arrays`` hold one row for each kind, and ``kinds`` the number of rows of each kind that each unit has.
    """

    statistic: Statistic
    arrays: tuple[NDArray[Any], ...]
    kinds: TrialCounts

    @classmethod
    def of(cls, statistic: Statistic, rows: Sequence[NDArray[Any]], unit: IntArray | None = None) -> Self:
        """Count rows, given the number of the unit that each belongs to; by default each is a unit of its own."""
        unit = np.arange(len(rows[0])) if unit is None else unit
        kinds = count_alike(rows, unit, int(unit.max(initial=-1)) + 1)
        return cls(statistic, tuple(row[kinds.example] for row in rows), kinds)

    @property
    def n_units(self) -> int:
        """The number of units."""
        return int(self.kinds.members.shape[1])

    def estimate(self) -> Estimate:
        """Evaluate the statistic with every row counted once."""
        return as_estimate(self.statistic(*self.arrays, weights=self.kinds.counts))

    def __call__(self, weights: NDArray[Any]) -> FloatArray:
        """Evaluate the statistic for each row of weights of the kinds, shape (R, K)."""
        return _values(self.statistic, self.arrays, weights)


def _values(statistic: Statistic, arrays: Sequence[NDArray[Any]], weights: NDArray[Any]) -> FloatArray:
    """Evaluate a statistic for each row of weights; ValueError unless it returns one value for each."""
    values = np.asarray(statistic(*arrays, weights=SharedWeights.of(weights)), dtype=np.float64)
    if values.shape != (size := len(weights),):
        raise ValueError(
            f"the statistic must return one value per row of weights: shape ({size},), got {values.shape}"
        )
    return values


def _minus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Subtract; the difference of two infinite values is NaN."""
    with np.errstate(invalid="ignore"):
        return first - second


def as_estimate(value: Any) -> Estimate:
    """Return a statistic's value as an estimate; a NaN without a reason gets NOT_IDENTIFIED."""
    if isinstance(value, Estimate):
        return value
    return Estimate(value, Reason.NOT_IDENTIFIED if np.isnan(value) else None)


def check_options(n_resamples: int, seed: Seed, level: float = 0.95, method: Method = "percentile") -> None:
    """Raise ValueError for an option outside its domain."""
    check_seed(seed)
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    check_level(level)
    check_option("method", method, METHODS)


def as_rows(arrays: Sequence[ArrayLike]) -> tuple[NDArray[Any], ...]:
    """Return the arrays of a statistic; ValueError unless there is one and all are vectors of one length."""
    vectors = tuple(np.asarray(unmasked(array, f"array {i}")) for i, array in enumerate(arrays))
    if not vectors or any(vector.ndim != 1 for vector in vectors):
        raise ValueError("give at least one array, each of them one-dimensional: a value per row")
    same_length(**{f"array {i}": vector for i, vector in enumerate(vectors)})
    return vectors


def paired_samples(
    statistic: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    questions: tuple[ArrayLike, ArrayLike] | None,
) -> tuple[Sample, Sample]:
    """Pair two conditions by their common questions, which are the units."""
    if len(first) != len(second):
        raise ValueError(f"first and second must hold the same arrays, got {len(first)} and {len(second)}")
    one, other = as_rows(first), as_rows(second)
    if questions is None:
        same_length(first=one[0], second=other[0])
        return Sample.of(statistic, one), Sample.of(statistic, other)
    labels = [
        as_labels(label, "questions", len(rows[0]))
        for label, rows in zip(questions, (one, other), strict=True)
    ]
    common = np.intersect1d(labels[0], labels[1])

    def sample(rows: tuple[NDArray[Any], ...], label: NDArray[Any]) -> Sample:
        keep = np.isin(label, common)
        return Sample.of(statistic, [row[keep] for row in rows], np.searchsorted(common, label[keep]))

    return sample(one, labels[0]), sample(other, labels[1])


def resample_values(samples: Sequence[Sample], n_resamples: int, seed: Seed) -> FloatArray:
    """Evaluate a statistic on bootstrap resamples of units; with two samples, the difference first minus second."""

    def blocks() -> Iterator[FloatArray]:
        kinds = [sample.kinds for sample in samples]
        for weights in resampled_kinds(kinds, n_resamples=n_resamples, seed=seed):
            values = [sample(of_sample) for sample, of_sample in zip(samples, weights, strict=True)]
            yield values[0] if len(values) == 1 else _minus(*values)

    return np.concatenate(list(blocks()))


def exchange_values(first: Sample, second: Sample, n_resamples: int, seed: Seed) -> FloatArray:
    """Evaluate the difference of two samples after exchanges of the samples within units."""
    arrays = tuple(np.concatenate(pair) for pair in zip(first.arrays, second.arrays, strict=True))
    pair = first.kinds, second.kinds, alike_units([first.kinds, second.kinds])
    blocks = [
        _minus(_values(first.statistic, arrays, as_first), _values(first.statistic, arrays, as_second))
        for ((as_first, as_second, _),) in exchanged_kinds([pair], n_resamples=n_resamples, seed=seed)
    ]
    return np.concatenate(blocks)


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


@dataclass(frozen=True, slots=True)
class Interval:
    """A statistic with its bootstrap interval.

    Attributes
    ----------
    estimate : Estimate
        The statistic of the data as they are; NaN with a reason where undefined.
    low, high : Estimate
        Limits of the interval; NaN with a reason where there is none.
    level : float
        Nominal coverage of the interval, in (0, 1).
    standard_error : float
        Standard deviation of the defined resamples; NaN where there is no interval.
    n_units : int
        Number of units (questions, clusters) that were resampled.
    n_resamples : int
        Number of resamples drawn.
    n_undefined : int
        How many of them left the statistic undefined or infinite; they are no part of the interval.
    method : str
        How the limits were read off the resamples, as in :func:`bootstrap`; ``"test_inversion"`` as in
        :func:`~confidence_tasks.statistics.ece_interval`; ``"exchange"`` where the conditions of a difference were
        exchanged, ``"mover"`` where it is made of the intervals of its terms; ``"skewness_corrected"`` for the mean of
        clusters of numbers without an upper bound; ``"confidence_sequence"`` as in
        :func:`~confidence_tasks.statistics.confidence_sequence` for a run that stopped early.
    seed : int or None
        The seed; None when a generator was handed in.
    """

    estimate: Estimate
    low: Estimate
    high: Estimate
    level: float
    standard_error: float
    n_units: int
    n_resamples: int
    n_undefined: int
    method: (
        Method | Literal["test_inversion", "exchange", "mover", "skewness_corrected", "confidence_sequence"]
    )
    seed: int | None


OF_DIFFERENCES: tuple[Method, ...] = ("percentile", "student", "none")
"""Methods for statistics without bounds, such as differences; the others need bounds."""


def bootstrap_distribution(
    statistic: Statistic,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: Seed = 0,
) -> FloatArray:
    """Evaluate a statistic on bootstrap resamples of whole units.

    A resample is a vector of counts, how often each unit was drawn. The statistic is called with a matrix of
    them, never once per resample. Equal rows are passed to it once, with the sum of their counts, and in another
    order; a statistic that depends on the order of rows cannot be resampled here.

    Parameters
    ----------
    statistic : callable
        ``statistic(*arrays, weights=W)``, which returns an array (R,) for W of shape (R, n).
    *arrays : array_like, shape (n,)
        The trials, one value a row in each array.
    clusters : array_like, shape (n,), optional
        Label of the unit that a row belongs to, such as its question when a question appears under several
        conditions or epochs. By default every row is a unit.
    n_resamples : int, default 10000
        Number of resamples R.
    seed : int or numpy.random.Generator, default 0
        Source of the draws. The result depends on nothing else, in particular not on how the work is chunked.

    Returns
    -------
    ndarray, shape (R,)
        The statistic of each resample, NaN where it is undefined.

    References
    ----------
    Efron (1979), Bootstrap methods: another look at the jackknife, doi:10.1214/aos/1176344552.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> bootstrap_distribution(mean, [0.0, 1.0, 1.0, 1.0], n_resamples=4)
    array([0.5 , 1.  , 0.75, 0.5 ])
    """
    check_options(n_resamples, seed)
    return resample_values([_sample(statistic, arrays, clusters)], n_resamples, seed)


def bootstrap(
    statistic: Statistic,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "percentile",
    n_informative: float = math.inf,
    bounds: Bounds = PROPORTION,
    seed: Seed = 0,
) -> Interval:
    """Compute a statistic with its bootstrap interval over questions.

    Parameters
    ----------
    statistic, *arrays, clusters, n_resamples, seed
        As in :func:`bootstrap_distribution`; ``statistic`` is also called with weights of shape (n,), for the
        estimate.
    level : float, default 0.95
        Nominal coverage of the interval, in (0, 1).
    method : str, default "percentile"
        How limits are read off the resamples:

        * ``"percentile"``: their equal-tailed quantiles.
        * ``"student"``: Student's t times the standard error to either side, for means, slopes and differences.
        * ``"transformed"``: the same on the scale that takes the bounds away, by the delta method: the logit of an
          AUROC, Fisher's z of a correlation, the logarithm of a ratio.
        * ``"wilson"``: for proportions. Wilson's interval for the number of trials that the standard error is worth,
          which is not empty where every trial is alike.
        * ``"none"``: for what resamples say nothing of, such as a number of distinct values.
    n_informative : float, optional
        How many units decide the statistic, such as the questions answered wrong for an AUROC; by default all. Fewer
        than five give no interval, and Student's t has at most ``n_informative`` - 1 degrees of freedom.
    bounds : tuple of float, default (0, 1)
        Values between which a statistic lies whose interval is ``"transformed"``; the upper may be infinite.

    Returns
    -------
    Interval
        Its limits are NaN, with a reason, when there are fewer than two units, no resample is defined, or all are alike
        (but for proportions and differences).

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, doi:10.1201/9780429246593, chapters 12 and 13.
    Franco, Little, Louis & Slud (2019), Comparative study of confidence intervals for proportions in complex sample
    surveys, doi:10.1093/jssam/smy019, for Wilson's interval with an effective number of trials.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> interval = bootstrap(mean, range(100), n_resamples=2000)
    >>> interval.estimate, round(interval.low), round(interval.high), interval.n_undefined
    (49.5, 44, 55, 0)
    """
    check_options(n_resamples, seed, level, method)
    sample = _sample(statistic, arrays, clusters)
    draws = resample_values([sample], n_resamples, seed)
    found = Resampled(sample.estimate(), draws, sample.n_units, n_informative, n_informative - 1.0)
    return interval_of(found, level, method, seed, bounds)


def bootstrap_difference(
    statistic: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    questions: tuple[ArrayLike, ArrayLike] | None = None,
    n_resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "percentile",
    seed: Seed = 0,
) -> Interval:
    """Compute the difference of a statistic between two conditions, with a paired bootstrap interval.

    A resample draws questions and takes both conditions of every question drawn.

    Parameters
    ----------
    statistic, n_resamples, level, seed
        As in :func:`bootstrap`.
    first, second : sequence of array_like
        The arrays that ``statistic`` takes, under the first and under the second condition.
    questions : pair of array_like, optional
        Labels of the questions, one array per condition. They may repeat (epochs), and only questions found in
        both are used. By default row i of either condition is question i.
    method : str, default "percentile"
        ``"percentile"``, ``"student"`` or ``"none"``; the others are for what lies between 0 and 1.

    Returns
    -------
    Interval
        Of ``statistic(first) - statistic(second)`` over the common questions.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> interval = bootstrap_difference(mean, [[3.0, 5.0, 7.0]], [[2.0, 4.0, 6.0]], n_resamples=100)
    >>> interval.estimate, round(interval.low, 9), round(interval.high, 9)
    (1.0, 1.0, 1.0)
    """
    check_options(n_resamples, seed, level, method)
    if method not in OF_DIFFERENCES:
        raise ValueError(
            f"method of a difference must be one of {', '.join(OF_DIFFERENCES)}, got {method!r}: that is for what lies"
            " within bounds"
        )
    samples = paired_samples(statistic, first, second, questions)
    return interval_of(resampled_difference(*samples, n_resamples, seed), level, method, seed)


def resampled_difference(first: Sample, second: Sample, n_resamples: int, seed: Seed) -> Resampled:
    """Return the difference of two samples of the same units with its bootstrap distribution."""
    one, other = first.estimate(), second.estimate()
    difference = Estimate(one - other, one.reason or other.reason)
    return Resampled(difference, resample_values([first, second], n_resamples, seed), first.n_units)


def _sample(statistic: Statistic, arrays: Sequence[ArrayLike], clusters: ArrayLike | None) -> Sample:
    """Return the statistic as a function of unit weights."""
    rows = as_rows(arrays)
    unit = None if clusters is None else label_index(clusters, "clusters", len(rows[0]))
    return Sample.of(statistic, rows, unit)


def interval_of(
    found: Resampled, level: float, method: Method, seed: Seed, bounds: Bounds = PROPORTION
) -> Interval:
    """Read the interval off a bootstrap distribution."""
    defined = found.defined
    low, high = found.limits(level, method, bounds)
    return Interval(
        estimate=found.estimate,
        low=low,
        high=high,
        level=level,
        standard_error=float(defined.std(ddof=1)) if found.n_units > 1 and len(defined) > 1 else float("nan"),
        n_units=found.n_units,
        n_resamples=len(found.distribution),
        n_undefined=len(found.distribution) - len(defined),
        method=method,
        seed=seed_value(seed),
    )


def seed_value(seed: Seed) -> int | None:
    """Return the seed that a result names; None for a generator."""
    return None if isinstance(seed, np.random.Generator) else int(seed)
