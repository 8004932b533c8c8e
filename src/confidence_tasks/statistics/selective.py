"""Selective prediction: accuracy of the most confident answers, with ties averaged over their orderings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, Reason
from confidence_tasks.statistics.inference.weights import (
    Result,
    Weighting,
    Weights,
    between,
    first_beyond,
    ratio,
    running_sums,
    take,
    tied,
    trials,
)

__all__ = [
    "RiskCoverageCurve",
    "accuracy_at_coverage",
    "auarc",
    "aurc",
    "prediction_rejection_ratio",
    "risk_coverage_curve",
]

_LARGEST_TABLE = 1 << 22
"""Largest number of trials for which harmonic numbers are tabulated."""


@dataclass(frozen=True, slots=True)
class RiskCoverageCurve:
    """Risk of answering the m most confident questions only, for m = 1 .. n.

    Attributes
    ----------
    coverage : ndarray, shape (n,)
        Share of questions answered, m / n.
    risk : ndarray, shape (n,)
        Expected share of wrong answers among them, over the orderings of tied trials.
    threshold : ndarray, shape (n,)
        Confidence of the m-th question.
    """

    coverage: FloatArray
    risk: FloatArray
    threshold: FloatArray

    @property
    def accuracy(self) -> FloatArray:
        """Expected share of right answers among those given, 1 - risk."""
        return 1.0 - self.risk


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Trials gathered by confidence, most confident first, each array of shape (R, g)."""

    counts: FloatArray
    right: FloatArray
    up_to: FloatArray  # trials of this confidence or a higher one
    before: FloatArray  # trials of higher confidence
    right_before: FloatArray


