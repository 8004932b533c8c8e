"""How a model's abstentions answer to the penalty and to its own confidence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.logistic import extent, fit_logistic, outcome_ranges
from confidence_tasks.statistics.core import Reason, as_binary, as_probability, as_vector, same_length
from confidence_tasks.statistics.decision import optimal_threshold
from confidence_tasks.statistics.inference.weights import Result, Weighting, ratio, tied

_NO_SLOPE = 1e-9
"""What rounding alone can make of a slope of zero."""


def abstention_slope(answered: ArrayLike, penalty: ArrayLike, *, weights: ArrayLike | None = None) -> Result:
    """Compute how fast abstention grows with the penalty: the least-squares slope on the logarithm of the penalty.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the model answers, 0 where it abstains; trials under several penalties together.
    penalty : array_like, shape (n,)
        The penalty of each trial. Trials under penalty 0, whose logarithm does not exist, are left out.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        Change of the abstention rate per unit of log penalty (natural; times 2.303 for a tenfold penalty). 0 for
        a model that ignores the penalty. NaN without trials, or with fewer than two penalties.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    Notes
    -----
    For an interval, resample questions: ``bootstrap(abstention_slope, answered, penalty, clusters=question)``. For
    what the model's confidence calls for, give the optimal decisions in the place of ``answered``.

    Examples
    --------
    >>> abstention_slope([1, 1, 0, 1, 0, 0], [1, 1, np.e, np.e, np.e**2, np.e**2])
    0.5
    """
    decision, cost = as_binary(answered, "answered"), as_vector(penalty, "penalty")
    n = same_length(answered=decision, penalty=cost)
    optimal_threshold(cost)  # its check of the penalties
    weighting = Weighting.of(weights, n)
    charged = cost > 0.0
    log_penalty = np.log(cost, out=np.zeros(n), where=charged)
    rows = weighting.rows * charged
    total = rows.sum(axis=1)
    center = ratio(rows @ log_penalty, total)
    deviation = rows * (log_penalty - center[:, None])
    spread = (deviation * (log_penalty - center[:, None])).sum(axis=1)
    lowest, highest = extent(log_penalty, rows)
    slope = ratio(deviation @ (1.0 - decision), spread)
    return weighting.settle(slope, (total == 0.0, Reason.EMPTY), (lowest == highest, Reason.CONSTANT))


def implied_threshold(
    answered: ArrayLike, confidence: ArrayLike, *, weights: ArrayLike | None = None
) -> Result:
    """Estimate the confidence from which the model answers, from its decisions under one penalty.

    It is where a logistic curve of the decision on confidence passes one half. Where some confidence separates
    abstentions from answers without error, it is the middle of the gap between them, the limit of the curve.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the model answers, 0 where it abstains.
    confidence : array_like, shape (n,)
        Confidence that the answer is right, in [0, 1].
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        To be compared with :func:`~confidence_tasks.statistics.decision.optimal_threshold`. Outside [0, 1] the
        model answers, or abstains, more often than not at every confidence. NaN without trials, if it always
        answers or always abstains, if confidence is constant, or if it does not answer more often when more
        confident.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    Examples
    --------
    >>> implied_threshold([0, 0, 1, 1], [0.5, 0.7, 0.9, 1.0])
    0.8
    """
    decision, stated = as_binary(answered, "answered"), as_probability(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(answered=decision, confidence=stated))
    groups = tied(stated, weighting, decision)
    counts, answers = groups.counts, groups.sums[0]
    one_kind = (answers.sum(axis=1) == 0.0) | (answers.sum(axis=1) == counts.sum(axis=1))
    lowest, highest = extent(groups.values, counts)
    ranges = outcome_ranges(groups.values, counts, answers)
    bounds = ranges.highest_failure, ranges.lowest_success
    separated = ~one_kind & (bounds[0] <= bounds[1])
    curve = fit_logistic(groups.values, counts, answers)
    rising = curve.slope > _NO_SLOPE
    crossing = -curve.intercept / np.where(rising, curve.slope, 1.0)
    middle = sum(np.where(separated, bound, 0.0) for bound in bounds) / 2.0
    return weighting.settle(
        np.where(separated, middle, crossing),
        weighting.empty,
        (one_kind, Reason.ONE_CLASS),
        (lowest == highest, Reason.CONSTANT),
        (~separated & ~rising, Reason.NOT_IDENTIFIED),
    )
