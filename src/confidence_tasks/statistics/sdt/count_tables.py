"""Count tables of responses and ratings, and their construction from trials.

A table is a pair (nR_S1, nR_S2), one array per stimulus. For K ratings, each has 2K counts in the order of Maniscalco &
Lau: from "response S1, highest rating" over the lowest ratings in the middle to "response S2, highest rating".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    BoolArray,
    FloatArray,
    IntArray,
    Reason,
    as_binary,
    as_floats,
    as_vector,
    check_option,
    same_length,
)
from confidence_tasks.statistics.inference.weights import (
    Case,
    Result,
    Weighting,
    Weights,
    between,
    ratio,
    row_quantiles,
)

Padding: TypeAlias = Literal["1/2K", "hautus", "none"]
CountTable: TypeAlias = tuple[FloatArray, FloatArray]
Fit = TypeVar("Fit")

#: Rates whose difference is below this value are equal.
_EQUAL_RATES = 1e-12


@dataclass(frozen=True, slots=True)
class Tables:
    """A validated batch of count tables."""

    s1: FloatArray  # (B, 2K)
    s2: FloatArray  # (B, 2K)
    batch: bool  # False if the caller passed a single table; B is then 1
    cases: tuple[Case, ...]  # tables without an estimate, with the reason

    @classmethod
    def of(cls, nR_S1: ArrayLike, nR_S2: ArrayLike) -> Self:
        """Validate counts; raise ValueError for a wrong shape, or for a negative or non-finite count."""
        s1, s2 = as_floats(nR_S1, "nR_S1"), as_floats(nR_S2, "nR_S2")
        if s1.shape != s2.shape or s1.ndim not in (1, 2) or s1.shape[-1] < 2 or s1.shape[-1] % 2:
            raise ValueError(
                f"nR_S1 and nR_S2 must both have shape (2K,) or (B, 2K), got {s1.shape} and {s2.shape}"
            )
        if not (np.isfinite(s1).all() and np.isfinite(s2).all()):
            raise ValueError("counts must be finite")
        if (s1 < 0.0).any() or (s2 < 0.0).any():
            raise ValueError("counts must not be negative")
        batch = s1.ndim == 2
        s1, s2 = np.atleast_2d(s1), np.atleast_2d(s2)
        n1, n2 = s1.sum(axis=1), s2.sum(axis=1)
        empty, one_class = (n1 == 0.0) & (n2 == 0.0), (n1 == 0.0) | (n2 == 0.0)
        return cls(s1, s2, batch, ((empty, Reason.EMPTY), (one_class, Reason.ONE_CLASS)))

    @property
    def ratings(self) -> int:
        """Number of ratings per response, K."""
        return int(self.s1.shape[1] // 2)

    @property
    def equal_rates(self) -> BoolArray:
        """Whether both stimuli have the same proportion of responses S2, (B,), so that d' is 0."""
        upper = slice(self.ratings, None)
        s1, s2 = (ratio(counts[:, upper].sum(axis=1), counts.sum(axis=1)) for counts in (self.s1, self.s2))
        return np.asarray(np.abs(s1 - s2) < _EQUAL_RATES)

    def padded(self, padding: Padding) -> Self:
        """Return the tables with the padding added to every cell."""
        amounts = {"1/2K": 0.5 / self.ratings, "hautus": 0.5, "none": 0.0}
        check_option("padding", padding, amounts)
        return replace(self, s1=self.s1 + amounts[padding], s2=self.s2 + amounts[padding])

    def take(self, rows: IntArray) -> Self:
        """Return some of the tables."""
        cases = tuple((applies[rows], reason) for applies, reason in self.cases)
        return replace(self, s1=self.s1[rows], s2=self.s2[rows], cases=cases)


