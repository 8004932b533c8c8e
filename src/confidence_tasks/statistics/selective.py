"""Selective prediction: accuracy of the most confident answers, averaged over the orderings of tied trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

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
"""Largest number of trials for which a function of it is tabulated."""


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
    """Trials by ascending confidence, cut at E edges into ranges of equal accuracy.

    Trials outside the edges are wrong. A range holds tied trials alone if some of them are right and some are wrong.
    """

    below: NDArray[Any]  # (R, E) weight of the trials below each edge
    accuracy: FloatArray  # (E - 1,) of the trials between two edges; 0 where it depends on the weights
    mixed: NDArray[np.intp]  # (k,) ranges where it does
    mixed_accuracy: FloatArray  # (R, k) of these ranges


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
    Let k trials have at least some confidence, of which t trials with accuracy a have no higher one. Averaged over
    orderings, the latter give :math:`a (\min(k, m) - \min(k - t, m))` right answers among the m most confident trials.
    So they add :math:`a (F(k) - F(k - t))` to the sum of the accuracies, where :math:`F(k) = \sum_m \min(k, m) / m =
    k + k (H_n - H_k)` and H are harmonic numbers: the computation needs one term per distinct confidence. For
    fractional weights, H is interpolated.

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
    groups = tied(-stated, weighting, right)
    counts, right_counts, group = groups.counts[0], groups.sums[0][0], np.sort(groups.index)
    above, right_above = np.cumsum(counts) - counts, np.cumsum(right_counts) - right_counts
    n_answered = np.arange(1.0, right.shape[0] + 1.0)
    accuracy = (right_counts / counts)[group]
    risk = 1.0 - (right_above[group] + (n_answered - above[group]) * accuracy) / n_answered
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


def _mean_selective_accuracy(
    correct: FloatArray, confidence: FloatArray, weighting: Weighting, start: FloatArray | None = None
) -> FloatArray:
    """Average the accuracy of the m most confident trials over m = start + 1, ..., n; see :func:`auarc`.

    ``start`` and the result have shape (R,); by default ``start`` is 0. Several measures share the result.
    """
    first = np.zeros(len(weighting.total)) if start is None else start
    trials_of = (correct.tobytes(), confidence.tobytes())

    def average() -> FloatArray:
        ranking = weighting.once(("ranking", *trials_of), lambda: _ranking(correct, confidence, weighting))
        return ratio(_sum_of_accuracy(ranking, weighting.total, first), weighting.total - first)

    return weighting.once(("selective", *trials_of, first.tobytes()), average)


def _ranking(correct: FloatArray, confidence: FloatArray, weighting: Weighting) -> _Ranking:
    order = np.argsort(confidence, kind="stable")
    edges = np.flatnonzero(np.diff(confidence[order], prepend=-1.0, append=2.0))
    sizes = np.diff(edges)
    least, most = (extreme.reduceat(correct[order], edges[:-1]) for extreme in (np.minimum, np.maximum))
    is_mixed = least < most
    accuracy = np.where(is_mixed, np.nan, least)
    needed = np.diff(accuracy, prepend=0.0, append=0.0) != 0.0  # true of NaN
    below = _sums_below(weighting.up_to(order), edges[needed])
    accuracy = np.append(accuracy, 0.0)[needed][:-1]
    mixed = np.flatnonzero(np.isnan(accuracy))
    members, starts = order[np.repeat(is_mixed, sizes)], np.cumsum(sizes[is_mixed]) - sizes[is_mixed]
    right = np.add.reduceat(take(weighting.rows, members) * correct[members], starts, axis=1)
    mixed_accuracy = ratio(right, below[:, mixed + 1] - below[:, mixed], otherwise=0.0)
    return _Ranking(below, np.nan_to_num(accuracy), mixed, mixed_accuracy)


def _sums_below(up_to: NDArray[Any], edges: NDArray[np.intp]) -> NDArray[Any]:
    """Return the sums of the first ``edges`` entries of each row, given cumulative sums (R, n)."""
    sums = take(up_to, edges - 1)
    sums[:, edges == 0] = 0
    return sums


def _sum_of_accuracy(ranking: _Ranking, total: FloatArray, start: FloatArray) -> FloatArray:
    """Sum the accuracy of the m most confident trials over m = start + 1, ..., n; see :func:`auarc`."""
    at_edges = _capped_sums(ranking.below, total, start)
    between = at_edges[:, :-1] - at_edges[:, 1:]
    of_mixed = (between[:, ranking.mixed] * ranking.mixed_accuracy).sum(axis=1)
    return np.asarray(between @ ranking.accuracy + of_mixed)


def _capped_sums(below: NDArray[Any], total: FloatArray, start: FloatArray) -> FloatArray:
    """Sum min(k, m) / m over m = start + 1, ..., n, where k of the n trials are above an edge; shape (R, E)."""
    most, whole = total.max(initial=0.0), all(map(_is_whole, (below, total, start)))
    if whole and most <= _MAX_TABULATED and (total == most).all() and (start == start[:1]).all():
        n_answered = np.arange(1.0, most + 1.0)
        reciprocals = np.where(n_answered > start[:1], 1.0 / n_answered, 0.0)
        one_more = np.cumsum(reciprocals[::-1])  # what one more trial above adds, if n - 1, ..., 0 are
        table = np.append(np.cumsum(one_more[::-1])[::-1], 0.0)
        return np.asarray(table.take(below.T.astype(np.intp)).T)  # keeps the layout in memory
    above, n, first = total[:, np.newaxis] - below, total[:, np.newaxis], start[:, np.newaxis]
    capped = above * (_harmonic(n) - _harmonic(np.maximum(above, first)))
    return np.asarray(np.maximum(above - first, 0.0) + capped)


def _is_whole(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "u" or np.array_equal(values, np.trunc(values))


def _harmonic(n: FloatArray) -> FloatArray:
    """Return harmonic numbers, interpolated between whole numbers."""
    return np.asarray(scipy.special.digamma(n + 1.0)) + np.euler_gamma
