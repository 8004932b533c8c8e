"""Intervals by inverting a test, along a path of populations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, Reason, undefined


class Inverted(Protocol):
    """What an interval that inverts a test is made of."""

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Join several that are averaged; the variance of the mean is so many times that of independent ones."""

    @property
    def standard_error(self) -> float:
        """Standard deviation in samples of the population that leads to the estimate; NaN without an interval."""

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the ends of the interval; NaN with a reason where there is none."""


def limits_over_questions(
    held: Inverted, questions: ArrayLike | None, level: float
) -> tuple[Estimate, Estimate]:
    """Return the ends of the interval of trials that may repeat questions; NaN for a single one."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    if questions is not None and len(np.unique(np.asarray(questions))) == 1:
        return undefined(Reason.TOO_FEW), undefined(Reason.TOO_FEW)
    return held.limits(level)


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
