"""Decisions to answer or to abstain: a right answer earns 1, a wrong one costs the penalty, abstention earns 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.recalibration import extent, fit_logistic
from confidence_tasks.statistics.core import (
    EDGE_TOLERANCE,
    FloatArray,
    Reason,
    as_binary,
    as_floats,
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
    "fitted_threshold",
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
    """Compute the confidence above which answering has a positive expected utility: penalty / (1 + penalty).

    Parameters
    ----------
    penalty : array_like
        Cost of a wrong answer, 0 or above, relative to a gain of 1 for a right one; any shape.

    Returns
    -------
    ndarray
        Thresholds in [0, 1), of the shape of ``penalty``.

    References
    ----------
    RiskEval, section 2. Chow (1970), On optimum recognition error and reject tradeoff, doi:10.1109/TIT.1970.1054406.

    Examples
    --------
    >>> optimal_threshold([0.0, 1.0, 9.0])
    array([0. , 0.5, 0.9])
    """
    cost = _as_penalty(penalty)
    return np.asarray(cost / (1.0 + cost))


def optimal_decision(confidence: ArrayLike, penalty: ArrayLike) -> FloatArray:
    """Return the decisions of the optimal policy: answer (1) if confidence reaches the threshold, else abstain (0).

    Parameters
    ----------
    confidence : array_like, shape (n,)
        Confidence that the answer is right, in [0, 1].
    penalty : float or array_like, shape (n,)
        Cost of a wrong answer, 0 or above.

    Returns
    -------
    ndarray, shape (n,)
        1 or 0; 1 if both have the same expected utility (RiskEval, equation 1).

    Examples
    --------
    >>> optimal_decision([0.4, 0.5, 0.6], penalty=1)
    array([0., 1., 1.])
    """
    stated = as_probability(confidence, "confidence")
    return (stated >= optimal_threshold(_per_trial(penalty, len(stated))) - EDGE_TOLERANCE).astype(np.float64)


def mean_utility(
    answered: ArrayLike,
    correct: ArrayLike,
    penalty: ArrayLike,
    *,
    normalized: bool = False,
    weights: Weights = None,
) -> Result:
    """Compute the mean utility of decisions: +1 for a right answer, -penalty for a wrong one, 0 for an abstention.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the policy answers, 0 where it abstains.
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right. Values of abstentions are ignored but must lie in [0, 1].
    penalty : float or array_like, shape (n,)
        Cost of a wrong answer, 0 or above.
    normalized : bool, default False
        If True, divide by 1 + penalty, which brings utilities under all penalties into [-1, 1].
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each trial; one row per resample.

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
    cost = _per_trial(penalty, same_length(answered=decision, correct=right))
    return _average_utility(decision * _expected_utility(right, cost), cost, normalized, weights)


