"""Reliability of values of questions that were asked several times: how much of their variance is between questions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, Reason, undefined

__all__ = [
    "VarianceComponents",
    "components_of_difference",
    "retest_reliability",
    "spearman_brown",
    "split_half_reliability",
    "variance_components",
]

FEWEST_QUESTIONS = 3
"""Fewest questions for a correlation over questions that is not 1 or -1 by construction."""

MOST_SPLITS = 200
"""Number of splits into halves above which a random sample of splits is taken."""


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of repeated values between and within questions.

    Attributes
    ----------
    n_questions, n_values : int
        Number of questions and of values.
    between, within : float
        Variance of the questions' true means, 0 or more, and mean variance of the values of a question. NaN if no
        question has two values, or there is only one question.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components, section 3.6. Miller (2024), Adding error bars to evals,
    section 3, arXiv:2411.00640. Kish (1965), Survey Sampling, section 5.4.

    Examples
    --------
    >>> found = VarianceComponents(200, 600, between=0.12, within=0.06)
    >>> round(found.share, 3), round(found.reliability(3), 3), round(found.design_effect(3), 3)
    (0.667, 0.857, 2.333)
    >>> round(found.error(600, 1), 4), round(found.error(200, 3), 4)  # 600 replies either way
    (0.0173, 0.0265)
    """

    n_questions: int
    n_values: int
    between: float
    within: float

    @property
    def share(self) -> float:
        """Share of the variance of a value that is between questions: the intraclass correlation, in [0, 1]."""
        total = self.between + self.within
        return self.between / total if total > 0.0 else math.nan

    def reliability(self, n_epochs: float) -> float:
        """Return the reliability of a question's mean over epochs, in [0, 1]: its share of variance that is true."""
        return spearman_brown(self.share, n_epochs)

    def design_effect(self, n_epochs: float) -> float:
        """Return the variance of a mean relative to that of as many values of different questions, 1 or more."""
        return 1.0 + (n_epochs - 1.0) * self.share

    def error(self, n_questions: float, n_epochs: float) -> float:
        """Return the standard error of the mean over some questions, each asked in some epochs."""
        return math.sqrt((self.between + self.within / n_epochs) / n_questions)


def variance_components(values: ArrayLike, question: ArrayLike) -> VarianceComponents:
    """Estimate the variance between and within questions by analysis of variance.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        The values; those of NaN are left out.
    question : array-like, shape (n,)
        Label of the question of each value. Questions may have different numbers of values.

    Returns
    -------
    VarianceComponents
        The estimates of the one-way model with random effects; a negative variance between questions is 0.

    Raises
    ------
    ValueError
        If the arrays have different lengths or are not one-dimensional.

    Examples
    --------
    >>> found = variance_components([1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"])
    >>> round(found.between, 4), round(found.within, 4)
    (0.1667, 0.1667)
    """
    value, label = np.asarray(values, dtype=np.float64), np.asarray(question)
    if value.ndim != 1 or value.shape != label.shape:
        raise ValueError(
            f"values and question must have the same length, got {value.shape} and {label.shape}"
        )
    known = ~np.isnan(value)
    value = value[known]
    _, index, counts = np.unique(label[known], return_inverse=True, return_counts=True)
    n, n_questions = len(value), len(counts)
    if n_questions < 2 or n == n_questions:
        return VarianceComponents(n_questions, n, math.nan, math.nan)
    means = np.bincount(index, value) / counts
    within = float(np.square(value - means[index]).sum()) / (n - n_questions)
    mean_square = float(counts @ np.square(means - value.mean())) / (n_questions - 1)
    size = (n - float(counts @ counts) / n) / (n_questions - 1)
    return VarianceComponents(n_questions, n, max((mean_square - within) / size, 0.0), within)


