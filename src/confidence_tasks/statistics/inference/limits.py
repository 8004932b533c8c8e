"""Limits of intervals: read off a bootstrap distribution, Wilson's of a proportion, and by inverting a test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, Self, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, Reason, check_level, undefined


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
    k, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    if not ((k >= 0.0) & (k <= n) & np.isfinite(n)).all():
        raise ValueError("successes must lie between 0 and the number of trials")
    check_level(level)
    size = np.where(n > 0.0, n, np.nan)
    share = k / size
    squared = float(scipy.special.ndtri((1.0 + level) / 2.0)) ** 2 / size
    center = (share + squared / 2.0) / (1.0 + squared)
    half_width = np.sqrt(squared * (share * (1.0 - share) + squared / 4.0)) / (1.0 + squared)
    # At no and at all successes a limit is exact, which rounding would miss.
    low = np.where(k == 0.0, 0.0 * size, center - half_width)
    return low, np.where(k == n, 1.0 + 0.0 * size, center + half_width)


Method: TypeAlias = Literal["percentile", "student", "transformed", "wilson", "none"]
METHODS: tuple[Method, ...] = get_args(Method)
Limits: TypeAlias = tuple[Estimate, Estimate]
Bounds: TypeAlias = tuple[float, float]

PROPORTION: Bounds = (0.0, 1.0)

MIN_INFORMATIVE = 5
"""Least number of units that must decide a statistic that has an interval: with fewer, intervals cover too seldom."""

_TIE = 1e-12
"""Tolerance of numbers of units, and of the spread of resamples relative to the estimate: less is rounding."""

_BOTH_CLASSES = 1.25
"""Degrees of freedom for each trial of the smaller class, of a statistic that compares two classes. The larger class
contributes too, as in Satterthwaite's (doi:10.2307/3002019) for two means, one with 85% of the variance."""


_LARGEST_EXPONENT = 700.0
"""Largest exponent for which the exponential function does not overflow."""


@dataclass(frozen=True)
class Resampled:
    """An estimate with its bootstrap distribution and what is needed to read limits off it."""

    estimate: Estimate  # the statistic of the data
    distribution: FloatArray  # (R,), that of each resample
    n_units: int  # resampled
    n_informative: float = math.inf  # units that decide it, such as questions answered wrong for an AUROC
    freedom: float = math.inf  # degrees of freedom of its standard error, if fewer than units less one

    @cached_property
    def defined(self) -> FloatArray:
        """The resamples in which the statistic is defined and finite."""
        return self.distribution[np.isfinite(self.distribution)]

    @property
    def reason(self) -> Reason | None:
        """Why there is no interval; None where there is one."""
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
        value = float(self.estimate)
        apart = self.defined - value
        largest = float(abs(apart).max())
        if largest <= _TIE * abs(value):
            return 0.0
        # Resamples vary as around a population of n_units. No square overflows.
        return largest * float((apart / largest).std()) * math.sqrt(self.n_units / (self.n_units - 1))

    @property
    def student_terms(self) -> tuple[float, float]:
        """The standard error and its degrees of freedom; NaN where there is no interval."""
        return (math.nan, math.nan) if self.reason else (self.standard_error, self._freedom(self.freedom))

    def _freedom(self, own: float) -> float:
        return min(self.n_units - 1.0, own)

    def p_below(self, value: float) -> Estimate:
        """Return the p-value of the hypothesis that the statistic is at most ``value``, from its percentile."""
        if self.reason:
            return undefined(self.reason)
        return Estimate((np.sum(self.defined <= value) + 0.5) / (len(self.defined) + 1.0))

    def p_outside(self, margin: float) -> Estimate:
        """Return the p-value of the hypothesis that the statistic is at least ``margin`` away from 0."""
        below, above = self.p_below(-margin), self.p_below(margin)
        missing = below.reason or above.reason
        return undefined(missing) if missing else Estimate(max(below, 1.0 - above))

    def limits(self, level: float, method: Method, bounds: Bounds = PROPORTION) -> Limits:
        """Return the limits of the interval of a level; NaN with a reason where there is none."""
        return no_limits(self.reason) if self.reason else _LIMITS[method](self, level, bounds)