def auarc(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    r"""Compute the area under the accuracy-rejection curve.

    The mean accuracy of the m most confident trials over m = 1 .. n, averaged exactly over the orderings of tied
    trials. Whatever the order of the rows, the result is the same.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`~confidence_tasks.statistics.ece`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1], the accuracy when confidence is constant, higher when confidence ranks right above wrong; NaN
        without trials.

    Notes
    -----
    Take t trials tied at one confidence with accuracy a, behind M more confident trials of which C are right. Over
    the orderings, the m best hold C + (m - M) a right ones on average. Divided by m and summed over m = M+1 .. M+t
    this is :math:`t a + (C - M a)(H_{M+t} - H_M)` with harmonic numbers H, so that the sum over n costs one term per
    distinct confidence. Weights are frequencies: fractional ones interpolate H.

    References
    ----------
    Nadeem, Zucker & Hanczar (2009), Accuracy-rejection curves for comparing classifiers with a reject option,
    PMLR 8:65-81.

    Examples
    --------
    >>> auarc([1, 0], [0.9, 0.1]), auarc([1, 0], [0.5, 0.5])
    (0.75, 0.5)
    """
    right, stated, weighting = trials(correct, confidence, weights)
    return weighting.settle(_mean_accuracy(right, stated, weighting))


def aurc(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the area under the risk-coverage curve, 1 minus :func:`auarc`.

    Arguments and shapes are those of :func:`auarc`. The result lies in [0, 1], lower is better; NaN without trials.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, arXiv:1805.08206.

    Examples
    --------
    >>> aurc([1, 0], [0.9, 0.1])
    0.25
    """
    right, stated, weighting = trials(correct, confidence, weights)
    return weighting.settle(1.0 - _mean_accuracy(right, stated, weighting))


def accuracy_at_coverage(
    correct: ArrayLike, confidence: ArrayLike, *, coverage: float, weights: Weights = None
) -> Result:
    """Compute the accuracy of the most confident share of trials, averaged over the orderings of tied trials.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`auarc`.
    coverage : float
        Share of trials answered, in (0, 1]. When it falls within a trial, that trial counts by the part within.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; the overall accuracy at coverage 1; NaN without trials.

    References
    ----------
    El-Yaniv & Wiener (2010), On the foundations of noise-free selective classification, JMLR 11:1605-1641.

    Examples
    --------
    >>> accuracy_at_coverage([1, 1, 0, 1], [0.9, 0.8, 0.8, 0.1], coverage=0.5)
    0.75
    """
    if not 0.0 < coverage <= 1.0:
        raise ValueError(f"coverage must lie in (0, 1], got {coverage}")
    right, stated, weighting = trials(correct, confidence, weights)
    wanted = coverage * weighting.total
    if not stated.size:
        return weighting.settle(np.full(len(wanted), np.nan))
    order = np.argsort(stated, kind="stable")
    some = np.flatnonzero(right[order])
    up_to, right_up_to = weighting.up_to(order), weighting.up_to(order[some])
    if (right % 1.0).any():
        right_up_to = running_sums(take(weighting.rows, order[some]) * right[order[some]])
    # The confidence within which the coverage falls: its trials count by the part that is wanted.
    rejected = first_beyond(up_to, (weighting.total - wanted)[:, np.newaxis])
    partly = stated[order[np.minimum(rejected, len(order) - 1)]]
    positions = np.hstack([np.searchsorted(stated[order], partly, side) for side in ("left", "right")])
    _, within, above = between(up_to, positions).T
    _, right_within, right_above = between(right_up_to, np.searchsorted(some, positions)).T
    part = np.minimum(wanted - above, within)
    answered = right_above + part * ratio(right_within, within, otherwise=0.0)
    return weighting.settle(ratio(answered, wanted))


def risk_coverage_curve(correct: ArrayLike, confidence: ArrayLike) -> RiskCoverageCurve:
    """Compute the risk-coverage curve, averaged exactly over the orderings of tied trials.

    Arguments are those of :func:`auarc`, the source is that of :func:`accuracy_at_coverage`. The curve has one point
    per trial; the mean of its risk is :func:`aurc`.

    Examples
    --------
    >>> curve = risk_coverage_curve([1, 1, 0, 0], [0.9, 0.8, 0.8, 0.1])
    >>> curve.coverage, curve.risk
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.        , 0.25      , 0.33333333, 0.5       ]))
    """
    right, stated, weighting = trials(correct, confidence, None)
    ranking = _ranked(right, stated, weighting)
    sizes = ranking.counts[0].astype(np.intp)
    answered = np.arange(1.0, right.shape[0] + 1.0)
    before, right_before, accuracy = (
        np.repeat(group, sizes)
        for group in (ranking.before[0], ranking.right_before[0], ranking.right[0] / ranking.counts[0])
    )
    risk = 1.0 - (right_before + (answered - before) * accuracy) / answered
    return RiskCoverageCurve(answered / max(right.shape[0], 1), risk, np.sort(stated)[::-1])


def prediction_rejection_ratio(
    correct: ArrayLike, confidence: ArrayLike, *, max_rejection: float = 1.0, weights: Weights = None
) -> Result:
    r"""Compute the prediction rejection ratio: how much of what rejecting the wrong answers first would gain is gained.

    :math:`(A - A_{random}) / (A_{oracle} - A_{random})`, where A is the mean accuracy of the m most confident trials
    over m = n - k + 1 .. n. All but m are rejected, so that k = 1 rejects none and all of them k = n but the best.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence, weights
        As in :func:`auarc`.
    max_rejection : float, default 1.0
        Share of the trials that may be rejected, in (0, 1]; k is ``max_rejection * n`` without its fraction.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        1 when every right answer is more confident than every wrong one, 0 when confidence tells nothing, below 0 when
        it misleads; NaN without trials, when all are right or all wrong, and when fewer than two may be rejected.

    Notes
    -----
    This is the definition of lm-polygraph, with two expectations in place of draws: ties are averaged over their
    orderings, as in :func:`auarc`, and the random ranking has its expected area, which is the accuracy.

    References
    ----------
    Malinin & Gales (2021), Uncertainty estimation in autoregressive structured prediction, arXiv:2002.07650. Vashurin
    et al. (2025), Benchmarking uncertainty quantification methods for large language models with LM-Polygraph,
    doi:10.1162/tacl_a_00737.

    Examples
    --------
    >>> correct, confidence = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> round(prediction_rejection_ratio(correct, confidence), 4)
    0.5714
    >>> round(prediction_rejection_ratio(correct, confidence, max_rejection=0.5), 4)
    1.0
    """
    if not 0.0 < max_rejection <= 1.0:
        raise ValueError(f"max_rejection must lie in (0, 1], got {max_rejection}")
    right, stated, weighting = trials(correct, confidence, weights, binary=True)
    total = weighting.total
    rejected = np.floor(max_rejection * total)
    never_rejected = total - rejected
    area, oracle = (_mean_accuracy(right, by, weighting, never_rejected) for by in (stated, right))
    accuracy = weighting.mean(right)
    one_class = (accuracy == 0.0) | (accuracy == 1.0)
    ratios = np.minimum(ratio(area - accuracy, np.where(one_class, 0.0, oracle - accuracy)), 1.0)
    return weighting.settle(ratios, (one_class, Reason.ONE_CLASS), (rejected < 2.0, Reason.TOO_FEW))


def _ranked(correct: FloatArray, confidence: FloatArray, weighting: Weighting) -> _Ranking:
    groups = tied(-confidence, weighting, correct)
    counts, right = groups.counts, groups.sums[0]
    up_to = np.cumsum(counts, axis=1)
    return _Ranking(counts, right, up_to, up_to - counts, np.cumsum(right, axis=1) - right)


def _mean_accuracy(
    correct: FloatArray, confidence: FloatArray, weighting: Weighting, above: FloatArray | None = None
) -> FloatArray:
    """Mean accuracy of the m most confident trials over m = above + 1 .. n, shape (R,); see the notes of :func:`auarc`.

    ``above`` has shape (R,) and is 0 by default.
    """
    ranking = _ranked(correct, confidence, weighting)
    accuracy = ratio(ranking.right, ranking.counts, otherwise=0.0)
    debt = ranking.right_before - ranking.before * accuracy
    if above is None:
        rise = np.diff(_harmonic(ranking.up_to), axis=1, prepend=0.0)
        return ratio(ranking.right.sum(axis=1) + np.einsum("rg,rg->r", debt, rise), weighting.total)
    first = np.clip(above[:, np.newaxis], ranking.before, ranking.up_to)
    rise = _harmonic(ranking.up_to) - _harmonic(first)
    summed = (accuracy * (ranking.up_to - first) + debt * rise).sum(axis=1)
    return ratio(summed, weighting.total - above)


def _harmonic(n: FloatArray) -> FloatArray:
    """Return harmonic numbers, from a table where all arguments are whole and not too large."""
    whole = n.astype(np.intp)
    if n.size and n.max() <= _LARGEST_TABLE and np.array_equal(whole, n):
        table = np.asarray(scipy.special.digamma(np.arange(whole.max() + 1) + 1.0)) + np.euler_gamma
        return table[whole]
    return np.asarray(scipy.special.digamma(n + 1.0)) + np.euler_gamma
