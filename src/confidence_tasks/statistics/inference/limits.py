"""Limits of intervals: from a bootstrap distribution, by Wilson's formula, and by inverting a test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, Self, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, Reason, as_floats, check_level, undefined


def wilson_interval(
    successes: ArrayLike, trials: ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Compute Wilson's score interval of a binomial proportion.

    Parameters
    ----------
    successes : array_like
        Number of successes, between 0 and the number of trials; any shape.
    trials : array_like
        Number of independent trials; broadcasts against ``successes``.
    level : float, default 0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    low, high : ndarray
        Limits in [0, 1], NaN without trials.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference,
    doi:10.1080/01621459.1927.10502953. Brown, Cai & DasGupta (2001), doi:10.1214/ss/1009213286.

    Examples
    --------
    >>> low, high = wilson_interval(65, 100)
    >>> round(float(low), 3), round(float(high), 3)
    (0.553, 0.736)
    """
    k, n = np.broadcast_arrays(as_floats(successes, "successes"), as_floats(trials, "trials"))
    if not ((k >= 0.0) & (k <= n) & np.isfinite(n)).all():
        raise ValueError("successes must lie between 0 and the number of trials")
    check_level(level)
    size = np.where(n > 0.0, n, np.nan)
    share = k / size
    squared = float(scipy.special.ndtri((1.0 + level) / 2.0)) ** 2 / size
    center = (share + squared / 2.0) / (1.0 + squared)
    half_width = np.sqrt(squared * (share * (1.0 - share) + squared / 4.0)) / (1.0 + squared)
    # Without successes the lower limit is exactly 0, without failures the upper limit is exactly 1.
    low = np.where(k == 0.0, 0.0 * size, center - half_width)
    return low, np.where(k == n, 1.0 + 0.0 * size, center + half_width)


Method: TypeAlias = Literal["percentile", "student", "transformed", "wilson", "none"]
METHODS: tuple[Method, ...] = get_args(Method)
Limits: TypeAlias = tuple[Estimate, Estimate]
LimitsAt: TypeAlias = Callable[[float], Limits]
"""Function of the level of an interval that returns its limits."""
Bounds: TypeAlias = tuple[float, float]

PROPORTION: Bounds = (0.0, 1.0)

MIN_INFORMATIVE = 5
"""Minimum number of informative units of a statistic with an interval: with fewer, intervals cover too rarely."""

_TIE = 1e-12
"""Tolerance for rounding, of numbers of units and of the spread of resamples relative to the estimate."""

_BOTH_CLASSES = 1.25
"""Degrees of freedom per trial of the smaller class, for a statistic that compares two classes.

The larger class contributes, too: Satterthwaite's formula (doi:10.2307/3002019) gives this factor for two means of
which one has 85% of the variance.
"""


_LARGEST_EXPONENT = 700.0
"""Largest exponent for which the exponential function does not overflow."""


@dataclass(frozen=True)
class Resampled:
    """An estimate with its bootstrap distribution.

    Attributes
    ----------
    estimate : Estimate
        The statistic of the data.
    distribution : ndarray, shape (R,)
        The statistic of each resample.
    n_units : int
        Number of units that were resampled.
    n_informative : float
        Number of units that determine the statistic, such as the wrong answers for an AUROC.
    freedom : float
        Degrees of freedom of the standard error, if fewer than the number of units less one.
    exact_error : float
        The standard error, if it is known without resamples; otherwise NaN.
    """

    estimate: Estimate
    distribution: FloatArray
    n_units: int
    n_informative: float = math.inf
    freedom: float = math.inf
    exact_error: float = math.nan

    @cached_property
    def defined(self) -> FloatArray:
        """The resamples in which the statistic is defined and finite."""
        return self.distribution[np.isfinite(self.distribution)]

    @property
    def reason(self) -> Reason | None:
        """The reason why there is no interval; None if there is one."""
        if np.isnan(self.estimate):
            return self.estimate.reason or Reason.NOT_IDENTIFIED
        if np.isinf(self.estimate):
            return Reason.INFINITE
        if self.n_units < 2:
            return Reason.TOO_FEW
        if self.n_informative < MIN_INFORMATIVE - _TIE:
            return Reason.FEW_INFORMATIVE
        return None if len(self.defined) else Reason.NOT_IDENTIFIED

    @property
    def standard_error(self) -> float:
        """Standard deviation of the resamples times sqrt(n / (n - 1)); exactly 0 where all equal the estimate."""
        if not math.isnan(self.exact_error):
            return self.exact_error
        value = float(self.estimate)
        deviations = self.defined - value
        largest = float(abs(deviations).max())
        if largest <= _TIE * abs(value):
            return 0.0
        # Divided by the largest deviation first, so that no square overflows.
        return largest * float((deviations / largest).std()) * math.sqrt(self.n_units / (self.n_units - 1))

    @property
    def student_terms(self) -> tuple[float, float]:
        """The standard error and its degrees of freedom; NaN if there is no interval."""
        if self.reason:
            return math.nan, math.nan
        return self.standard_error, min(self.n_units - 1.0, self.freedom)

    def p_below(self, value: float) -> Estimate:
        """Return the one-sided p-value of the hypothesis that the statistic is at most ``value``."""
        if self.reason:
            return undefined(self.reason)
        return Estimate((np.sum(self.defined <= value) + 0.5) / (len(self.defined) + 1.0))

    def p_outside(self, margin: float) -> Estimate:
        """Return the p-value of the hypothesis that the absolute value of the statistic is at least ``margin``."""
        below, above = self.p_below(-margin), self.p_below(margin)
        missing = below.reason or above.reason
        return undefined(missing) if missing else Estimate(max(below, 1.0 - above))

    def limits(self, level: float, method: Method, bounds: Bounds = PROPORTION) -> Limits:
        """Return the limits of the interval; NaN with a reason if there is none."""
        return no_limits(self.reason) if self.reason else _LIMITS[method](self, level, bounds)