def components_of_difference(
    first: ArrayLike, first_question: ArrayLike, second: ArrayLike, second_question: ArrayLike
) -> VarianceComponents:
    """Estimate the variance between and within questions of the difference of two models.

    Parameters
    ----------
    first, second : array-like of float, shape (n,) and (m,)
        Values of either model; those of NaN are left out.
    first_question, second_question : array-like, shape (n,) and (m,)
        Label of the question of each value. Questions that only one model has are left out.

    Returns
    -------
    VarianceComponents
        ``within`` is the sum of those of the models. ``between`` is the variance of the differences of the questions'
        means, less what repeated values add to it: the noise of a model's mean over k values is ``within / k``.

    Raises
    ------
    ValueError
        As for :func:`variance_components`.

    Examples
    --------
    >>> questions = ["a", "a", "b", "b", "c", "c"]
    >>> found = components_of_difference([1, 1, 0, 0, 1, 0], questions, [0, 1, 1, 0, 1, 0], questions)
    >>> round(found.between, 4), round(found.within, 4)
    (0.0, 0.6667)
    """
    labels = [np.asarray(each) for each in (first_question, second_question)]
    values = [np.asarray(each, dtype=np.float64) for each in (first, second)]
    shared = set.intersection(
        *(set(label[~np.isnan(value)].tolist()) for label, value in zip(labels, values, strict=True))
    )
    chosen = [
        np.isin(label, list(shared)) & ~np.isnan(value) for label, value in zip(labels, values, strict=True)
    ]
    means, noise, within, n = [], 0.0, 0.0, 0
    for value, label, rows in zip(values, labels, chosen, strict=True):
        of_model = variance_components(value[rows], label[rows])
        _, index, counts = np.unique(label[rows], return_inverse=True, return_counts=True)
        means.append(np.bincount(index, value[rows]) / counts)
        noise += of_model.within * float(np.mean(1.0 / counts)) if len(counts) else math.nan
        within, n = within + of_model.within, n + of_model.n_values
    if len(shared) < 2 or math.isnan(within):
        return VarianceComponents(len(shared), n, math.nan, math.nan)
    between = max(float(np.var(means[0] - means[1], ddof=1)) - noise, 0.0)
    return VarianceComponents(len(shared), n, between, within)


def spearman_brown(reliability: float, length: float) -> float:
    """Return the reliability of a measurement that is ``length`` times as long.

    Parameters
    ----------
    reliability : float
        Reliability of the measurement, at most 1.
    length : float
        Factor by which it is lengthened, above 0.

    References
    ----------
    Spearman (1910), Br. J. Psychol. 3:271-295. Brown (1910), Br. J. Psychol. 3:296-322.

    Examples
    --------
    >>> round(spearman_brown(0.5, 2), 3), spearman_brown(0.8, 0.25) < 0.8
    (0.667, True)
    """
    total = 1.0 + (length - 1.0) * reliability
    return length * reliability / total if total > 0.0 else math.nan


def retest_reliability(table: ArrayLike) -> Estimate:
    """Compute the correlation over questions between two epochs, averaged over all pairs of epochs.

    Parameters
    ----------
    table : array-like of float, shape (questions, epochs)
        Value of each question in each epoch. Questions without a value (NaN) in some epoch are left out.

    Returns
    -------
    Estimate
        The mean of Pearson's correlations in [-1, 1]; NaN if there are fewer than three questions or two epochs, or all
        values of each epoch are equal. Pairs with an epoch in which all values are equal are left out.

    Examples
    --------
    >>> round(retest_reliability([[0.9, 0.8], [0.5, 0.6], [0.7, 0.9]]), 3)
    0.655
    """
    values = _complete(table)
    if values.shape[1] < 2 or len(values) < FEWEST_QUESTIONS:
        return undefined(Reason.TOO_FEW)
    first, second = np.triu_indices(values.shape[1], 1)
    return _mean_correlation(values.T[first], values.T[second])


