"""Bins of confidence, each edge on the side that its convention says; reliability curve; the interval of an ECE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    check_level,
    check_option,
    label_index,
    same_length,
)
from confidence_tasks.statistics.inference.limits import (
    accepted,
    limits_over_questions,
    no_limits,
    wilson_interval,
)
from confidence_tasks.statistics.inference.weights import (
    Weighting,
    first_beyond,
    ratio,
    running_sums,
    tied,
    trials,
)

Binning: TypeAlias = Literal["equal_width", "equal_mass"]
Edges: TypeAlias = Literal["right_closed", "left_closed", "extra_bin"]

_BLOCK = 1 << 14
EDGE_TOLERANCE = 1e-12
"""A confidence this close to an edge lies on it: 1 - 0.7 and 3 * 0.1 are the decimal 0.3."""

# Which end of a value determines its bin. In bins of equal width a value is a point; in bins of equal mass it extends
# over the ranks of the trials tied at it.
_DECIDING_END: dict[tuple[str, str], Literal["start", "end"]] = {
    ("equal_width", "right_closed"): "end",
    ("equal_width", "left_closed"): "start",
    ("equal_width", "extra_bin"): "start",
    ("equal_mass", "right_closed"): "start",
    ("equal_mass", "left_closed"): "end",
}


@dataclass(frozen=True, slots=True)
class Bins:
    """Partition of [0, 1] into bins; see :func:`~confidence_tasks.statistics.ece`."""

    number: int  # of bins, the extra one not counted
    binning: Binning = "equal_width"
    edges: Edges = "right_closed"

    def __post_init__(self) -> None:
        if isinstance(self.number, bool) or not isinstance(self.number, int | np.integer) or self.number < 1:
            raise ValueError(f"bins must be a whole number above zero, got {self.number!r}")
        check_option("binning", self.binning, get_args(Binning))
        check_option("edges", self.edges, get_args(Edges))
        if (self.binning, self.edges) not in _DECIDING_END:
            raise ValueError('edges="extra_bin" needs binning="equal_width"')

    @property
    def size(self) -> int:
        """Number of bins with the extra one."""
        return int(self.number) + (self.edges == "extra_bin")

    def index(self, start: FloatArray, end: FloatArray) -> NDArray[np.intp]:
        """Bin of each value that reaches from ``start`` to ``end``, both in [0, 1]."""
        if _DECIDING_END[self.binning, self.edges] == "end":
            position = np.ceil((end - EDGE_TOLERANCE) * self.number) - 1.0
        else:
            position = np.floor((start + EDGE_TOLERANCE) * self.number)
        return np.clip(position, 0, self.size - 1).astype(np.intp)

    def numbers(self, confidence: FloatArray) -> NDArray[np.intp]:
        """Bin of each trial, shape (n,)."""
        if self.binning == "equal_width":
            return self.index(confidence, confidence)
        ascending, n = np.sort(confidence), max(len(confidence), 1)
        start, end = (np.searchsorted(ascending, confidence, side) / n for side in ("left", "right"))
        return self.index(start, end)

    def positions(self, ascending: FloatArray, up_to: FloatArray) -> NDArray[np.intp]:
        """Return how many trials come before each inner edge of bins of equal mass, shape (R, number - 1).

        ``ascending`` are confidences in order, ``up_to`` (R, n) the running sums of their weights. These are the
        boundaries of the bins of :meth:`sums`, found by bisection.
        """
        mass = np.arange(1, self.number) / self.number - EDGE_TOLERANCE
        before = first_beyond(up_to, np.outer(mass, up_to[:, -1]).T)
        # Tied trials stay together.
        ends = np.searchsorted(ascending, ascending, side="right")
        return np.asarray(ends[np.minimum(before, len(ascending) - 1)])

    def sums(self, confidence: FloatArray, weighting: Weighting, *columns: FloatArray) -> list[FloatArray]:
        """Weighted sums of columns of shape (n,) within the bins, each of shape (R, size)."""
        if self.binning == "equal_width":
            return self._equal_width_sums(confidence, weighting, columns)
        groups = tied(confidence, weighting, *columns)
        up_to = running_sums(groups.counts)
        total = up_to[:, -1:]
        index = self.index(
            ratio(up_to - groups.counts, total, otherwise=0.0), ratio(up_to, total, otherwise=0.0)
        )
        return [_row_sums(index, self.size, column) for column in groups.sums]

    def _equal_width_sums(
        self, confidence: FloatArray, weighting: Weighting, columns: tuple[FloatArray, ...]
    ) -> list[FloatArray]:
        sums = [np.zeros((weighting.rows.shape[0], self.size)) for _ in columns]
        # By blocks that stay in the cache: memory fresh from the system costs more than this arithmetic.
        for first in range(0, confidence.shape[0], _BLOCK):
            block = slice(first, first + _BLOCK)
            index = self.index(confidence[block], confidence[block])
            part = Weighting(rows := weighting.rows[:, block], weighting.batch, rows)
            for total, column in zip(sums, columns, strict=True):
                total += part.grouped(index, self.size, column[block])
        return sums

    def limits(self, confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper edge of each bin, shape (size,) each; NaN for bins of equal mass without trials."""
        step = np.arange(self.number + 1)
        if self.binning == "equal_width":
            edges = step / self.number
            extra = [1.0] * (self.size - self.number)
            return np.append(edges[:-1], extra), np.append(edges[1:], extra)
        n = confidence.shape[0]
        if n == 0:
            return np.full(self.number, np.nan), np.full(self.number, np.nan)
        # The quantile k / B is the value at rank ceil(n k / B), or one past rank floor(n k / B).
        rank = -(-n * step // self.number) - 1 if self.edges == "right_closed" else n * step // self.number
        edges = np.sort(confidence)[np.clip(rank, 0, n - 1)]
        return edges[:-1], edges[1:]


def _row_sums(index: NDArray[np.intp], size: int, values: FloatArray) -> FloatArray:
    """Sum ``values`` of shape (R, g) within bins that differ from row to row, shape (R, size)."""
    rows = index.shape[0]
    flat = index + size * np.arange(rows)[:, None]
    sums = np.bincount(flat.ravel(), values.ravel(), minlength=rows * size)
    return sums.reshape(rows, size).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """A table with one row per bin; the numbers of an empty bin are NaN.

    Attributes
    ----------
    low, high : ndarray, shape (B,)
        Edges of the bin.
    count : ndarray, shape (B,)
        Number of trials.
    confidence : ndarray, shape (B,)
        Mean confidence.
    accuracy : ndarray, shape (B,)
        Share right.
    accuracy_low, accuracy_high : ndarray, shape (B,)
        Wilson interval of the accuracy.
    consistency_low, consistency_high : ndarray, shape (B,)
        Where the share right falls, at least this often, when the confidence is calibrated.
    level : float
        Nominal coverage of both intervals.
    """

    low: FloatArray
    high: FloatArray
    count: FloatArray
    confidence: FloatArray
    accuracy: FloatArray
    accuracy_low: FloatArray
    accuracy_high: FloatArray
    consistency_low: FloatArray
    consistency_high: FloatArray
    level: float


def reliability_curve(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    level: float = 0.95,
    questions: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Tabulate accuracy against confidence.

    Parameters
    ----------
    correct, confidence, bins, binning, edges
        As in :func:`~confidence_tasks.statistics.ece`. The intervals are those of binary outcomes, and too wide for
        probabilities of being right.
    level, questions
        As in :func:`ece_interval`; for the intervals of each bin.

    Returns
    -------
    ReliabilityCurve
        One row per bin. The gap between accuracy and confidence, weighted by the count, is the ECE.

    Notes
    -----
    The consistency interval runs between the quantiles of a binomial number right at the mean confidence of the bin.
    It is exact for trials of one confidence, and too wide otherwise, as mixed confidences make the number right less
    variable.

    Where a bin holds n(q) trials of each question q, both intervals are those of (sum n(q))^2 / sum n(q)^2 independent
    trials, the number of questions if all have as many. So much are they worth if the trials of a question are all
    right or all wrong; otherwise they are worth more, and the intervals are too wide.

    References
    ----------
    Kish (1965), Survey Sampling, for the number of independent trials.
    Broecker & Smith (2007), Increasing the reliability of reliability diagrams, doi:10.1175/WAF993.1, for the
    consistency interval. Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> curve = reliability_curve([1, 1, 0, 1], [0.9, 0.9, 0.9, 0.5], bins=2)
    >>> curve.count, curve.confidence, curve.accuracy.round(3)
    (array([1., 3.]), array([0.5, 0.9]), array([1.   , 0.667]))
    """
    check_level(level)
    right, stated, weighting = trials(correct, confidence, None)
    partition = Bins(bins, binning, edges)
    sums = partition.sums(stated, weighting, np.ones_like(stated), right, stated)
    count, hits, total = (column[0] for column in sums)
    mean = ratio(total, count)
    low, high = partition.limits(stated)
    question = label_index(questions, "questions", len(stated))
    worth = count if questions is None else independent_trials(question, partition, stated, count)
    worth_right = worth * ratio(hits, count, otherwise=0.0)
    accuracy_limits = wilson_interval(worth_right, worth, level=level)
    consistency_limits = _consistency_limits(mean, worth, level)
    accuracy = ratio(hits, count)
    return ReliabilityCurve(low, high, count, mean, accuracy, *accuracy_limits, *consistency_limits, level)


_ROUNDING = 1e-9
"""Rounding error that a whole number of trials may have."""


def _consistency_limits(
    confidence: FloatArray, n_trials: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles of the accuracy of trials that are right as often as stated."""
    whole, chance = np.floor(n_trials + _ROUNDING), np.clip(confidence, 0.0, 1.0)
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    low, high = (ratio(_binomial_quantile(tail, whole, chance), whole) for tail in tails)
    return low, high


def _binomial_quantile(probability: float, n_trials: FloatArray, chance: FloatArray) -> FloatArray:
    """Return what `scipy.stats.binom.ppf` returns for at least one trial; importing that takes half a second."""
    n = n_trials.astype(np.int64)
    found = np.ceil(scipy.special.bdtrik(probability, n, chance))
    fewer = np.maximum(found - 1.0, 0.0)
    found = np.where(scipy.special.bdtr(fewer, n, chance) >= probability, fewer, found)
    return np.where(chance > 0.0, found, 0.0)


def independent_trials(
    questions: NDArray[Any], partition: Bins, confidence: FloatArray, count: FloatArray
) -> FloatArray:
    """Return the effective number of independent trials of each bin if a question is always right or always wrong."""
    same_length(questions=questions, confidence=confidence)
    distinct, number = np.unique(questions, return_inverse=True)
    # One number for a bin and a question: sorting pairs takes thirty times as long.
    pairs, sizes = np.unique(partition.numbers(confidence) * len(distinct) + number, return_counts=True)
    bins = pairs // max(len(distinct), 1)
    squares = np.bincount(bins, sizes**2, minlength=partition.size).astype(np.float64)
    return ratio(count**2, squares, otherwise=0.0)


def folded_normal_mean(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """E|X| of X ~ N(mean, deviation**2); |mean| where the deviation is 0."""
    distance = np.abs(mean)
    scaled = ratio(distance, deviation)
    spread = np.sqrt(2.0 / np.pi) * deviation * np.exp(-0.5 * scaled**2) + distance * (
        1.0 - 2.0 * scipy.special.ndtr(-scaled)
    )
    return np.where(deviation > 0.0, spread, distance)


_PRIOR = 1.0
"""Answers added to each bin for its variance, right as often as stated: a bin without errors has a variance too."""

_LEAST_ERROR = 1e-9
"""Least standard error, used where confidence 1 leaves no room for a wrong answer."""

_NO_DIFFERENCE = 1e-12
"""Tolerance up to which differences of means, and ratios of variances, are 0."""

_N_TRIED = 65
"""Number of ECEs that are tried at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTrials:
    """The B bins of an ECE, or of a mean of ECEs, that hold trials: all that its interval needs."""

    count: FloatArray  # trials
    right: FloatArray  # sum of their correctness
    confidence: FloatArray  # sum of their confidence
    scatter: FloatArray  # sum of squared deviations of confidence from its mean
    size: FloatArray  # trials in all bins of the same ECE
    share: FloatArray  # weight of that ECE in the mean
    part: IntArray  # number of that ECE
    dispersion: FloatArray  # variance of its gaps, over what independent right and wrong answers would have
    dependence: float = 1.0  # variance of the mean of ECEs, over what independent ECEs would have

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
            return no_limits(Reason.TOO_FEW if len(self.count) else Reason.EMPTY)
        if (self.dispersion <= _NO_DIFFERENCE).all():
            return no_limits(Reason.CONSTANT)
        reach = float(scipy.special.ndtri((1.0 + level) / 2.0))
        paths = self._paths()
        parts = [accepted(partial(self._distance, path), reach, _N_TRIED) for path in paths]
        ends = np.array([self._ece(path, np.array(part)) for path, part in zip(paths, parts, strict=True)])
        high = max(ends[:, 1].max(), self._high_of_opposite(-paths[0], reach))
        return Estimate(ends[:, 0].min()), Estimate(high)

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
        return np.where(abs(apart) <= _NO_DIFFERENCE * self.count, 0.0, apart) * self.share / self.size

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
