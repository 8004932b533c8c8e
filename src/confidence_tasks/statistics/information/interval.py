"""Confidence interval of meta-information by test inversion, which takes the bias of the estimate into account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.core import (
    BoolArray,
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    as_binary,
    as_vector,
    decreasing_root,
    label_index,
    same_length,
)
from confidence_tasks.statistics.inference.limits import accepted, limits_over_questions, no_limits
from confidence_tasks.statistics.inference.weights import ratio

_TRIALS_PER_BIN = 5
"""Trials per bin below which the number of bins is reduced."""

_SMALLER_CLASS_PER_BIN = 2
"""Answers of the smaller class per bin, below which the correction for bias is too small."""

_MIN_OUTSIDE_FULLEST_BIN = 2.0
"""Least expected number of answers of the smaller class outside the fullest bin, under independence."""

_PRIOR_TRIALS = 2.0
"""Pseudo-trials of average accuracy added to each bin, so that the log odds of a bin without errors are finite."""

_MAX_STEEPNESS = 64.0
"""Standard deviation of the log odds of the bins at which right and wrong answers are separated as far as possible."""

_SEPARATION_POSITION = 0.75
"""Position on the path, from 0 to 1, at which this separation is reached."""

_GRID_SIZE = 17
"""Number of positions on the path that are tried at a time."""

_N_COUNTS = 24
"""Largest number of terms in sums over the number of errors in a bin; longer sums use evenly spaced terms."""

_REACH, _EXTRA = 5.0, 6.0
"""Half-width of these sums in standard deviations, and an additional half-width for skewed distributions."""

_BIN_EDGE_FACTOR = 1.03
"""Factor of the standard error due to the sampling of bin edges, from simulations with and without ties."""

_MIN_VARIANCE = 1e-12

_ROUNDING = 1e-9
"""Tolerance for sums of fractional weights, numbers of answers divided by a dispersion, and a share that is no
information."""

_NO_LEVEL = 1e-12
"""A level so low that the interval is practically a point."""

_LOWEST_OF_INTERVALS = 0.5
"""A level below that of any interval that is printed."""

_RARE = 0.025
"""Probability, without information, of estimates that are too small for the ordinary interval.

