"""How confidence follows correctness and difficulty: their correlation, and the hard-easy effect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    BoolArray,
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    as_vector,
    check_level,
    label_index,
    same_length,
    undefined,
)
from confidence_tasks.statistics.inference.weights import Result, Weighting, ratio, tied, trials


def confidence_correlation(
    correct: ArrayLike, confidence: ArrayLike, *, weights: ArrayLike | None = None
) -> Result:
    """Compute the product-moment correlation of confidence with correctness.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1].
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [-1, 1]; NaN without trials, and when one of the two is the same in all of them.

    References
    ----------
    Pearson (1895), Note on regression and inheritance in the case of two parents, doi:10.1098/rspl.1895.0041.

    Examples
    --------
    >>> round(confidence_correlation([0.1, 0.4, 0.7, 0.9], [0.3, 0.5, 0.6, 0.8]), 6)
    0.983644
    """
    right, stated, weighting = trials(correct, confidence, weights)
    first, second = weighting.centred(right), weighting.centred(stated)
    weighted = weighting.rows * first
    covariance = np.einsum("rn,rn->r", weighted, second)
    variances = (
        np.einsum("rn,rn->r", weighted, first),
        np.einsum("rn,rn,rn->r", weighting.rows, second, second),
    )
    value = np.clip(ratio(covariance, np.sqrt(variances[0]) * np.sqrt(variances[1])), -1.0, 1.0)
    constant = _constant(right, weighting) | _constant(stated, weighting)
    return weighting.settle(value, weighting.empty, (constant, Reason.CONSTANT))


def _constant(column: FloatArray, weighting: Weighting) -> BoolArray:
    """Return whether a row holds a single value."""
    counts = tied(column, weighting).counts if column.shape[0] else np.zeros((weighting.rows.shape[0], 1))
    single: BoolArray = np.count_nonzero(counts, axis=1) < 2
    return single


@dataclass(frozen=True, slots=True)
class HardEasyRegression:
    """Least-squares line ``confidence - correct = intercept + slope * difficulty`` of n trials.

    Attributes
    ----------
    slope : Estimate
        Overconfidence gained per unit of difficulty, above 0 under the hard-easy effect.
    intercept : Estimate
        Overconfidence at difficulty 0.
    standard_error : Estimate
        Of the slope, robust to unequal variances (HC3).
    low, high : Estimate
        Limits of the slope's confidence interval.
    level : float
        Nominal coverage of the interval.
    n : int
        Number of trials.
    """

    slope: Estimate
    intercept: Estimate
    standard_error: Estimate
    low: Estimate
    high: Estimate
    level: float
    n: int


def hard_easy_slope(
    correct: ArrayLike, confidence: ArrayLike, difficulty: ArrayLike, *, weights: ArrayLike | None = None
) -> Result:
    """Compute the slope of overconfidence on difficulty.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`confidence_correlation`.
    difficulty : array_like, shape (n,)
        Difficulty of each question on any scale; LifeEval takes 1 minus the best score that can be had.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        Above 0 under the hard-easy effect; NaN without trials and when difficulty is constant.

    References
    ----------
    Lichtenstein & Fischhoff (1977), Do those who know more also know more about how much they know?,
    doi:10.1016/0030-5073(77)90001-0.

    Examples
    --------
    >>> round(hard_easy_slope([1, 1, 0, 0], [0.8, 0.9, 0.7, 0.8], [0.1, 0.2, 0.5, 0.6]), 6)
    2.176471
    """
    right, stated, hard = _checked(correct, confidence, difficulty)
    weighting = Weighting.of(weights, hard.shape[0])
    centred = weighting.centred(hard)
    deviation = weighting.rows * centred
    slope = ratio(deviation @ (stated - right), np.einsum("rn,rn->r", deviation, centred))
    constant = np.count_nonzero(tied(hard, weighting).counts, axis=1) < 2
    return weighting.settle(slope, weighting.empty, (constant, Reason.CONSTANT))


def hard_easy_regression(
    correct: ArrayLike,
    confidence: ArrayLike,
    difficulty: ArrayLike,
    *,
    questions: ArrayLike | None = None,
    level: float = 0.95,
) -> HardEasyRegression:
    """Regress overconfidence on difficulty, with an interval that allows for unequal variances.

    Correctness varies most on questions of middling difficulty, so the classical standard error is wrong here.

    Parameters
    ----------
    correct, confidence, difficulty
        As in :func:`hard_easy_slope`.
    questions : array_like, shape (n,), optional
        Which question each trial asked, by any labels, where one was asked several times. By default each trial is a
        question of its own.
    level : float, default 0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    HardEasyRegression
        Slope and intercept are NaN without trials and for constant difficulty, the interval also below three questions
        or when one trial alone decides the slope.

    References
    ----------
    MacKinnon & White (1985), doi:10.1016/0304-4076(85)90158-7, for HC3; Long & Ervin (2000),
    doi:10.1080/00031305.2000.10474549, for Student's t with n - 2 degrees of freedom; Liang & Zeger (1986),
    doi:10.1093/biomet/73.1.13, for the sums over trials of a question.

    Examples
    --------
    >>> line = hard_easy_regression([1, 1, 0, 1, 0], [0.8, 0.9, 0.7, 0.8, 0.9], [0.1, 0.2, 0.5, 0.6, 0.8])
    >>> round(line.slope, 4), round(line.low, 4), round(line.high, 4)
    (1.2831, -1.0053, 3.5715)
    """
    check_level(level)
    right, stated, hard = _checked(correct, confidence, difficulty)
    n = hard.shape[0]
    unit = label_index(questions, "questions", n)
    reason = Reason.EMPTY if n == 0 else Reason.CONSTANT if hard.min() == hard.max() else None
    if reason is not None:
        missing = undefined(reason)
        return HardEasyRegression(missing, missing, missing, missing, missing, level, n)
    excess = stated - right
    centred = hard - hard.mean()
    squares = centred @ centred
    slope = (centred @ excess) / squares
    intercept = excess.mean() - slope * hard.mean()
    error = _robust_error(excess - intercept - slope * hard, centred, unit)
    half = (
        error
        if error.reason
        else Estimate(float(scipy.special.stdtrit(unit.max() - 1.0, (1.0 + level) / 2.0)) * error)
    )
    low, high = (half, half) if half.reason else (Estimate(slope - half), Estimate(slope + half))
    return HardEasyRegression(Estimate(slope), Estimate(intercept), error, low, high, level, n)


def _checked(
    correct: ArrayLike, confidence: ArrayLike, difficulty: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    right, stated, _ = trials(correct, confidence, None)
    hard = as_vector(difficulty, "difficulty")
    same_length(correct=right, difficulty=hard)
    return right, stated, hard


def _robust_error(residual: FloatArray, centred: FloatArray, unit: IntArray) -> Estimate:
    """HC3 standard error of the slope, summed over each question; undefined when a trial has all the leverage."""
    squares = centred @ centred
    slack = 1.0 - 1.0 / centred.shape[0] - centred**2 / squares
    if unit.max() < 2:
        return undefined(Reason.TOO_FEW)
    if slack.min() < 1e-12:
        return undefined(Reason.NOT_IDENTIFIED)
    of_question = np.bincount(unit, centred * residual / slack)
    return Estimate(float(np.sqrt(of_question @ of_question) / squares))
