"""Discrete distributions over numbers: smallest sets, temperature, and the entropy that reasoning takes away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import BoolArray, Estimate, FloatArray, Reason, as_vector, undefined
from confidence_tasks.statistics.intervals.scores import winkler_score
from confidence_tasks.statistics.numerics import as_decimal

DEFAULT_TEMPERATURES: FloatArray = np.geomspace(0.1, 10.0, 81)
"""Forty steps for each factor of ten; the temperature 1, which changes nothing, is among them."""

_ROUNDING = 1e-12
"""Rounding error that a sum of probabilities may have."""


@dataclass(frozen=True, slots=True)
class SmallestSet:
    """The fewest values that hold a given mass of each distribution.

    Attributes
    ----------
    members : ndarray of bool, shape (..., K)
        Which values belong to the set.
    lower, upper : ndarray, shape (...)
        Least and greatest member: the interval that spans the set.
    mass : ndarray, shape (...)
        Mass of the set, not below the mass asked for.
    """

    members: BoolArray
    lower: FloatArray
    upper: FloatArray
    mass: FloatArray


@dataclass(frozen=True, slots=True)
class TemperatureFit:
    """The temperature of least Winkler score on a grid.

    Attributes
    ----------
    temperature : Estimate
        Best temperature; the one nearest to 1 of several that are equally good. NaN without questions.
    temperatures, scores : ndarray, shape (T,)
        The grid, and the Winkler score at each of its points, averaged over questions and nominal coverages.
    """

    temperature: Estimate
    temperatures: FloatArray
    scores: FloatArray


def tempered(probabilities: ArrayLike, temperature: float) -> FloatArray:
    """Rescale distributions by a temperature: in proportion to p^(1/T), normalized.

    Parameters
    ----------
    probabilities : array_like, shape (..., K)
        Probabilities along the last axis; they need not sum to 1.
    temperature : float
        Above 0. Below 1 sharpens, above 1 flattens, 1 only normalizes.

    Returns
    -------
    ndarray, shape (..., K)
        Probabilities that sum to 1. What was 0 stays 0.

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
    p = _distributions(probabilities)
    scaled = (p / p.max(axis=-1, keepdims=True)) ** (1.0 / temperature)
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True))


def smallest_set(values: ArrayLike, probabilities: ArrayLike, mass: float) -> SmallestSet:
    """Collect the most probable values until they hold a given mass.

    Parameters
    ----------
    values : array_like, shape (..., K)
        Distinct values of each distribution.
    probabilities : array_like, shape (..., K)
        Their probabilities; they need not sum to 1. Fill up shorter distributions with probability 0.
    mass : float
        Mass to collect, in (0, 1). Among equally probable values the smaller ones come first.

    Returns
    -------
    SmallestSet
        The members and their span.

    References
    ----------
    FermiEval, section "Direct model elicitation via log probabilities".

    Examples
    --------
    >>> found = smallest_set([[3, 4, 5, 9]], [[1, 4, 2, 1]], 0.7)
    >>> found.members, found.lower, found.upper, found.mass
    (array([[False,  True,  True, False]]), array([4.]), array([5.]), array([0.75]))
    """
    as_decimal(mass, "mass")
    x, p = _matched(values, probabilities)
    p = p / p.sum(axis=-1, keepdims=True)
    members = np.zeros(p.shape, dtype=bool)
    order = np.lexsort((x, -p), axis=-1)
    np.put_along_axis(members, order, _needed(np.take_along_axis(p, order, axis=-1), mass), axis=-1)
    lower, upper = np.where(members, x, np.inf).min(axis=-1), np.where(members, x, -np.inf).max(axis=-1)
    return SmallestSet(members, lower, upper, np.where(members, p, 0.0).sum(axis=-1))


def fit_temperature(
    truth: ArrayLike,
    values: ArrayLike,
    probabilities: ArrayLike,
    nominal: Sequence[float],
    *,
    temperatures: ArrayLike = DEFAULT_TEMPERATURES,
) -> TemperatureFit:
    """Choose the temperature at which the spans of smallest sets have the least Winkler score.

    The score is a step function of temperature, so that a grid is searched.

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

    Returns
    -------
    TemperatureFit
        The best temperature and the score at each.

    References
    ----------
    FermiEval, section "Direct model elicitation via log probabilities".

    Examples
    --------
    >>> values = np.tile(np.arange(-10.0, 11.0), (400, 1))
    >>> truth = np.round(np.random.default_rng(0).normal(0.0, 2.0, 400))
    >>> overconfident = np.exp(-(values**2) / 2.0)  # a standard deviation of 1 in place of 2: T = 4 mends it
    >>> round(fit_temperature(truth, values, overconfident, [0.9, 0.95]).temperature)
    4
    """
    y, grid = as_vector(truth, "truth"), as_vector(temperatures, "temperatures")
    x, p = _matched(values, probabilities)
    if p.shape[:-1] != y.shape:
        raise ValueError(f"give one distribution per question: {len(y)} questions, shape {p.shape}")
    if not len(nominal) or not len(grid):
        raise ValueError("give at least one nominal coverage and one temperature")
    # Temperature keeps the order of probabilities, so that one sort serves all of them.
    order = np.lexsort((x, -p), axis=-1)
    x, p = np.take_along_axis(x, order, axis=-1), np.take_along_axis(p, order, axis=-1)
    scores = np.array([_mean_score(y, x, tempered(p, temperature), nominal) for temperature in grid])
    if not len(y):
        return TemperatureFit(undefined(Reason.EMPTY), grid, scores)
    nearest_first = np.argsort(np.abs(np.log(grid)), kind="stable")
    best = nearest_first[np.argmin(scores[nearest_first])]
    return TemperatureFit(Estimate(grid[best]), grid, scores)