def with_raw_cases(
    cases: Sequence[Case], tables: Tables, fit: Callable[[Tables, IntArray], Sequence[Case]]
) -> tuple[Case, ...]:
    """Add to the cases without an estimate those in which the counts without padding do not identify the model.

    ``fit(tables, rows)`` fits tables without padding, which are at ``rows`` of the batch, and returns their cases.
    Tables without an empty cell and with unequal responses to the two stimuli are identified, and are not fitted again.
    """
    cells = np.concatenate([tables.s1, tables.s2], axis=1)
    rows = np.flatnonzero((cells == 0.0).any(axis=1) | tables.equal_rates)
    if not rows.size:
        return tuple(cases)
    added = []
    for of_rows, reason in fit(tables.take(rows), rows):
        applies = np.zeros(len(cells), dtype=np.bool_)
        applies[rows] = of_rows
        added.append((applies, reason))
    return (*cases, *added)


def cache_fits(fit: Callable[..., Fit]) -> Callable[..., Fit]:
    """Cache the most recent fits of tables, as callers compute several numbers from the same tables."""

    @lru_cache(maxsize=4)  # tests of a difference alternate between two tables
    def cached(shape: tuple[int, ...], padding: Padding, *tables: bytes) -> Fit:
        return fit(*(np.frombuffer(table).reshape(shape) for table in tables), padding=padding)

    return lambda *tables, padding: cached(tables[0].shape, padding, *(table.tobytes() for table in tables))


def copy_result(values: Result) -> Result:
    """Copy a result, so that the caller cannot change the cached fit."""
    return values.copy() if isinstance(values, np.ndarray) else values


def correctness_table(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
) -> CountTable:
    """Count trials by correctness and by 2K bins of confidence; correctness takes the place of the stimulus.

    ``nR_S1`` counts wrong answers and ``nR_S2`` correct ones, both from the lowest to the highest confidence. For the
    limitations of this table see :func:`meta_d_ratings`.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Any real number: a probability, a log-probability.
    n_ratings : int, default 4
        Half the number of bins, K.
    edges : array_like, shape (2K - 1,), optional
        Inner bin edges, ascending; a value on an edge belongs to the bin above. By default the quantiles i/2K of
        confidence, computed for each row of weights.
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each trial.

    Returns
    -------
    nR_S1, nR_S2 : ndarray, shape (2K,) or (R, 2K)

    Examples
    --------
    >>> correctness_table([0, 0, 1, 0, 1, 1, 1, 1], [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], n_ratings=2)
    (array([2., 1., 0., 0.]), array([0., 1., 2., 2.]))
    """
    right, values = as_binary(correct, "correct"), as_vector(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(correct=right, confidence=values))
    if n_ratings < 1:
        raise ValueError(f"n_ratings must be at least 1, got {n_ratings}")
    counts = binned_counts(right.astype(np.intp), values, 2, 2 * n_ratings, edges, weighting)
    wrong_counts, right_counts = counts[:, 0], counts[:, 1]
    return (wrong_counts, right_counts) if weighting.batch else (wrong_counts[0], right_counts[0])


def two_choice_table(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
) -> CountTable:
    """Count the trials of a two-alternative task by stimulus, response and bin of confidence.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`correctness_table`; one row of weights per resample gives one table per resample.
    stimulus : array_like, shape (n,)
        The correct alternative: 0 (S1) or 1 (S2). The response follows from ``stimulus`` and ``correct``.
    n_ratings : int, default 4
        Number of confidence bins K.
    edges : array_like, shape (K - 1,), optional
        Inner bin edges, ascending; a value on an edge belongs to the bin above. By default the quantiles i/K of
        confidence, computed for each row of weights.

    Returns
    -------
    nR_S1, nR_S2 : ndarray, shape (2K,) or (R, 2K)

    Examples
    --------
    >>> two_choice_table([1, 1, 0, 1], [0.9, 0.6, 0.5, 0.8], [0, 1, 1, 1], n_ratings=2, edges=[0.7])
    (array([1., 0., 0., 0.]), array([0., 1., 1., 1.]))
    """
    right, shown = as_binary(correct, "correct"), as_binary(stimulus, "stimulus")
    values = as_vector(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(correct=right, confidence=values, stimulus=shown))
    if n_ratings < 1:
        raise ValueError(f"n_ratings must be at least 1, got {n_ratings}")
    label = (2 * shown + (right == shown)).astype(np.intp)  # 2 * stimulus + response
    counts = binned_counts(label, values, 4, n_ratings, edges, weighting)
    s1, s2 = (np.concatenate([counts[:, 2 * s, ::-1], counts[:, 2 * s + 1]], axis=1) for s in (0, 1))
    return (s1, s2) if weighting.batch else (s1[0], s2[0])


