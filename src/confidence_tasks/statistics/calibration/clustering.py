"""Covariance of the gaps of an ECE between bins, for questions or clusters with several trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.inference.weights import ratio


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """How bins vary together if a unit (a question, or a cluster of questions) has trials in several of them.

    Each matrix has the shape (B, B). All are zero if every unit has one trial.

    Attributes
    ----------
    correlation : ndarray
        Correlation of the gaps of two bins, without the diagonal.
    squared : ndarray
        Unbiased estimate of the squared correlation, without the diagonal.
    with_counts : ndarray
        Sum over units of the standardised residual in a bin (row) times the number of trials in a bin (column).
    counts : ndarray
        Sum over units of the product of the numbers of trials in two bins, minus its value for single trials.
    freedom : float
        Degrees of freedom of the variance: the number of units minus one.
    """

    correlation: FloatArray
    squared: FloatArray
    with_counts: FloatArray
    counts: FloatArray
    freedom: float

    @classmethod
    def of(cls, residual: FloatArray, index: IntArray, unit: IntArray, spread: FloatArray) -> Self | None:
        """Compare the trials of each unit between bins; return None if every unit has one trial.

        Parameters
        ----------
        residual : ndarray, shape (n,)
            Confidence minus correctness, minus the mean of this difference in the bin.
        index, unit : ndarray, shape (n,)
            Numbers of the bin and of the unit of each trial, from 0.
        spread : ndarray, shape (B,)
            Standard deviation of the answers of one further unit, whose answers are all equal. It has the average
            numbers of trials, so that answers that are all right are not taken for independent ones.
        """
        n_units, n_bins = int(unit.max(initial=-1)) + 1, len(spread)
        if n_units == len(unit):
            return None
        cell = unit * n_bins + index
        number = np.bincount(cell, minlength=n_units * n_bins).reshape(n_units, n_bins).astype(np.float64)
        sums = np.bincount(cell, residual, n_units * n_bins).reshape(n_units, n_bins).astype(np.float64)
        together = number.T @ number
        covariance = sums.T @ sums + together / n_units * np.outer(spread, spread)
        error = np.sqrt(np.diag(covariance))
        scaled = ratio(sums, error, otherwise=0.0)
        correlation: FloatArray = ratio(covariance, np.outer(error, error), otherwise=0.0)
        finite = n_units / max(n_units - 1.0, 1.0)
        return cls(
            _off_diagonal(correlation),
            _off_diagonal(correlation**2 - (scaled**2).T @ scaled**2),
            finite * scaled.T @ number,
            finite * together - np.diag(number.sum(axis=0)),
            n_units - 1.0,
        )

    @classmethod
    def joined(cls, parts: Sequence[Self | None], sizes: Sequence[int]) -> Self | None:
        """Join independent sets of bins, of which each has a size; None if no part has a unit of several trials."""
        clustered = [part for part in parts if part]
        if not clustered:
            return None
        ends = np.cumsum(sizes)
        names = ("correlation", "squared", "with_counts", "counts")
        whole = {name: np.zeros((ends[-1], ends[-1])) for name in names}
        for part, size, end in zip(parts, sizes, ends, strict=True):
            for name in names if part else ():
                whole[name][end - size : end, end - size : end] = getattr(part, name)
        return cls(**whole, freedom=min(part.freedom for part in clustered))

    def covariance(self, signed: FloatArray) -> FloatArray:
        """Return the sum of the covariances of all pairs of bins.

        ``signed`` (T, B) are the standard errors of the gaps, each times the factor of its gap.
        """
        return _form(self.correlation, signed, signed)

    def of_absolute_values(self, gaps: FloatArray, errors: FloatArray, surplus: FloatArray) -> FloatArray:
        """Return what the covariances add to the variance of the sum of absolute gaps, shape (T,).

        The first two terms of the Hermite expansion give the covariance of two absolute values.

        Parameters
        ----------
        gaps, errors : ndarray, shape (T, B)
            True gaps and their standard errors.
        surplus : ndarray, shape (T, B)
            What a further trial in the bin adds to the sum of absolute gaps.
        """
        distance = ratio(gaps, errors, otherwise=0.0)
        signed = errors * scipy.special.erf(distance / np.sqrt(2.0))
        curved = errors * np.exp(-0.5 * distance**2) / np.sqrt(np.pi)
        return np.asarray(
            self.covariance(signed)
            + np.maximum(_form(self.squared, curved, curved), 0.0)
            + 2.0 * _form(self.with_counts, signed, surplus)
            + _form(self.counts, surplus, surplus)
        )


def _off_diagonal(matrix: FloatArray) -> FloatArray:
    return np.asarray(matrix - np.diag(np.diag(matrix)))


def _form(matrix: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the bilinear form for each row, shape (T,)."""
    return np.asarray(np.einsum("tb,tb->t", left @ matrix, right))
