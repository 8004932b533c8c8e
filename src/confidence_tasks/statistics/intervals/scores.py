"""Stated intervals and distributions for a number: coverage, width, Winkler score, smallest sets, temperature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    BoolArray,
    Estimate,
    FloatArray,
    Reason,
    as_floats,
    as_vector,
    per_row,
    same_length,
    undefined,
)
from confidence_tasks.statistics.inference.weights import Result, Weighting, Weights


def as_decimal(probability: float, name: str) -> Fraction:
    """Return a probability as the exact fraction of its decimal representation, such as 998/1000 for 0.998.

    Ranks are computed from it. In floating point, ceil(0.07 * 100) is 8.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"{name} must lie in (0, 1), got {probability}")
    return Fraction(repr(float(probability)))


def rank(probability: Fraction, n: int) -> int:
    """Return the smallest rank k, counted from 1, for which k / n is at least ``probability``."""
    return ceil(probability * n)


def coverage(truth: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the proportion of intervals that contain the truth, ends included (FermiEval, section Results).

    Parameters
    ----------
    truth : array_like, shape (n,)
        True values.
    lower, upper : array_like, shape (n,)
        Ends of the intervals, lower <= upper; -inf and inf are allowed.
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each interval; one row per resample.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; NaN without intervals.

    Examples
    --------
    >>> coverage([13, 6, 11, 3], [12, 6, 8, 4], [14, 6, 10, 9])
    0.5
    """
    y, low, high = as_intervals(truth, lower, upper)
    return Weighting.of(weights, len(y)).average(((low <= y) & (y <= high)).astype(np.float64))


def mean_width(lower: ArrayLike, upper: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the mean width of intervals.

    Arguments and shapes are those of :func:`coverage`, without ``truth``. The result is in the units of the ends, 0 or
    above. It is infinite if an end is infinite, and NaN without intervals.

    Examples
    --------
    >>> mean_width([12, 6], [14, 6])
    1.0
    """
    low, high = ordered_ends(lower, upper)
    return Weighting.of(weights, len(low)).average(high - low)


def degenerate_share(lower: ArrayLike, upper: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the proportion of intervals that are a single point.

    Arguments, shapes and range are those of :func:`coverage`, without ``truth``.

    Examples
    --------
    >>> degenerate_share([12, 6], [14, 6])
    0.5
    """
    low, high = ordered_ends(lower, upper)
    return Weighting.of(weights, len(low)).average((low == high).astype(np.float64))


def winkler_score(
    truth: ArrayLike, lower: ArrayLike, upper: ArrayLike, nominal: ArrayLike, *, weights: Weights = None
) -> Result:
    """Compute the mean Winkler (interval) score: width, plus 2/alpha times the distance of the truth from the interval.

    Parameters
    ----------
    truth, lower, upper, weights
        As in :func:`coverage`.
    nominal : float or array_like, shape (n,)
        Nominal coverage of the intervals, 1 - alpha, in (0, 1).

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In the units of the ends, 0 or above; lower is better. Infinite if an end is infinite, NaN without intervals.
        The expected score is minimal for the alpha/2 and 1 - alpha/2 quantiles of the truth.

    References
    ----------
    Winkler (1972), A decision-theoretic approach to interval estimation, doi:10.1080/01621459.1972.10481224.
    Gneiting & Raftery (2007), equation 43, doi:10.1198/016214506000001437.

    Examples
    --------
    >>> round(winkler_score([13, 3], [12, 4], [14, 9], 0.9), 6)
    13.5
    """
    y, low, high = as_intervals(truth, lower, upper)
    level = per_row(nominal, "nominal", len(y))
    if not ((level > 0.0) & (level < 1.0)).all():
        raise ValueError("nominal must lie in (0, 1)")
    distance = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return Weighting.of(weights, len(y)).average(high - low + 2.0 / (1.0 - level) * distance)


def penalized_winkler_score(
    truth: ArrayLike, lower: ArrayLike, upper: ArrayLike, nominal: float, *, shortfall_weight: float
) -> Result:
    """Compute the Winkler score plus a penalty for low coverage, a criterion for the choice of a sampling temperature.

    Parameters
    ----------
    truth, lower, upper
        As in :func:`coverage`.
    nominal : float
        Nominal coverage of the intervals, in (0, 1).
    shortfall_weight : float
        Weight of the squared shortfall of coverage, 0 or above.

    Returns
    -------
    Estimate
        Winkler score + shortfall_weight * max(0, nominal - coverage)^2; lower is better. NaN without intervals. From
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
    """Combine repeated intervals for the same question into a wider one, from the outer quantiles of their ends.

    Suppose that in each call a model perceives a random part of its belief distribution and states the alpha/2 and
    1 - alpha/2 quantiles of this part. Then the alpha/2 quantile of the lower ends and the 1 - alpha/2 quantile of the
    upper ends are those of the whole belief distribution, however small the part is (FermiEval, theorem 1).

    Parameters
    ----------
    lower, upper : array_like, shape (..., M)
        Ends of M sampled intervals for each question, lower <= upper.
    nominal : float
        Nominal coverage of the intervals, 1 - alpha, in (0, 1).

    Returns
    -------
    lower, upper : ndarray, shape (...)
        Empirical alpha/2 quantile of the lower ends and 1 - alpha/2 quantile of the upper ends.

    Examples
    --------
    >>> adjusted_interval([2, 3, 5, 4], [6, 4, 8, 5], 0.5)
    (array(2.), array(6.))
    """
    low, high = as_floats(lower, "lower"), as_floats(upper, "upper")
    if low.shape != high.shape or low.ndim == 0 or low.shape[-1] == 0:
        raise ValueError(f"give both ends of at least one sample, got shapes {low.shape} and {high.shape}")
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ValueError("ends must be finite, with lower <= upper; leave out other samples")
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
        Nominal coverage of the intervals, 1 - alpha, in (0, 1).
    perception : float
        Probability mass beta of the belief distribution that is perceived in one call, in (0, 1].
    densities : (float, float)
        Density of the whole belief distribution at its alpha/2 and 1 - alpha/2 quantiles, above 0.
    n : int
        Number of sampled intervals per question, 1 or more.

    Returns
    -------
    ndarray, shape (2, 2)
        Covariance matrix of the lower and the upper end, in squared units of the ends; 0 if ``perception`` is 1.

    Notes
    -----
    F(L) and F(U) = F(L) + (1 - alpha) beta are uniform on intervals of length 1 - beta. By the asymptotic distribution
    of sample quantiles, with p = alpha/2,

    .. math:: n \operatorname{Cov} = (1 - \beta)^2 \begin{pmatrix} p(1-p)/f_L^2 & p^2/(f_L f_U) \\
        p^2/(f_L f_U) & p(1-p)/f_U^2 \end{pmatrix}.

    The paper has :math:`1 - \beta` in place of its square, and p(1 - p) off the diagonal. The rate of convergence is
    the same.

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
    p, scale = (1.0 - nominal) / 2.0, 1.0 / as_floats(densities, "densities")
    quantiles = np.array([[p * (1.0 - p), p * p], [p * p, p * (1.0 - p)]])
    covariance: FloatArray = (1.0 - perception) ** 2 / n * quantiles * np.outer(scale, scale)
    return covariance


def ordered_ends(lower: ArrayLike, upper: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the ends of intervals; raise ValueError unless they are vectors of equal length with lower <= upper."""
    low, high = as_floats(lower, "lower"), as_floats(upper, "upper")
    if low.ndim != 1 or high.ndim != 1:
        raise ValueError(f"lower and upper must be one-dimensional, got shapes {low.shape} and {high.shape}")
    same_length(lower=low, upper=high)
    if not ((low <= high) & (low < np.inf) & (high > -np.inf)).all():
        raise ValueError("lower must not exceed upper, nor be NaN; order the ends or drop the trial first")
    return low, high


def as_intervals(
    truth: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return truth and ends as arrays; raise ValueError unless the ends are ordered and the lengths equal."""
    y = as_vector(truth, "truth")
    low, high = ordered_ends(lower, upper)
    same_length(truth=y, lower=low, upper=high)
    return y, low, high


DEFAULT_TEMPERATURES: FloatArray = np.geomspace(0.1, 10.0, 81)
"""Forty steps per factor of ten; they include the temperature 1, which leaves probabilities unchanged."""

_ROUNDING = 1e-12
"""Tolerance for the rounding error of a sum of probabilities."""


@dataclass(frozen=True, slots=True)
class SmallestSet:
    """Smallest set of values with at least a given mass, for each distribution.

    Attributes
    ----------
    members : ndarray of bool, shape (..., K)
        True for the values in the set.
    lower, upper : ndarray, shape (...)
        Smallest and largest member: the interval that spans the set.
    mass : ndarray, shape (...)
        Mass of the set, at least the requested mass.
    """

    members: BoolArray
    lower: FloatArray
    upper: FloatArray
    mass: FloatArray


@dataclass(frozen=True, slots=True)
class TemperatureFit:
    """Temperature with the lowest Winkler score on a grid.

    Attributes
    ----------
    temperature : Estimate
        Best temperature; in case of a tie, the one nearest to 1 on the logarithmic scale. NaN without questions.
    temperatures, scores : ndarray, shape (T,)
        Grid of temperatures, and the Winkler score at each of them, averaged over questions and nominal coverages.
    """

    temperature: Estimate
    temperatures: FloatArray
    scores: FloatArray


def tempered(probabilities: ArrayLike, temperature: float) -> FloatArray:
    """Apply a temperature to distributions: probabilities proportional to p^(1/T).

    Parameters
    ----------
    probabilities : array_like, shape (..., K)
        Probabilities along the last axis; they need not sum to 1.
    temperature : float
        Temperature T, above 0. Values below 1 sharpen the distribution, values above 1 flatten it, and 1 only
        normalizes it.

    Returns
    -------
    ndarray, shape (..., K)
        Probabilities that sum to 1. Zeros remain 0.

    References
    ----------
    FermiEval, section "Direct model elicitation via log probabilities". Guo et al. (2017), arXiv:1706.04599.

    Examples
    --------
    >>> tempered([0.1, 0.3], 1.0), tempered([0.1, 0.3], 0.5)
    (array([0.25, 0.75]), array([0.1, 0.9]))
    """
    if not (temperature > 0.0 and np.isfinite(temperature)):
        raise ValueError(f"temperature must be above 0, got {temperature}")
    p = _as_distributions(probabilities)
    scaled = (p / p.max(axis=-1, keepdims=True)) ** (1.0 / temperature)
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True))


def smallest_set(values: ArrayLike, probabilities: ArrayLike, mass: float) -> SmallestSet:
    """Find the smallest set of most probable values that has a given mass. For the source see :func:`tempered`.

    Parameters
    ----------
    values : array_like, shape (..., K)
        Distinct values of each distribution.
    probabilities : array_like, shape (..., K)
        Probabilities of the values; they need not sum to 1. Pad shorter distributions with probability 0.
    mass : float
        Required mass, in (0, 1). Of equally probable values, smaller ones are added first.

    Examples
    --------
    >>> result = smallest_set([[3, 4, 5, 9]], [[1, 4, 2, 1]], 0.7)
    >>> result.members, result.lower, result.upper, result.mass
    (array([[False,  True,  True, False]]), array([4.]), array([5.]), array([0.75]))
    """
    as_decimal(mass, "mass")
    x, p = _as_values_and_distributions(values, probabilities)
    p = p / p.sum(axis=-1, keepdims=True)
    members = np.zeros(p.shape, dtype=bool)
    order = np.lexsort((x, -p), axis=-1)
    np.put_along_axis(members, order, _in_smallest_set(np.take_along_axis(p, order, axis=-1), mass), axis=-1)
    return SmallestSet(members, *_span(x, members), np.where(members, p, 0.0).sum(axis=-1))


def fit_temperature(
    truth: ArrayLike,
    values: ArrayLike,
    probabilities: ArrayLike,
    nominal: Sequence[float],
    *,
    temperatures: ArrayLike = DEFAULT_TEMPERATURES,
) -> TemperatureFit:
    """Find the temperature at which the spans of the smallest sets have the lowest Winkler score.

    The score is a step function of the temperature, so a grid is searched. For the source see :func:`tempered`.

    Parameters
    ----------
    truth : array_like, shape (n,)
        True value of each question of the calibration split.
    values, probabilities : array_like, shape (n, K)
        The model's distribution for each question, as in :func:`smallest_set`.
    nominal : sequence of float
        Nominal coverages over which the score is averaged, each in (0, 1).
    temperatures : array_like, shape (T,), optional
        Temperatures to try; by default 81 from 0.1 to 10, evenly spaced in their logarithm.

    Examples
    --------
    >>> values = np.tile(np.arange(-10.0, 11.0), (400, 1))
    >>> truth = np.round(np.random.default_rng(0).normal(0.0, 2.0, 400))
    >>> overconfident = np.exp(-(values**2) / 2.0)  # standard deviation 1 instead of 2, which T = 4 corrects
    >>> round(fit_temperature(truth, values, overconfident, [0.9, 0.95]).temperature)
    4
    """
    y, grid = as_vector(truth, "truth"), as_vector(temperatures, "temperatures")
    x, p = _as_values_and_distributions(values, probabilities)
    if p.shape[:-1] != y.shape:
        raise ValueError(f"give one distribution per question: got {len(y)} questions and shape {p.shape}")
    if not len(nominal) or not len(grid):
        raise ValueError("give at least one nominal coverage and one temperature")
    # Temperature does not change the order of probabilities, so they are sorted once.
    order = np.lexsort((x, -p), axis=-1)
    x, p = np.take_along_axis(x, order, axis=-1), np.take_along_axis(p, order, axis=-1)
    scores = np.array([_mean_score(y, x, tempered(p, temperature), nominal) for temperature in grid])
    if not len(y):
        return TemperatureFit(undefined(Reason.EMPTY), grid, scores)
    nearest_first = np.argsort(np.abs(np.log(grid)), kind="stable")
    best = nearest_first[np.argmin(scores[nearest_first])]
    return TemperatureFit(Estimate(grid[best]), grid, scores)


def empirical_distribution(samples: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Compute the empirical distribution of repeated answers to each question.

    Parameters
    ----------
    samples : array_like, shape (n, M)
        M sampled answers to each question.

    Returns
    -------
    values, probabilities : ndarray, shape (n, K)
        The K distinct values of all answers, the same for each question, and their relative frequencies.

    Examples
    --------
    >>> empirical_distribution([[3, 3, 4, 3], [4, 4, 4, 4]])
    (array([[3., 4.], [3., 4.]]), array([[0.75, 0.25], [0.  , 1.  ]]))
    """
    answers = as_floats(samples, "samples")
    if answers.ndim != 2 or answers.shape[1] == 0 or not np.isfinite(answers).all():
        raise ValueError(f"samples must be finite and have shape (n, M) with M >= 1, got {answers.shape}")
    n, m = answers.shape
    values, index = np.unique(answers, return_inverse=True)
    cells = index.reshape(n, m) + len(values) * np.arange(n)[:, None]
    counts = np.bincount(cells.ravel(), minlength=n * len(values))
    return np.tile(values, (n, 1)), counts.reshape(n, len(values)) / m


def tunnel_index(direct: ArrayLike, reasoned: ArrayLike, *, pooled: bool = False) -> FloatArray:
    r"""Compute the reduction of the entropy of the answer by reasoning.

    Parameters
    ----------
    direct : array_like, shape (..., K)
        Distribution of the answer without reasoning; it need not sum to 1.
    reasoned : array_like, shape (..., M, K)
        Distribution of the answer after each of M sampled chains of reasoning.
    pooled : bool, default False
        If True, use the entropy of the mean of the M distributions (self-consistency) instead of their mean entropy.

    Returns
    -------
    ndarray, shape (...)
        Entropy without reasoning minus entropy with it, in bits; positive if reasoning narrows the distribution.

    Notes
    -----
    This is the index of FermiEval, appendix G, equations 2 and 5. Entropy is concave, so pooling can only decrease the
    index: :math:`E[TI_m]` decreases with the number m of chains, from the unpooled index at m = 1 to H(direct) -
    H(mixture). The paper's text describes this decrease, but its theorem 2 states the opposite inequality.

    Examples
    --------
    >>> direct = [0.25, 0.25, 0.25, 0.25]
    >>> reasoned = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    >>> tunnel_index(direct, reasoned), tunnel_index(direct, reasoned, pooled=True)
    (array(2.), array(1.))
    """
    without, chains = _as_distributions(direct), _as_distributions(reasoned)
    if chains.ndim != without.ndim + 1 or (*chains.shape[:-2], chains.shape[-1]) != without.shape:
        raise ValueError(
            "reasoned must have the shape of direct with one more axis before the last, for the chains; got "
            f"{chains.shape} and {without.shape}"
        )
    if chains.shape[-2] == 0:
        raise ValueError("give at least one chain of reasoning")
    chains = chains / chains.sum(axis=-1, keepdims=True)
    remaining = _entropy(chains.mean(axis=-2)) if pooled else _entropy(chains).mean(axis=-1)
    return np.asarray(_entropy(without / without.sum(axis=-1, keepdims=True)) - remaining)


def _as_distributions(probabilities: ArrayLike) -> FloatArray:
    """Return probabilities as an array; raise ValueError unless they are non-negative, with a positive sum."""
    p = as_floats(probabilities, "probabilities")
    if p.ndim == 0 or not (np.isfinite(p).all() and (p >= 0.0).all()):
        raise ValueError("probabilities must be finite and 0 or above")
    if not (p.sum(axis=-1) > 0.0).all():
        raise ValueError("a distribution has no mass; drop its question first")
    return p


def _as_values_and_distributions(
    values: ArrayLike, probabilities: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    x, p = as_floats(values, "values"), _as_distributions(probabilities)
    if x.shape != p.shape:
        raise ValueError(f"values and probabilities must have one shape, got {x.shape} and {p.shape}")
    if not np.isfinite(x).all():
        raise ValueError("values must be finite")
    return x, p


def _in_smallest_set(descending: FloatArray, mass: float) -> BoolArray:
    """Return True for the probabilities, in descending order, that are needed to reach the mass."""
    mass_before = np.cumsum(descending, axis=-1) - descending
    return np.asarray(mass_before < mass - _ROUNDING)


def _span(values: FloatArray, members: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest member of each set."""
    return np.where(members, values, np.inf).min(axis=-1), np.where(members, values, -np.inf).max(axis=-1)


def _mean_score(
    truth: FloatArray, values: FloatArray, descending: FloatArray, nominal: Sequence[float]
) -> float:
    """Average the Winkler score of the spans of smallest sets over questions and nominal coverages."""
    scores = []
    for mass in nominal:
        as_decimal(mass, "nominal")
        lower, upper = _span(values, _in_smallest_set(descending, mass))
        scores.append(float(winkler_score(truth, lower, upper, mass)))
    return float(np.mean(scores))


def _entropy(probabilities: FloatArray) -> FloatArray:
    """Return the entropy along the last axis, in bits."""
    return np.asarray(scipy.special.entr(probabilities).sum(axis=-1) / np.log(2.0))