def no_limits(reason: Reason) -> Limits:
    """Return limits that are NaN with a reason."""
    return undefined(reason), undefined(reason)


def _percentile(found: Resampled, level: float, bounds: Bounds) -> Limits:
    """Equal-tailed quantiles."""
    low, high = np.quantile(found.defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Estimate(low), Estimate(high)


def _student(found: Resampled, level: float, bounds: Bounds) -> Limits:
    """Student's interval."""
    error, freedom = found.student_terms
    if error == 0.0 and found.estimate != 0.0:
        return no_limits(Reason.CONSTANT)
    reach = float(scipy.special.stdtrit(freedom, (1.0 + level) / 2.0)) * error
    return Estimate(found.estimate - reach), Estimate(found.estimate + reach)


def _transformed(found: Resampled, level: float, bounds: Bounds) -> Limits:
    """Student's interval by the delta method, on a scale without bounds."""
    return transformed_limits(
        float(found.estimate),
        found.standard_error,
        min(found.n_units - 1.0, both_classes_freedom(found.freedom + 1.0)),
        level,
        bounds,
    )


def both_classes_freedom(smaller: float) -> float:
    """Return the degrees of freedom of a statistic that compares two classes, given the size of the smaller class."""
    return _BOTH_CLASSES * smaller


def transformed_limits(
    value: float, error: float, freedom: float, level: float, bounds: Bounds = PROPORTION
) -> Limits:
    """Return Student's interval by the delta method, on a scale without bounds.

    The scale is the logit for bounds of 0 and 1, Fisher's z for -1 and 1, and the logarithm for 0 and infinity.
    """
    lowest, highest = bounds
    if not lowest < value < highest:
        return no_limits(Reason.NOT_IDENTIFIED)
    if error == 0.0:
        return no_limits(Reason.CONSTANT)
    reach = float(scipy.special.stdtrit(freedom, (1.0 + level) / 2.0)) * error
    above = value - lowest
    if math.isinf(highest):
        factor = math.exp(min(reach / above, _LARGEST_EXPONENT))
        return Estimate(lowest + above / factor), Estimate(lowest + above * factor)
    below, width = highest - value, highest - lowest
    odds, reach = math.log(above / below), reach * width / (above * below)
    low, high = (lowest + width * float(scipy.special.expit(each)) for each in (odds - reach, odds + reach))
    return Estimate(low), Estimate(high)


def skewness_corrected_limits(
    value: float, error: float, skewness: float, n_units: int, level: float
) -> Limits:
    """Return the interval of a mean of skewed values: Student's, after a transformation that removes the skewness.

    The t statistic of a mean of right-skewed values is left-skewed, so that Student's interval misses larger means more
    often than smaller ones. A cubic of the statistic is nearly symmetric, and it is monotone.

    Parameters
    ----------
    value, error : float
        The mean, and its standard error, which is positive.
    skewness : float
        Skewness of the values of the units.
    n_units : int
        Number of units, at least 2.
    level : float
        Nominal coverage, in (0, 1).

    References
    ----------
    Hall (1992), On the removal of skewness by transformation, Journal of the Royal Statistical Society B 54, 221-228.

    Examples
    --------
    >>> [round(limit, 2) for limit in skewness_corrected_limits(10.0, 1.0, 2.0, 40, 0.95)]
    [8.34, 12.84]
    """
    root = math.sqrt(n_units)
    per_root = skewness / root
    reach = float(scipy.special.stdtrit(n_units - 1.0, (1.0 + level) / 2.0))
    if abs(per_root) < _NO_SKEWNESS:
        return Estimate(value - reach * error), Estimate(value + reach * error)

    def untransformed(quantile: float) -> float:
        return 3.0 / per_root * (float(np.cbrt(1.0 + per_root * (quantile - per_root / 6.0))) - 1.0)

    return Estimate(value - untransformed(reach) * error), Estimate(value - untransformed(-reach) * error)


_NO_SKEWNESS = 1e-6
"""Skewness, divided by the root of the number of units, below which the transformation is the identity."""


def _wilson(found: Resampled, level: float, bounds: Bounds) -> Limits:
    """Wilson's interval for the number of trials that gives this standard error; for the units if the error is 0."""
    p, variance = float(found.estimate), found.standard_error**2 * (1.0 - 1.0 / found.n_units)
    size = p * (1.0 - p) / variance if 0.0 < p < 1.0 and variance > 0.0 else found.n_units
    low, high = wilson_interval(p * size, size, level=level)
    return Estimate(float(low)), Estimate(float(high))


_LIMITS: Mapping[Method, Callable[[Resampled, float, Bounds], Limits]] = {
    "percentile": _percentile,
    "student": _student,
    "transformed": _transformed,
    "wilson": _wilson,
    "none": lambda found, level, bounds: no_limits(Reason.NOT_RESAMPLED),
}


_NO_LEVEL = 1e-12
"""A level so low that the interval is practically a point."""


class InvertedTest(Protocol):
    """The data of a test whose inversion gives an interval."""

    @property
    def unknown(self) -> Reason | None:
        """Reason why not even the value is known where there is no interval, or None."""

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Return the test of the mean of parts, whose variance is ``dependence`` times that of independent parts."""

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the limits of the interval; NaN with a reason if there is none."""


def limits_over_questions(
    test: InvertedTest, questions: ArrayLike | None, level: float
) -> tuple[Estimate, Estimate]:
    """Return the limits of the interval; NaN if all trials are about one question."""
    check_level(level)
    if questions is not None and len(np.unique(np.asarray(questions))) == 1:
        return no_limits(Reason.TOO_FEW)
    return test.limits(level)


def resample_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return the correlation of paired resamples: 1 if they are equal, otherwise 0 if either does not vary."""
    defined = np.isfinite(one) & np.isfinite(other)
    a, b = one[defined], other[defined]
    if np.array_equal(a, b):
        return 1.0
    spread = a.std() * b.std()
    return float(np.mean((a - a.mean()) * (b - b.mean())) / spread) if spread > 0.0 else 0.0


def mover(first: LimitsAt, second: LimitsAt, correlation: float, level: float) -> tuple[float, float]:
    """Estimate a difference without bias, and its standard error, from two intervals by test inversion.

    The unbiased estimate of each term is the value at which its test statistic is 0. The standard error follows from
    the limit that is further away (MOVER), as the nearer limit may lie at a bound.

    Parameters
    ----------
    first, second : callable
        ``limits(level)`` of the interval of either term, by the inversion of a test.
    correlation : float
        Correlation of the two estimates.
    level : float
        Level of the intervals, in (0, 1).

    Returns
    -------
    difference, standard_error : float
        NaN if a term has no interval.

    References
    ----------
    Zou & Donner (2008), Construction of confidence limits about effect measures: a general approach,
    doi:10.1002/sim.3095.
    """
    (center, error), (other_center, other_error) = (
        _center_and_error(limits, level) for limits in (first, second)
    )
    # Written so that equal errors cancel without rounding.
    variance = (error - other_error) ** 2 + 2.0 * (1.0 - correlation) * error * other_error
    return center - other_center, math.sqrt(max(variance, 0.0))


def _center_and_error(limits: LimitsAt, level: float) -> tuple[float, float]:
    center = float(np.mean(limits(_NO_LEVEL)))
    low, high = limits(level)
    return center, max(center - low, high - center, 0.0) / float(scipy.special.ndtri((1.0 + level) / 2.0))


def accepted(distance: Callable[[FloatArray], FloatArray], reach: float, n_tried: int) -> tuple[float, float]:
    """Return the ends of the part of a path, from 0 to 1, whose points are within ``reach`` standard errors.

    Parameters
    ----------
    distance : callable
        ``distance(positions)``: the estimate minus the value expected at each position, in standard errors. It
        decreases along the path.
    reach : float
        Number of standard errors.
    n_tried : int
        Number of positions that are tried on the whole path, and then again around each end.

    Returns
    -------
    start, end : float
        An end of the path where the distance stays within the reach up to it.
    """
    path = np.linspace(0.0, 1.0, n_tried)
    coarse = np.minimum.accumulate(distance(path))
    beyond = (coarse >= np.array([[reach], [-reach]])).sum(axis=1)
    fine = np.linspace(
        path[np.maximum(beyond - 1, 0)], path[np.minimum(beyond, n_tried - 1)], n_tried, axis=1
    )
    distances = distance(fine.ravel()).reshape(fine.shape)
    return _position(reach, fine[0], distances[0]), _position(-reach, fine[1], distances[1])


def _position(value: float, positions: FloatArray, distances: FloatArray) -> float:
    """Return the position at which decreasing distances reach a value."""
    return float(np.interp(-value, -np.minimum.accumulate(distances), positions))
