"""How the limits of an interval are read off a bootstrap distribution, method by method."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from confidence_tasks.statistics.core import Estimate, Reason, undefined
from confidence_tasks.statistics.inference.proportion import wilson_interval
from confidence_tasks.statistics.inference.units import Method, Resampled

Limits: TypeAlias = tuple[Estimate, Estimate]

LARGEST_ALLOWANCE = 1.4
"""How many times the bias that the resamples show the interval of the share of the most frequent values allows for:
resamples pick them anew, and show most of it."""

_BOTH_CLASSES = 1.25
"""Degrees of freedom of what compares two classes of trials, for each trial of the smaller: that of the larger counts
too, as in Satterthwaite's (doi:10.2307/3002019) of a difference of two means, one with 85% of the variance."""

_UNSEEN_TRIALS = 2.0
"""Trials that weigh much, added to those that the skewness shows, as Agresti & Coull (doi:10.2307/2685469) add two of
either kind: the longer arm reaches to where there are more of them, and so less skewness."""

_MOST_BIAS = 5.0
"""Bias, in standard errors, from which the far end of it alone decides an interval."""

_LARGEST_EXPONENT = 700.0
"""Beyond, the exponential function overflows."""


def limits(found: Resampled, level: float, method: Method) -> Limits:
    """Return the limits of the interval of a level; NaN with a reason where there is none."""
    return _none(found.reason) if found.reason else _LIMITS[method](found, level)


def _none(reason: Reason) -> Limits:
    return undefined(reason), undefined(reason)


def _quantiles(found: Resampled, level: float) -> Limits:
    return found.limit((1.0 - level) / 2.0), found.limit((1.0 + level) / 2.0)


def student_terms(found: Resampled) -> tuple[float, float]:
    """Return the standard error and its degrees of freedom, as Student's interval takes them."""
    return _error(found), min(found.n_units - 1.0, found.freedom)


def _student(found: Resampled, level: float) -> Limits:
    """Student's interval."""
    reach = _quantile(found, (1.0 + level) / 2.0) * _error(found)
    return Estimate(found.estimate - reach), Estimate(found.estimate + reach)


def _robust(found: Resampled, level: float) -> Limits:
    """Student's interval with the spread of the middle two thirds: the others may lack the trials that tell most."""
    low, high = np.quantile(found.defined, ndtr([-1.0, 1.0]))
    if _spread(found) == 0.0 or low == high:
        return _none(Reason.CONSTANT)
    reach = _quantile(found, (1.0 + level) / 2.0) * _of_sample(found, (high - low) / 2.0)
    return Estimate(found.estimate - reach), Estimate(found.estimate + reach)


def _skewed(found: Resampled, level: float) -> Limits:
    """Hall's cubic transformation of Student's t, undone at its quantiles: the longer arm is where few trials weigh."""
    return _by_hall(found, level, _skewness(found))


def _mean(found: Resampled, level: float) -> Limits:
    """The same with two trials more of those that weigh much."""
    skewness = _skewness(found)
    # The skewness of a mean that k rare trials decide is that of Poisson's distribution, k to the power of -1/2.
    return _by_hall(found, level, skewness / math.sqrt(1.0 + _UNSEEN_TRIALS * skewness * skewness))


def _by_hall(found: Resampled, level: float, skewness: float) -> Limits:
    error = _error(found)
    if error == 0.0:
        return _none(Reason.CONSTANT)
    reach = float(stdtrit(found.n_units - 1, (1.0 + level) / 2.0))
    low, high = (_without_skewness(t, skewness) for t in (reach, -reach))
    return Estimate(found.estimate - error * low), Estimate(found.estimate - error * high)


def _without_skewness(t: float, skewness: float) -> float:
    """Solve u + s u^2 / 3 + s^2 u^3 / 27 + s / 6 = t for the studentised error u (Hall 1992)."""
    if abs(skewness) < 1e-6:
        return t
    return 3.0 / skewness * (math.cbrt(1.0 + skewness * (t - skewness / 6.0)) - 1.0)


def _logit(found: Resampled, level: float) -> Limits:
    """Student's interval on the logit scale, for what lies between 0 and 1."""
    value, error = float(found.estimate), _error(found)
    if not 0.0 < value < 1.0:
        return _none(Reason.NOT_IDENTIFIED)
    if error == 0.0:
        return _none(Reason.CONSTANT)
    reach = _quantile_of_two_classes(found, (1.0 + level) / 2.0) * error / (value * (1.0 - value))
    return Estimate(expit(logit(value) - reach)), Estimate(expit(logit(value) + reach))


