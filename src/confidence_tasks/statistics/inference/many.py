"""Simultaneous inference for several models on the same questions: all pairs, and ranks.

The largest studentised difference of all pairs is compared with its distribution if all models are equal. This
distribution comes from permutations of the models within questions, and from Student's multivariate distribution with
the covariance of the models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from confidence_tasks.statistics.core import FloatArray, IntArray, check_level
from confidence_tasks.statistics.inference.weights import Seed

Influences: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Function of weights (R, K) that returns influences (R, K), and the variance that these do not contain, (R,)."""

_TIED = 1e-9
"""Relative distance below which studentised differences are equal up to rounding."""

_ROUNDING = 1e-12
"""Share of the variances of two values up to which the variance of their difference is rounding."""

_MOST_VALUES = 1 << 21
"""Maximum number of weights, and of permuted labels, that are held at a time: 16 MiB."""


@dataclass(frozen=True, slots=True)
class AllPairs:
    """Differences of all pairs of k values, with limits that hold for all pairs at once.

    Attributes
    ----------
    difference : ndarray, shape (k, k)
        Value i minus value j.
    error : ndarray, shape (k, k)
        Its standard error.
    low, high : ndarray, shape (k, k)
        Simultaneous limits; NaN where there are none.
    p_value : ndarray, shape (k, k)
        Two-sided p-values corrected for all pairs. A limit excludes 0 exactly when the p-value is at most 1 - level.
    """

    difference: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray

    def ranks(self, *, lowest_first: bool = False) -> tuple[IntArray, IntArray]:
        """Return simultaneous limits of the rank of each value, shape (k,) each; rank 1 is the largest value.

        The rank lies between 1 plus the number of values that are surely larger, and k minus the number of values that
        are surely smaller. If the limits of all differences hold, so do those of all ranks. The values with a lower
        limit of 1 are those that are not told apart from the largest.

        Parameters
        ----------
        lowest_first : bool
            True if rank 1 is the smallest value.

        References
        ----------
        Klein, Wright & Wieczorek (2020), A joint confidence region for an overall ranking of populations,
        doi:10.1111/rssc.12402. Al Mohamad, Goeman & van Zwet (2022), Simultaneous confidence intervals for ranks with
        application to ranking institutions, doi:10.1111/biom.13419.
        """
        larger, smaller = (self.low > 0.0).sum(axis=1), (self.high < 0.0).sum(axis=1)
        better, worse = (larger, smaller) if lowest_first else (smaller, larger)
        return 1 + better, len(better) - worse


def all_pairs(
    differences: FloatArray,
    errors: FloatArray,
    maxima: Sequence[FloatArray],
    *,
    level: float = 0.95,
    tie: float = 0.0,
) -> AllPairs:
    """Test the differences of all pairs at once, against the largest studentised difference of equal values.

    Parameters
    ----------
    differences, errors : ndarray, shape (k, k)
        Value i minus value j, and the standard error; NaN for pairs that are left out.
    maxima : sequence of ndarray, shape (R,)
        Draws of the largest absolute studentised difference, as of :func:`permuted_maxima` and
        :func:`student_maxima`. Each gives a p-value and a reach; the larger counts.
    level : float, default 0.95
        Probability that all limits hold, in (0, 1).
    tie : float
        Absolute value up to which a difference or a standard error counts as 0.

    References
    ----------
    Tukey (1953), The problem of multiple comparisons. Hothorn, Bretz & Westfall (2008), Simultaneous inference in
    general parametric models, doi:10.1002/bimj.200810425.

    Examples
    --------
    >>> values = np.array([0.9, 0.7, 0.4])
    >>> maxima = student_maxima(0.01 * np.eye(3), np.inf, n_draws=2000)
    >>> pairs = all_pairs(np.subtract.outer(values, values), np.full((3, 3), 0.1 * 2**0.5), [maxima])
    >>> pairs.p_value[0].round(1).tolist(), [rank.tolist() for rank in pairs.ranks()]
    ([1.0, 0.3, 0.0], [[1, 1, 2], [2, 3, 3]])
    """
    check_level(level)
    critical = max(critical_value(each, level) for each in maxima)
    ratios = np.abs(_ratios(differences, errors, tie))
    p_value = np.max([share_beyond(ratios, each) for each in maxima], axis=0)
    # The same slack as in the p-value, so that both agree at a tie.
    with np.errstate(invalid="ignore"):  # an infinite critical value times an error of 0
        reach = np.where(errors <= tie, 0.0, critical * (1.0 + _TIED) * errors)
    # A limit without a standard error must not contradict the p-value.
    unknown = np.isnan(ratios) | np.isinf(reach) | (np.isinf(ratios) & (p_value > 1.0 - level))
    low, high = (np.where(unknown, np.nan, differences + side) for side in (-reach, reach))
    return AllPairs(differences, errors, low, high, p_value)


