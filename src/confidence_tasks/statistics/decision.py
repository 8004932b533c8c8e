"""Decisions under a penalty: answer for +1 or -penalty, or abstain for 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.recalibration import extent, fit_logistic
from confidence_tasks.statistics.core import (
    FloatArray,
    Reason,
    as_binary,
    as_probability,
    as_vector,
    per_row,
    same_length,
)
from confidence_tasks.statistics.inference.weights import Result, Weighting, Weights, ratio, tied

__all__ = [
    "abstention_rate",
    "abstention_slope",
    "answered_accuracy",
    "implied_threshold",
    "mean_utility",
    "optimal_decision",
    "optimal_threshold",
    "policy_consistency",
    "regret",
    "scaffold_gain",
    "scaffold_utility",
]


def optimal_threshold(penalty: ArrayLike) -> FloatArray:
    """Compute the confidence from which answering pays: penalty / (1 + penalty).

    Parameters
    ----------
    penalty : array_like
        What a wrong answer costs, 0 or above, where a right one earns 1; any shape.

    Returns
    -------
    ndarray
        Thresholds in [0, 1), of the same shape.

    References
    ----------
    RiskEval, section 2. Chow (1970), On optimum recognition error and reject tradeoff, doi:10.1109/TIT.1970.1054406.

    Examples
    --------
    >>> optimal_threshold([0.0, 1.0, 9.0])
    array([0. , 0.5, 0.9])
    """
    cost = np.asarray(penalty, dtype=np.float64)
    if not (np.isfinite(cost).all() and (cost >= 0.0).all()):
        raise ValueError("penalty must be finite and 0 or above")
    return np.asarray(cost / (1.0 + cost))


def optimal_decision(confidence: ArrayLike, penalty: ArrayLike) -> FloatArray:
    """Decide as the optimal policy does: answer (1) if confidence reaches the threshold, abstain (0) otherwise.

    Parameters
    ----------
    confidence : array_like, shape (n,)
        Confidence that the answer is right, in [0, 1].
    penalty : float or array_like, shape (n,)
        What a wrong answer costs, 0 or above.

    Returns
    -------
    ndarray, shape (n,)
        1 or 0; where both are worth the same, 1 (RiskEval, equation 1).

    Examples
    --------
    >>> optimal_decision([0.4, 0.5, 0.6], penalty=1)
    array([0., 1., 1.])
    """
    stated = as_probability(confidence, "confidence")
    return (stated >= optimal_threshold(_per_trial(penalty, len(stated)))).astype(np.float64)


def mean_utility(
    answered: ArrayLike,
    correct: ArrayLike,
    penalty: ArrayLike,
    *,
    normalized: bool = False,
    weights: Weights = None,
) -> Result:
    """Compute the mean utility of decisions: +1 for a right answer, -penalty for a wrong one, 0 for abstaining.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the policy answers, 0 where it abstains.
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right; any such value where the policy abstains.
    penalty : float or array_like, shape (n,)
        What a wrong answer costs, 0 or above.
    normalized : bool, default False
        Divide by 1 + penalty, which brings utilities under all penalties into [-1, 1].
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [-penalty, 1], higher is better; NaN without trials. From RiskEval, section 2 and appendix A.

    Examples
    --------
    >>> mean_utility([1, 1, 0], [1, 0, 0], penalty=7)
    -2.0
    >>> mean_utility([1, 1, 0], [1, 0, 0], penalty=7, normalized=True)
    -0.25
    """
    decision, right = as_binary(answered, "answered"), as_probability(correct, "correct")
    n = same_length(answered=decision, correct=right)
    return _mean(decision * _expected_utility(right, _per_trial(penalty, n)), penalty, normalized, weights)


def abstention_rate(answered: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the share of trials on which the model abstains.

    Arguments and shapes are those of :func:`mean_utility`. The result lies in [0, 1], and is NaN without trials.

    Examples
    --------
    >>> abstention_rate([1, 1, 1, 0])
    0.25
    """
    decision = as_binary(answered, "answered")
    return Weighting.of(weights, len(decision)).average(1.0 - decision)


