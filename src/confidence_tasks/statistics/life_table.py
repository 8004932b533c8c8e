"""Lifespans under a period life table: survival, age at death, and the probability of a window of ages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, as_probability, check_option

__all__ = [
    "BestGuess",
    "best_guess",
    "close_life_table",
    "death_distribution",
    "survival",
    "window_probability",
]

Window: TypeAlias = Literal["half_open", "inclusive"]

_AGES_AFTER: dict[Window, int] = {"half_open": 0, "inclusive": 1}
"""Number of ages from k + r on in a window of radius r around k."""


@dataclass(frozen=True, slots=True)
class BestGuess:
    """The guess with the greatest probability.

    Attributes
    ----------
    score : Estimate
        The maximum achievable score (MAS), in [0, 1].
    age : int
        The least age that achieves it; others may do as well within rounding, so compare scores and not ages.
    """

    score: Estimate
    age: int


def close_life_table(death_probability: ArrayLike) -> FloatArray:
    """Close a life table at its last age: who reaches it dies at it.

    Parameters
    ----------
    death_probability : array_like, shape (ages,)
        Probability of dying at each age for those who reach it, from age 0, in [0, 1].

    Returns
    -------
    ndarray, shape (ages,)
        The same with 1 at the last age.

    Examples
    --------
    >>> close_life_table([0.1, 0.5, 0.9])
    array([0.1, 0.5, 1. ])
    """
    q = as_probability(death_probability, "death_probability").copy()
    if not len(q):
        raise ValueError("death_probability must hold at least one age")
    q[-1] = 1.0
    return q


def survival(death_probability: ArrayLike, minimum_age: int) -> FloatArray:
    """Compute the probability of reaching each age for someone who has reached the minimum age (LifeEval, equation 4).

    Parameters
    ----------
    death_probability : array_like, shape (ages,)
        Probability of dying at each age for those who reach it; 1 at the last age.
    minimum_age : int
        An age of the table.

    Returns
    -------
    ndarray, shape (ages,)
        1 up to the minimum age, falling after it.

    Examples
    --------
    >>> survival([0.1, 0.5, 1.0], 1)
    array([1. , 1. , 0.5])
    """
    q = _closed(death_probability)
    if not 0 <= minimum_age < len(q):
        raise ValueError(f"minimum_age must lie in 0 .. {len(q) - 1}, got {minimum_age}")
    alive = np.ones(len(q))
    alive[minimum_age + 1 :] = np.cumprod(1.0 - q[minimum_age:-1])
    return alive


def death_distribution(death_probability: ArrayLike, minimum_age: int) -> FloatArray:
    """Compute the distribution of the age at death, in completed years, of someone of a given age.

    Arguments and shape are those of :func:`survival`. It has the terms of LifeEval's equation 3, sums to 1, and is 0
    below the minimum age.

    Examples
    --------
    >>> death_distribution([0.1, 0.5, 1.0], 1)
    array([0. , 0.5, 0.5])
    """
    q = _closed(death_probability)
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
    """Compute the probability that the age at death lies within a radius of a guess (LifeEval, equations 2 and 3).

    Parameters
    ----------
    death_probability, minimum_age
        As in :func:`survival`.
    guess : array_like of int
        Guessed ages k, of any shape; they may lie outside the table.
    radius : int
        Half the width of the window in years r, 0 or above.
    window : {"half_open", "inclusive"}, default "half_open"
        ``"half_open"`` adds the completed years k - r .. k + r - 1: someone who dies "at age i" lived between i and
        i + 1 years, so that these are the exact ages from k - r to k + r. ``"inclusive"`` adds k - r .. k + r.

    Returns
    -------
    ndarray
        In [0, 1], of the shape of ``guess``.

    Notes
    -----
    The paper prints the inclusive window and reports figures of the half-open one. Compare neither with the other.

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
    check_option("window", window, _AGES_AFTER)
    deaths = death_distribution(death_probability, minimum_age)
    ages = np.asarray(guess, np.float64)
    if not np.array_equal(ages, np.round(ages)) or np.isinf(ages).any():
        raise ValueError("guess must hold whole numbers")
    before = np.append(0.0, np.cumsum(deaths))  # before[i]: dead before age i
    first, end = (
        np.clip(edge, 0.0, len(deaths)).astype(np.intp)
        for edge in (ages - radius, ages + radius + _AGES_AFTER[window])
    )
    return np.asarray(np.clip(before[end] - before[first], 0.0, 1.0))


def best_guess(
    death_probability: ArrayLike, *, minimum_age: int, radius: int, window: Window = "half_open"
) -> BestGuess:
    """Find the guess that most probably comes within the radius, and its probability.

    Arguments are those of :func:`window_probability`. LifeEval calls 1 minus the score the difficulty of the task.

    Examples
    --------
    >>> best_guess([0.1, 0.5, 1.0], minimum_age=0, radius=1)
    BestGuess(score=0.9, age=2)
    """
    ages = np.arange(len(_closed(death_probability)) + 1)
    scores = window_probability(
        death_probability, ages, minimum_age=minimum_age, radius=radius, window=window
    )
    best = int(np.argmax(scores))
    return BestGuess(Estimate(scores[best]), best)


def _closed(death_probability: ArrayLike) -> FloatArray:
    """Return the table; ValueError unless it ends with certain death."""
    q = as_probability(death_probability, "death_probability")
    if not len(q) or q[-1] != 1.0:
        raise ValueError("the table must end with probability 1; see close_life_table()")
    return q