def no_limits(reason: Reason) -> Limits:
    """Return the limits of an interval that there is none of."""
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
    """Student's interval by the delta method on the scale that has no bounds."""
    return transformed_limits(
        float(found.estimate),
        found.standard_error,
        found._freedom(both_classes_freedom(found.freedom + 1.0)),
        level,
        bounds,
    )


def both_classes_freedom(smaller: float) -> float:
    """Return the degrees of freedom of a statistic that compares two classes, from the size of the smaller."""
    return _BOTH_CLASSES * smaller


def transformed_limits(
    value: float, error: float, freedom: float, level: float, bounds: Bounds = PROPORTION
) -> Limits:
    """Return Student's interval by the delta method on the scale that has no bounds.

    That is the logit between 0 and 1, Fisher's z between -1 and 1, and the logarithm above 0.
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


def _wilson(found: Resampled, level: float, bounds: Bounds) -> Limits:
    """Wilson's interval for the number of trials that has this standard error, or of units where that is 0."""
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
"""Level of an interval that is hardly wider than a point."""


class InvertedTest(Protocol):
    """The data of an interval that inverts a test."""

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Join parts that are averaged; ``dependence`` is the variance of their mean over that of independent parts."""

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the limits of the interval; NaN with a reason where there is none."""


def limits_over_questions(
    held: InvertedTest, questions: ArrayLike | None, level: float
) -> tuple[Estimate, Estimate]:
    """Return the limits of the interval; NaN where all trials are of one question."""
    check_level(level)
    if questions is not None and len(np.unique(np.asarray(questions))) == 1:
        return no_limits(Reason.TOO_FEW)
    return held.limits(level)


def mover(first: InvertedTest, second: InvertedTest, correlation: float, level: float) -> tuple[float, float]:
    """Recover a difference without bias, and its standard error, from two intervals that invert a test.

    An estimate without bias is where its test finds no difference at all. Its standard error follows from the limit
    that is further away (MOVER): the nearer one may stand at a bound. ``correlation`` is that of the two estimates,
    ``level`` that of the intervals. NaN where a term has no interval.

    References
    ----------
    Zou & Donner (2008), Construction of confidence limits about effect measures: a general approach,
    doi:10.1002/sim.3095.
    """
    (one, its_error), (other, other_error) = (_center_and_error(held, level) for held in (first, second))
    # Equal errors cancel without rounding.
    variance = (its_error - other_error) ** 2 + 2.0 * (1.0 - correlation) * its_error * other_error
    return one - other, math.sqrt(max(variance, 0.0))


def _center_and_error(held: InvertedTest, level: float) -> tuple[float, float]:
    center = float(np.mean(held.limits(_NO_LEVEL)))
    low, high = held.limits(level)
    return center, max(center - low, high - center, 0.0) / float(scipy.special.ndtri((1.0 + level) / 2.0))


def accepted(distance: Callable[[FloatArray], FloatArray], reach: float, n_tried: int) -> tuple[float, float]:
    """Return the limits of the part of a path, from 0 to 1, that lies within ``reach`` standard errors of the estimate.

    ``distance`` says how many standard errors the estimate lies above what each of some positions on the path leads
    to, and falls along it. ``n_tried`` positions are tried at a time: on the whole path, then between two of these.
    Where the distance reaches a limit nowhere, that limit is the nearer end of the path.
    """
    whole = np.linspace(0.0, 1.0, n_tried)
    coarse = np.minimum.accumulate(distance(whole))
    beyond = (coarse >= np.array([[reach], [-reach]])).sum(axis=1)
    fine = np.linspace(
        whole[np.maximum(beyond - 1, 0)], whole[np.minimum(beyond, n_tried - 1)], n_tried, axis=1
    )
    near = distance(fine.ravel()).reshape(fine.shape)
    return _where(reach, fine[0], near[0]), _where(-reach, fine[1], near[1])


def _where(value: float, places: FloatArray, distances: FloatArray) -> float:
    return float(np.interp(-value, -np.minimum.accumulate(distances), places))
