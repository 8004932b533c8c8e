"""Prediction-powered inference: means of answers that a judge graded, corrected by some labels of people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    as_floats,
    check_level,
    label_index,
    same_length,
    undefined,
)

FEWEST_LABELS = 20
"""Minimum number of units with labels for an interval."""


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A mean with a prediction-powered interval.

    Attributes
    ----------
    estimate : Estimate
        The mean, corrected for the judge's errors.
    low, high : Estimate
        Limits of its interval; NaN with a reason if too few units have a label.
    weight : float
        Weight of the judge's grades, from 0 (the labels alone) to 1.
    standard_error : float
        Standard error of the mean.
    n_labels, n_units : int
        Number of units with a label, and of all units.
    level : float
        Nominal coverage.
    """

    estimate: Estimate
    low: Estimate
    high: Estimate
    weight: float
    standard_error: float
    n_labels: int
    n_units: int
    level: float


def prediction_powered_mean(
    labels: ArrayLike,
    grades: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    weight: float | None = None,
    largest_error: float = 1.0,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> PredictionPowered:
    """Estimate the mean of values that a judge graded, from the labels of some of them.

    The mean of the grades without a label is corrected by the mean difference of label and grade where both are known.
    The labelled trials must be a random sample.

    Parameters
    ----------
    labels : array_like, shape (n,)
        The value by a person's label, such as 1 for a right answer; NaN for trials without a label.
    grades : array_like, shape (n,)
        The value by the judge's grade, of every trial.
    clusters : array_like, shape (n,), optional
        The unit of each trial, such as its question, by any labels. By default each trial is a unit.
    level : float, default 0.95
        Nominal coverage, in (0, 1).
    weight : float, optional
        Weight of the grades, in [0, 1]: 1 for prediction-powered inference without tuning, 0 for the labels alone. By
        default the weight with the smallest variance, estimated from the data.
    largest_error : float, default 1
        Largest difference of a label and a grade, as of right and wrong; 0 counts a judge who agrees with all labels as
        perfect.
    bounds : tuple of float, optional
        Smallest and largest mean that is possible, such as 0 and 1 for an accuracy. The correction can exceed them; an
        estimate or a limit beyond them is moved to them.

    Returns
    -------
    PredictionPowered
        The interval is Student's, with one degree of freedom less than units with a label. Two more labels, one of each
        extreme error of the judge that can occur, enter the variance: otherwise a judge who agrees with few labels
        would count as perfect. So do two more labels of opposite answers, with the weight that grades do not have:
        otherwise the mean of equal labels would be certain.

    Raises
    ------
    ValueError
        If a grade is missing, no trial or every trial has a label, or an argument is out of range.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Prediction-powered inference, arXiv:2301.09633. Angelopoulos,
    Duchi & Zrnic (2023), PPI++: Efficient prediction-powered inference, arXiv:2311.01453, example 6.1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> right = (rng.random(1000) < 0.7).astype(float)
    >>> grade = np.where(rng.random(1000) < 0.9, right, 0.0)  # misses one right answer in ten
    >>> label = np.where(np.arange(1000) < 200, right, np.nan)
    >>> found = prediction_powered_mean(label, grade)
    >>> round(float(grade.mean()), 3), round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (0.607, 0.659, 0.617, 0.701)
    """
    y, graded = as_floats(labels, "labels"), as_floats(grades, "grades")
    same_length(labels=y, grades=graded)
    check_level(level)
    if not np.isfinite(graded).all():
        raise ValueError("every trial needs a grade: leave out trials without one")
    if weight is not None and not 0.0 <= weight <= 1.0:
        raise ValueError(f"weight must lie in [0, 1], got {weight}")
    known = ~np.isnan(y)
    if known.all() or not known.any():
        raise ValueError(
            "some trials must have a label and others not: with labels of all, use these instead of grades"
        )
    unit = np.arange(len(y)) if clusters is None else label_index(clusters, "clusters", len(y))
    chosen = _best_weight(y[known], graded[known], graded[~known]) if weight is None else weight
    rest = chosen * graded
    rectifier = y[known] - rest[known]
    value = float(rest[~known].mean() + rectifier.mean())
    influence = np.zeros(len(y))
    influence[~known] = (rest[~known] - rest[~known].mean()) / (~known).sum()
    influence[known] = (rectifier - rectifier.mean()) / known.sum()
    n_labels, n_units = len(np.unique(unit[known])), len(np.unique(unit))
    # Two more labels, of opposite errors of the judge, and two of opposite answers that the judge grades as they are.
    unseen = 2.0 * (chosen**2 + (1.0 - chosen) ** 2) * largest_error**2 / (n_labels + 2.0) ** 2
    error = math.sqrt(_variance(influence, unit) + unseen)
    if n_labels < FEWEST_LABELS:
        low = high = undefined(Reason.TOO_FEW)
    else:
        reach = float(scipy.special.stdtrit(n_labels - 1.0, (1.0 + level) / 2.0)) * error
        low, high = (Estimate(np.clip(end, *bounds)) for end in (value - reach, value + reach))
    return PredictionPowered(
        Estimate(np.clip(value, *bounds)), low, high, chosen, error, n_labels, n_units, level
    )


def _best_weight(y: FloatArray, graded: FloatArray, rest: FloatArray) -> float:
    """Return the weight of the grades with the smallest variance, within [0, 1]."""
    variance = float(np.concatenate([graded, rest]).var())
    if not variance > 0.0:
        return 0.0
    covariance = float(np.mean((y - y.mean()) * (graded - graded.mean())))
    return float(np.clip(covariance / (1.0 + len(y) / len(rest)) / variance, 0.0, 1.0))


def _variance(influence: FloatArray, unit: IntArray) -> float:
    """Return the sum of squares of the units' influences, times n / (n - 1)."""
    sums = np.bincount(unit, influence)
    n = len(np.unique(unit))
    return float(sums @ sums) * n / max(n - 1.0, 1.0)
