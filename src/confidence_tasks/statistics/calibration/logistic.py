"""Maximum likelihood of a logistic curve with one regressor, for many weightings of the same data at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.statistics.inference.weights import ratio

_MAX_STEPS = 100
_TOLERANCE = 1e-9


class LogisticCurve(NamedTuple):
    """Probability of a success, expit(intercept + slope * x), in each of R fits.

    Attributes
    ----------
    intercept, slope : ndarray, shape (R,)
        Maximum-likelihood estimates; NaN where there is no maximum.
    """

    intercept: FloatArray
    slope: FloatArray


class OutcomeRanges(NamedTuple):
    """Where the outcomes lie on the regressor, shape (R,) each; one that is absent spans +inf to -inf."""

    lowest_success: FloatArray
    highest_success: FloatArray
    lowest_failure: FloatArray
    highest_failure: FloatArray

    @property
    def overlap(self) -> BoolArray:
        """Whether no value of the regressor separates the outcomes, so that a finite maximum exists."""
        return np.asarray(
            (self.highest_failure > self.lowest_success) & (self.highest_success > self.lowest_failure)
        )


def extent(x: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest x, shape (R,), that has weight in each row; +inf and -inf if none has."""
    present = weights > 0.0
    lowest = np.where(present, x, np.inf).min(axis=1, initial=np.inf)
    return lowest, np.where(present, x, -np.inf).max(axis=1, initial=-np.inf)


def outcome_ranges(x: FloatArray, counts: FloatArray, successes: FloatArray) -> OutcomeRanges:
    """Find the extremes of each outcome in each weighting; arguments as in :func:`fit_logistic`."""
    return OutcomeRanges(*extent(x, successes), *extent(x, counts - successes))


def fit_logistic(x: FloatArray, counts: FloatArray, successes: FloatArray) -> LogisticCurve:
    """Fit the curve by Newton's method.

    Along a step that changes the linear predictor by at most r, the curvature of this likelihood changes by a factor
    of at most e^r. So log(1 + r) / r times the step climbs from any start, and no line search is needed (Bach
    2010, doi:10.1214/09-EJS521).

    Parameters
    ----------
    x : ndarray, shape (g,)
        Values of the regressor.
    counts, successes : ndarray, shape (R, g)
        Weight of the trials at each value, and of the successes among them (0 <= successes <= counts).

    Returns
    -------
    LogisticCurve
        The slope is 0 where all weight lies at one value of x and both outcomes occur.
    """
    total = counts.sum(axis=1)
    center = ratio(counts @ x, total)
    deviation = np.where(counts > 0.0, x - center[:, None], 0.0)
    scale = np.sqrt(ratio((counts * deviation**2).sum(axis=1), total))
    constant = np.abs(deviation).max(axis=1, initial=0.0) <= _TOLERANCE * np.abs(center)
    constant |= scale == 0.0  # differences whose squares vanish
    z = deviation / np.where(constant | np.isnan(scale), 1.0, scale)[:, None]

    occurs = (successes.sum(axis=1) > 0.0) & ((counts - successes).sum(axis=1) > 0.0)
    solvable = occurs & (constant | outcome_ranges(x, counts, successes).overlap)
    intercept, slope = np.zeros((2, len(counts)))
    moving = solvable.copy()
    for _ in range(_MAX_STEPS):
        rows = np.flatnonzero(moving)
        if not len(rows):
            break
        level, tilt = _newton_step(
            z[rows], counts[rows], successes[rows], intercept[rows], slope[rows], constant[rows]
        )
        reach = np.abs(level[:, None] + tilt[:, None] * z[rows]).max(axis=1)
        damping = np.where(reach > 0.0, np.log1p(reach) / np.where(reach > 0.0, reach, 1.0), 1.0)
        intercept[rows] += damping * level
        slope[rows] += damping * tilt
        moving[rows] = reach > _TOLERANCE * (1.0 + np.abs(intercept[rows]) + np.abs(slope[rows]))
    found = solvable & ~moving
    slope = np.where(found, slope / np.where(constant | ~found, 1.0, scale), np.nan)
    return LogisticCurve(np.where(found, intercept - slope * center, np.nan), slope)


def _newton_step(
    z: FloatArray,
    counts: FloatArray,
    successes: FloatArray,
    intercept: FloatArray,
    slope: FloatArray,
    constant: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the Newton step of intercept and slope, shape (R,) each; NaN where rounding leaves no curvature."""
    probability = scipy.special.expit(intercept[:, None] + slope[:, None] * z)
    residual = successes - counts * probability
    curvature = counts * probability * (1.0 - probability)
    gradient = residual.sum(axis=1), (residual * z).sum(axis=1)
    h00 = curvature.sum(axis=1)
    h01 = (curvature * z).sum(axis=1)
    h11 = np.where(constant, 1.0, (curvature * z * z).sum(axis=1))  # no tilt to solve for
    determinant = h00 * h11 - h01**2
    determinant = np.where(determinant > 0.0, determinant, np.nan)
    return (
        (h11 * gradient[0] - h01 * gradient[1]) / determinant,
        (h00 * gradient[1] - h01 * gradient[0]) / determinant,
    )