def critical_value(maxima: FloatArray, level: float) -> float:
    """Return the value that a share of 1 - level of draws exceeds, so that its p-value is just not above 1 - level."""
    most = int((1.0 - level) * (len(maxima) + 1) + _TIED) - 1
    return float(np.sort(maxima)[len(maxima) - 1 - most]) if most >= 0 else math.inf


def share_beyond(ratios: FloatArray, maxima: FloatArray) -> FloatArray:
    """Return the p-value of each absolute ratio: the share of draws, and of the ratio itself, that reach it."""
    ordered = np.sort(maxima)
    slack = np.where(np.isfinite(ratios), _TIED * np.maximum(ratios, 1.0), 0.0)
    beyond = len(ordered) - np.searchsorted(ordered, ratios - slack)
    return np.where(np.isnan(ratios), np.nan, (1.0 + beyond) / (1.0 + len(ordered)))


def student_maxima(
    covariance: FloatArray, freedom: float, *, n_draws: int = 10_000, seed: Seed = 0
) -> FloatArray:
    """Draw the largest absolute studentised difference of k values from Student's multivariate distribution.

    Parameters
    ----------
    covariance : ndarray, shape (k, k)
        Covariance of the values.
    freedom : float
        Degrees of freedom; infinite for the normal distribution.
    n_draws : int
        Number of draws.
    seed : int or numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray, shape (n_draws,)
        With independent values of equal variance, these are draws of Tukey's studentised range over sqrt(2).

    References
    ----------
    Hothorn, Bretz & Westfall (2008), doi:10.1002/bimj.200810425, section 3.

    Examples
    --------
    >>> maxima = student_maxima(np.eye(10), np.inf, n_draws=20_000)
    >>> round(float(np.quantile(maxima, 0.95)), 1)  # 4.474 / sqrt(2) in tables of the studentised range
    3.2
    """
    rng = np.random.default_rng(seed)
    scale, axes = np.linalg.eigh(covariance)
    values = rng.standard_normal((n_draws, len(scale))) * np.sqrt(np.maximum(scale, 0.0)) @ axes.T
    first, second = np.triu_indices(len(scale), 1)
    errors = np.sqrt(pair_variances(covariance)[first, second])
    # Two values whose difference has no variance are one value; draws of both differ by rounding.
    differ = errors > 0.0
    differences = values[:, first[differ]] - values[:, second[differ]]
    maxima = np.asarray(np.max(np.abs(differences) / errors[differ], axis=1, initial=0.0))
    return maxima / (np.sqrt(rng.chisquare(freedom, n_draws) / freedom) if math.isfinite(freedom) else 1.0)


def pair_variances(covariance: FloatArray) -> FloatArray:
    """Return the variance of each difference, shape (..., k, k), given the covariance of the values.

    It is 0 where it is not above the rounding of its terms, as between models whose replies are equal.
    """
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)
    sums = variances[..., :, None] + variances[..., None, :]
    found = sums - 2.0 * covariance
    return np.where(found <= _ROUNDING * sums, 0.0, found)


def largest_ratio(values: FloatArray, covariances: FloatArray, tie: float = 1e-12) -> FloatArray:
    """Return the largest absolute studentised difference of each row of values (R, k), leaving undefined ones out."""
    k = values.shape[1]
    first, second = np.triu_indices(k, 1)
    errors = np.sqrt(pair_variances(covariances)[:, first, second])
    ratios = np.abs(_ratios(values[:, first] - values[:, second], errors, tie))
    return np.asarray(np.fmax.reduce(ratios, axis=1))


