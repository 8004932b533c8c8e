"""Selective prediction: accuracy of the most confident answers, averaged over the orderings of tied trials."""

from __future__ import annotations

from collections.abc import Callable
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

_MAX_TABULATED = 1 << 22
"""Largest argument up to which harmonic numbers are tabulated."""


@dataclass(frozen=True, slots=True)
class RiskCoverageCurve:
    """Risk of answering only the m most confident questions, for m = 1, ..., n.

    Attributes
    ----------
    coverage : ndarray, shape (n,)
        Proportion of questions answered, m / n.
    risk : ndarray, shape (n,)
        Proportion of wrong answers among them, averaged over the orderings of tied trials.
    threshold : ndarray, shape (n,)
        Confidence of the m-th question.
    """

    coverage: FloatArray
    risk: FloatArray
    threshold: FloatArray

    @property
    def accuracy(self) -> FloatArray:
        """Proportion of right answers among those given, 1 - risk."""
        return 1.0 - self.risk


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Weights of trials by distinct confidence, in descending order; each array has shape (R, g)."""

    counts: FloatArray
    right: FloatArray
    up_to: FloatArray  # trials of at least this confidence
    above: FloatArray  # trials of higher confidence
    right_above: FloatArray


def auarc(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    r"""Compute the area under the accuracy-rejection curve.

    The result is the mean over m = 1, ..., n of the accuracy of the m most confident trials. It is averaged exactly
    over the orderings of tied trials, so it does not depend on the order of the rows.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`~confidence_tasks.statistics.ece`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]. Equals the accuracy if confidence is constant, and exceeds it if right answers tend to have a higher
        confidence than wrong ones. NaN without trials.

    Notes
    -----
    Let t trials with accuracy a be tied, and let M trials, of which C are right, have a higher confidence. Averaged
    over orderings, C + (m - M) a of the m most confident trials are right, for m = M + 1, ..., M + t. The sum over
    these m of their accuracy is :math:`t a + (C - M a)(H_{M+t} - H_M)`, where H are harmonic numbers. So the
    computation needs one term per distinct confidence. For fractional weights, H is interpolated.

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
    return weighting.settle(_mean_selective_accuracy(right, stated, weighting))


