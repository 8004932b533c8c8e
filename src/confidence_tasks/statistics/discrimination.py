"""Discrimination: how well confidence separates right from wrong answers, measured by the type-2 ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, Reason, as_floats, check_level, label_index
from confidence_tasks.statistics.inference.limits import (
    MIN_INFORMATIVE,
    both_classes_freedom,
    no_limits,
    transformed_limits,
)
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.weights import (
    Result,
    Weights,
    ratio,
    running_sums,
    take,
    tied,
    trials,
)

__all__ = ["Type2RocCurve", "auroc2", "auroc2_influence", "auroc2_interval", "type2_roc_curve"]


@dataclass(frozen=True, slots=True)
class Type2RocCurve:
    """Hit rate and false-alarm rate at each threshold of confidence.

    Attributes
    ----------
    threshold : ndarray, shape (g + 1,)
        Infinity, then the g distinct confidences in descending order.
    hit_rate : ndarray, shape (g + 1,)
        Proportion of right answers whose confidence reaches the threshold, increasing from 0 to 1.
    false_alarm_rate : ndarray, shape (g + 1,)
        Proportion of wrong answers whose confidence reaches the threshold, increasing from 0 to 1.
    """

    threshold: FloatArray
    hit_rate: FloatArray
    false_alarm_rate: FloatArray


def auroc2(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the area under the type-2 ROC curve.

    This is the probability that a randomly drawn right answer has a higher confidence than a randomly drawn wrong one,
    where ties count one half.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each trial; one row per resample.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; 0.5 if confidence is uninformative. NaN without trials, or if all answers are right or all wrong.

    References
    ----------
    Fleming & Lau (2014), How to measure metacognition, doi:10.3389/fnhum.2014.00443. Hanley & McNeil (1982),
    doi:10.1148/radiology.143.1.7063747, for the area as a probability.

    Examples
    --------
    >>> auroc2([1, 0, 1, 0], [0.9, 0.9, 0.9, 0.1])
    0.75
    """
    right, stated, weighting = trials(correct, confidence, weights, binary=True)
    order = np.argsort(stated)
    right_order, wrong_order = (order[right[order] == outcome] for outcome in (1.0, 0.0))
    right_up_to, wrong_weights = weighting.up_to(right_order), take(weighting.rows, wrong_order)
    discordant = np.zeros(len(right_up_to))
    for side in ("left", "right"):  # ties are counted on one side only, and so by one half
        n_below = np.searchsorted(stated[right_order], stated[wrong_order], side)
        first = np.searchsorted(n_below, 1)
        discordant += 0.5 * (wrong_weights[:, first:] * take(right_up_to, n_below[first:] - 1)).sum(axis=1)
    pairs = right_up_to[:, -1:].sum(axis=1) * wrong_weights.sum(axis=1)
    return weighting.settle(ratio(pairs - discordant, pairs), (pairs == 0.0, Reason.ONE_CLASS))