It is one for all levels, so that a higher level gives a wider interval.
"""


def usable_bins(bins: ArrayLike, n_wrong: FloatArray, n_right: FloatArray) -> IntArray:
    """Return the number of bins to use for given numbers of wrong and right answers, (R,); fewer than two are too few.

    It is ``bins`` if there are five trials per bin. Otherwise bins are fewer, so that each has five trials and two
    answers of the smaller class.

    Examples
    --------
    >>> usable_bins(10, np.array([20.0, 8.0, 1.0]), np.array([80.0, 12.0, 4.0]))
    array([10,  4,  0])
    """
    total, smaller = n_wrong + n_right + _ROUNDING, np.minimum(n_wrong, n_right) + _ROUNDING
    fewer = np.floor(np.minimum(total / _TRIALS_PER_BIN, smaller / _SMALLER_CLASS_PER_BIN))
    return np.where(total >= _TRIALS_PER_BIN * np.asarray(bins), bins, fewer).astype(np.int64)


def too_few_outside(table: FloatArray) -> BoolArray:
    """Return whether too few answers of the smaller class are expected outside the fullest bin of tables (R, 2, B)."""
    columns = table.sum(axis=1)
    share = ratio(columns.max(axis=1), columns.sum(axis=1), otherwise=1.0)
    return np.asarray(table.sum(axis=2).min(axis=1) * (1.0 - share) < _MIN_OUTSIDE_FULLEST_BIN - _ROUNDING)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Wrong answers by bin of confidence, and the path of populations with these margins.

    In a population on the path, the log odds of the error rates are the observed ones, centred and multiplied by a
    common factor. The number of trials in each bin and the total number of wrong answers are the observed ones.
    """

    wrong: FloatArray
    count: FloatArray
    dispersion: float
    """Variance of the numbers of wrong answers in the bins relative to that of independent trials: with that of their
    sum, it determines the bias of the observed share."""
    overall_dispersion: float = 1.0
    surplus: float = 1.0
    """Variance of the observed share relative to that which the dispersion explains, as a question has trials in
    several bins."""

    @classmethod
    def of(cls, correct: FloatArray, confidence: FloatArray, bins: int, question: IntArray) -> Self:
        """Sort trials into bins of equal mass, whose number is that of :func:`usable_bins`."""
        n_right = correct.sum(keepdims=True)
        number = int(usable_bins(Bins(bins).number, len(correct) - n_right, n_right)[0])
        partition = Bins(max(number, 1), "equal_mass")
        occupied, index = np.unique(partition.assign(confidence), return_inverse=True)
        n_bins = len(occupied)
        count = np.bincount(index, minlength=n_bins).astype(np.float64)
        wrong: FloatArray = np.bincount(index, 1.0 - correct, n_bins).astype(np.float64, copy=False)
        if [wrong.sum(), *wrong] > [(count - wrong).sum(), *(count - wrong)]:
            # The classes are interchangeable: the smaller one is called wrong, so that swapping them changes nothing.
            correct, wrong = 1.0 - correct, count - wrong
        table = cls(wrong, count, 1.0)
        if table.missing:
            return table
        residual = 1.0 - correct - (wrong / count)[index]
        question_in_bin = np.unique(question * n_bins + index, return_inverse=True)[1]
        influence = table._influence()[1 - correct.astype(np.intp), index]
        dispersion = max(_dispersion(residual, question_in_bin), 1.0)
        overall = _dispersion(1.0 - correct - table._overall, question)
        return replace(
            table,
            dispersion=dispersion,
            # At least half of the bias remains: without any, no share could be expected of unrelated confidence.
            overall_dispersion=min(max(overall, dispersion), max(n_bins / 2.0, 1.0) * dispersion),
            surplus=max(_dispersion(influence, question) / dispersion, 1.0),
        )

    @classmethod
    def of_counts(cls, table: FloatArray) -> Self:
        """Make a table of independent trials from counts (2, B) of wrong and right answers."""
        wrong, right = table[:, table.sum(axis=0) > 0.0]
        return cls(wrong, wrong + right, 1.0)

    @property
    def bias_factor(self) -> float:
        """Bias of the observed share relative to that of independent trials: terms of the bins less that of the sum."""
        n_bins = len(self.count)
        return (n_bins * self.dispersion - self.overall_dispersion) / max(n_bins - 1, 1)

    @property
    def has_enough_per_bin(self) -> bool:
        """Whether there are enough answers of the smaller class per bin for the correction by simulation."""
        smaller = min(self.wrong.sum(), (self.count - self.wrong).sum()) / self.dispersion
        return bool(smaller >= _SMALLER_CLASS_PER_BIN * len(self.wrong) - _ROUNDING)

    @property
    def missing(self) -> Reason | None:
        """Reason why there is no interval, or None."""
        n, wrong = self.count.sum(), self.wrong.sum()
        if n == 0.0:
            return Reason.EMPTY
        if wrong in (0.0, n):
            return Reason.ONE_CLASS
        n_outside = min(wrong, n - wrong) * (1.0 - self.count.max() / n) / (self.dispersion * self.surplus)
        return Reason.FEW_INFORMATIVE if n_outside < _MIN_OUTSIDE_FULLEST_BIN - _ROUNDING else None

    def share(self, error_rate: FloatArray) -> FloatArray:
        """Return the proportion of the entropy that confidence removes, given error rates (..., B), shape (...)."""
        share: FloatArray = 1.0 - _entropy(error_rate) @ self._mass / _entropy(self._overall)
        return share

    def populations(self, position: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the true share, and mean and variance of the observed share, at positions (T,) on the path.

        Positions are from 0 to 1. At ``_SEPARATION_POSITION`` no larger share is possible with these margins. At higher
        positions, the true share and the mean of the observed share increase by the same amount up to a true share of
        1, with a constant variance.
        """
        relative = np.minimum(position / _SEPARATION_POSITION, 1.0)
        rates = self.error_rates(relative / (1.0 - relative + 1.0 / _MAX_STEEPNESS))
        share, (mean, variance) = self.share(rates), self.sampled(rates)
        excess = np.maximum(position - _SEPARATION_POSITION, 0.0) / (1.0 - _SEPARATION_POSITION)
        increase = excess * (1.0 - share)
        return share + increase, mean + increase, variance

    def sampled(self, error_rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of the observed share, given error rates (T, B), shape (T,) each.

        The ratio of information to entropy is linearized: the moments are those of the information minus the true share
        times the entropy. So samples with few errors do not cause a division by a small number.
        """
        entropy, unknown = _entropy(self._overall), 1.0 - self.share(error_rate)
        overall_slope = np.asarray(
            -scipy.special.logit(self._overall)
        )  # derivative of the entropy of correctness
        slope = unknown[:, np.newaxis] * overall_slope
        n, dispersion = self.count.sum(), self.dispersion
        bin_entropy, bin_variance = _sampled_entropy(_effective(self.count, dispersion), error_rate, slope)
        # The linear part of the overall entropy is in the slopes of the bins; its curvature is subtracted below.
        _, overall_variance = _sampled_entropy(_effective(n, dispersion), self._overall, overall_slope)
        overall_entropy, _ = _sampled_entropy(
            _effective(n, self.overall_dispersion), self._overall, overall_slope
        )
        mean = (1.0 - unknown) * entropy + unknown * overall_entropy - bin_entropy @ self._mass
        intercept = _entropy(error_rate) - slope * error_rate
        between = (intercept - (intercept @ self._mass)[:, np.newaxis]) ** 2 @ self._mass
        variance = bin_variance @ self._mass**2 - unknown**2 * overall_variance
        variance += between * dispersion / n
        return mean / entropy, self.surplus * variance / entropy**2

    def error_rates(self, steepness: FloatArray) -> FloatArray:
        """Return the error rates (T, B) of the bins whose log odds have the standard deviations ``steepness`` (T,)."""
        observed = scipy.special.logit(
            (self.wrong + _PRIOR_TRIALS * self._overall) / (self.count + _PRIOR_TRIALS)
        )
        direction = self._standardize(observed)
        if not direction.any():
            direction = self._standardize(np.arange(len(observed), dtype=np.float64))
        log_odds = steepness[:, np.newaxis] * direction
        overall, mass = scipy.special.logit(self._overall), self._mass

        def shortfall(intercept: FloatArray) -> FloatArray:
            return np.asarray(self._overall - scipy.special.expit(intercept[:, np.newaxis] + log_odds) @ mass)

        intercept = decreasing_root(
            shortfall, overall - log_odds.max(axis=1), overall - log_odds.min(axis=1), tolerance=1e-7
        )
        return np.asarray(scipy.special.expit(intercept[:, np.newaxis] + log_odds))

    def _influence(self) -> FloatArray:
        """Return the influence of a right and of a wrong answer in each bin on the linearized share, (2, B)."""
        overall = np.stack([1.0 - self._overall, self._overall])[:, np.newaxis]
        in_bin = np.stack([self.count - self.wrong, self.wrong]) / self.count
        share = self.share(in_bin[1])
        influence = np.log(np.where(in_bin > 0.0, in_bin, 1.0)) - (1.0 - share) * np.log(overall)
        return np.asarray(influence, dtype=np.float64)

    @property
    def _mass(self) -> FloatArray:
        return np.asarray(self.count / self.count.sum())

    @property
    def _overall(self) -> FloatArray:
        """Overall error rate."""
        return np.asarray(self.wrong.sum() / self.count.sum())

    def _standardize(self, values: FloatArray) -> FloatArray:
        """Standardize values of the bins to mean 0 and standard deviation 1; return zeros if all are equal."""
        centred = values - values @ self._mass
        deviation = np.sqrt(centred**2 @ self._mass)
        return centred / deviation if deviation > 1e-9 else np.zeros(len(values))


@dataclass(frozen=True, slots=True, eq=False)
class InformationTables:
    """Tables from which the interval of meta-information, or of a mean of several, is computed."""

    tables: tuple[_Table, ...]  # one for each meta-information that is averaged
    dependence: float = 1.0  # variance of the mean relative to that of independent terms

    @classmethod
    def of(
        cls, correct: ArrayLike, confidence: ArrayLike, *, bins: int = 10, questions: ArrayLike | None = None
    ) -> Self:
        """Sort trials into bins; the arguments are those of :func:`meta_information_interval`."""
        right, values = as_binary(correct, "correct"), as_vector(confidence, "confidence")
        n = same_length(correct=right, confidence=values)
        return cls((_Table.of(right, values, bins, label_index(questions, "questions", n)),))

    @classmethod
    def of_counts(cls, table: FloatArray) -> Self:
        """Make the table of independent trials from counts (2, B) of wrong and right answers."""
        return cls((_Table.of_counts(table),))

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Join the tables of several meta-informations that are averaged."""
        return cls(tuple(table for part in parts for table in part.tables), dependence)

    @property
    def unknown(self) -> Reason | None:
        """Reason why neither the interval nor the value is known, or None."""
        return next((table.missing for table in self.tables if table.missing), None)

    @property
    def estimate(self) -> float:
        """The meta-information without bias correction."""
        return float(np.mean([table.share(table.wrong / table.count) for table in self.tables]))

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the limits of the interval; NaN with a reason if there is too little information."""
        if self.unknown:
            return no_limits(self.unknown)
        reach = _BIN_EDGE_FACTOR * float(scipy.special.ndtri((1.0 + level) / 2.0))
        by_chance = scipy.special.ndtr(float(self._distance(np.zeros(1))[0]) / _BIN_EDGE_FACTOR)
        if level >= _LOWEST_OF_INTERVALS and by_chance < _RARE:
            # Such a small estimate is rare without any information, too: it is compared with equally rare ones.
            reach = -_BIN_EDGE_FACTOR * float(scipy.special.ndtri((1.0 - level) / 2.0 * by_chance))
        ends = np.array(accepted(self._distance, reach, _GRID_SIZE))
        shares = np.clip(np.mean([table.populations(ends)[0] for table in self.tables], axis=0), 0.0, 1.0)
        low, high = np.where(shares < _ROUNDING, 0.0, shares)
        return Estimate(low), Estimate(high)

    @property
    def bias_factor(self) -> float:
        """Bias of the observed share relative to that of independent trials."""
        return float(np.mean([table.bias_factor for table in self.tables]))

    @property
    def median_share(self) -> float | None:
        """The share at which the inverted test is 0; None if the bias can be simulated, or the interval is unknown."""
        if self.unknown or all(table.has_enough_per_bin for table in self.tables):
            return None
        return float(np.mean(self.limits(_NO_LEVEL)))

    def _distance(self, position: FloatArray) -> FloatArray:
        """Return by how many standard errors the estimate exceeds its mean at positions (T,) on the path.

        Without information, the estimate is a multiple of a chi-square variable, whose cube root is nearly normal
        (Wilson & Hilferty).
        """
        mean, variance = self._moments(position)
        square = variance / mean**2
        distance: FloatArray = (np.cbrt(self.estimate / mean) - 1.0 + square / 9.0) * 3.0 / np.sqrt(square)
        return distance

    def _moments(self, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of the estimate in samples from positions (T,) on the path."""
        _, mean, variance = np.mean([table.populations(position) for table in self.tables], axis=0)
        variance *= self.dependence / len(self.tables)
        return mean, np.maximum(variance, _MIN_VARIANCE)


def meta_information_interval(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    questions: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[Estimate, Estimate]:
    r"""Compute a confidence interval for meta-information, by test inversion.

    The interval contains every value that a test at this level does not reject, given the observed information. Under
    the hypothesis of a given value, the log odds of an error in the bins are the observed ones, centred and multiplied
    by a common factor. The mean of the observed information, which exceeds the true value, and its variance are sums
    over the binomial distributions of the numbers of errors in the bins. Since the observed information is compared
    with its mean, no correction for bias is needed.

    Parameters
    ----------
    correct, confidence, bins
        As in :func:`~confidence_tasks.statistics.meta_information`.
    questions, level
        As in :func:`~confidence_tasks.statistics.ece_interval`.

    Returns
    -------
    tuple of Estimate
        Lower and upper limit, in [0, 1]. NaN without right or without wrong answers, and for a single question. Also
        NaN if there are too few trials for two bins, or if the expected number of answers of the smaller class outside
        the fullest bin, under independence, is below two, as the information then depends on how often the other bins
        occur.

    Notes
    -----
    The variance due to the numbers of errors is exact; that due to the numbers of trials in the bins is a first-order
    approximation. Standard errors are multiplied by 1.03, as bin edges vary between samples. The test compares the cube
    root of the observed information with a normal distribution, because without information the observed value is a
    multiple of a chi-square variable. If questions are repeated, the numbers of trials are divided by dispersions: the
    variance of the numbers of errors in the bins, and of all errors, between questions, relative to that of independent
    trials. They determine the bias. The trials of a question in different bins add to the variance only. It is
    multiplied by the factor by which the dispersion of the influences on the information exceeds that in the bins.

    An estimate so small that the test of size 5% rejects even no information would give an empty 95% interval. Its
    upper limit is that of the ratio of its probabilities with and without information (Read 2002), so that it covers
    more. At lower levels than 95%, the interval of a slightly larger estimate may end at 0.

    The coverage of 95% intervals was simulated for several kinds of subjects, see ``docs/reliability.md``.

    References
    ----------
    Carpenter (1999), Test inversion bootstrap confidence intervals, doi:10.1111/1467-9868.00169, for intervals along a
    path of populations. Wilson & Hilferty (1931), The distribution of chi-square, doi:10.1073/pnas.17.12.684. Rao &
    Scott (1992), A simple method for the analysis of clustered binary data, doi:10.2307/2532311, for the effective
    number of trials. Read (2002), Presentation of search results: the CLs technique, doi:10.1088/0954-3899/28/10/313.

    Examples
    --------
    >>> low, high = meta_information_interval([0, 0, 0, 1, 1, 1] * 20, [1, 2, 2, 2, 3, 3] * 20)
    >>> round(low, 3), round(high, 3)
    (0.361, 0.639)
    """
    tables = InformationTables.of(correct, confidence, bins=bins, questions=questions)
    return limits_over_questions(tables, questions, level)


def _effective(count: FloatArray, dispersion: float) -> FloatArray:
    """Return the effective number of independent trials."""
    return np.maximum(np.rint(count / dispersion), 1.0)


def _dispersion(values: FloatArray, question: IntArray) -> float:
    """Return the variance of the sum of values with mean 0, relative to that of independent values."""
    sums: FloatArray = np.bincount(question, values).astype(np.float64, copy=False)
    return float(ratio(sums @ sums, values @ values, otherwise=1.0))


def _entropy(p: FloatArray) -> FloatArray:
    """Return the binary entropy in nats."""
    return np.asarray(-scipy.special.xlogy(p, p) - scipy.special.xlog1py(1.0 - p, -p))


def _sampled_entropy(n: FloatArray, p: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return E[H(X/n)] and Var[H(X/n) - slope X/n] for X ~ Binomial(n, p), where H is the binary entropy."""
    center, reach = n * p, _REACH * np.sqrt(n * p * (1.0 - p)) + _EXTRA
    low, high = np.maximum(np.floor(center - reach), 0.0), np.minimum(np.ceil(center + reach), n)
    step = np.maximum(np.ceil((high - low) / _N_COUNTS), 1.0)
    x = low + step * np.arange(_N_COUNTS + 1.0).reshape(-1, *(1,) * center.ndim)
    in_range, x = x <= high, np.minimum(x, high)
    log_factorial = _log_factorials(int(n.max()))
    log_orders = log_factorial[x.astype(np.intp)] + log_factorial[(n - x).astype(np.intp)]
    log_weight = scipy.special.xlogy(x, p) + scipy.special.xlog1py(n - x, -p) - log_orders
    weight = in_range * np.exp(log_weight - log_weight.max(axis=0))
    weight /= weight.sum(axis=0)
    entropy = _entropy(x / n)
    mean, deviation = (weight * entropy).sum(axis=0), entropy - slope * x / n
    variance = (weight * (deviation - (weight * deviation).sum(axis=0)) ** 2).sum(axis=0)
    return mean, variance


@lru_cache(maxsize=4)
def _log_factorials(n: int) -> FloatArray:
    """Return the logarithms of 0!, 1!, ..., n!."""
    logs: FloatArray = scipy.special.gammaln(np.arange(n + 1) + 1.0)
    return logs