def quantile_edges(confidence: ArrayLike, n_bins: int) -> FloatArray:
    """Return the inner edges of ``n_bins`` bins: the quantiles i/n_bins, linearly interpolated.

    Parameters
    ----------
    confidence : array_like, shape (n,)
    n_bins : int

    Returns
    -------
    ndarray, shape (n_bins - 1,)
        Zeros without trials.

    Examples
    --------
    >>> quantile_edges([0.1, 0.2, 0.3, 0.4, 0.5], 4)
    array([0.2, 0.3, 0.4])
    """
    values = as_vector(confidence, "confidence")
    probabilities = np.arange(1, n_bins) / n_bins
    return np.quantile(values, probabilities) if values.size else np.zeros(n_bins - 1)


def binned_counts(
    label: NDArray[np.intp],
    confidence: FloatArray,
    n_labels: int,
    n_bins: int,
    edges: ArrayLike | None,
    weighting: Weighting,
) -> FloatArray:
    """Count trials by label and bin of confidence for each row of weights, shape (R, n_labels, n_bins)."""
    if edges is not None or n_bins == 1 or not confidence.size:
        inner = _as_edges(np.zeros(n_bins - 1) if edges is None else edges, n_bins - 1)
        cell = label * n_bins + np.searchsorted(inner, confidence, side="right")
        counts = weighting.grouped(cell, n_labels * n_bins, np.ones(len(label)))
        return counts.reshape(-1, n_labels, n_bins)
    order = np.argsort(confidence, kind="stable")
    values = confidence[order]
    up_to = weighting.up_to(order)
    below = np.searchsorted(values, row_quantiles(values, up_to, np.arange(1, n_bins) / n_bins), side="left")
    return counts_between(label[order], n_labels, below, order, weighting)


def counts_between(
    label: NDArray[np.intp],
    n_labels: int,
    below: NDArray[np.intp],
    order: NDArray[np.intp],
    weighting: Weighting,
) -> FloatArray:
    """Count sorted trials by label and bin for each row of weights, shape (R, n_labels, E + 1).

    ``order`` sorts the trials, ``label`` is sorted already, and ``below`` (R, E) is the number of trials below each of
    the E inner edges.
    """
    # Memory layout: rows are contiguous, so that sums over labels and bins are vectorized over rows.
    counts = np.empty((n_labels, below.shape[1] + 1, len(below))).transpose(2, 0, 1)
    for code in range(1, n_labels):
        members = np.flatnonzero(label == code)
        up_to_place = np.searchsorted(members, np.arange(len(order) + 1))
        counts[:, code] = between(weighting.up_to(order[members]), up_to_place[below])
    # The counts of label 0 are what remains; rounding of fractional weights must not make them negative.
    counts[:, 0] = np.maximum(between(weighting.up_to(order), below) - counts[:, 1:].sum(axis=1), 0.0)
    return counts


def _as_edges(edges: ArrayLike, size: int) -> FloatArray:
    inner = as_vector(edges, "edges")
    if inner.size != size:
        raise ValueError(f"edges must be the {size} inner edges of {size + 1} bins, got {inner.size}")
    if (np.diff(inner) < 0.0).any():
        raise ValueError("edges must be ascending")
    return inner
