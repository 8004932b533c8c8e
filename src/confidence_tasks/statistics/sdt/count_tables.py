"""Tables of how often each response was given with each rating, and how they are built from trials.

A table is a pair (nR_S1, nR_S2), one row per stimulus, in the order of Maniscalco & Lau: from "S1, highest
rating" over the lowest ratings in the middle to "S2, highest rating", so 2K counts for K ratings a side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    FloatArray,
    IntArray,
    Reason,
    as_binary,
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
    row_quantiles,
)

Padding: TypeAlias = Literal["1/2K", "hautus", "none"]
CountTable: TypeAlias = tuple[FloatArray, FloatArray]
Fit = TypeVar("Fit")


@dataclass(frozen=True, slots=True)
class Tables:
    """A checked batch of count tables."""

    s1: FloatArray  # (B, 2K)
    s2: FloatArray  # (B, 2K)
    batch: bool  # whether the caller gave a batch; if not, B is 1
    cases: tuple[Case, ...]  # about which tables nothing can be said

    @classmethod
    def of(cls, nR_S1: ArrayLike, nR_S2: ArrayLike) -> Self:
        """Check counts; ValueError for a wrong shape, a negative or a non-finite count."""
        s1, s2 = np.asarray(nR_S1, dtype=np.float64), np.asarray(nR_S2, dtype=np.float64)
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
        never, only_once = (n1 == 0.0) & (n2 == 0.0), (n1 == 0.0) | (n2 == 0.0)
        return cls(s1, s2, batch, ((never, Reason.EMPTY), (only_once, Reason.ONE_CLASS)))

    @property
    def ratings(self) -> int:
        """Number of ratings a side, K."""
        return int(self.s1.shape[1] // 2)

    def padded(self, padding: Padding) -> Self:
        """Return the tables with the padding added to every cell."""
        amounts = {"1/2K": 0.5 / self.ratings, "hautus": 0.5, "none": 0.0}
        check_option("padding", padding, amounts)
        return replace(self, s1=self.s1 + amounts[padding], s2=self.s2 + amounts[padding])


def remembered(fit: Callable[..., Fit]) -> Callable[..., Fit]:
    """Return a fit of tables that remembers the last ones: several numbers are asked of the same tables in turn."""

    @lru_cache(maxsize=4)  # a test asks of two sides in turn
    def once(shape: tuple[int, ...], padding: Padding, *tables: bytes) -> Fit:
        return fit(*(np.frombuffer(table).reshape(shape) for table in tables), padding=padding)

    return lambda *tables, padding: once(tables[0].shape, padding, *(table.tobytes() for table in tables))


def own(values: Result) -> Result:
    """Return a copy for the caller to change: what is remembered stays."""
    return values.copy() if isinstance(values, np.ndarray) else values


def correctness_table(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
) -> CountTable:
    """Count trials with correctness in the place of the stimulus, and confidence in 2K bins.

    ``nR_S1`` counts wrong answers, ``nR_S2`` correct ones, both from the lowest confidence to the highest.
    What this is good for, and what not, is said at :func:`meta_d_ratings`.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Any real number: a probability, a log-probability.
    n_ratings : int, default 4
        K; there are 2K bins.
    edges : array_like, shape (2K - 1,), optional
        Inner bin edges, ascending; a value on an edge goes up. By default the quantiles i/2K of the
        confidences, taken anew under each row of weights.
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
    right, sure = as_binary(correct, "correct"), as_vector(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(correct=right, confidence=sure))
    if n_ratings < 1:
        raise ValueError(f"n_ratings must be at least 1, got {n_ratings}")
    counts = binned_counts(right.astype(np.intp), sure, 2, 2 * n_ratings, edges, weighting)
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
    """Count trials with two alternatives by stimulus, response and confidence bin.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`correctness_table`; a row of weights per resample gives a table per resample.
    stimulus : array_like, shape (n,)
        Which alternative was right: 0 (S1) or 1 (S2). The response follows from it and ``correct``.
    n_ratings : int, default 4
        Number of confidence bins K.
    edges : array_like, shape (K - 1,), optional
        Inner bin edges, ascending; a value on an edge goes up. By default the quantiles i/K of all confidences,
        taken anew under each row of weights.

    Returns
    -------
    nR_S1, nR_S2 : ndarray, shape (2K,) or (R, 2K)

    Examples
    --------
    >>> two_choice_table([1, 1, 0, 1], [0.9, 0.6, 0.5, 0.8], [0, 1, 1, 1], n_ratings=2, edges=[0.7])
    (array([1., 0., 0., 0.]), array([0., 1., 1., 1.]))
    """
    right, shown = as_binary(correct, "correct"), as_binary(stimulus, "stimulus")
    sure = as_vector(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(correct=right, confidence=sure, stimulus=shown))
    if n_ratings < 1:
        raise ValueError(f"n_ratings must be at least 1, got {n_ratings}")
    label = (2 * shown + (right == shown)).astype(np.intp)  # stimulus x response
    counts = binned_counts(label, sure, 4, n_ratings, edges, weighting)
    s1, s2 = (np.concatenate([counts[:, 2 * s, ::-1], counts[:, 2 * s + 1]], axis=1) for s in (0, 1))
    return (s1, s2) if weighting.batch else (s1[0], s2[0])


