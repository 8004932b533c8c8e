"""Bins of confidence, with every edge on the side that its convention says, and the reliability curve over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import FloatArray, check_level, check_option, label_index, same_length
from confidence_tasks.statistics.inference.limits import wilson_interval
from confidence_tasks.statistics.inference.weights import Weighting, ratio, running_sums, tied, trials
from confidence_tasks.statistics.numerics import first_beyond

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
    """How [0, 1] is cut.

    Attributes
    ----------
    number : int
        Number of bins, the extra one not counted.
    binning : {"equal_width", "equal_mass"}
        Bins of one width, or bins of one number of trials.
    edges : {"right_closed", "left_closed", "extra_bin"}
        Which bin a confidence on an edge belongs to.
    """

    number: int
    binning: Binning = "equal_width"
    edges: Edges = "right_closed"

    def __post_init__(self) -> None:
        if isinstance(self.number, bool) or not isinstance(self.number, int | np.integer) or self.number < 1:
            raise ValueError(f"bins must be a whole number above zero, got {self.number!r}")
        for name, value, known in (
            ("binning", self.binning, get_args(Binning)),
            ("edges", self.edges, get_args(Edges)),
        ):
            check_option(name, value, known)
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
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1]. The intervals are those of binary outcomes, and
        too wide for probabilities.
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    bins, binning, edges
        As in :func:`~confidence_tasks.statistics.ece`.
    level : float, default 0.95
        Nominal coverage of the intervals of each bin, in (0, 1).
    questions : array_like, shape (n,), optional
        Which question each trial asked, by any labels, where one was asked several times: its trials are right or wrong
        together. By default each trial is a question of its own.

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
    accuracy_low, accuracy_high = wilson_interval(worth_right, worth, level=level)
    consistency_low, consistency_high = _consistency_limits(mean, worth, level)
    return ReliabilityCurve(
        low=low,
        high=high,
        count=count,
        confidence=mean,
        accuracy=ratio(hits, count),
        accuracy_low=accuracy_low,
        accuracy_high=accuracy_high,
        consistency_low=consistency_low,
        consistency_high=consistency_high,
        level=level,
    )


_ROUNDING = 1e-9
"""Rounding error that a whole number of trials may have."""


def _consistency_limits(
    confidence: FloatArray, n_trials: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles of the accuracy of trials that are right as often as stated."""
    whole, chance = np.floor(n_trials + _ROUNDING), np.clip(confidence, 0.0, 1.0)
    low, high = (
        ratio(_binomial_quantile(tail, whole, chance), whole)
        for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
    )
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
    number = np.unique(questions, return_inverse=True)[1]
    pairs, sizes = np.unique(np.stack([partition.numbers(confidence), number]), axis=1, return_counts=True)
    squares = np.bincount(pairs[0], sizes**2, minlength=partition.size).astype(np.float64)
    return ratio(count**2, squares, otherwise=0.0)
