"""Sorting confidence into bins, with every edge on the side that its convention says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics.core import FloatArray, check_option
from confidence_tasks.statistics.inference.weights import Weighting, ratio, tied
from confidence_tasks.statistics.numerics import first_beyond, running_sums

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
        starts = np.append(np.flatnonzero(np.diff(ascending, prepend=-np.inf)), len(ascending))
        mass = np.arange(1, self.number) / self.number - EDGE_TOLERANCE
        groups = first_beyond(up_to[:, starts[1:-1] - 1], np.outer(mass, up_to[:, -1]).T)
        return starts[groups + 1]

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
            part = Weighting(weighting.rows[:, block], weighting.batch)
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