def _log(found: Resampled, level: float) -> Limits:
    """Student's interval of the logarithm, for ratios: of few trials they are skewed, and their logarithms hardly."""
    value, positive = float(found.estimate), found.defined[found.defined > 0.0]
    if value <= 0.0 or not len(positive):
        return _none(Reason.NOT_IDENTIFIED)
    error = _error(replace(found, estimate=Estimate(math.log(value)), distribution=np.log(positive)))
    if error == 0.0:
        return _none(Reason.CONSTANT)
    reach = _quantile_of_two_classes(found, (1.0 + level) / 2.0) * error
    factor = math.exp(min(reach, _LARGEST_EXPONENT))
    return Estimate(value / factor), Estimate(value * factor)


def _fewer_errors(bias: float, level: float) -> float:
    """How many standard errors go beyond either end of a range of ``bias`` standard errors."""
    range_ = min(bias, _MOST_BIAS)
    # Without a bias the root is the quantile of both tails, which rounding may leave below 0: the bracket goes beyond.
    most = ndtri((1.0 + level) / 2.0) + 1.0
    return float(brentq(lambda c: ndtr(c + range_) - ndtr(-c) - level, ndtri(level), most))


def _largest(found: Resampled, level: float) -> Limits:
    """Wilson's interval for as many trials as there are, its lower end down to where the bias says the truth lies.

    It goes beyond by fewer standard errors as the bias grows: the truth then is at one end (Imbens & Manski 2004).
    """
    share, size = float(found.estimate), found.n_units
    bias = LARGEST_ALLOWANCE * max(_bias(found), 0.0)
    error = math.sqrt(max(share * (1.0 - share) / size, size**-2.0))
    confidence = 2.0 * float(ndtr(_fewer_errors(bias / error, level))) - 1.0
    low, high = wilson_interval(share * size, size, level=confidence)
    return Estimate(max(float(low) - bias, 0.0)), Estimate(float(high))


def _wilson(found: Resampled, level: float) -> Limits:
    """Wilson's interval for as many trials as would have this standard error; without one for as many as there are."""
    share, spread = float(found.estimate), _spread(found)
    size = share * (1.0 - share) / spread**2 if 0.0 < share < 1.0 and spread > 0.0 else found.n_units
    low, high = wilson_interval(share * size, size, level=level)
    return Estimate(float(low)), Estimate(float(high))


def _unknown(found: Resampled, level: float) -> Limits:
    return _none(Reason.NOT_RESAMPLED)


def _quantile(found: Resampled, p: float) -> float:
    """A quantile of Student's t with the degrees of freedom of the standard error."""
    return float(stdtrit(min(found.n_units - 1.0, found.freedom), p))


def _quantile_of_two_classes(found: Resampled, p: float) -> float:
    return _quantile(replace(found, freedom=_BOTH_CLASSES * (found.freedom + 1.0)), p)


def _error(found: Resampled) -> float:
    return _of_sample(found, _spread(found))


def _of_sample(found: Resampled, spread: float) -> float:
    """The standard error as of a sample: resamples vary as around a population of ``n_units``."""
    return spread * math.sqrt(found.n_units / (found.n_units - 1))


def _bias(found: Resampled) -> float:
    return float(found.defined.mean()) - float(found.estimate)


def _skewness(found: Resampled) -> float:
    spread = _spread(found)
    if spread == 0.0:
        return 0.0
    standardised = (found.defined - found.defined.mean()) / spread
    return float((standardised * standardised * standardised).mean())


def _spread(found: Resampled) -> float:
    """The standard deviation of the resamples; 0, not its rounding, where all of them are the estimate."""
    apart = found.defined - float(found.estimate)
    largest = float(abs(apart).max())
    if largest <= 1e-12 * abs(float(found.estimate)):
        return 0.0
    return largest * float((apart / largest).std())  # no square overflows


_LIMITS: Mapping[Method, Callable[[Resampled, float], Limits]] = {
    "percentile": _quantiles,
    "bca": _quantiles,
    "student": _student,
    "robust": _robust,
    "skewed": _skewed,
    "mean": _mean,
    "logit": _logit,
    "log": _log,
    "largest": _largest,
    "wilson": _wilson,
    "none": _unknown,
}