def answered_accuracy(answered: ArrayLike, correct: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the accuracy of the answers that the model chose to give (RiskEval, appendix A).

    Arguments and shapes are those of :func:`mean_utility`. The result lies in [0, 1], and is NaN without an answer.

    Examples
    --------
    >>> answered_accuracy([1, 1, 0], [1, 0, 1])
    0.5
    """
    decision, right = as_binary(answered, "answered"), as_probability(correct, "correct")
    weighting = Weighting.of(weights, same_length(answered=decision, correct=right))
    answers = weighting.rows @ decision
    return weighting.settle(
        ratio(weighting.rows @ (decision * right), answers), (answers == 0.0, Reason.EMPTY)
    )


def policy_consistency(
    answered: ArrayLike, confidence: ArrayLike, penalty: ArrayLike, *, weights: Weights = None
) -> Result:
    """Compute how often the model decides as the optimal policy would with the model's own confidence.

    Parameters
    ----------
    answered, penalty, weights
        As in :func:`mean_utility`.
    confidence : array_like, shape (n,)
        Confidence that the answer is right, in [0, 1].

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1], higher is better; NaN without trials. From RiskEval, section 2.

    Examples
    --------
    >>> policy_consistency([1, 1], [0.95, 0.6], penalty=9)
    0.5
    """
    decision, stated = as_binary(answered, "answered"), as_probability(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(answered=decision, confidence=stated))
    return weighting.average((decision == optimal_decision(stated, penalty)).astype(np.float64))


def regret(
    answered: ArrayLike,
    confidence: ArrayLike,
    penalty: ArrayLike,
    *,
    normalized: bool = False,
    weights: Weights = None,
) -> Result:
    """Compute the mean expected utility that decisions forgo, by the model's own confidence (RiskEval, appendix A).

    On one trial it is the expected utility of the better choice minus that of the choice made, where answering is
    worth c - (1 - c) penalty at confidence c. It is (1 + penalty) times the distance of confidence from the
    optimal threshold if the decision is not optimal, and 0 if it is.

    Parameters
    ----------
    answered, confidence, penalty, weights
        As in :func:`policy_consistency`.
    normalized : bool, default False
        Divide by 1 + penalty, which leaves a distance on the scale of confidence.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1 + penalty], lower is better; NaN without trials.

    Notes
    -----
    Confidence is taken as the true probability: a model that is always wrong and always certain has no regret. Its
    actual utility is :func:`mean_utility`.

    Examples
    --------
    >>> round(regret([1, 0], [0.4, 0.4], penalty=1), 12)
    0.1
    """
    decision, stated = as_binary(answered, "answered"), as_probability(confidence, "confidence")
    n = same_length(answered=decision, confidence=stated)
    value = _expected_utility(stated, _per_trial(penalty, n))
    return _mean(np.maximum(value, 0.0) - decision * value, penalty, normalized, weights)


def scaffold_utility(
    correct: ArrayLike,
    confidence: ArrayLike,
    penalty: ArrayLike,
    available: ArrayLike | None = None,
    *,
    normalized: bool = False,
    weights: Weights = None,
) -> Result:
    """Compute the mean utility if the optimal policy decided in the model's place, from its confidence.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right; any such value where no answer is available.
    confidence, penalty, weights
        As in :func:`policy_consistency`.
    available : array_like, shape (n,), optional
        1 where the model gave an answer, 0 where it abstained without one: there the policy cannot answer and
        earns 0. By default every trial has an answer.
    normalized
        As in :func:`mean_utility`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [-penalty, 1], higher is better; NaN without trials. From RiskEval, section 3.

    Examples
    --------
    >>> scaffold_utility([1, 0], [0.95, 0.6], penalty=9)
    0.5
    """
    decision = _scaffold_decision(confidence, penalty, available)
    return mean_utility(decision, correct, penalty, normalized=normalized, weights=weights)


def scaffold_gain(
    answered: ArrayLike,
    correct: ArrayLike,
    confidence: ArrayLike,
    penalty: ArrayLike,
    available: ArrayLike | None = None,
    *,
    normalized: bool = False,
    weights: Weights = None,
) -> Result:
    """Compute what the optimal policy would gain on the model's own decisions, in mean utility (RiskEval, table 1).

    Arguments and shapes are those of :func:`scaffold_utility`, and ``answered`` is that of :func:`mean_utility`. The
    result is scaffold minus model, in [-(1 + penalty), 1 + penalty], below 0 where confidence misleads; NaN without
    trials.

    Examples
    --------
    >>> scaffold_gain([1, 1], [1, 0], [0.95, 0.6], penalty=9)
    4.5
    """
    decision, right = as_binary(answered, "answered"), as_probability(correct, "correct")
    change = _scaffold_decision(confidence, penalty, available) - decision
    n = same_length(answered=decision, correct=right, confidence=change)
    return _mean(change * _expected_utility(right, _per_trial(penalty, n)), penalty, normalized, weights)


def _per_trial(penalty: ArrayLike, n: int) -> FloatArray:
    """Return the penalty of each of n trials; ValueError unless one number is given or n of them."""
    cost = per_row(penalty, "penalty", n)
    optimal_threshold(cost)  # its check of the penalties
    return cost


def _expected_utility(probability: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return the expected utility of an answer that is right with the given probability."""
    return probability - (1.0 - probability) * penalty


