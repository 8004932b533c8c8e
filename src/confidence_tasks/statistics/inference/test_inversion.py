"""Intervals by inverting a test, along a path of populations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, Reason, check_level, undefined

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
        return undefined(Reason.TOO_FEW), undefined(Reason.TOO_FEW)
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