def split_half_reliability(table: ArrayLike) -> Estimate:
    """Compute the split-half reliability of the means of questions over all epochs.

    The epochs are split into two halves of equal size, the means over the halves are correlated over questions, and the
    mean correlation over all splits (of more than 200, a random sample) is corrected by the formula of Spearman and
    Brown. With an odd number of epochs, each split leaves one out.

    Parameters
    ----------
    table : array-like of float, shape (questions, epochs)
        As for :func:`retest_reliability`.

    Returns
    -------
    Estimate
        The reliability, at most 1; without a lower bound, as the correction enlarges a negative correlation. NaN as for
        :func:`retest_reliability`, and if the correlation is so negative that the formula has no value.

    References
    ----------
    Spearman (1910), Br. J. Psychol. 3:271-295. Brown (1910), Br. J. Psychol. 3:296-322. For metacognition of people:
    Rahnev (2025), Nature Communications 16:701.

    Examples
    --------
    >>> round(split_half_reliability([[0.9, 0.8], [0.5, 0.6], [0.7, 0.9]]), 3)
    0.791
    """
    values = _complete(table)
    n_epochs = values.shape[1]
    if n_epochs < 2 or len(values) < FEWEST_QUESTIONS:
        return undefined(Reason.TOO_FEW)
    halves = [
        (values[:, first].mean(axis=1), values[:, second].mean(axis=1)) for first, second in _splits(n_epochs)
    ]
    correlation = _mean_correlation(*(np.array(half) for half in zip(*halves, strict=True)))
    return _corrected(correlation, n_epochs / (n_epochs // 2))


def halves_over_models(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Compute the split-half reliability over models of a measure that was computed on two halves of the questions.

    Parameters
    ----------
    first, second : array-like of float, shape (splits, models)
        The measure of each model on one half of the questions and on the other, for each split into halves. Splits
        with a missing or infinite value, or with equal values of all models, are left out.

    Returns
    -------
    Estimate
        The mean of Pearson's correlations over models, corrected for the length of the test: at most 1, and without a
        lower bound, as the correction enlarges a negative correlation. NaN if there are fewer than three models, no
        split is left, or the correlation is -1.

    References
    ----------
    Spearman (1910), Br. J. Psychol. 3:271-295. Brown (1910), Br. J. Psychol. 3:296-322. For metacognition of people:
    Rahnev (2025), Nature Communications 16:701.

    Examples
    --------
    >>> round(halves_over_models([[0.1, 0.2, 0.4]], [[0.1, 0.3, 0.3]]), 3)
    0.861
    """
    return _corrected(retest_over_models(first, second), 2.0)


def _corrected(correlation: Estimate, length: float) -> Estimate:
    """Correct a correlation of halves for the length of the test; NaN with a reason where the formula has no value."""
    if math.isnan(correlation):
        return correlation
    reliability = spearman_brown(correlation, length)
    return undefined(Reason.NOT_IDENTIFIED) if math.isnan(reliability) else Estimate(reliability)


def retest_over_models(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Compute the test-retest reliability over models of a measure that was computed twice.

    Parameters
    ----------
    first, second : array-like of float, shape (models,) or (repeats, models)
        As for :func:`halves_over_models`.

    Returns
    -------
    Estimate
        The mean of Pearson's correlations over models, in [-1, 1]; NaN as for :func:`halves_over_models`.

    Examples
    --------
    >>> round(retest_over_models([0.1, 0.2, 0.4], [0.1, 0.3, 0.3]), 3)
    0.756
    """
    one, other = np.atleast_2d(np.asarray(first, np.float64)), np.atleast_2d(np.asarray(second, np.float64))
    if one.shape != other.shape:
        raise ValueError(f"first and second must have the same shape, got {one.shape} and {other.shape}")
    known = np.isfinite(one).all(axis=1) & np.isfinite(other).all(axis=1)
    if one.shape[1] < FEWEST_QUESTIONS or not known.any():
        return undefined(Reason.TOO_FEW)
    return _mean_correlation(one[known], other[known])


def _complete(table: ArrayLike) -> FloatArray:
    """Return the rows of a table without NaN."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"table must have the shape (questions, epochs), got {values.shape}")
    complete: FloatArray = values[~np.isnan(values).any(axis=1)]
    return complete


def _splits(n: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield every split of n epochs into two halves of equal size, or a random sample of them."""
    half = n // 2
    if math.comb(n, half) * math.comb(n - half, half) <= 2 * MOST_SPLITS:
        for first in combinations(range(n), half):
            others = [epoch for epoch in range(n) if epoch not in first]
            yield from (
                (list(first), list(second)) for second in combinations(others, half) if first < second
            )
        return
    rng = np.random.default_rng(0)
    for _ in range(MOST_SPLITS):
        order = rng.permutation(n).tolist()
        yield order[:half], order[half : 2 * half]


def _mean_correlation(first: FloatArray, second: FloatArray) -> Estimate:
    """Return the mean correlation of the rows of two arrays, without rows of equal values."""
    varying = (np.ptp(first, axis=1) > 0.0) & (np.ptp(second, axis=1) > 0.0)
    if not varying.any():
        return undefined(Reason.CONSTANT)
    one, other = (rows[varying] - rows[varying].mean(axis=1, keepdims=True) for rows in (first, second))
    norms = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    correlations = np.clip((one * other).sum(axis=1) / norms, -1.0, 1.0)
    return Estimate(float(correlations.mean()))
