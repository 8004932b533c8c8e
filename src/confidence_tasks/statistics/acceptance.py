"""Thresholds of confidence above which answers are accepted, with a guarantee of their accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    BoolArray,
    Estimate,
    FloatArray,
    Reason,
    as_binary,
    as_probability,
    check_level,
    check_seed,
    label_index,
    same_length,
    undefined,
)
from confidence_tasks.statistics.inference.weights import Seed

__all__ = [
    "Acceptance",
    "AcceptanceCurve",
    "acceptance_curve",
    "acceptance_threshold",
    "fewest_answers",
    "threshold_of_share",
]

FIRST_SHARE = 5
"""The first threshold that is tested accepts at least one answer in this many."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Answers that are accepted because their confidence is at or above a threshold.

    Attributes
    ----------
    threshold : Estimate
        Lowest accepted confidence, in [0, 1]; NaN with a reason if there is none.
    share : Estimate
        Proportion of questions whose answer is accepted.
    accuracy : Estimate
        Proportion of right answers among the accepted ones.
    low : Estimate
        Exact one-sided lower bound of this accuracy at the level, for a threshold that is fixed in advance.
    n_accepted, n : int
        Number of questions whose answer is accepted, and of all questions.
    level : float
        Probability with which the guarantee holds.
    """

    threshold: Estimate
    share: Estimate
    accuracy: Estimate
    low: Estimate
    n_accepted: int
    n: int
    level: float


def acceptance_threshold(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    accuracy: float,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
    seed: Seed = 0,
) -> Acceptance:
    """Find the lowest confidence at and above which answers have a required accuracy, with a guarantee.

    With a probability of at least ``level``, the accuracy of all answers of the population at or above the threshold is
    at least ``accuracy``, or no threshold is returned.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    accuracy : float
        Required accuracy of accepted answers, in (0, 1).
    level : float, default 0.95
        Probability with which the guarantee holds, in (0, 1).
    clusters : array_like, shape (n,), optional
        Label of the question of each trial. Questions, not trials, are independent, so one trial of each question is
        drawn at random. By default every trial is a question of its own.
    seed : int or numpy.random.Generator, default 0
        Seed of this draw.

    Returns
    -------
    Acceptance
        The threshold is NaN if there are no trials, if even answers that are all right would be too few, or if no
        threshold reaches the accuracy.

    Raises
    ------
    ValueError
        If an argument is out of range, or correctness is not 0 or 1.

    Notes
    -----
    The distinct confidences are tested from the top, each by the exact binomial bound of Clopper and Pearson, until a
    bound is below ``accuracy``. The threshold is the last that passed. As the order is fixed, no correction for the
    number of tests is needed. The first test is at the highest confidence that accepts one answer in five, and enough
    answers for the bound to reach the accuracy if all are right. This start depends on the confidences only. Given
    these, the guarantee is exact for the average accuracy of the accepted confidences (Hoeffding 1956); for the
    population it is exact if a lower confidence has no higher accuracy.

    References
    ----------
    Angelopoulos et al. (2021), Learn then test: calibrating predictive algorithms to achieve risk control,
    arXiv:2110.01052. Bates et al. (2021), Distribution-free, risk-controlling prediction sets, arXiv:2101.02703.
    Clopper & Pearson (1934), doi:10.1093/biomet/26.4.404. Hoeffding (1956), doi:10.1214/aoms/1177728178.

    Examples
    --------
    >>> confidence = np.repeat([0.95, 0.8, 0.6], 200)
    >>> correct = np.tile([1] * 39 + [0], 15)
    >>> correct[400:] = np.tile([1, 0], 100)
    >>> found = acceptance_threshold(correct, confidence, accuracy=0.9)
    >>> found.threshold, round(found.share, 3), round(found.accuracy, 3), round(found.low, 3)
    (0.8, 0.667, 0.975, 0.958)
    """
    return acceptance_curve(correct, confidence, level=level, clusters=clusters, seed=seed).guaranteed(
        accuracy
    )


def fewest_answers(accuracy: float, *, level: float = 0.95) -> int:
    """Return the smallest number of accepted answers that can show an accuracy: that many, all of them right.

    Parameters are those of :func:`acceptance_threshold`.

    Examples
    --------
    >>> fewest_answers(0.9), fewest_answers(0.95), fewest_answers(0.99)
    (29, 59, 299)
    """
    check_level(level)
    if not 0.0 < accuracy < 1.0:
        raise ValueError(f"accuracy must lie in (0, 1), got {accuracy}")
    return math.ceil(math.log1p(-level) / math.log(accuracy))


def threshold_of_share(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    share: float,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
    seed: Seed = 0,
) -> Acceptance:
    """Find the highest confidence that accepts a given share of answers, and a lower bound of their accuracy.

    Parameters
    ----------
    correct, confidence, level, clusters, seed
        As in :func:`acceptance_threshold`.
    share : float
        Proportion of answers to accept, in (0, 1]; at least this many are accepted.

    Returns
    -------
    Acceptance
        With a probability of at least ``level``, the accuracy of accepted answers is at least ``low``: the threshold
        depends on the confidences only. NaN without trials.

    Examples
    --------
    >>> found = threshold_of_share([1, 1, 1, 0], [0.9, 0.9, 0.7, 0.2], share=0.5)
    >>> found.threshold, found.n_accepted, round(found.low, 3)
    (0.9, 2, 0.224)
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must lie in (0, 1], got {share}")
    curve = acceptance_curve(correct, confidence, level=level, clusters=clusters, seed=seed)
    if not curve.n:
        return curve.none(Reason.EMPTY)
    return curve.at(np.searchsorted(curve.n_accepted, share * curve.n * (1.0 - 1e-12)))