def _ratios(differences: FloatArray, errors: FloatArray, tie: float) -> FloatArray:
    """Return studentised differences: 0 if both are 0, infinite if only the error is 0, NaN if either is undefined."""
    d, e = np.where(np.abs(differences) <= tie, 0.0, differences), np.where(errors <= tie, 0.0, errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((d == 0.0) & (e == 0.0), 0.0, d / e)


# Permutations of models ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CountedTrials:
    """Trials of k models on the same U units, such as questions, counted by kind.

    ``unit``, ``model`` and ``kind``, shape (T,), hold the number of the unit, of the model and of the kind of each
    trial: trials of one kind are equal in all that a statistic reads. ``correction`` is the factor n / (n - 1) of a
    variance over n units, relative to that over single trials.
    """

    unit: IntArray
    model: IntArray
    kind: IntArray
    n_units: int
    n_models: int
    n_kinds: int
    correction: float = 1.0

    def labels(self, n: int, rng: np.random.Generator) -> IntArray:
        """Return the model of each trial after n random permutations of the models within units, shape (n, T)."""
        order = rng.random((n, self.n_units, self.n_models)).argsort(axis=2)
        return order[:, self.unit, self.model]

    def moments(
        self, labels: IntArray, statistic: Callable[[FloatArray], FloatArray], influences: Influences
    ) -> tuple[FloatArray, FloatArray]:
        """Return the statistic of each model, (n, k), and the covariances, (n, k, k), for labels of shape (n, T)."""
        n, k = len(labels), self.n_models
        row = np.arange(n)[:, np.newaxis] * k + labels
        counts = np.bincount((row * self.n_kinds + self.kind).ravel(), minlength=n * k * self.n_kinds)
        weights = counts.reshape(n * k, self.n_kinds).astype(np.float64)
        influence, added = influences(weights)
        place = (np.arange(n)[:, np.newaxis] * self.n_units + self.unit) * k + labels
        by_unit = np.bincount(
            place.ravel(), influence[row, self.kind].ravel(), minlength=n * self.n_units * k
        ).reshape(n, self.n_units, k)
        covariance = self.correction * (by_unit.transpose(0, 2, 1) @ by_unit)
        covariance[:, np.arange(k), np.arange(k)] += added.reshape(n, k)
        return np.asarray(statistic(weights)).reshape(n, k), np.asarray(covariance, dtype=np.float64)


Source: TypeAlias = tuple[CountedTrials, Callable[[FloatArray], FloatArray], Influences]
"""Trials of all models from one source of questions, with the statistic and its influences as functions of weights."""


def model_moments(sources: Sequence[Source]) -> tuple[FloatArray, FloatArray]:
    """Return the statistic of each model, averaged over sources, (k,), and the covariance of the models, (k, k)."""
    values, covariances = _mean_moments(sources, [trials.model[np.newaxis] for trials, *_ in sources])
    return values[0], covariances[0]


def _mean_moments(sources: Sequence[Source], labels: Sequence[IntArray]) -> tuple[FloatArray, FloatArray]:
    parts = [
        trials.moments(of_source, statistic, influences)
        for (trials, statistic, influences), of_source in zip(sources, labels, strict=True)
    ]
    n = len(parts)
    values = np.sum([values for values, _ in parts], axis=0) / n
    return values, np.sum([covariances for _, covariances in parts], axis=0) / n**2


def permuted_maxima(sources: Sequence[Source], *, n_draws: int, seed: Seed = 0) -> FloatArray:
    """Return the largest studentised difference of all pairs of models after each permutation of models.

    The models of a unit are permuted at random, in all units at once. If all models are equal, so that their replies to
    a unit are exchangeable, the test is exact: the probability of any false positive is at most the nominal one, in
    samples of any size. If only some are equal, it is approximate.

    Parameters
    ----------
    sources : sequence of tuple
        For each source of questions, the trials of all models, the statistic and its influences. Statistics are
        averaged over the sources.
    n_draws : int
        Number of permutations.
    seed : int or numpy.random.Generator
        Source of the permutations; measures with one seed share them.

    Returns
    -------
    ndarray, shape (R,)
        At most ``n_draws`` values: permutations without any defined difference are left out.

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing, section 2.3. Chung & Romano (2016), Multivariate and
    multiple permutation tests, doi:10.1016/j.jeconom.2016.01.003.

    Examples
    --------
    >>> correct = np.array([1, 1, 0, 1, 0, 0, 1, 1])  # of two models on four questions, one after the other
    >>> trials = CountedTrials(np.tile(np.arange(4), 2), np.repeat([0, 1], 4), 1 - correct, 4, 2, 2)
    >>> def accuracy(weights):
    ...     return weights[:, 0] / 4
    >>> def influences(weights):
    ...     return (np.array([1.0, 0.0]) - accuracy(weights)[:, None]) / (4 * 3) ** 0.5, np.zeros(len(weights))
    >>> permuted_maxima([(trials, accuracy, influences)], n_draws=3).shape
    (3,)
    """
    rng = np.random.default_rng(seed)
    largest = max(trials.n_models * max(trials.n_kinds, trials.n_units) for trials, *_ in sources)
    step = max(1, _MOST_VALUES // largest)
    maxima = []
    for start in range(0, n_draws, step):
        labels = [trials.labels(min(step, n_draws - start), rng) for trials, *_ in sources]
        maxima.append(largest_ratio(*_mean_moments(sources, labels)))
    found = np.concatenate(maxima)
    return found[~np.isnan(found)]