def _scaffold_decision(confidence: ArrayLike, penalty: ArrayLike, available: ArrayLike | None) -> FloatArray:
    """Return the optimal decision, which is to abstain where no answer is available."""
    decision = optimal_decision(confidence, penalty)
    given = np.ones(len(decision)) if available is None else as_binary(available, "available")
    same_length(confidence=decision, available=given)
    return decision * given


def _mean(values: FloatArray, penalty: ArrayLike, normalized: bool, weights: Weights) -> Result:
    """Average utilities of trials, per 1 + penalty if they are to be normalized."""
    scale = 1.0 + _per_trial(penalty, len(values)) if normalized else 1.0
    return Weighting.of(weights, len(values)).average(values / scale)


_NO_SLOPE = 1e-9
"""Tolerance up to which a slope is 0."""


def abstention_slope(answered: ArrayLike, penalty: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute how fast abstention grows with the penalty: the least-squares slope on the logarithm of the penalty.

    Parameters
    ----------
    answered, weights
        As in :func:`mean_utility`; trials under several penalties together.
    penalty : array_like, shape (n,)
        The penalty of each trial. Trials under penalty 0, whose logarithm does not exist, are left out.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        Change of the abstention rate per unit of log penalty (natural; times 2.303 for a tenfold penalty). 0 for
        a model that ignores the penalty. NaN without trials, or with fewer than two penalties.

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


def implied_threshold(answered: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Estimate the confidence from which the model answers, from its decisions under one penalty.

    It is where a logistic curve of the decision on confidence passes one half. Where some confidence separates
    abstentions from answers without error, it is the middle of the gap between them, the limit of the curve.

    Arguments and shapes are those of :func:`policy_consistency`. Compare the result with :func:`optimal_threshold`.
    Outside [0, 1] the model answers, or abstains, more often than not at every confidence. NaN without trials, if it
    always answers or always abstains, if confidence is constant, or if it does not answer more often when more
    confident.

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
    bounds = extent(groups.values, counts - answers)[1], extent(groups.values, answers)[0]
    separated = ~one_kind & (bounds[0] <= bounds[1])
    curve = fit_logistic(groups.values, counts, answers)
    rising = curve.slope > _NO_SLOPE
    crossing = -curve.intercept / np.where(rising, curve.slope, 1.0)
    middle = sum(np.where(separated, bound, 0.0) for bound in bounds) / 2.0
    return weighting.settle(
        np.where(separated, middle, crossing),
        (one_kind, Reason.ONE_CLASS),
        (lowest == highest, Reason.CONSTANT),
        (~separated & ~rising, Reason.NOT_IDENTIFIED),
    )