def abstention_rate(answered: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the proportion of trials on which the model abstains.

    Arguments and shapes are those of :func:`mean_utility`. The result lies in [0, 1]. It is NaN without trials.

    Examples
    --------
    >>> abstention_rate([1, 1, 1, 0])
    0.25
    """
    decision = as_binary(answered, "answered")
    return Weighting.of(weights, len(decision)).average(1.0 - decision)


def answered_accuracy(answered: ArrayLike, correct: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the accuracy of the answers that the model chose to give (RiskEval, appendix A).

    Arguments and shapes are those of :func:`mean_utility`. The result lies in [0, 1]. It is NaN without an answer.

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
    """Compute the proportion of decisions that are optimal given the model's own confidence.

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
    """Compute the mean expected utility lost by decisions, given the model's own confidence (RiskEval, appendix A).

    The regret of a trial is the expected utility of the better choice minus that of the choice made. At confidence c,
    answering has the expected utility c - (1 - c) penalty. So the regret of an optimal decision is 0, and that of any
    other decision is (1 + penalty) times the distance of confidence from the optimal threshold.

    Parameters
    ----------
    answered, confidence, penalty, weights
        As in :func:`policy_consistency`.
    normalized : bool, default False
        If True, divide by 1 + penalty, which gives a distance on the scale of confidence.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1 + penalty], lower is better; NaN without trials.

    Notes
    -----
    Confidence is treated as the true probability: a model that is always wrong and always certain has no regret. See
    :func:`mean_utility` for the utility that the model obtains.

    Examples
    --------
    >>> round(regret([1, 0], [0.4, 0.4], penalty=1), 12)
    0.1
    """
    decision, stated = as_binary(answered, "answered"), as_probability(confidence, "confidence")
    cost = _per_trial(penalty, same_length(answered=decision, confidence=stated))
    value = _expected_utility(stated, cost)
    return _average_utility(np.maximum(value, 0.0) - decision * value, cost, normalized, weights)


def scaffold_utility(
    correct: ArrayLike,
    confidence: ArrayLike,
    penalty: ArrayLike,
    available: ArrayLike | None = None,
    *,
    normalized: bool = False,
    weights: Weights = None,
) -> Result:
    """Compute the mean utility of the optimal policy, given the model's answers and confidence.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right. Values of trials without an answer are ignored but must lie
        in [0, 1].
    confidence, penalty, weights
        As in :func:`policy_consistency`.
    available : array_like, shape (n,), optional
        1 if the model gave an answer, 0 if it abstained without one; the policy then abstains as well. By default
        every trial has an answer.
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


def fitted_threshold(
    correct: ArrayLike, confidence: ArrayLike, penalty: ArrayLike, available: ArrayLike | None = None
) -> float:
    """Return the threshold on confidence with the highest utility on these trials.

    Parameters
    ----------
    correct, confidence, penalty, available
        As in :func:`scaffold_utility`.

    Returns
    -------
    float
        The smallest confidence that is answered, in [0, 1]; infinite if it is best never to answer, NaN without trials.
        The highest of several thresholds with the same utility.

    Notes
    -----
    Unlike :func:`optimal_threshold`, it does not assume that confidence is calibrated. The utility on the trials on
    which it is fitted is too high: test it on others. With calibrated confidence and many trials, it is the smallest
    confidence from the optimal threshold on.

    References
    ----------
    Geifman & El-Yaniv (2017), Selective classification for deep neural networks, arXiv:1705.08500, for a threshold that
    is chosen on labelled data.

    Examples
    --------
    >>> fitted_threshold([0, 1, 0, 1, 1], [0.6, 0.7, 0.8, 0.9, 0.9], penalty=1)
    0.9
    >>> fitted_threshold([0, 0], [0.9, 0.8], penalty=1)
    inf
    """
    right, stated = as_probability(correct, "correct"), as_probability(confidence, "confidence")
    cost = _per_trial(penalty, same_length(correct=right, confidence=stated))
    if not len(right):
        return float("nan")
    given = np.ones(len(right)) if available is None else as_binary(available, "available")
    same_length(confidence=stated, available=given)
    values, index = np.unique(stated, return_inverse=True)
    by_value = np.bincount(index, given * _expected_utility(right, cost), len(values))
    thresholds = np.append(values, np.inf)[::-1]
    utilities = np.append(0.0, np.cumsum(by_value[::-1]))
    return float(thresholds[np.argmax(utilities > utilities.max() - EDGE_TOLERANCE)])


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
    """Compute the mean utility of the optimal policy minus that of the model's own decisions (RiskEval, table 1).

    Arguments and shapes are those of :func:`scaffold_utility`, and ``answered`` is that of :func:`mean_utility`. The
    result lies in [-(1 + penalty), 1 + penalty], and is negative if confidence is misleading. It is NaN without trials.

    Examples
    --------
    >>> scaffold_gain([1, 1], [1, 0], [0.95, 0.6], penalty=9)
    4.5
    """
    decision, right = as_binary(answered, "answered"), as_probability(correct, "correct")
    change = _scaffold_decision(confidence, penalty, available) - decision
    cost = _per_trial(penalty, same_length(answered=decision, correct=right, confidence=change))
    return _average_utility(change * _expected_utility(right, cost), cost, normalized, weights)


def _as_penalty(penalty: ArrayLike) -> FloatArray:
    cost = as_floats(penalty, "penalty")
    if not (np.isfinite(cost).all() and (cost >= 0.0).all()):
        raise ValueError("penalty must be finite and 0 or above")
    return cost


def _per_trial(penalty: ArrayLike, n: int) -> FloatArray:
    return _as_penalty(per_row(penalty, "penalty", n))


def _expected_utility(probability: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return the expected utility of an answer that is right with the given probability."""
    return probability - (1.0 - probability) * penalty


def _scaffold_decision(confidence: ArrayLike, penalty: ArrayLike, available: ArrayLike | None) -> FloatArray:
    """Return the optimal decisions; abstain on trials without an available answer."""
    decision = optimal_decision(confidence, penalty)
    if available is None:
        return decision
    has_answer = as_binary(available, "available")
    same_length(confidence=decision, available=has_answer)
    return decision * has_answer


def _average_utility(utility: FloatArray, penalty: FloatArray, normalized: bool, weights: Weights) -> Result:
    scale = 1.0 + penalty if normalized else 1.0
    return Weighting.of(weights, len(utility)).average(utility / scale)


_SLOPE_TOLERANCE = 1e-9
"""A slope up to this value counts as 0."""


def abstention_slope(answered: ArrayLike, penalty: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the least-squares slope of abstention on the logarithm of the penalty.

    Parameters
    ----------
    answered, weights
        As in :func:`mean_utility`, for the trials under all penalties together.
    penalty : array_like, shape (n,)
        Penalty of each trial. Trials under penalty 0 are left out, as log(0) is not finite.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        Change of the abstention rate per unit of the natural logarithm of the penalty; multiply by 2.303 for the change
        per factor of ten. 0 for a model that ignores the penalty. NaN without trials or with fewer than two penalties.

    Notes
    -----
    For an interval, resample questions: ``bootstrap(abstention_slope, answered, penalty, clusters=question)``. For the
    slope of the optimal policy, pass the optimal decisions as ``answered``.

    Examples
    --------
    >>> abstention_slope([1, 1, 0, 1, 0, 0], [1, 1, np.e, np.e, np.e**2, np.e**2])
    0.5
    """
    decision, cost = as_binary(answered, "answered"), as_vector(penalty, "penalty")
    n = same_length(answered=decision, penalty=cost)
    _as_penalty(cost)
    weighting = Weighting.of(weights, n)
    positive = cost > 0.0
    log_penalty = np.log(cost, out=np.zeros(n), where=positive)
    rows = weighting.rows * positive
    total = rows.sum(axis=1)
    center = ratio(rows @ log_penalty, total)
    deviation = rows * (log_penalty - center[:, None])
    spread = (deviation * (log_penalty - center[:, None])).sum(axis=1)
    lowest, highest = extent(log_penalty, rows)
    slope = ratio(deviation @ (1.0 - decision), spread)
    return weighting.settle(slope, (total == 0.0, Reason.EMPTY), (lowest == highest, Reason.CONSTANT))


def implied_threshold(answered: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Estimate the confidence above which the model answers, from its decisions under one penalty.

    The estimate is the confidence at which a logistic regression of the decision on confidence predicts 1/2. If a
    threshold separates abstentions from answers without error, the estimate is the midpoint of the gap between them,
    which is the limit of the regression.

    Arguments and shapes are those of :func:`policy_consistency`. Compare the result with :func:`optimal_threshold`. A
    result outside [0, 1] means that the model mostly answers, or mostly abstains, at every confidence. The result is
    NaN without trials, if the model always answers or always abstains, if confidence is constant, or if the rate of
    answers does not increase with confidence.

    Examples
    --------
    >>> implied_threshold([0, 0, 1, 1], [0.5, 0.7, 0.9, 1.0])
    0.8
    """
    decision, stated = as_binary(answered, "answered"), as_probability(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(answered=decision, confidence=stated))
    groups = tied(stated, weighting, decision)
    counts, answers = groups.counts, groups.sums[0]
    one_class = (answers.sum(axis=1) == 0.0) | (answers.sum(axis=1) == counts.sum(axis=1))
    lowest, highest = extent(groups.values, counts)
    _, highest_abstention = extent(groups.values, counts - answers)
    lowest_answer, _ = extent(groups.values, answers)
    separated = ~one_class & (highest_abstention <= lowest_answer)
    curve = fit_logistic(groups.values, counts, answers)
    rising = curve.slope > _SLOPE_TOLERANCE
    crossing = -curve.intercept / np.where(rising, curve.slope, 1.0)
    midpoint = sum(np.where(separated, end, 0.0) for end in (highest_abstention, lowest_answer)) / 2.0
    return weighting.settle(
        np.where(separated, midpoint, crossing),
        (one_class, Reason.ONE_CLASS),
        (lowest == highest, Reason.CONSTANT),
        (~separated & ~rising, Reason.NOT_IDENTIFIED),
    )
