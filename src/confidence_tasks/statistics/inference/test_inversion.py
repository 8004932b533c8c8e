"""Intervals by inverting a test, along a path of populations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, Reason, undefined

_NO_LEVEL = 1e-12
"""Level of an interval that is hardly wider than a point."""


class InvertedTest(Protocol):
    """What an interval that inverts a test is made of."""

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Join several that are averaged; the variance of the mean is so many times that of independent ones."""

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the ends of the interval; NaN with a reason where there is none."""


def limits_over_questions(
    held: InvertedTest, questions: ArrayLike | None, level: float
) -> tuple[Estimate, Estimate]:
    """Return the ends of the interval of trials that may repeat questions; NaN for a single one."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if questions is not None and len(np.unique(np.asarray(questions))) == 1:
        return undefined(Reason.TOO_FEW), undefined(Reason.TOO_FEW)
    return held.limits(level)


def mover(first: InvertedTest, second: InvertedTest, correlation: float, level: float) -> tuple[float, float]:
    """Recover a difference without bias, and its standard error, from two intervals that invert a test.

    Each estimate without bias is where its test finds no difference at all. The end of an interval that is further
    away tells its standard error (MOVER); the nearer one may stand at a bound, and tells nothing.

    Parameters
    ----------
    first, second : InvertedTest
        What the intervals of the two terms are made of.
    correlation : float
        Of the two estimates, in [-1, 1].
    level : float
        Of the intervals that standard errors are recovered from, in (0, 1).

    Returns
    -------
    difference, error : float
        NaN where a term has no interval.

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
    """Return the ends of the part of a path from which the estimate lies no more than ``reach`` errors away.

    Parameters
    ----------
    distance : callable
        How many standard errors the estimate lies above what each of some places on the path, from 0 to 1, lead to.
    reach : float
        As many errors as chance allows.
    n_tried : int
        Places that are tried at a time: first on the whole path, then between two of these.

    Returns
    -------
    tuple of float
        Where the distance falls to ``reach`` and to ``-reach``; the nearer end of the path if it does nowhere.
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