@dataclass(frozen=True, slots=True)
class AcceptanceCurve:
    """Answers at or above each distinct confidence, from the highest one on.

    Attributes
    ----------
    confidence : ndarray, shape (g,)
        The distinct confidences, in [0, 1], in descending order.
    n_accepted, n_right : ndarray, shape (g,)
        Number of questions whose answer has at least this confidence, and of those that are right.
    low : ndarray, shape (g,)
        Exact one-sided lower bound of the accuracy of these answers, for a confidence that is fixed in advance.
    level : float
        Probability with which a bound holds.
    n : int
        Number of questions.
    """

    confidence: FloatArray
    n_accepted: FloatArray
    n_right: FloatArray
    low: FloatArray
    level: float
    n: int

    @property
    def share(self) -> FloatArray:
        """Proportion of questions whose answer is accepted at each confidence."""
        return self.n_accepted / self.n

    @property
    def accuracy(self) -> FloatArray:
        """Proportion of right answers among the accepted ones at each confidence."""
        return self.n_right / self.n_accepted

    def guaranteed(self, accuracy: float) -> Acceptance:
        """Return what is accepted with a guarantee of an accuracy, as :func:`acceptance_threshold` does."""
        fewest = fewest_answers(accuracy, level=self.level)
        first = np.searchsorted(self.n_accepted, max(fewest, self.n / FIRST_SHARE))
        if first == len(self.n_accepted):
            return self.none(Reason.TOO_FEW if self.n else Reason.EMPTY)
        passed: BoolArray = self.low[first:] >= accuracy
        if not passed[0]:
            return self.none(Reason.NOT_REACHED)
        n_passed = len(passed) if passed.all() else int(np.argmin(passed))
        return self.at(first + n_passed - 1)

    def at(self, index: int | np.intp) -> Acceptance:
        """Return what is accepted from one of the confidences on."""
        return Acceptance(
            Estimate(self.confidence[index]),
            Estimate(self.share[index]),
            Estimate(self.accuracy[index]),
            Estimate(self.low[index]),
            int(self.n_accepted[index]),
            self.n,
            self.level,
        )

    def none(self, reason: Reason) -> Acceptance:
        """Return that nothing is accepted."""
        missing = undefined(reason)
        return Acceptance(missing, Estimate(0.0), missing, missing, 0, self.n, self.level)


def acceptance_curve(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
    seed: Seed = 0,
) -> AcceptanceCurve:
    """Return how many answers each threshold of confidence accepts, and how many of these are right.

    Parameters
    ----------
    correct, confidence, level, clusters, seed
        As in :func:`acceptance_threshold`.

    Returns
    -------
    AcceptanceCurve
        The curve of one trial of each question. Its highest accuracy is no guarantee: see
        :func:`acceptance_threshold`.

    Raises
    ------
    ValueError
        If an argument is out of range, or correctness is not 0 or 1.

    Examples
    --------
    >>> curve = acceptance_curve([1, 1, 1, 0], [0.9, 0.9, 0.7, 0.2])
    >>> curve.confidence, curve.share, curve.accuracy
    (array([0.9, 0.7, 0.2]), array([0.5 , 0.75, 1.  ]), array([1.  , 1.  , 0.75]))
    """
    check_level(level)
    check_seed(seed)
    right, stated = as_binary(correct, "correct"), as_probability(confidence, "confidence")
    n_trials = same_length(correct=right, confidence=stated)
    question = label_index(clusters, "clusters", n_trials)
    shuffled = np.random.default_rng(seed).permutation(n_trials)
    drawn = shuffled[np.unique(question[shuffled], return_index=True)[1]]
    values, group = np.unique(-stated[drawn], return_inverse=True)
    counts, rights = np.zeros((2, len(values)))
    np.add.at(counts, group, 1.0)
    np.add.at(rights, group, right[drawn])
    accepted, hits = np.cumsum(counts), np.cumsum(rights)
    return AcceptanceCurve(-values, accepted, hits, _lower_bounds(hits, accepted, level), level, len(drawn))


def _lower_bounds(hits: FloatArray, n: FloatArray, level: float) -> FloatArray:
    """Return the one-sided bounds of Clopper and Pearson; 0 without a hit."""
    bounds = scipy.special.betaincinv(np.maximum(hits, 1.0), n - hits + 1.0, 1.0 - level)
    return np.where(hits > 0.0, bounds, 0.0)