def empirical_distribution(samples: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Count repeated answers into distributions over all values that occur.

    Parameters
    ----------
    samples : array_like, shape (n, M)
        M sampled answers to each question.

    Returns
    -------
    values, probabilities : ndarray, shape (n, K)
        The K distinct values, the same for each question, and their shares.

    Examples
    --------
    >>> empirical_distribution([[3, 3, 4, 3], [4, 4, 4, 4]])
    (array([[3., 4.], [3., 4.]]), array([[0.75, 0.25], [0.  , 1.  ]]))
    """
    drawn = np.asarray(samples, np.float64)
    if drawn.ndim != 2 or drawn.shape[1] == 0 or not np.isfinite(drawn).all():
        raise ValueError(f"samples must have shape (n, M), M at least 1, and be finite, got {drawn.shape}")
    values, index = np.unique(drawn, return_inverse=True)
    cells = index.reshape(drawn.shape) + len(values) * np.arange(len(drawn))[:, None]
    counts = np.bincount(cells.ravel(), minlength=drawn.shape[0] * len(values))
    shares = counts.reshape(len(drawn), len(values)) / drawn.shape[1]
    return np.tile(values, (len(drawn), 1)), shares


def tunnel_index(direct: ArrayLike, reasoned: ArrayLike, *, pooled: bool = False) -> FloatArray:
    r"""Compute how much entropy reasoning takes from the distribution of the answer.

    Parameters
    ----------
    direct : array_like, shape (..., K)
        Distribution of the answer without reasoning; it need not sum to 1.
    reasoned : array_like, shape (..., M, K)
        Distribution of the answer after each of M sampled chains of reasoning.
    pooled : bool, default False
        Take the entropy of the mean of the M distributions (self-consistency) in place of their mean entropy.

    Returns
    -------
    ndarray, shape (...)
        In bits: entropy without reasoning minus entropy with it; above 0 where reasoning narrows the answer.

    Notes
    -----
    Entropy is concave, so that pooling can only lower the index: :math:`E[TI_m]` falls with the number m of chains,
    from the unpooled index at m = 1 to H(direct) - H(mixture). The paper's theorem 2 states the inequality the other
    way round; its text describes the fall.

    References
    ----------
    FermiEval, appendix G, equations 2 and 5.

    Examples
    --------
    >>> direct = [0.25, 0.25, 0.25, 0.25]
    >>> reasoned = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    >>> tunnel_index(direct, reasoned), tunnel_index(direct, reasoned, pooled=True)
    (array(2.), array(1.))
    """
    without, chains = _distributions(direct), _distributions(reasoned)
    if chains.ndim != without.ndim + 1 or (*chains.shape[:-2], chains.shape[-1]) != without.shape:
        raise ValueError(
            f"reasoned must have the shape of direct with one more axis for the chains, before the last: got "
            f"{without.shape} and {chains.shape}"
        )
    if chains.shape[-2] == 0:
        raise ValueError("give at least one chain of reasoning")
    chains = chains / chains.sum(axis=-1, keepdims=True)
    remaining = _entropy(chains.mean(axis=-2)) if pooled else _entropy(chains).mean(axis=-1)
    return np.asarray(_entropy(without / without.sum(axis=-1, keepdims=True)) - remaining)


def _distributions(probabilities: ArrayLike) -> FloatArray:
    """Return distributions along the last axis; ValueError unless each has mass and no negative one."""
    p = np.asarray(probabilities, np.float64)
    if p.ndim == 0 or not (np.isfinite(p).all() and (p >= 0.0).all()):
        raise ValueError("probabilities must be finite, 0 or above, along the last axis")
    if not (p.sum(axis=-1) > 0.0).all():
        raise ValueError("a distribution has no mass; drop its question first")
    return p


def _matched(values: ArrayLike, probabilities: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return values and probabilities; ValueError unless they are of one shape and finite."""
    x, p = np.asarray(values, np.float64), _distributions(probabilities)
    if x.shape != p.shape:
        raise ValueError(f"values and probabilities must have one shape, got {x.shape} and {p.shape}")
    if not np.isfinite(x).all():
        raise ValueError("values must be finite")
    return x, p


def _needed(descending: FloatArray, mass: float) -> BoolArray:
    """Return which of the probabilities, in descending order, are needed to reach the mass."""
    before = np.cumsum(descending, axis=-1) - descending
    return np.asarray(before < mass - _ROUNDING)


def _mean_score(
    truth: FloatArray, values: FloatArray, descending: FloatArray, nominal: Sequence[float]
) -> float:
    """Average the Winkler score of the spans of smallest sets over questions and nominal coverages."""
    scores = []
    for mass in nominal:
        as_decimal(mass, "nominal")
        needed = _needed(descending, mass)
        lower = np.where(needed, values, np.inf).min(axis=-1)
        upper = np.where(needed, values, -np.inf).max(axis=-1)
        scores.append(float(winkler_score(truth, lower, upper, mass)))
    return float(np.mean(scores))


def _entropy(probabilities: FloatArray) -> FloatArray:
    """Return the entropy along the last axis, in bits."""
    return np.asarray(scipy.special.entr(probabilities).sum(axis=-1) / np.log(2.0))
