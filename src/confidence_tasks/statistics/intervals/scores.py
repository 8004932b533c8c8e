"""Intervals that a model states for a number: coverage, width, Winkler score, and the quantiles of several of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, as_vector, per_row, same_length
from confidence_tasks.statistics.inference.weights import Result, Weighting
from confidence_tasks.statistics.numerics import as_decimal, rank


def coverage(
    truth: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, weights: ArrayLike | None = None
) -> Result:
    """Compute the share of intervals that hold the truth, ends included.

    Parameters
    ----------
    truth : array_like, shape (n,)
        The numbers that were asked for.
    lower, upper : array_like, shape (n,)
        Ends of the intervals, lower <= upper; -inf and inf are open ends.
    weights : array_like, shape (n,) or (R, n), optional
        How often each interval counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; NaN without intervals.

    References
    ----------
    FermiEval, section Results.

    Examples
    --------
    >>> coverage([13, 6, 11, 3], [12, 6, 8, 4], [14, 6, 10, 9])
    0.5
    """
    y, low, high = _checked(truth, lower, upper)
    return Weighting.of(weights, len(y)).average(((low <= y) & (y <= high)).astype(np.float64))


def mean_width(lower: ArrayLike, upper: ArrayLike, *, weights: ArrayLike | None = None) -> Result:
    """Compute the mean width of intervals.

    Arguments are those of :func:`coverage`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In the units of the ends, 0 or above, infinite if an interval is open; NaN without intervals.

    Examples
    --------
    >>> mean_width([12, 6], [14, 6])
    1.0
    """
    low, high = _ends(lower, upper)
    return Weighting.of(weights, len(low)).average(high - low)


def degenerate_share(lower: ArrayLike, upper: ArrayLike, *, weights: ArrayLike | None = None) -> Result:
    """Compute the share of intervals that are a single point.

    Arguments are those of :func:`coverage`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; NaN without intervals.

    Examples
    --------
    >>> degenerate_share([12, 6], [14, 6])
    0.5
    """
    low, high = _ends(lower, upper)
    return Weighting.of(weights, len(low)).average((low == high).astype(np.float64))


def winkler_score(
    truth: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    nominal: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> Result:
    """Compute the mean Winkler (interval) score: width, plus 2/alpha times the distance by which the truth is missed.

    Parameters
    ----------
    truth, lower, upper, weights
        As in :func:`coverage`.
    nominal : float or array_like, shape (n,)
        Coverage that each interval was asked for, 1 - alpha, in (0, 1).

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In the units of the ends, 0 or above, lower is better, infinite if an interval is open; NaN without intervals.
        In expectation it is least for the alpha/2 and 1 - alpha/2 quantiles of the truth.

    References
    ----------
    Winkler (1972), A decision-theoretic approach to interval estimation, doi:10.1080/01621459.1972.10481224.
    Gneiting & Raftery (2007), equation 43, doi:10.1198/016214506000001437.

    Examples
    --------
    >>> round(winkler_score([13, 3], [12, 4], [14, 9], 0.9), 6)
    13.5
    """
    y, low, high = _checked(truth, lower, upper)
    asked = per_row(nominal, "nominal", len(y))
    if not ((asked > 0.0) & (asked < 1.0)).all():
        raise ValueError("nominal must lie within (0, 1)")
    missed = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return Weighting.of(weights, len(y)).average(high - low + 2.0 / (1.0 - asked) * missed)


def penalized_winkler_score(
    truth: ArrayLike, lower: ArrayLike, upper: ArrayLike, nominal: float, *, shortfall_weight: float
) -> Result:
    """Compute the score by which a sampling temperature is chosen: Winkler, plus a penalty for too little coverage.

    Parameters
    ----------
    truth, lower, upper
        As in :func:`coverage`.
    nominal : float
        Coverage that the intervals were asked for, in (0, 1).
    shortfall_weight : float
        Weight of the squared shortfall of coverage, 0 or above.

    Returns
    -------
    Estimate
        Winkler score + shortfall_weight * max(0, nominal - coverage)^2, lower is better; NaN without intervals.

    References
    ----------
    FermiEval, appendix F.

    Examples
    --------
    >>> round(penalized_winkler_score([13, 3], [12, 4], [14, 9], 0.9, shortfall_weight=100.0), 6)
    29.5
    """
    if not shortfall_weight >= 0.0:
        raise ValueError(f"shortfall_weight must be 0 or above, got {shortfall_weight}")
    score = winkler_score(truth, lower, upper, nominal)
    if np.isnan(score):
        return score
    shortfall = max(0.0, nominal - float(coverage(truth, lower, upper)))
    return Estimate(float(score) + shortfall_weight * shortfall**2)


def adjusted_interval(lower: ArrayLike, upper: ArrayLike, nominal: float) -> tuple[FloatArray, FloatArray]:
    """Widen intervals that were asked for repeatedly: the outer quantiles of their ends.

    A model that sees a random part of its belief each time, and states the alpha/2 and 1 - alpha/2 quantiles of that
    part, states ends whose own alpha/2 and 1 - alpha/2 quantiles are those of the whole belief, however small the
    part is.

    Parameters
    ----------
    lower, upper : array_like, shape (..., M)
        Ends of M sampled intervals for each question, lower <= upper.
    nominal : float
        Coverage that the intervals were asked for, 1 - alpha, in (0, 1).

    Returns
    -------
    lower, upper : ndarray, shape (...)
        Empirical alpha/2 quantile of the lower ends, 1 - alpha/2 quantile of the upper ends.

    References
    ----------
    FermiEval, theorem 1.

    Examples
    --------
    >>> adjusted_interval([2, 3, 5, 4], [6, 4, 8, 5], 0.5)
    (array(2.), array(6.))
    """
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.shape != high.shape or low.ndim == 0 or low.shape[-1] == 0:
        raise ValueError(f"give both ends of at least one sample, got shapes {low.shape} and {high.shape}")
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ValueError("ends must be finite, with lower <= upper; leave out samples that are not")
    tail = (1 - as_decimal(nominal, "nominal")) / 2
    m = low.shape[-1]
    below, above = rank(tail, m) - 1, rank(1 - tail, m) - 1
    return np.sort(low, axis=-1)[..., below], np.sort(high, axis=-1)[..., above]


def adjusted_interval_covariance(
    nominal: float, perception: float, densities: tuple[float, float], n: int
) -> FloatArray:
    r"""Compute the asymptotic covariance of the ends of an adjusted interval.

    Parameters
    ----------
    nominal : float
        Coverage that the intervals were asked for, 1 - alpha, in (0, 1).
    perception : float
        Mass of the belief that is seen in one call, beta, in (0, 1].
    densities : (float, float)
        Density of the whole belief at its alpha/2 and 1 - alpha/2 quantiles, above 0.
    n : int
        Number of sampled intervals of a question, 1 or more.

    Returns
    -------
    ndarray, shape (2, 2)
        Of the lower and the upper end, in squared units of the belief; 0 at a perception of 1.

    Notes
    -----
    The ends lie at F(L) and F(U) = F(L) + (1 - alpha) beta, uniform on stretches of length 1 - beta, so that by the
    asymptotic distribution of sample quantiles, with p = alpha/2,

    .. math:: n \operatorname{Cov} = (1 - \beta)^2 \begin{pmatrix} p(1-p)/f_L^2 & p^2/(f_L f_U) \\
        p^2/(f_L f_U) & p(1-p)/f_U^2 \end{pmatrix}.

    The paper prints :math:`1 - \beta` in place of its square, and p(1 - p) off the diagonal; the rate is the same.

    References
    ----------
    FermiEval, proposition 1; Serfling (1980), Approximation Theorems of Mathematical Statistics, section 2.3.

    Examples
    --------
    >>> adjusted_interval_covariance(0.5, 0.5, (1.0, 1.0), 100)
    array([[0.00046875, 0.00015625],
           [0.00015625, 0.00046875]])
    """
    if not (0.0 < nominal < 1.0 and 0.0 < perception <= 1.0 and min(densities) > 0.0 and n >= 1):
        raise ValueError(
            "nominal must lie in (0, 1), perception in (0, 1], densities above 0 and n be 1 or more, "
            f"got {nominal!r}, {perception!r}, {densities!r} and {n!r}"
        )
    p, scale = (1.0 - nominal) / 2.0, 1.0 / np.asarray(densities, np.float64)
    quantiles = np.array([[p * (1.0 - p), p * p], [p * p, p * (1.0 - p)]])
    covariance: FloatArray = (1.0 - perception) ** 2 / n * quantiles * np.outer(scale, scale)
    return covariance


def _ends(lower: ArrayLike, upper: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the ends of intervals; ValueError unless they are two vectors of one length with lower <= upper."""
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.ndim != 1 or high.ndim != 1:
        raise ValueError(f"lower and upper must be one-dimensional, got shapes {low.shape} and {high.shape}")
    same_length(lower=low, upper=high)
    if not ((low <= high) & (low < np.inf) & (high > -np.inf)).all():
        raise ValueError("lower must not exceed upper, nor be NaN; order the ends or drop the trial first")
    return low, high


def _checked(
    truth: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    y = as_vector(truth, "truth")
    low, high = _ends(lower, upper)
    same_length(truth=y, lower=low, upper=high)
    return y, low, high
