"""Decisions under a penalty: answer for +1 or -penalty, or abstain for 0, and what confidence says one should do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, Reason, as_binary, as_probability, same_length
from confidence_tasks.statistics.inference.weights import Result, Weighting, ratio


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

    Raises
    ------
    ValueError
        If a penalty is negative, NaN or infinite.

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
        1 or 0. Where both are worth the same, 1.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    RiskEval, equation 1.

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
    weights: ArrayLike | None = None,
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
        In [-penalty, 1], higher is better; NaN without trials.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    RiskEval, section 2 and appendix A.

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


def abstention_rate(answered: ArrayLike, *, weights: ArrayLike | None = None) -> Result:
    """Compute the share of trials on which the model abstains.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the model answers, 0 where it abstains.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; NaN without trials.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    Examples
    --------
    >>> abstention_rate([1, 1, 1, 0])
    0.25
    """
    decision = as_binary(answered, "answered")
    weighting = Weighting.of(weights, len(decision))
    return weighting.settle(weighting.mean(1.0 - decision), weighting.empty)


def answered_accuracy(answered: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> Result:
    """Compute the accuracy of the answers that the model chose to give.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the model answers, 0 where it abstains.
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right; any such value where the model abstains.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; NaN without an answer.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    RiskEval, appendix A.

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
    answered: ArrayLike, confidence: ArrayLike, penalty: ArrayLike, *, weights: ArrayLike | None = None
) -> Result:
    """Compute how often the model decides as the optimal policy would with the model's own confidence.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the model answers, 0 where it abstains.
    confidence : array_like, shape (n,)
        Confidence that the answer is right, in [0, 1].
    penalty : float or array_like, shape (n,)
        What a wrong answer costs, 0 or above.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1], higher is better; NaN without trials.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    RiskEval, section 2.

    Examples
    --------
    >>> policy_consistency([1, 1], [0.95, 0.6], penalty=9)
    0.5
    """
    decision, stated = as_binary(answered, "answered"), as_probability(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(answered=decision, confidence=stated))
    agrees = (decision == optimal_decision(stated, penalty)).astype(np.float64)
    return weighting.settle(weighting.mean(agrees), weighting.empty)


def regret(
    answered: ArrayLike,
    confidence: ArrayLike,
    penalty: ArrayLike,
    *,
    normalized: bool = False,
    weights: ArrayLike | None = None,
) -> Result:
    """Compute the mean expected utility that decisions forgo, by the model's own confidence.

    On one trial it is the expected utility of the better choice minus that of the choice made, where answering is
    worth c - (1 - c) penalty at confidence c. It is (1 + penalty) times the distance of confidence from the
    optimal threshold if the decision is not optimal, and 0 if it is.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the model answers, 0 where it abstains.
    confidence : array_like, shape (n,)
        Confidence that the answer is right, in [0, 1].
    penalty : float or array_like, shape (n,)
        What a wrong answer costs, 0 or above.
    normalized : bool, default False
        Divide by 1 + penalty, which leaves a distance on the scale of confidence.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1 + penalty], lower is better; NaN without trials.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    Notes
    -----
    Confidence is taken at its word: a model that is always wrong and always certain has no regret. See
    :func:`mean_utility` for what its decisions are worth.

    References
    ----------
    RiskEval, appendix A.

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
    weights: ArrayLike | None = None,
) -> Result:
    """Compute the mean utility if the optimal policy decided in the model's place, from its confidence.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right; any such value where no answer is available.
    confidence : array_like, shape (n,)
        Confidence that the answer is right, in [0, 1].
    penalty : float or array_like, shape (n,)
        What a wrong answer costs, 0 or above.
    available : array_like, shape (n,), optional
        1 where the model gave an answer, 0 where it abstained without one: there the policy cannot answer and
        earns 0. By default every trial has an answer.
    normalized : bool, default False
        Divide by 1 + penalty.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [-penalty, 1], higher is better; NaN without trials.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    RiskEval, section 3.

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
    weights: ArrayLike | None = None,
) -> Result:
    """Compute what the optimal policy would gain on the model's own decisions, in mean utility.

    Parameters
    ----------
    answered : array_like, shape (n,)
        1 where the model answers, 0 where it abstains.
    correct, confidence, penalty, available, normalized, weights
        As in :func:`scaffold_utility`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        Scaffold minus model, in [-(1 + penalty), 1 + penalty]; NaN without trials. Below 0 where confidence
        misleads.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    RiskEval, table 1.

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
    cost = np.asarray(penalty, dtype=np.float64)
    if cost.shape not in ((), (n,)):
        raise ValueError(f"penalty must be a number or have shape ({n},), got {cost.shape}")
    optimal_threshold(cost)  # its check of the penalties
    return np.broadcast_to(cost, (n,))


def _expected_utility(probability: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return the expected utility of an answer that is right with the given probability."""
    return probability - (1.0 - probability) * penalty


def _scaffold_decision(confidence: ArrayLike, penalty: ArrayLike, available: ArrayLike | None) -> FloatArray:
    """Return the optimal decision, to abstain where there is no answer to give."""
    decision = optimal_decision(confidence, penalty)
    if available is None:
        return decision
    given = as_binary(available, "available")
    same_length(confidence=decision, available=given)
    return decision * given


def _mean(values: FloatArray, penalty: ArrayLike, normalized: bool, weights: ArrayLike | None) -> Result:
    """Average utilities of trials, per 1 + penalty if they are to be normalized."""
    n = len(values)
    weighting = Weighting.of(weights, n)
    scale = 1.0 + _per_trial(penalty, n) if normalized else 1.0
    return weighting.settle(weighting.mean(values / scale), weighting.empty)
