"""The interval of meta-information, by inverting a test, as samples overstate information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.core import (
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
from confidence_tasks.statistics.information.estimates import log_factorials

FEWEST_APART = 2.0
"""Least number of right or wrong answers, whichever are fewer, that by chance would lie outside the fullest bin."""

_PRIOR = 2.0
"""Trials of average accuracy added to each bin for the direction of the path: a bin without errors has a finite one."""

_STEEPEST = 64.0
"""Standard deviation of the bins' log odds at the end of the path, where right and wrong are as far apart as can be."""

_PATH_ENDS = 0.75
"""Position on the path, from 0 to 1, at which it is reached."""

_N_TRIED = 17
"""Populations that are tried at a time."""

_N_COUNTS = 24
"""Numbers of errors in a bin whose probabilities are summed: all of them, or this number, evenly spaced."""

_REACH, _EXTRA = 5.0, 6.0
"""Half-width of these sums in standard deviations, and what is added for skewed distributions."""

_MOVING_BINS = 1.03
"""Factor of standard errors for bins that differ from sample to sample; simulated, with and without ties."""

_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Wrong answers by bin of confidence, and the populations along a path through them.

    In a population of the path the log odds of the bins are a multiple of what was seen, less their mean; the number of
    trials in each bin, and of all wrong answers, are those seen.
    """

    wrong: FloatArray
    count: FloatArray
    dispersion: float
    """Variance of the numbers of wrong answers, over what independent trials would have."""

    @classmethod
    def of(cls, correct: FloatArray, confidence: FloatArray, bins: int, question: IntArray) -> Self:
        """Sort trials into bins of equal mass."""
        held, index = np.unique(Bins(bins, "equal_mass").assign(confidence), return_inverse=True)
        count = np.bincount(index, minlength=len(held)).astype(np.float64)
        wrong: FloatArray = np.bincount(index, 1.0 - correct, len(held)).astype(np.float64, copy=False)
        once = cls(wrong, count, 1.0)
        if once.missing:
            return once
        excess = 1.0 - correct - (wrong / count)[index]
        in_bin = np.unique(question * len(held) + index, return_inverse=True)[1]
        information = once._added_information[1 - correct.astype(np.intp), index]
        return replace(
            once, dispersion=max(_dispersion(excess, in_bin), _dispersion(information, question), 1.0)
        )

    @property
    def missing(self) -> Reason | None:
        """Why there is no interval; None where there is one."""
        n, wrong = self.count.sum(), self.wrong.sum()
        if n == 0.0:
            return Reason.EMPTY
        if wrong in (0.0, n):
            return Reason.ONE_CLASS
        apart = min(wrong, n - wrong) * (1.0 - self.count.max() / n) / self.dispersion
        return Reason.FEW_INFORMATIVE if apart < FEWEST_APART else None

    def share(self, error_rate: FloatArray) -> FloatArray:
        """Return the share of the entropy that confidence removes at these error rates, (..., B) -> (...)."""
        known: FloatArray = 1.0 - _entropy(error_rate) @ self._mass / _entropy(self._errors)
        return known

    def populations(self, position: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the share of the entropy that is known, and its mean and variance in samples, (T,) each.

        Places lie between 0 and 1. At ``_PATH_ENDS`` the numbers of trials and of errors leave no room for more
        information; beyond, samples are taken to have as much more as the population, and to vary as there.
        """
        along = np.minimum(position / _PATH_ENDS, 1.0)
        rates = self.error_rates(along / (1.0 - along + 1.0 / _STEEPEST))
        share, (mean, variance) = self.share(rates), self.sampled(rates)
        more = np.maximum(position - _PATH_ENDS, 0.0) / (1.0 - _PATH_ENDS) * (1.0 - share)
        return share + more, mean + more, variance

    def sampled(self, error_rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of that share in samples, (T, B) -> (T,) each.

        Of the information, less the entropy of correctness times the share of the population: the ratio is then right
        to the first order, and a sample of few errors does not divide by next to nothing.
        """
        entropy, unknown = _entropy(self._errors), 1.0 - self.share(error_rate)
        rise = np.asarray(-scipy.special.logit(self._errors))
        slope = unknown[:, np.newaxis] * rise  # what an error adds to the entropy that is left unknown
        left, in_bins = _sampled_entropy(self._effective(self.count), error_rate, slope)
        # The bins vary around a straight line; so does the entropy of all together, which the bins' curves include.
        whole, curved = _sampled_entropy(self._effective(self.count.sum()), self._errors, rise)
        mean = (1.0 - unknown) * entropy + unknown * whole - left @ self._mass
        line = _entropy(error_rate) - slope * error_rate
        between = (line - (line @ self._mass)[:, np.newaxis]) ** 2 @ self._mass
        variance = in_bins @ self._mass**2 - unknown**2 * curved
        variance += between * self.dispersion / self.count.sum()
        return mean / entropy, variance / entropy**2

    def error_rates(self, steepness: FloatArray) -> FloatArray:
        """Return the error rates of the bins, (T,) -> (T, B), at a standard deviation of their log odds."""
        seen = scipy.special.logit((self.wrong + _PRIOR * self._errors) / (self.count + _PRIOR))
        direction = self._standardised(seen)
        if not direction.any():
            direction = self._standardised(np.arange(len(seen), dtype=np.float64))
        log_odds = steepness[:, np.newaxis] * direction
        common, average = scipy.special.logit(self._errors), self._mass

        def missing(intercept: FloatArray) -> FloatArray:
            return np.asarray(
                self._errors - scipy.special.expit(intercept[:, np.newaxis] + log_odds) @ average
            )

        intercept = decreasing_root(
            missing, common - log_odds.max(axis=1), common - log_odds.min(axis=1), tolerance=1e-7
        )
        return np.asarray(scipy.special.expit(intercept[:, np.newaxis] + log_odds))

    @property
    def _added_information(self) -> FloatArray:
        """Information that a right and a wrong answer in each bin add, minus the share of the entropy, (2, B)."""
        alone = np.stack([1.0 - self._errors, self._errors])[:, np.newaxis]
        here = np.stack([self.count - self.wrong, self.wrong]) / self.count
        share = self.share(here[1])
        added = np.log(np.where(here > 0.0, here, 1.0)) - (1.0 - share) * np.log(alone)
        return np.asarray(added, dtype=np.float64)

    @property
    def _mass(self) -> FloatArray:
        return np.asarray(self.count / self.count.sum())

    @property
    def _errors(self) -> FloatArray:
        return np.asarray(self.wrong.sum() / self.count.sum())

    def _effective(self, count: FloatArray) -> FloatArray:
        """Return the effective number of independent trials."""
        return np.maximum(np.rint(count / self.dispersion), 1.0)

    def _standardised(self, values: FloatArray) -> FloatArray:
        """Values of the bins with a mean of 0 and a deviation of 1; all 0 where they are alike."""
        centred = values - values @ self._mass
        deviation = np.sqrt(centred**2 @ self._mass)
        return centred / deviation if deviation > 1e-9 else np.zeros(len(values))


@dataclass(frozen=True, slots=True, eq=False)
class InformationTables:
    """Tables of counts that the interval of meta-information, or of a mean of several, is made of."""

    tables: tuple[_Table, ...]  # wrong answers and trials by bin of confidence, of each that is averaged
    dependence: float = 1.0  # variance of the mean, over what it would be if they were independent

    @classmethod
    def of(
        cls, correct: ArrayLike, confidence: ArrayLike, *, bins: int = 10, questions: ArrayLike | None = None
    ) -> Self:
        """Sort trials into bins, as :func:`meta_information_interval` takes them."""
        right, sure = as_binary(correct, "correct"), as_vector(confidence, "confidence")
        n = same_length(correct=right, confidence=sure)
        return cls((_Table.of(right, sure, bins, label_index(questions, "questions", n)),))

    @classmethod
    def mean(cls, parts: Sequence[Self], dependence: float) -> Self:
        """Join the tables of several that are averaged."""
        return cls(tuple(table for part in parts for table in part.tables), dependence)

    @property
    def estimate(self) -> float:
        """The share of the uncertainty that confidence removes, with its bias."""
        return float(np.mean([table.share(table.wrong / table.count) for table in self.tables]))

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        """Return the limits of the interval; NaN with a reason where too few questions decide it."""
        reasons = [table.missing for table in self.tables if table.missing]
        if reasons:
            return no_limits(reasons[0])
        reach = _MOVING_BINS * float(scipy.special.ndtri((1.0 + level) / 2.0))
        ends = np.array(accepted(self._distance, reach, _N_TRIED))
        low, high = np.clip(np.mean([table.populations(ends)[0] for table in self.tables], axis=0), 0.0, 1.0)
        return Estimate(low), Estimate(high)

    def _distance(self, position: FloatArray) -> FloatArray:
        """Return how many standard errors the estimate lies above its mean at positions (T,) on the path.

        The cube root of a gamma variable is nearly normal (Wilson & Hilferty): of no information, the estimate is a
        multiple of chi-square.
        """
        mean, variance = self._moments(position)
        square = variance / mean**2
        away: FloatArray = (np.cbrt(self.estimate / mean) - 1.0 + square / 9.0) * 3.0 / np.sqrt(square)
        return away

    def _moments(self, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of the estimate in samples from positions (T,) on the path."""
        _, mean, variance = np.mean([table.populations(position) for table in self.tables], axis=0)
        variance *= self.dependence / len(self.tables)
        return mean, np.maximum(variance, _LEAST_VARIANCE)


def meta_information_interval(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    questions: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[Estimate, Estimate]:
    r"""Compute an interval for the share of the uncertainty about correctness that confidence removes.

    It holds every value from which the information observed is no further than chance allows. For each, the log odds of
    an error in the bins are those seen, stretched or shrunk together until they have this information. What samples of
    such a population show on average is more than there is, and is summed over the binomial distributions of errors in
    each bin; so the observed information never has to be corrected for its bias.

    Parameters
    ----------
    correct, confidence, bins
        As in :func:`~confidence_tasks.statistics.meta_information`.
    questions, level
        As in :func:`~confidence_tasks.statistics.ece_interval`.

    Returns
    -------
    tuple of Estimate
        Lower and upper end, in [0, 1]. NaN without right or wrong answers, for a single question, and where less than
        two right or wrong answers, whichever are fewer, would by chance lie outside the fullest bin: how much is known
        then hangs on how often the other bins occur.

    Notes
    -----
    The variance in samples of a population is that of the binomial distributions, exactly, and that of the numbers of
    trials in the bins to the first order; standard errors are taken 3% larger, as bins move. The cube root of the
    observed share is compared with a normal distribution: without information it is a multiple of chi-square. Repeated
    questions count as fewer trials, by how much more the numbers of errors vary between questions than those of
    independent trials would.

    How often 95% intervals hold the truth was simulated for subjects of several kinds, see ``docs/reliability.md``.

    References
    ----------
    Carpenter (1999), Test inversion bootstrap confidence intervals, doi:10.1111/1467-9868.00169, for intervals along a
    path of populations. Wilson & Hilferty (1931), The distribution of chi-square, doi:10.1073/pnas.17.12.684. Rao &
    Scott (1992), A simple method for the analysis of clustered binary data, doi:10.2307/2532311, on fewer trials.

    Examples
    --------
    >>> low, high = meta_information_interval([0, 0, 0, 1, 1, 1] * 20, [1, 2, 2, 2, 3, 3] * 20)
    >>> round(low, 3), round(high, 3)
    (0.361, 0.639)
    """
    held = InformationTables.of(correct, confidence, bins=bins, questions=questions)
    return limits_over_questions(held, questions, level)


def _dispersion(values: FloatArray, unit: IntArray) -> float:
    """Variance of a sum of values that are 0 on average, over what it would be if all were independent."""
    of_unit: FloatArray = np.bincount(unit, values).astype(np.float64, copy=False)
    return float(ratio(of_unit @ of_unit, values @ values, otherwise=1.0))


def _entropy(p: FloatArray) -> FloatArray:
    return np.asarray(-scipy.special.xlogy(p, p) - scipy.special.xlog1py(1.0 - p, -p))


def _sampled_entropy(n: FloatArray, p: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the entropy of X / n, and the variance of that less slope X / n, for X binomial."""
    middle, reach = n * p, _REACH * np.sqrt(n * p * (1.0 - p)) + _EXTRA
    low, high = np.maximum(np.floor(middle - reach), 0.0), np.minimum(np.ceil(middle + reach), n)
    step = np.maximum(np.ceil((high - low) / _N_COUNTS), 1.0)
    x = low + step * np.arange(_N_COUNTS + 1.0).reshape(-1, *(1,) * middle.ndim)
    there, x = x <= high, np.minimum(x, high)
    log_factorial = log_factorials(int(n.max()))
    ways = log_factorial[x.astype(np.intp)] + log_factorial[(n - x).astype(np.intp)]
    log_weight = scipy.special.xlogy(x, p) + scipy.special.xlog1py(n - x, -p) - ways
    weight = there * np.exp(log_weight - log_weight.max(axis=0))
    weight /= weight.sum(axis=0)
    entropy = _entropy(x / n)
    mean, line = (weight * entropy).sum(axis=0), entropy - slope * x / n
    variance = (weight * (line - (weight * line).sum(axis=0)) ** 2).sum(axis=0)
    return mean, variance