def quantile_edges(confidence: ArrayLike, n_bins: int) -> FloatArray:
    """Return the inner edges of ``n_bins`` bins at the quantiles i/n_bins, linearly interpolated.

    Parameters
    ----------
    confidence : array_like, shape (n,)
    n_bins : int

    Returns
    -------
    ndarray, shape (n_bins - 1,)
        Empty confidences give zeros: there is nothing to sort into bins.

    Examples
    --------
    >>> quantile_edges([0.1, 0.2, 0.3, 0.4, 0.5], 4)
    array([0.2, 0.3, 0.4])
    """
    values = as_vector(confidence, "confidence")
    shares = np.arange(1, n_bins) / n_bins
    return np.quantile(values, shares) if values.size else np.zeros(n_bins - 1)


def to_ratings(confidence: ArrayLike, edges: ArrayLike) -> IntArray:
    """Sort confidence into ratings 1, 2, ... by inner bin edges; a value on an edge goes up.

    Parameters
    ----------
    confidence : array_like, shape (n,)
    edges : array_like, shape (K - 1,)
        Ascending.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> to_ratings([0.1, 0.5, 0.9], [0.5, 0.8])
    array([1, 2, 3])
    """
    values, inner = as_vector(confidence, "confidence"), _as_edges(edges)
    return np.searchsorted(inner, values, side="right").astype(np.int64) + 1


def binned_counts(
    label: NDArray[np.intp],
    confidence: FloatArray,
    n_labels: int,
    n_bins: int,
    edges: ArrayLike | None,
    weighting: Weighting,
) -> FloatArray:
    """Count trials by label and confidence bin in every row of weights, shape (R, n_labels, n_bins)."""
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
    """Count trials by label between places in an order, shape (R, n_labels, E + 1).

    ``label`` is in that order, ``below`` (R, E) says how many trials come before each place.
    """
    # Rows last in memory: sums over labels and bins then go through many rows at a time.
    counts = np.empty((n_labels, below.shape[1] + 1, len(below))).transpose(2, 0, 1)
    for name in range(1, n_labels):
        members = np.flatnonzero(label == name)
        of_label = weighting.up_to(order[members])
        counts[:, name] = between(of_label, np.searchsorted(members, below))
    # The label that is left costs nothing: whole counts are exact, others must not fall below 0 by rounding.
    counts[:, 0] = np.maximum(between(weighting.up_to(order), below) - counts[:, 1:].sum(axis=1), 0.0)
    return counts


def _as_edges(edges: ArrayLike, size: int | None = None) -> FloatArray:
    inner = as_vector(edges, "edges")
    if size is not None and inner.size != size:
        raise ValueError(f"edges must be the {size} inner edges of {size + 1} bins, got {inner.size}")
    if (np.diff(inner) < 0.0).any():
        raise ValueError("edges must be ascending")
    return inner