def auroc2_interval(
    correct: ArrayLike, confidence: ArrayLike, *, questions: ArrayLike | None = None, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """Compute a confidence interval for the area under the type-2 ROC curve, without resampling.

    The interval uses DeLong's standard error, computed from ranks, on the logit scale. A million distinct values take
    less than a second.

    Parameters
    ----------
    correct, confidence
        As in :func:`auroc2`.
    questions, level
        As in :func:`~confidence_tasks.statistics.ece_interval`.

    Returns
    -------
    tuple of Estimate
        Lower and upper limit, in (0, 1). NaN with a reason if :func:`auroc2` is NaN, 0 or 1, or if fewer than five
        questions have a right answer or fewer than five have a wrong one.

    Notes
    -----
    The influence values are summed over the trials of each question; the variance is the sum of squares of these sums.
    Student's t has 1.25 degrees of freedom per question of the smaller class, as in
    ``bootstrap(auroc2, method="transformed")``.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), doi:10.2307/2531595. Sun & Xu (2014), Fast implementation of DeLong's
    algorithm for comparing the areas under correlated receiver operating characteristic curves,
    doi:10.1109/LSP.2014.2337313. Obuchowski (1997), Nonparametric analysis of clustered ROC curve data,
    doi:10.2307/2533958, for repeated questions.

    Examples
    --------
    >>> low, high = auroc2_interval([1, 0, 1, 1, 0] * 20, [0.9, 0.6, 0.7, 0.8, 0.7] * 20)
    >>> round(low, 3), round(high, 3)
    (0.866, 0.949)
    """
    check_level(level)
    area = as_estimate(auroc2(correct, confidence))
    right = as_floats(correct, "correct")
    question = label_index(questions, "questions", len(right))
    n_smaller_class = min(int(np.count_nonzero(np.bincount(question, c))) for c in (right, 1.0 - right))
    if np.isnan(area) or n_smaller_class < MIN_INFORMATIVE:
        return no_limits(area.reason or Reason.FEW_INFORMATIVE)
    (influence,), _ = auroc2_influence(correct, confidence)
    standard_error = float(np.sqrt(np.square(np.bincount(question, influence)).sum()))
    freedom = min(float(question.max()), both_classes_freedom(n_smaller_class))
    return transformed_limits(float(area), standard_error, freedom, level)


def auroc2_influence(
    correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None
) -> tuple[FloatArray, FloatArray]:
    r"""Compute the influence of each trial on the area under the type-2 ROC curve.

    Let A be the area, and :math:`F_c` and :math:`F_w` the mid-distribution functions of confidence (ties count one
    half) of the c right and the w wrong answers. The influence of a right answer is
    :math:`(F_w - A) / \sqrt{c (c - 1)}`, that of a wrong one :math:`(1 - F_c - A) / \sqrt{w (w - 1)}`. The sum of
    squares is DeLong's variance of the area.

    Arguments are those of :func:`auroc2`.

    Returns
    -------
    influence : ndarray, shape (R, n)
        Influence of each trial, counted once whatever its weight; NaN if there are fewer than two right or fewer than
        two wrong answers.
    extra_variance : ndarray, shape (R,)
        Variance that is not due to any trial; always 0.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver operating
    characteristic curves, doi:10.2307/2531595.

    Examples
    --------
    >>> influence, _ = auroc2_influence([1, 0, 1, 0], [0.9, 0.9, 0.8, 0.1])
    >>> influence.round(3)
    array([[ 0.088, -0.265, -0.088,  0.265]])
    """
    right, stated, weighting = trials(correct, confidence, weights, binary=True)
    groups = tied(stated, weighting, right)
    hits = groups.sums[0]
    misses = groups.counts - hits
    n_right, n_wrong = hits.sum(axis=1, keepdims=True), misses.sum(axis=1, keepdims=True)
    wrong_cdf = ratio(running_sums(misses) - misses / 2.0, n_wrong)
    right_cdf = ratio(running_sums(hits) - hits / 2.0, n_right)
    area = ratio((hits * wrong_cdf).sum(axis=1, keepdims=True), n_right)
    right_influence = ratio(wrong_cdf - area, np.sqrt(np.maximum(n_right * (n_right - 1.0), 0.0)))
    wrong_influence = ratio(1.0 - right_cdf - area, np.sqrt(np.maximum(n_wrong * (n_wrong - 1.0), 0.0)))
    by_value = np.concatenate([right_influence, wrong_influence], axis=1)
    influence = take(by_value, np.where(right == 1.0, groups.index, groups.index + groups.values.size))
    return influence, np.zeros(len(influence))


def type2_roc_curve(correct: ArrayLike, confidence: ArrayLike) -> Type2RocCurve:
    """Compute the type-2 ROC curve; the area under it by the trapezoidal rule is :func:`auroc2`.

    Arguments and source are those of :func:`auroc2`. The curve has one point per distinct confidence. The hit rate is
    NaN without right answers, the false-alarm rate without wrong ones.

    Examples
    --------
    >>> curve = type2_roc_curve([1, 0, 1, 0], [0.9, 0.9, 0.8, 0.1])
    >>> curve.threshold, curve.hit_rate, curve.false_alarm_rate
    (array([inf, 0.9, 0.8, 0.1]), array([0. , 0.5, 1. , 1. ]), array([0. , 0.5, 0.5, 1. ]))
    """
    right, stated, weighting = trials(correct, confidence, None, binary=True)
    groups = tied(stated, weighting, right, 1.0 - right)
    hits, misses = (np.append(0.0, np.cumsum(counts[0, ::-1])) for counts in groups.sums)
    threshold = np.append(np.inf, groups.values[::-1])
    return Type2RocCurve(threshold, ratio(hits, hits[-1:]), ratio(misses, misses[-1:]))