def aurc(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the area under the risk-coverage curve, 1 minus :func:`auarc`.

    Arguments and shapes are those of :func:`auarc`. The result lies in [0, 1]; lower is better. It is NaN without
    trials.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers, arXiv:1805.08206.

    Examples
    --------
    >>> aurc([1, 0], [0.9, 0.1])
    0.25
    """
    right, stated, weighting = trials(correct, confidence, weights)
    return weighting.settle(1.0 - _mean_selective_accuracy(right, stated, weighting))


def accuracy_at_coverage(
    correct: ArrayLike, confidence: ArrayLike, *, coverage: float, weights: Weights = None
) -> Result:
    """Compute the accuracy of a given proportion of most confident trials, averaged over the orderings of tied trials.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`auarc`.
    coverage : float
        Proportion of trials answered, in (0, 1]. If this is not a whole number of trials, the last trial counts
        fractionally.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; NaN without trials. At coverage 1, the overall accuracy.

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
    n_answered = coverage * weighting.total
    if not stated.size:
        return weighting.settle(np.full(len(n_answered), np.nan))
    order = np.argsort(stated, kind="stable")
    right_ranks = np.flatnonzero(right[order])
    right_order = order[right_ranks]
    up_to, right_up_to = weighting.up_to(order), weighting.up_to(right_order)
    if (right % 1.0).any():
        right_up_to = running_sums(take(weighting.rows, right_order) * right[right_order])
    # Some of the trials tied at the threshold are answered; each of them counts by the proportion answered.
    n_rejected = first_beyond(up_to, (weighting.total - n_answered)[:, np.newaxis])
    threshold = stated[order[np.minimum(n_rejected, len(order) - 1)]]
    positions = np.hstack([np.searchsorted(stated[order], threshold, side) for side in ("left", "right")])
    _, tied_weight, above = between(up_to, positions).T
    _, tied_right, right_above = between(right_up_to, np.searchsorted(right_ranks, positions)).T
    tied_answered = np.minimum(n_answered - above, tied_weight)
    right_answered = right_above + tied_answered * ratio(tied_right, tied_weight, otherwise=0.0)
    return weighting.settle(ratio(right_answered, n_answered))


def risk_coverage_curve(correct: ArrayLike, confidence: ArrayLike) -> RiskCoverageCurve:
    """Compute the risk-coverage curve, averaged exactly over the orderings of tied trials.

    Arguments are those of :func:`auarc`; for the source see :func:`accuracy_at_coverage`. The curve has one point per
    trial, and the mean of its risk is :func:`aurc`.

    Examples
    --------
    >>> curve = risk_coverage_curve([1, 1, 0, 0], [0.9, 0.8, 0.8, 0.1])
    >>> curve.coverage, curve.risk
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.        , 0.25      , 0.33333333, 0.5       ]))
    """
    right, stated, weighting = trials(correct, confidence, None)
    ranking = _rank_by_confidence(right, stated, weighting)
    sizes = ranking.counts[0].astype(np.intp)
    n_answered = np.arange(1.0, right.shape[0] + 1.0)
    above, right_above, accuracy = (
        np.repeat(column, sizes)
        for column in (ranking.above[0], ranking.right_above[0], ranking.right[0] / ranking.counts[0])
    )
    risk = 1.0 - (right_above + (n_answered - above) * accuracy) / n_answered
    return RiskCoverageCurve(n_answered / max(right.shape[0], 1), risk, np.sort(stated)[::-1])


def prediction_rejection_ratio(
    correct: ArrayLike, confidence: ArrayLike, *, max_rejection: float = 1.0, weights: Weights = None
) -> Result:
    r"""Compute the prediction rejection ratio: the gain over random rejection, relative to that of an ideal ranking.

    The ratio is :math:`(A - A_{random}) / (A_{oracle} - A_{random})`, where A is the mean over m = n - k + 1, ..., n of
    the accuracy of the m most confident trials, that is, after the rejection of 0 to k - 1 trials. The oracle rejects
    wrong answers first.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence, weights
        As in :func:`auarc`.
    max_rejection : float, default 1.0
        Largest proportion of trials that may be rejected, in (0, 1]; k is ``max_rejection * n``, rounded down.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        1 if every right answer has a higher confidence than every wrong one, 0 if confidence is uninformative, below 0
        if it is misleading. NaN without trials, if all answers are right or all wrong, or if k is less than 2.

    Notes
    -----
    This is the definition of lm-polygraph, with expected values in place of random draws: ties are averaged over their
    orderings, as in :func:`auarc`, and a random ranking has its expected area, which is the accuracy.

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
    n_rejected = np.floor(max_rejection * total)
    start = total - n_rejected
    area, oracle = (_mean_selective_accuracy(right, ranking, weighting, start) for ranking in (stated, right))
    accuracy = weighting.mean(right)
    one_class = (accuracy == 0.0) | (accuracy == 1.0)
    ratios = np.minimum(ratio(area - accuracy, np.where(one_class, 0.0, oracle - accuracy)), 1.0)
    return weighting.settle(ratios, (one_class, Reason.ONE_CLASS), (n_rejected < 2.0, Reason.TOO_FEW))


def _ranked(
    correct: FloatArray, confidence: FloatArray, weighting: Weighting
) -> tuple[FloatArray, FloatArray]:
    """Return the weights of all trials and of right ones by distinct confidence, in descending order, (R, g) each.

    Several measures of the same trials share them.
    """

    def rank() -> tuple[FloatArray, FloatArray]:
        groups = tied(-confidence, weighting, correct)
        return groups.counts, groups.sums[0]

    return weighting.once(("ranked", correct.tobytes(), confidence.tobytes()), rank)


def _rank_by_confidence(correct: FloatArray, confidence: FloatArray, weighting: Weighting) -> _Ranking:
    counts, right = _ranked(correct, confidence, weighting)
    up_to = np.cumsum(counts, axis=1)
    return _Ranking(counts, right, up_to, up_to - counts, np.cumsum(right, axis=1) - right)


def _mean_selective_accuracy(
    correct: FloatArray, confidence: FloatArray, weighting: Weighting, start: FloatArray | None = None
) -> FloatArray:
    """Average the accuracy of the m most confident trials over m = start + 1, ..., n; see :func:`auarc`.

    ``start`` and the result have shape (R,); by default ``start`` is 0. Several measures share the result.
    """
    first = np.zeros(len(weighting.total)) if start is None else start

    def average() -> FloatArray:
        summed = _sum_of_accuracy(*_ranked(correct, confidence, weighting), first)
        return ratio(summed, weighting.total - first)

    return weighting.once(("selective", correct.tobytes(), confidence.tobytes(), first.tobytes()), average)


def _sum_of_accuracy(counts: FloatArray, right: FloatArray, start: FloatArray) -> FloatArray:
    """Sum the accuracy of the m most confident trials over m = start + 1, ..., n, given a ranking (R, g).

    The sums run over a part of the distinct confidences at a time, which fits into the cache.
    """
    n_rows, n_distinct = counts.shape
    harmonic = _harmonic_numbers(counts, start)
    summed, above, right_above = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    step = max(1, _CACHED // max(n_rows, 1))
    for begin in range(0, n_distinct, step):
        part = slice(begin, begin + step)
        up_to = running_sums(counts[:, part])
        up_to += above[:, np.newaxis]
        right_up_to = running_sums(right[:, part])
        right_up_to += right_above[:, np.newaxis]
        if (up_to[:, -1] > start).any():
            before = up_to - counts[:, part]
            first = np.clip(start[:, np.newaxis], before, up_to)
            accuracy = ratio(right[:, part], counts[:, part], otherwise=0.0)
            surplus = right_up_to - right[:, part] - before * accuracy
            terms = accuracy * (up_to - first) + surplus * (harmonic(up_to) - harmonic(first))
            summed += terms.sum(axis=1)
        above, right_above = up_to[:, -1], right_up_to[:, -1]
    return summed


_CACHED = 1 << 15
"""Number of entries of an array of which several fit into the cache."""


def _harmonic_numbers(counts: FloatArray, start: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a function that gives harmonic numbers up to sums of weights (R, g), and up to ``start``.

    It looks whole numbers up in a table that is not too large.
    """
    most = counts.sum(axis=1).max(initial=0.0)
    if most > _MAX_TABULATED or not all(np.array_equal(each, np.trunc(each)) for each in (counts, start)):
        return _interpolated
    table = _interpolated(np.arange(int(most) + 1.0))
    return lambda n: table.take(n.astype(np.intp))


def _interpolated(n: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.digamma(n + 1.0)) + np.euler_gamma
