"""How the limits of an interval are read off a bootstrap distribution, method by method."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from confidence_tasks.statistics._core import Estimate, Reason, undefined
from confidence_tasks.statistics._resampling import Method, Resampled
from confidence_tasks.statistics.proportion import wilson_interval

Limits: TypeAlias = tuple[Estimate, Estimate]

FOLDED_ALLOWANCE = 1.0 + math.sqrt(2.0)
"""How many times the bias that the resamples show the interval of a folded statistic allows for.

A statistic made of absolute values, such as a calibration error, is biased most where the truth is 0. There the
estimate is |e| for a normal error e, E|e| too high, while resamples of it add a second error as large to the first, and
show a bias of E|e + e'| - E|e| = (sqrt(2) - 1) E|e| only: 1 + sqrt(2) times too little.
"""

LARGEST_ALLOWANCE = 1.4
"""The same for the share of the most frequent values: resamples pick them anew, and show most of the bias."""

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


def _student(found: Resampled, level: float) -> Limits:
    reach = _quantile(found, (1.0 + level) / 2.0) * _error(found)
    return Estimate(found.estimate - reach), Estimate(found.estimate + reach)


def _skewed(found: Resampled, level: float) -> Limits:
    """Hall's cubic transformation of Student's t, undone at its quantiles: the longer arm is where few trials weigh."""
    error, skewness = _error(found), _skewness(found)
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
    reach = _quantile(found, (1.0 + level) / 2.0) * error / (value * (1.0 - value))
    return Estimate(expit(logit(value) - reach)), Estimate(expit(logit(value) + reach))


def _log(found: Resampled, level: float) -> Limits:
    """Student's interval on the scale of logarithms, for ratios."""
    value, error = float(found.estimate), _error(found)
    if value <= 0.0:
        return _none(Reason.NOT_IDENTIFIED)
    if error == 0.0:
        return _none(Reason.CONSTANT)
    factor = math.exp(min(_quantile(found, (1.0 + level) / 2.0) * error / value, _LARGEST_EXPONENT))
    return Estimate(value / factor), Estimate(value * factor)


def _folded(found: Resampled, level: float) -> Limits:
    """Standard errors on either side, and further to where the bias says that the truth lies."""
    if _error(found) == 0.0:
        return _none(Reason.CONSTANT)
    bias = FOLDED_ALLOWANCE * _bias(found)
    reach = float(stdtrit(found.n_units - 1, (1.0 + level) / 2.0)) * _error(found)
    estimate = float(found.estimate)
    low = estimate - reach - max(bias, 0.0)
    never_negative = min(estimate, float(found.defined.min())) >= 0.0
    return Estimate(max(low, 0.0) if never_negative else low), Estimate(estimate + reach + max(-bias, 0.0))


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
    """Wilson's interval for as many trials as would have this standard error; at 0 and 1 for as many as there are."""
    share, spread = float(found.estimate), _spread(found)
    if 0.0 < share < 1.0 and spread == 0.0:
        return Estimate(share), Estimate(share)
    size = share * (1.0 - share) / spread**2 if 0.0 < share < 1.0 else found.n_units
    low, high = wilson_interval(share * size, size, level=level)
    return Estimate(float(low)), Estimate(float(high))


def _unknown(found: Resampled, level: float) -> Limits:
    return _none(Reason.NOT_RESAMPLED)


def _quantile(found: Resampled, p: float) -> float:
    """A quantile of Student's t with the degrees of freedom of the standard error."""
    return float(stdtrit(min(found.n_units - 1.0, found.freedom), p))


def _error(found: Resampled) -> float:
    """The standard error as of a sample: resamples vary as around a population of ``n_units``."""
    return _spread(found) * math.sqrt(found.n_units / (found.n_units - 1))


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
    "skewed": _skewed,
    "logit": _logit,
    "log": _log,
    "folded": _folded,
    "largest": _largest,
    "wilson": _wilson,
    "none": _unknown,
}
