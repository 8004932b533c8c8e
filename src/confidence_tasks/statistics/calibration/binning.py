"""Bins of confidence, reliability curves, and the confidence interval of the ECE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.calibration.clustering import Clustering
from confidence_tasks.statistics.core import (
    EDGE_TOLERANCE,
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

_BLOCK_SIZE = 1 << 14

# The end of a value that determines its bin. In bins of equal width, both ends are the value itself; in bins of equal
# mass, a value extends over the ranks of all trials tied at it.
_DETERMINING_END: dict[tuple[str, str], Literal["start", "end"]] = {
    ("equal_width", "right_closed"): "end",
    ("equal_width", "left_closed"): "start",
    ("equal_width", "extra_bin"): "start",
    ("equal_mass", "right_closed"): "start",
    ("equal_mass", "left_closed"): "end",
}


@dataclass(frozen=True, slots=True)
class Bins:
    """Partition of [0, 1] into bins; see :func:`~confidence_tasks.statistics.ece`."""

    number: int  # number of bins, without the extra one
    binning: Binning = "equal_width"
    edges: Edges = "right_closed"

    def __post_init__(self) -> None:
        if isinstance(self.number, bool) or not isinstance(self.number, int | np.integer) or self.number < 1:
            raise ValueError(f"bins must be a whole number above zero, got {self.number!r}")
        check_option("binning", self.binning, get_args(Binning))
        check_option("edges", self.edges, get_args(Edges))
        if (self.binning, self.edges) not in _DETERMINING_END:
            raise ValueError('edges="extra_bin" needs binning="equal_width"')

    @property
    def size(self) -> int:
        """Number of bins, including the extra one."""
        return int(self.number) + (self.edges == "extra_bin")

    def index(self, start: FloatArray, end: FloatArray) -> NDArray[np.intp]:
        """Return the bin of each value that extends from ``start`` to ``end``, both in [0, 1]."""
        if _DETERMINING_END[self.binning, self.edges] == "end":
            position = np.ceil((end - EDGE_TOLERANCE) * self.number) - 1.0
        else:
            position = np.floor((start + EDGE_TOLERANCE) * self.number)
        return np.clip(position, 0, self.size - 1).astype(np.intp)

    def assign(self, confidence: FloatArray) -> NDArray[np.intp]:
        """Return the bin of each trial, shape (n,)."""
        if self.binning == "equal_width":
            return self.index(confidence, confidence)
        ascending, n = np.sort(confidence), max(len(confidence), 1)
        start, end = (np.searchsorted(ascending, confidence, side) / n for side in ("left", "right"))
        return self.index(start, end)

    def inner_edge_positions(self, ascending: FloatArray, up_to: FloatArray) -> NDArray[np.intp]:
        """Return the number of trials below each inner edge of bins of equal mass, shape (R, number - 1).

        ``ascending`` (n,) are the sorted confidences, ``up_to`` (R, n) the running sums of their weights. The bins are
        those of :meth:`sums`; their edges are found by bisection.
        """
        mass = np.arange(1, self.number) / self.number - EDGE_TOLERANCE
        below = first_beyond(up_to, np.outer(mass, up_to[:, -1]).T)
        # Tied trials share a bin.
        ends = np.searchsorted(ascending, ascending, side="right")
        return np.asarray(ends[np.minimum(below, len(ascending) - 1)])

    def sums(self, confidence: FloatArray, weighting: Weighting, *columns: FloatArray) -> list[FloatArray]:
        """Return the weighted sum of each column (n,) in every bin, shape (R, size) each."""
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
        # Blocks that fit in the cache: allocating large temporary arrays would take longer than the arithmetic.
        for first in range(0, confidence.shape[0], _BLOCK_SIZE):
            block = slice(first, first + _BLOCK_SIZE)
            index = self.index(confidence[block], confidence[block])
            block_weighting = Weighting(rows := weighting.rows[:, block], weighting.batch, rows)
            for total, column in zip(sums, columns, strict=True):
                total += block_weighting.grouped(index, self.size, column[block])
        return sums

    def bin_edges(self, confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper edge of each bin, shape (size,) each.

        The edges of bins of equal mass are NaN without trials.
        """
        step = np.arange(self.number + 1)
        if self.binning == "equal_width":
            edges = step / self.number
            extra = [1.0] * (self.size - self.number)
            return np.append(edges[:-1], extra), np.append(edges[1:], extra)
        n = confidence.shape[0]
        if n == 0:
            return np.full(self.number, np.nan), np.full(self.number, np.nan)
        # The quantile k / B is the value of rank ceil(n k / B), or of rank floor(n k / B) + 1 for left-closed bins.
        rank = -(-n * step // self.number) - 1 if self.edges == "right_closed" else n * step // self.number
        edges = np.sort(confidence)[np.clip(rank, 0, n - 1)]
        return edges[:-1], edges[1:]


def _row_sums(index: NDArray[np.intp], size: int, values: FloatArray) -> FloatArray:
    """Sum ``values`` (R, g) by the bins of each row, given as ``index`` (R, g); the result has shape (R, size)."""
    rows = index.shape[0]
    flat = index + size * np.arange(rows)[:, None]
    sums = np.bincount(flat.ravel(), values.ravel(), minlength=rows * size)
    return sums.reshape(rows, size).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """Reliability curve, with one row per bin; values of an empty bin are NaN.

    Attributes
    ----------
    low, high : ndarray, shape (B,)
        Lower and upper edge of the bin.
    count : ndarray, shape (B,)
        Number of trials.
    confidence : ndarray, shape (B,)
        Mean confidence.
    accuracy : ndarray, shape (B,)
        Proportion of right answers.
    accuracy_low, accuracy_high : ndarray, shape (B,)
        Wilson interval of the accuracy.
    consistency_low, consistency_high : ndarray, shape (B,)
        Interval that contains the accuracy of a calibrated subject with probability ``level`` or more.
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
    """Compute the reliability curve: accuracy by bin of confidence.

    Parameters
    ----------
    correct, confidence, bins, binning, edges
        As in :func:`~confidence_tasks.statistics.ece`. The intervals assume binary outcomes and are too wide if
        ``correct`` are probabilities.
    level, questions
        As in :func:`ece_interval`, for the intervals of each bin.

    Returns
    -------
    ReliabilityCurve
        One row per bin. The mean distance of accuracy from confidence, weighted by the counts, is the ECE.

    Notes
    -----
    The limits of the consistency interval are quantiles of the binomial distribution whose probability is the mean
    confidence of the bin. The interval is exact if all confidences in the bin are equal. Otherwise it is too wide, as
    unequal probabilities reduce the variance of the number of right answers.

    If a bin contains n(q) trials of question q, both intervals use the effective number of independent trials
    (sum n(q))^2 / sum n(q)^2, which is the number of questions if all n(q) are equal. This is exact if the answers to
    a question are all right or all wrong. Otherwise the intervals are too wide.

    References
    ----------
    Kish (1965), Survey Sampling, for the effective number of trials.
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
    low, high = partition.bin_edges(stated)
    question = label_index(questions, "questions", len(stated))
    n_effective = count if questions is None else independent_trials(question, partition, stated, count)
    accuracy_limits = wilson_interval(
        n_effective * ratio(hits, count, otherwise=0.0), n_effective, level=level
    )
    consistency_limits = _consistency_limits(mean, n_effective, level)
    accuracy = ratio(hits, count)
    return ReliabilityCurve(low, high, count, mean, accuracy, *accuracy_limits, *consistency_limits, level)


_ROUNDING = 1e-9
"""Tolerance for the rounding error of a whole number of trials."""


def _consistency_limits(
    confidence: FloatArray, n_trials: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return quantiles of the accuracy of trials whose probability of being right is their confidence."""
    whole, p = np.floor(n_trials + _ROUNDING), np.clip(confidence, 0.0, 1.0)
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    low, high = (ratio(_binomial_quantile(tail, whole, p), whole) for tail in tails)
    return low, high


def _binomial_quantile(probability: float, n_trials: FloatArray, p: FloatArray) -> FloatArray:
    """Return `scipy.stats.binom.ppf` for one trial or more, without the half second that importing it takes."""
    n = n_trials.astype(np.int64)
    quantile = np.ceil(scipy.special.bdtrik(probability, n, p))
    lower = np.maximum(quantile - 1.0, 0.0)
    quantile = np.where(scipy.special.bdtr(lower, n, p) >= probability, lower, quantile)
    return np.where(p > 0.0, quantile, 0.0)


def independent_trials(
    questions: NDArray[Any], partition: Bins, confidence: FloatArray, count: FloatArray
) -> FloatArray:
    """Return Kish's effective number of independent trials in each bin.

    It assumes that the answers to a question are all right or all wrong.
    """
    same_length(questions=questions, confidence=confidence)
    distinct, number = np.unique(questions, return_inverse=True)
    # Encode each pair of bin and question as one number: sorting pairs takes thirty times as long.
    pairs, sizes = np.unique(partition.assign(confidence) * len(distinct) + number, return_counts=True)
    bins = pairs // max(len(distinct), 1)
    squares = np.bincount(bins, sizes**2, minlength=partition.size).astype(np.float64)
    return ratio(count**2, squares, otherwise=0.0)


def folded_normal_mean(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return E|X| for X ~ N(mean, deviation**2)."""
    distance = np.abs(mean)
    scaled = ratio(distance, deviation)
    spread = np.sqrt(2.0 / np.pi) * deviation * np.exp(-0.5 * scaled**2) + distance * (
        1.0 - 2.0 * scipy.special.ndtr(-scaled)
    )
    return np.where(deviation > 0.0, spread, distance)


_PRIOR_TRIALS = 1.0
"""Pseudo-trials added to each bin for its variance, with the mean confidence as accuracy.

So the variance of a bin without errors is not 0.
"""

_MIN_STANDARD_ERROR = 1e-9
"""Lower bound of standard errors, which are 0 if confidence is 1 and no answer is wrong."""

_ZERO_TOLERANCE = 1e-12
"""Differences of means and ratios of variances up to this value count as 0."""

_GRID_SIZE = 65
"""Number of positions on a path that are tried at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTrials:
    """Occupied bins of an ECE, or of several ECEs that are averaged: the data from which the interval is computed.

    All arrays have one entry per bin. The gap of a bin is its contribution to the ECE before absolute values are taken,
    (mean confidence - accuracy) * count / size * share.
    """

    count: FloatArray  # number of trials
    right: FloatArray  # sum of correctness
    confidence: FloatArray  # sum of confidence
    scatter: FloatArray  # sum of squared deviations of confidence from its mean
    size: FloatArray  # number of trials in all bins of the same ECE
    share: FloatArray  # weight of this ECE in the mean
    part: IntArray  # index of this ECE
    dispersion: FloatArray  # variance of the gaps relative to that of independent right and wrong answers
    dependence: float = 1.0  # variance of the mean of the ECEs relative to that of independent ECEs
    clustering: Clustering | None = None  # covariance between bins; None if every question has one trial

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
        """Sort trials into bins; the arguments are those of :func:`ece_interval`."""
        right, stated, _ = trials(correct, confidence, None)
        n = len(right)
        question = label_index(questions, "questions", n)
        occupied, index = np.unique(Bins(bins, binning, edges).assign(stated), return_inverse=True)
        ones = np.ones(len(occupied))

        def sum_by_bin(column: FloatArray) -> FloatArray:
            return np.bincount(index, column, len(occupied)).astype(np.float64, copy=False)

        count, sum_right, sum_stated = sum_by_bin(np.ones(n)), sum_by_bin(right), sum_by_bin(stated)
        deviation = stated - (sum_stated / count)[index]
        binned = cls(
            count=count,
            right=sum_right,
            confidence=sum_stated,
            scatter=sum_by_bin(deviation * deviation),
            size=n * ones,
            share=ones,
            part=np.zeros(len(occupied), np.int64),
            dispersion=ones,
        )
        residual = stated - right - ((sum_stated - sum_right) / count)[index]
        n_questions, squares = _squares_over_questions(residual, index, question)
        # As the mean is estimated, the squares are too small by the factor 1 - 1/n. A single question shows no
        # variance.
        several = n_questions > 1.0
        correction = ratio(squares, n_questions - 1.0, otherwise=0.0)
        expected = (binned._variance(sum_right / count) + correction)[several].sum()
        observed = (squares + correction)[several].sum()
        one_question = 0.0 * ones
        if np.isin(right, (0.0, 1.0)).all():
            # If all answers are right, the data do not show how answers to one question depend on each other. So one
            # pseudo-question is added whose answers are all equal, and right with the stated probability.
            per_question = count / n_questions
            one_question = _bernoulli_variance(sum_stated / count)
            stated_variance = n_questions / max(n_questions.sum(), 1.0) * one_question
            expected += (per_question * stated_variance).sum()
            observed += (per_question**2 * stated_variance).sum()
            default = n / max(n_questions.sum(), 1.0)
        else:
            default = 1.0
        return replace(
            binned,
            dispersion=ones * float(observed / expected if expected > 0.0 else default),
            clustering=Clustering.of(residual, index, question, np.sqrt(one_question)),
        )

    @property
    def unknown(self) -> Reason | None:
        """None: an ECE has a value even if it has no interval."""
        return None

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Join the bins of several ECEs that are averaged."""
        columns = ("count", "right", "confidence", "scatter", "size", "dispersion")
        part_index = np.repeat(np.arange(len(parts)), [len(part.count) for part in parts])
        return cls(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in columns},
            share=np.full(len(part_index), 1.0 / len(parts)),
            part=part_index,
            dependence=dependence,
            clustering=Clustering.joined(
                [part.clustering for part in parts], [len(part.count) for part in parts]
            ),
        )

    @property
    def estimate(self) -> float:
        """The ECE, or the mean of the ECEs."""
        return float(np.abs(self._gaps()).sum())

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the limits of the interval; NaN with a reason if there are fewer than two trials or no variance."""
        if not self.count.sum() >= 2.0:
            return no_limits(Reason.TOO_FEW if len(self.count) else Reason.EMPTY)
        if (self.dispersion <= _ZERO_TOLERANCE).all():
            return no_limits(Reason.CONSTANT)
        reach = float(scipy.special.ndtri((1.0 + level) / 2.0))
        if self.clustering:
            reach = float(scipy.special.stdtrit(self.clustering.freedom, (1.0 + level) / 2.0))
        paths = self._paths()
        mean, standard_error = self._moments(paths[0], np.zeros(1))
        # An estimate that is too small for a true ECE of 0 would reject all values, and the interval would be a point.
        observed = max(self.estimate, float(mean[0] - standard_error[0]))
        positions = [
            np.array(accepted(partial(self._distance, observed, path), reach, _GRID_SIZE)) for path in paths
        ]
        ends = np.array([self._true_ece(path, at) for path, at in zip(paths, positions, strict=True)])
        high = max(ends[:, 1].max(), self._opposite_upper_limit(observed, -paths[0], reach))
        return Estimate(ends[:, 0].min()), Estimate(high)

    def _distance(self, observed: float, path: FloatArray, positions: FloatArray) -> FloatArray:
        """Return by how many standard errors an observed ECE exceeds its expectation at positions (T,) on a path."""
        mean, standard_error = self._moments(path, positions)
        distance: FloatArray = (observed - mean) / np.maximum(standard_error, _MIN_STANDARD_ERROR)
        return distance

    def _opposite_upper_limit(self, observed: float, path: FloatArray, reach: float) -> float:
        """Return the upper limit along a path whose gaps have the opposite signs.

        Both the sum of absolute gaps and the sum of gaps, signed as on the path, must be close enough to their
        expectations.
        """

        def distance(positions: FloatArray) -> FloatArray:
            gaps = self._true_gaps(path, positions)
            errors = self._gap_errors(gaps)
            variance = (errors**2).sum(axis=1)
            if self.clustering:
                variance = np.maximum(variance + self.clustering.covariance(errors * np.sign(path)), 0.0)
            standard_error = np.sqrt(self.dependence * variance)
            signed = -(self.estimate + np.abs(gaps).sum(axis=1)) / np.maximum(
                standard_error, _MIN_STANDARD_ERROR
            )
            return np.asarray(np.minimum(signed, self._distance(observed, path, positions)))

        return float(self._true_ece(path, np.array(accepted(distance, reach, _GRID_SIZE)))[1])

    def _paths(self) -> list[FloatArray]:
        """Return the directions of the gaps, normalized to an ECE of 1; the gaps of any other ECE are a multiple.

        The first path has the observed gaps, which vary more than the true ones. The second has their posterior means,
        which vary less (Louis 1984).
        """
        observed = self._gaps()
        weight = self.count * self.share / self.size
        common = observed.sum() * weight
        errors = self._standard_errors(self.right / self.count)
        chi_square = ratio((observed - common) ** 2, errors**2, otherwise=0.0).sum()
        shrinkage = max(1.0 - (len(observed) - 1) / chi_square, 0.0) if chi_square > 0.0 else 0.0
        paths = [path for path in (observed, common + shrinkage * (observed - common)) if path.any()]
        if not paths:  # all gaps are 0: move each accuracy towards the more distant end of [0, 1]
            paths = [np.where(self.confidence < self.count / 2.0, -weight, weight)]
        return [path / np.abs(path).sum() for path in paths]

    def _true_gaps(self, path: FloatArray, positions: FloatArray) -> FloatArray:
        """Return the true gaps (T, B) at positions (T,) on a path, clipped so that accuracies lie in [0, 1]."""
        weight = self.share / self.size
        gaps: FloatArray = np.clip(
            positions[:, np.newaxis] * path, weight * (self.confidence - self.count), weight * self.confidence
        )
        return gaps

    def _true_ece(self, path: FloatArray, positions: FloatArray) -> FloatArray:
        """Return the true ECE at positions (T,) on a path."""
        total: FloatArray = np.abs(self._true_gaps(path, positions)).sum(axis=1)
        return total

    def _moments(self, path: FloatArray, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the standard deviation of the estimate in samples from positions (T,) on a path."""
        gaps = self._true_gaps(path, positions)
        errors = self._gap_errors(gaps)
        mean = folded_normal_mean(gaps, errors)
        variance = np.maximum(gaps**2 + errors**2 - mean**2, 0.0).sum(axis=1) + self._count_variance(gaps)
        if self.clustering:
            added = self.clustering.of_absolute_values(gaps, errors, self._surplus(gaps))
            variance = np.maximum(variance + added, 0.0)
        return mean.sum(axis=1), np.sqrt(self.dependence * variance)

    def _count_variance(self, gaps: FloatArray) -> FloatArray:
        """Return the variance of the estimate that is due to the random numbers of trials in the bins."""
        in_part = self.part[:, np.newaxis] == np.arange(self.part[-1] + 1)
        size = in_part.T @ self.size / in_part.sum(axis=0)
        part_ece: FloatArray = np.abs(gaps) @ in_part
        variance: FloatArray = (gaps**2 / self.count).sum(axis=1) - (part_ece**2 / size).sum(axis=1)
        return np.maximum(variance, 0.0)

    def _surplus(self, gaps: FloatArray) -> FloatArray:
        """Return what a further trial in each bin adds to the sum of absolute gaps, shape (T, B)."""
        in_part = self.part[:, np.newaxis] == np.arange(self.part[-1] + 1)
        per_trial: FloatArray = np.abs(gaps) / self.count - (np.abs(gaps) @ in_part) @ in_part.T / self.size
        return per_trial

    def _gaps(self) -> FloatArray:
        """Return the observed gaps."""
        gap = self.confidence - self.right
        return np.where(abs(gap) <= _ZERO_TOLERANCE * self.count, 0.0, gap) * self.share / self.size

    def _gap_errors(self, gaps: FloatArray) -> FloatArray:
        """Return the standard errors of the gaps, given the true gaps."""
        return self._standard_errors((self.confidence - gaps * self.size / self.share) / self.count)

    def _standard_errors(self, accuracy: FloatArray) -> FloatArray:
        """Return the standard errors of the gaps, given the true accuracies."""
        stated = self.confidence / self.count
        p = (self.count * np.clip(accuracy, 0.0, 1.0) + _PRIOR_TRIALS * stated) / (self.count + _PRIOR_TRIALS)
        return self.share / self.size * np.sqrt(self.dispersion * self._variance(p))

    def _variance(self, accuracy: FloatArray) -> FloatArray:
        """Return the variance of the sum of confidence - correctness in each bin, given the true accuracies."""
        return self.count * _bernoulli_variance(accuracy) + self.scatter


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
    r"""Compute a confidence interval for the expected calibration error, by test inversion.

    The interval contains every ECE that a test at this level does not reject, given the estimate. Under the hypothesis
    of a given ECE, the true gaps of the bins are the observed gaps times a common factor, clipped so that accuracies
    lie in [0, 1]. Observed gaps have normal errors, so the estimate is a sum of folded normal variables, whose mean and
    variance are known. Its mean exceeds the true ECE. Since the estimate is compared with its mean, no correction for
    bias is needed.

    The same is done with shrunken gaps, from which the part of the variation between bins that is due to chance is
    removed; the wider limits count. Gaps of the opposite signs are considered as well, as far as the sum of the signed
    gaps is compatible with them.

    Parameters
    ----------
    correct, confidence, bins, binning, edges
        As in :func:`~confidence_tasks.statistics.ece`.
    questions : array_like, shape (n,), optional
        Label of the question of each trial, if questions are repeated, or of its cluster, such as the passage that
        several questions are about. By default every trial is a question of its own.
    level : float, default 0.95
        Nominal coverage, in (0, 1).

    Returns
    -------
    tuple of Estimate
        Lower and upper limit, in [0, 1]. NaN for fewer than two questions, and if ``correct`` are probabilities that do
        not vary within any bin. Both limits can be below the estimate, whose bias may exceed the true ECE.

    Notes
    -----
    The variance of a bin is that of binary answers with the accuracy under the hypothesis (a score test), computed with
    one pseudo-trial added whose accuracy is the mean confidence. It is multiplied by a dispersion: the observed
    variance of the gaps between questions, over all bins, relative to that of independent binary answers. The
    dispersion is below 1 if ``correct`` are probabilities and above 1 if repeated questions have similar answers. One
    pseudo-question with equal answers is added to it. If all answers are right, the data do not show how answers to one
    question depend on each other, and they count as one answer per question.

    If a question has several trials, the gaps of two bins are correlated, and the numbers of trials in the bins vary
    more. The covariances are estimated between questions and added to the variance (``Clustering``), and Student's t
    with the number of questions minus one degrees of freedom replaces the normal quantile.

    An estimate by more than one standard error below its mean for a true ECE of 0 has the upper limit of an estimate
    one standard error below it (a power-constrained limit). Otherwise some intervals of calibrated confidence, up
    to one in forty by the level, would be the point 0, whatever the number of trials.

    The coverage of 95% intervals was simulated for several kinds of subjects, see ``docs/reliability.md``.

    References
    ----------
    Cowan et al. (2011), Power-constrained limits, arXiv:1105.3166. Leone, Nelson & Nottingham (1961), The folded normal
    distribution, doi:10.1080/00401706.1961.10489974. Carpenter (1999), Test inversion bootstrap confidence intervals,
    doi:10.1111/1467-9868.00169, for intervals along a path of populations. Louis (1984),
    doi:10.1080/01621459.1984.10478062, on the spread of posterior means. Roelofs et al. (2022), arXiv:2012.08668, on
    the bias.

    Examples
    --------
    >>> low, high = ece_interval([1, 1, 0, 1, 0, 1, 1, 1] * 25, [0.9, 0.9, 0.9, 0.9, 0.6, 0.6, 0.6, 0.6] * 25)
    >>> round(low, 3), round(high, 3)
    (0.092, 0.209)
    """
    binned = BinnedTrials.of(
        correct, confidence, bins=bins, binning=binning, edges=edges, questions=questions
    )
    return limits_over_questions(binned, questions, level)


def _bernoulli_variance(p: FloatArray) -> FloatArray:
    return np.clip(p, 0.0, 1.0) * np.clip(1.0 - p, 0.0, 1.0)


def _squares_over_questions(
    values: FloatArray, index: IntArray, question: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Sum ``values`` by bin and question; return for each bin the number of sums and their sum of squares."""
    n_bins = int(index.max(initial=-1)) + 1
    pairs, pair = np.unique(question * max(n_bins, 1) + index, return_inverse=True)
    sums, pair_bin = np.bincount(pair, values), pairs % max(n_bins, 1)
    count, squares = np.bincount(pair_bin, minlength=n_bins), np.bincount(pair_bin, sums**2, n_bins)
    return count.astype(np.float64), squares.astype(np.float64, copy=False)
