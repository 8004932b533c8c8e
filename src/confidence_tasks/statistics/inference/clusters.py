"""Design effects: how much clusters of questions change the variance of a statistic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.limits import Bounds, Method, skewness_corrected_limits
from confidence_tasks.statistics.inference.resampling import Interval
from confidence_tasks.statistics.inference.weights import TrialCounts


@dataclass(frozen=True, slots=True)
class Clusters:
    """The units of a statistic with clusters.

    Attributes
    ----------
    n, n_questions : int
        Number of units (clusters, and questions without one) and of questions.
    variance, by_question : float
        Variance of the statistic with clusters and with questions as units; NaN if unknown.
    error : float
        Standard error of a mean, without resampling; NaN for other statistics.
    skewness : float
        Skewness of the influences of the units on a mean; NaN for other statistics.
    """

    n: int
    n_questions: int
    variance: float
    by_question: float
    error: float = math.nan
    skewness: float = math.nan

    @property
    def design_effect(self) -> float:
        """Variance with clusters as units relative to that with questions as units (Kish 1965)."""
        return self.variance / self.by_question if self.by_question > 0.0 else math.nan

    @classmethod
    def of_mean(cls, values: FloatArray, clusters: TrialCounts, questions: TrialCounts) -> Self:
        """Return the clusters of a mean over trials, which are counted by kind.

        The variance is the sum of squares of the units' influences, times n / (n - 1) for n units: the square of the
        clustered standard error of Miller (2024), arXiv:2411.00640, with the correction that Inspect uses.

        Parameters
        ----------
        values : ndarray, shape (K,)
            Value of each kind; trials without a value (NaN) are left out.
        clusters, questions : TrialCounts
            Numbers of trials of each kind that each cluster, and each question, has.
        """
        counted = ~np.isnan(values)
        counts = clusters.counts[counted]
        influence = np.zeros(len(values))
        influence[counted] = (values[counted] - counts @ values[counted] / counts.sum()) / counts.sum()
        rounding = _ROUNDING * np.abs(values[counted]).max(initial=0.0) / counts.sum()
        (n, variance), (n_questions, by_question) = (
            _variance(influence, counted, each, rounding) for each in (clusters, questions)
        )
        skewness = _skewness(clusters.members.T @ influence, n)
        return cls(n, n_questions, variance, by_question, math.sqrt(variance), skewness)

    @classmethod
    def of_resamples(cls, n: int, n_questions: int, resamples: FloatArray, by_question: FloatArray) -> Self:
        """Return the clusters of a statistic, given its resamples of clusters and of questions, shape (R,) each."""
        return cls(n, n_questions, robust_variance(resamples), robust_variance(by_question))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the clusters of the mean over several sets of trials, which are taken as independent."""
        n, questions, variance, by_question = map(
            sum, zip(*((p.n, p.n_questions, p.variance, p.by_question) for p in parts), strict=True)
        )
        return cls(n, questions, variance / len(parts) ** 2, by_question / len(parts) ** 2)


def skewness_corrected(
    interval: Interval, clusters: Clusters | None, method: Method, bounds: Bounds
) -> Interval:
    """Return the interval of a mean over clusters without an upper bound; any other number keeps its interval.

    ``method`` and ``bounds`` are those of the interval. The limits are those of :func:`skewness_corrected_limits`.
    """
    if clusters is None or not clusters.error > 0.0 or math.isnan(interval.low):
        return interval
    if method != "transformed" or math.isfinite(bounds[1]):
        return interval
    low, high = skewness_corrected_limits(
        float(interval.estimate), clusters.error, clusters.skewness, clusters.n, interval.level
    )
    return replace(interval, method="skewness_corrected", low=low, high=high)


_ROUNDING = 1e-12
"""Largest influence of a trial, relative to the largest value over the number of trials, that is rounding error."""


def _variance(
    influence: FloatArray, counted: FloatArray, kinds: TrialCounts, rounding: float
) -> tuple[int, float]:
    """Return the number of units with a value, and the variance over units; 0 if only rounding tells them apart."""
    sizes = kinds.members.T @ counted.astype(np.float64)
    n = int(np.count_nonzero(sizes))
    sums = kinds.members.T @ influence
    sums = np.where(np.abs(sums) <= rounding * sizes, 0.0, sums)
    return n, float(sums @ sums) * n / (n - 1.0) if n > 1 else math.nan


def _skewness(influence: FloatArray, n: int) -> float:
    """Return the skewness of the influences of n units, whose mean is 0; NaN if they do not vary."""
    square = float(np.square(influence).sum()) / n
    return float((influence**3).sum()) / n / square**1.5 if square > 0.0 else math.nan


def robust_variance(resamples: FloatArray) -> float:
    """Return the variance of a normal distribution with the quartiles of the resamples: ratios have wild values."""
    defined = resamples[np.isfinite(resamples)]
    if not len(defined):
        return math.nan
    low, high = np.quantile(defined, [0.25, 0.75])
    return float((high - low) / (2.0 * scipy.special.ndtri(0.75))) ** 2
