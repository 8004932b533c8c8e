"""The interval of an expected calibration error, by inverting a test: absolute values make the estimate too high."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.binning import Binning, Bins, Edges
from confidence_tasks.statistics.core import (
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    label_index,
    undefined,
)
from confidence_tasks.statistics.inference.limits import accepted, limits_over_questions
from confidence_tasks.statistics.inference.weights import ratio, trials
from confidence_tasks.statistics.numerics import folded_normal_mean

_PRIOR = 1.0
"""Answers added to each bin for its variance, right as often as stated: a bin without errors has a variance too."""

_LEAST_ERROR = 1e-9
"""Least standard error, used where confidence 1 leaves no room for a wrong answer."""

_ROUNDING = 1e-12
"""Tolerance up to which differences of means, and ratios of variances, are 0."""

_N_TRIED = 65
"""Number of ECEs that are tried at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTrials:
    """The bins of an ECE, or of a mean of ECEs, that hold trials: all that its interval needs.

    Attributes
    ----------
    count, right, confidence, scatter : ndarray, shape (B,)
        Number of trials, their sums of correctness and confidence, and the sum of squared deviations of confidence
        from its mean.
    size : ndarray, shape (B,)
        Trials in all bins of the same ECE.
    share : ndarray, shape (B,)
        Weight of that ECE in the mean.
    part : ndarray of int, shape (B,)
        Number of that ECE.
    dispersion : ndarray, shape (B,)
        Variance of its gaps, over what independent right and wrong answers would have.
    dependence : float
        Variance of the mean of ECEs, over what independent ECEs would have.
    """

    count: FloatArray
    right: FloatArray
    confidence: FloatArray
    scatter: FloatArray
    size: FloatArray
    share: FloatArray
    part: IntArray
    dispersion: FloatArray
    dependence: float = 1.0

    @classmethod
    def of(
        cls,
        correct: ArrayLike,
        confidence: ArrayLike,
        *,
        bins: int = 10,
        binning: Binning = "equal_width",
        edges: Edges = "right_closed",
        questions: ArrayLike | None = None,
    ) -> Self:
        """Sort trials into bins, as :func:`ece_interval` takes them."""
        right, stated, _ = trials(correct, confidence, None)
        n = len(right)
        unit = label_index(questions, "questions", n)
        held, index = np.unique(Bins(bins, binning, edges).numbers(stated), return_inverse=True)
        one = np.ones(len(held))

        def summed(column: FloatArray) -> FloatArray:
            return np.bincount(index, column, len(held)).astype(np.float64, copy=False)

        count, sum_right, sum_stated = summed(np.ones(n)), summed(right), summed(stated)
        apart = stated - (sum_stated / count)[index]
        whole = cls(
            count=count,
            right=sum_right,
            confidence=sum_stated,
            scatter=summed(apart * apart),
            size=n * one,
            share=one,
            part=np.zeros(len(held), np.int64),
            dispersion=one,
        )
        gap = (sum_stated - sum_right) / count
        n_questions, squares = _over_questions(stated - right - gap[index], index, unit)
        # The mean of a bin follows its questions the more closely the fewer they are; a single one shows no variance.
        several = n_questions > 1.0
        found = ratio(squares, n_questions - 1.0, otherwise=0.0)
        expected = (whole._variance(sum_right / count) + found)[several].sum()
        seen = (squares + found)[several].sum()
        if np.isin(right, (0.0, 1.0)).all():
            # Answers that are all right do not show how answers to one question depend on each other. One question is
            # added whose answers are all equal, and right as often as stated.
            of_question = count / n_questions
            stated_variance = n_questions / max(n_questions.sum(), 1.0) * _bernoulli(sum_stated / count)
            expected += (of_question * stated_variance).sum()
            seen += (of_question**2 * stated_variance).sum()
            unknown = n / max(n_questions.sum(), 1.0)
        else:
            unknown = 1.0
        return replace(whole, dispersion=one * float(seen / expected if expected > 0.0 else unknown))

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Join the bins of several ECEs that are averaged."""
        columns = ("count", "right", "confidence", "scatter", "size", "dispersion")
        number = np.repeat(np.arange(len(parts)), [len(part.count) for part in parts])
        return cls(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in columns},
            share=np.full(len(number), 1.0 / len(parts)),
            part=number,
            dependence=dependence,
        )

    @property
    def estimate(self) -> float:
        """The ECE."""
        return float(np.abs(self._gaps()).sum())

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the limits of the interval; NaN with a reason for fewer than two trials, and where nothing varies."""
        if not self.count.sum() >= 2.0:
            reason = Reason.TOO_FEW if len(self.count) else Reason.EMPTY
            return undefined(reason), undefined(reason)
        if (self.dispersion <= _ROUNDING).all():
            return undefined(Reason.CONSTANT), undefined(Reason.CONSTANT)
        reach = float(scipy.special.ndtri((1.0 + level) / 2.0))
        paths = self._paths()
        ends = np.array([self._ece(path, self._accepted(path, reach)) for path in paths])
        high = max(ends[:, 1].max(), self._high_of_opposite(-paths[0], reach))
        return Estimate(ends[:, 0].min()), Estimate(high)

    def _accepted(self, path: FloatArray, reach: float) -> FloatArray:
        """Return the limits, (2,), of the part of a path that the test accepts."""
        return np.array(accepted(partial(self._distance, path), reach, _N_TRIED))

    def _distance(self, path: FloatArray, positions: FloatArray) -> FloatArray:
        """Return how many standard errors the estimate lies above its mean at positions (T,) on a path."""
        mean, error = self._moments(path, positions)
        away: FloatArray = (self.estimate - mean) / np.maximum(error, _LEAST_ERROR)
        return away

    def _high_of_opposite(self, path: FloatArray, reach: float) -> float:
        """Return the upper limit along a path whose gaps have the opposite signs.

        Neither the sum of absolute gaps nor the sum of gaps with the signs of the path may be too far away.
        """

        def distance(positions: FloatArray) -> FloatArray:
            true = self._true(path, positions)
            error = np.sqrt(self.dependence * (self._errors(true) ** 2).sum(axis=1))
            signed = -(self.estimate + np.abs(true).sum(axis=1)) / np.maximum(error, _LEAST_ERROR)
            return np.asarray(np.minimum(signed, self._distance(path, positions)))

        return float(self._ece(path, np.array(accepted(distance, reach, _N_TRIED)))[1])

    def _paths(self) -> list[FloatArray]:
        """Gaps of an ECE of 1, of which those of any other ECE are a multiple.

        Gaps as seen differ more from each other than true ones do, and their posterior means less (Louis 1984).
        """
        seen = self._gaps()
        alike = self.count * self.share / self.size
        common = seen.sum() * alike
        chance = ratio((seen - common) ** 2, self._error(self.right / self.count) ** 2, otherwise=0.0).sum()
        kept = max(1.0 - (len(seen) - 1) / chance, 0.0) if chance > 0.0 else 0.0
        paths = [path for path in (seen, common + kept * (seen - common)) if path.any()]
        if not paths:  # to where there is most room
            paths = [np.where(self.confidence < self.count / 2.0, -alike, alike)]
        return [path / np.abs(path).sum() for path in paths]

    def _true(self, path: FloatArray, positions: FloatArray) -> FloatArray:
        """Return the true gaps, (T, B), at some positions on a path: no accuracy lies outside [0, 1]."""
        weight = self.share / self.size
        gaps: FloatArray = np.clip(
            positions[:, np.newaxis] * path, weight * (self.confidence - self.count), weight * self.confidence
        )
        return gaps

    def _ece(self, path: FloatArray, positions: FloatArray) -> FloatArray:
        """Return the true ECE at some positions on a path."""
        total: FloatArray = np.abs(self._true(path, positions)).sum(axis=1)
        return total

    def _moments(self, path: FloatArray, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the standard deviation of the estimate in samples from some positions on a path."""
        true = self._true(path, positions)
        error = self._errors(true)
        mean = folded_normal_mean(true, error)
        variance = np.maximum(true**2 + error**2 - mean**2, 0.0).sum(axis=1) + self._variance_of_shares(true)
        return mean.sum(axis=1), np.sqrt(self.dependence * variance)

    def _variance_of_shares(self, gaps: FloatArray) -> FloatArray:
        """Return the part of the variance of the ECE that is due to random numbers of trials in the bins."""
        in_part = self.part[:, np.newaxis] == np.arange(self.part[-1] + 1)
        size = in_part.T @ self.size / in_part.sum(axis=0)
        of_part: FloatArray = np.abs(gaps) @ in_part
        variance: FloatArray = (gaps**2 / self.count).sum(axis=1) - (of_part**2 / size).sum(axis=1)
        return np.maximum(variance, 0.0)

    def _gaps(self) -> FloatArray:
        apart = self.confidence - self.right
        return np.where(abs(apart) <= _ROUNDING * self.count, 0.0, apart) * self.share / self.size

    def _errors(self, gaps: FloatArray) -> FloatArray:
        """Return the standard errors of the gaps where these are the true gaps."""
        return self._error((self.confidence - gaps * self.size / self.share) / self.count)

    def _error(self, accuracy: FloatArray) -> FloatArray:
        """Return the standard errors of the gaps where the bins have this accuracy."""
        stated = self.confidence / self.count
        likely = (self.count * np.clip(accuracy, 0.0, 1.0) + _PRIOR * stated) / (self.count + _PRIOR)
        return self.share / self.size * np.sqrt(self.dispersion * self._variance(likely))

    def _variance(self, accuracy: FloatArray) -> FloatArray:
        """Return the variance of the sums of confidence minus correctness in the bins at this accuracy."""
        return self.count * _bernoulli(accuracy) + self.scatter


def ece_interval(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    questions: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[Estimate, Estimate]:
    r"""Compute an interval for the expected calibration error.

    It holds every ECE from which the estimate is no further than chance allows. For each, the gaps of the bins are
    those seen, stretched or shrunk together until they have this ECE, or else those seen less what chance adds to their
    differences: whichever lets the interval reach further. No bin is right less than never or more than always. Each
    gap is then seen with a normal error; the mean and variance of the sum of their absolute values are those of folded
    normal distributions. The estimate is thus compared with what it would be on average, which is more than the truth,
    and never has to be corrected for it. Gaps of the opposite signs are held as far as the sum of the gaps with
    their signs allows, too.

    Parameters
    ----------
    correct, confidence, bins, binning, edges
        As in :func:`~confidence_tasks.statistics.ece`.
    questions : array_like, shape (n,), optional
        Which question each trial asked, by any labels, where one was asked several times. By default each trial is a
        question of its own.
    level : float, default 0.95
        Nominal coverage, in (0, 1).

    Returns
    -------
    tuple of Estimate
        Lower and upper end, in [0, 1]; NaN for fewer than two questions, and where probabilities of being right never
        vary within a bin. The estimate itself can lie above both: that of a calibrated subject is chance alone.

    Notes
    -----
    The variance of a bin is that of right and wrong answers as accurate as the ECE in question has it (a score test),
    and of one more answer that is right as often as stated. It is scaled to the variance that all gaps show together
    between questions, which is less for probabilities of being right, and more for repeated questions. To that variance
    one question is added whose answers are all alike. Where all answers are right, nothing else says how those to one
    question depend on each other, and they count as one answer a question.

    How often 95% intervals hold the truth was simulated for subjects of several kinds, see ``docs/reliability.md``.

    References
    ----------
    Leone, Nelson & Nottingham (1961), The folded normal distribution, doi:10.1080/00401706.1961.10489974. Carpenter
    (1999), Test inversion bootstrap confidence intervals, doi:10.1111/1467-9868.00169, for intervals along a path of
    populations. Louis (1984), doi:10.1080/01621459.1984.10478062, on the spread of posterior means. Roelofs et al.
    (2022), arXiv:2012.08668, on the bias.

    Examples
    --------
    >>> low, high = ece_interval([1, 1, 0, 1, 0, 1, 1, 1] * 25, [0.9, 0.9, 0.9, 0.9, 0.6, 0.6, 0.6, 0.6] * 25)
    >>> round(low, 3), round(high, 3)
    (0.092, 0.209)
    """
    held = BinnedTrials.of(correct, confidence, bins=bins, binning=binning, edges=edges, questions=questions)
    return limits_over_questions(held, questions, level)


def _bernoulli(chance: FloatArray) -> FloatArray:
    """Return the variance of a Bernoulli variable."""
    return np.clip(chance, 0.0, 1.0) * np.clip(1.0 - chance, 0.0, 1.0)


def _over_questions(excess: FloatArray, index: IntArray, unit: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the number of questions of each bin, and the sum over them of their squared summed excess."""
    n_bins = int(index.max(initial=-1)) + 1
    pairs, pair = np.unique(unit * max(n_bins, 1) + index, return_inverse=True)
    of_question, held = np.bincount(pair, excess), pairs % max(n_bins, 1)
    count, squares = np.bincount(held, minlength=n_bins), np.bincount(held, of_question**2, n_bins)
    return count.astype(np.float64), squares.astype(np.float64, copy=False)
