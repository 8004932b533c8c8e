"""Period life tables: survival, distribution of the age at death, and the probability of a window of ages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, as_floats, as_probability, check_option

__all__ = [
    "BestGuess",
    "best_guess",
    "close_life_table",
    "death_distribution",
    "survival",
    "window_probability",
]

Window: TypeAlias = Literal["half_open", "inclusive"]

_AGES_FROM_UPPER_END: dict[Window, int] = {"half_open": 0, "inclusive": 1}
"""Number of ages that a window of radius r around k contains from k + r upwards."""


@dataclass(frozen=True, slots=True)
class BestGuess:
    """Guess with the highest probability of being within the radius.

    Attributes
    ----------
    score : Estimate
        Probability of the guess, the maximum achievable score (MAS), in [0, 1].
    age : int
        Lowest age with this score. Other ages may be equally good within rounding, so compare scores and not ages.
    """

    score: Estimate
    age: int


def close_life_table(death_probability: ArrayLike) -> FloatArray:
    """Close a life table: set the probability of dying at the last age to 1.

    Parameters
    ----------
    death_probability : array_like, shape (ages,)
        Probability of dying at each age, given survival to that age, from age 0, in [0, 1].

    Returns
    -------
    ndarray, shape (ages,)
        The closed table.

    Examples
    --------
    >>> close_life_table([0.1, 0.5, 0.9])
    array([0.1, 0.5, 1. ])
    """
    q = as_probability(death_probability, "death_probability").copy()
    if not len(q):
        raise ValueError("death_probability must contain at least one age")
    q[-1] = 1.0
    return q


def survival(death_probability: ArrayLike, minimum_age: int) -> FloatArray:
    """Compute the probability of reaching each age, given survival to the minimum age (LifeEval, equation 4).

    Parameters
    ----------
    death_probability : array_like, shape (ages,)
        Probability of dying at each age, given survival to that age; 1 at the last age.
    minimum_age : int
        Age that has been reached, in the range of the table.

    Returns
    -------
    ndarray, shape (ages,)
        1 up to the minimum age, then non-increasing.

    Examples
    --------
    >>> survival([0.1, 0.5, 1.0], 1)
    array([1. , 1. , 0.5])
    """
    q = _as_closed_table(death_probability)
    if not 0 <= minimum_age < len(q):
        raise ValueError(f"minimum_age must lie in 0 .. {len(q) - 1}, got {minimum_age}")
    alive = np.ones(len(q))
    alive[minimum_age + 1 :] = np.cumprod(1.0 - q[minimum_age:-1])
    return alive


def death_distribution(death_probability: ArrayLike, minimum_age: int) -> FloatArray:
    """Compute the distribution of the age at death in completed years, given survival to the minimum age.

    Arguments and shape are those of :func:`survival`. The probabilities are the terms of LifeEval's equation 3. They
    sum to 1 and are 0 below the minimum age.

    Examples
    --------
    >>> death_distribution([0.1, 0.5, 1.0], 1)
    array([0. , 0.5, 0.5])
    """
    q = _as_closed_table(death_probability)
    deaths = survival(q, minimum_age) * q
    deaths[:minimum_age] = 0.0
    return deaths


def window_probability(
    death_probability: ArrayLike,
    guess: ArrayLike,
    *,
    minimum_age: int,
    radius: int,
    window: Window = "half_open",
) -> FloatArray:
    """Compute the probability that the age at death is within a radius of a guess (LifeEval, equations 2 and 3).

    Parameters
    ----------
    death_probability, minimum_age
        As in :func:`survival`.
    guess : array_like of int
        Guessed ages k, of any shape; they may lie outside the table.
    radius : int
        Half the width r of the window in years, 0 or above.
    window : {"half_open", "inclusive"}, default "half_open"
        ``"half_open"`` sums over the completed years k - r, ..., k + r - 1. Someone who dies "at age i" has lived
        between i and i + 1 years, so these are the exact ages from k - r to k + r. ``"inclusive"`` also includes the
        completed year k + r.

    Returns
    -------
    ndarray
        Probabilities in [0, 1], of the shape of ``guess``.

    Notes
    -----
    The equations of the paper use the inclusive window, its reported figures the half-open one. Results of the two
    windows are not comparable.

    Examples
    --------
    >>> table = [0.1, 0.5, 1.0]
    >>> window_probability(table, [0, 1, 2], minimum_age=0, radius=1)
    array([0.1 , 0.55, 0.9 ])
    >>> window_probability(table, [0, 1, 2], minimum_age=0, radius=1, window="inclusive")
    array([0.55, 1.  , 0.9 ])
    """
    if radius < 0 or radius != int(radius):
        raise ValueError(f"radius must be a whole number, 0 or above, got {radius}")
    check_option("window", window, _AGES_FROM_UPPER_END)
    deaths = death_distribution(death_probability, minimum_age)
    ages = as_floats(guess, "guess")
    if not np.array_equal(ages, np.round(ages)) or np.isinf(ages).any():
        raise ValueError("guess must contain only whole numbers")
    dead_before = np.append(0.0, np.cumsum(deaths))
    first, end = (
        np.clip(edge, 0.0, len(deaths)).astype(np.intp)
        for edge in (ages - radius, ages + radius + _AGES_FROM_UPPER_END[window])
    )
    return np.asarray(np.clip(dead_before[end] - dead_before[first], 0.0, 1.0))


def best_guess(
    death_probability: ArrayLike, *, minimum_age: int, radius: int, window: Window = "half_open"
) -> BestGuess:
    """Find the guess with the highest probability that the age at death is within the radius.

    Arguments are those of :func:`window_probability`. LifeEval defines the difficulty of a question as 1 minus the
    score.

    Examples
    --------
    >>> best_guess([0.1, 0.5, 1.0], minimum_age=0, radius=1)
    BestGuess(score=0.9, age=2)
    """
    ages = np.arange(len(_as_closed_table(death_probability)) + 1)
    scores = window_probability(
        death_probability, ages, minimum_age=minimum_age, radius=radius, window=window
    )
    best = int(np.argmax(scores))
    return BestGuess(Estimate(scores[best]), best)


def _as_closed_table(death_probability: ArrayLike) -> FloatArray:
    """Return the table as an array; raise ValueError unless the last probability is 1."""
    q = as_probability(death_probability, "death_probability")
    if not len(q) or q[-1] != 1.0:
        raise ValueError("the table must end with probability 1; see close_life_table()")
    return q
