"""Tests of paired differences over questions, and corrections of p-values for multiple comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, IntArray, as_probability, check_option
from confidence_tasks.statistics.inference.resampling import (
    Alternative,
    Interval,
    Statistic,
    check_options,
    exchange_values,
    interval_of,
    paired_samples,
    resampled_difference,
    rounding_of,
    seed_value,
    share_as_extreme,
)
from confidence_tasks.statistics.inference.weights import Seed, is_exact


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A paired contrast with its permutation p-value.

    Attributes
    ----------
    estimate : Estimate
        Statistic of the first condition minus that of the second.
    p_value : Estimate
        Probability of a contrast at least as extreme if the conditions were exchangeable.
    alternative : {"two-sided", "greater", "less"}
        The direction in which a contrast counts as extreme.
    n_units : int
        Number of questions whose conditions were exchanged.
    n_resamples : int
        Number of exchanges evaluated.
    n_undefined : int
        Number of exchanges in which the contrast is undefined; they are left out of the p-value.
    exact : bool
        True if every possible exchange was evaluated, False if exchanges were drawn at random.
    seed : int or None
        The seed; None if a generator was passed.
    """

    estimate: Estimate
    p_value: Estimate
    alternative: Alternative
    n_units: int
    n_resamples: int
    n_undefined: int
    exact: bool
    seed: int | None


@dataclass(frozen=True, slots=True)
class EquivalenceTest:
    """Two one-sided tests of a paired contrast against a margin.

    Attributes
    ----------
    interval : Interval
        The contrast with its interval of level 1 - 2 alpha.
    margin : float
        The smallest difference that matters.
    p_value : Estimate
        The larger of the two one-sided p-values.
    """

    interval: Interval
    margin: float
    p_value: Estimate

    @property
    def equivalent(self) -> bool:
        """True if the whole interval lies within the margin; False if there is no interval."""
        return bool(-self.margin < self.interval.low and self.interval.high < self.margin)


@dataclass(frozen=True, slots=True)
class Pivot:
    """A p-value and an interval of one difference, from the same studentised statistic.

    Attributes
    ----------
    p_value : float
        Two-sided p-value.
    reach : float
        Half the width of the interval; infinite if there are too few exchanges for the level. The interval excludes 0
        exactly when ``p_value`` is at most 1 - level.
    """

    p_value: float
    reach: float


_TIED = 1e-9
"""Relative distance below which studentised differences are equal up to rounding."""


def exchange_pivot(
    difference: float,
    error: float,
    differences: ArrayLike,
    errors: ArrayLike,
    *,
    freedom: float = math.inf,
    level: float = 0.95,
    exact: bool = False,
    tie: float = 0.0,
) -> Pivot:
    """Test a studentised difference by exchanges and by Student's distribution; the larger p-value counts.

    Exchanging conditions also exchanges other properties, such as the spread of confidence. Studentising corrects for
    that, so the test holds its size if the conditions are equal in the measure alone. Student's distribution is needed
    where a threshold cuts two scales at different points: all trials between these points move to one side, and the
    exchanges underestimate the variance.

    Parameters
    ----------
    difference, error : float
        The difference and its standard error.
    differences, errors : array_like, shape (R,)
        The same for each exchange; undefined ones are left out.
    freedom : float
        Degrees of freedom of the standard error.
    level : float
        Nominal coverage of the interval, in (0, 1).
    exact : bool
        True if the exchanges are all possible ones, False if they are random.
    tie : float
        Absolute value up to which a difference or a standard error counts as 0.

    References
    ----------
    Janssen (1997), Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher problem,
    doi:10.1016/S0167-7152(97)00043-6. Chung & Romano (2013), Exact and asymptotically robust permutation tests,
    doi:10.1214/13-AOS1090. Konietschke & Pauly (2014), doi:10.1007/s11222-012-9370-4.

    Examples
    --------
    >>> exchange_pivot(0.5, 0.2, [0.1, -0.3, 0.5, -0.5], [0.2, 0.2, 0.2, 0.2], level=0.5, exact=True)
    Pivot(p_value=0.5, reach=0.3000000005)
    """
    observed = float(np.abs(_studentised(difference, error, tie)))
    values = np.abs(_studentised(differences, errors, tie))
    values = np.sort(values[~np.isnan(values)])
    size = len(values)
    if not size or np.isnan(observed):
        return Pivot(float("nan"), float("nan"))
    slack = _TIED * max(1.0, observed) if np.isfinite(observed) else 0.0
    extreme = size - int(np.searchsorted(values, observed - slack))
    alpha = 1.0 - level
    # The largest number of exchanges that may be as extreme as a significant difference.
    most = int(alpha * size + _TIED) if exact else int(alpha * (size + 1) + _TIED) - 1
    critical = values[size - 1 - most] if most >= 0 else np.inf
    reach = 0.0 if error <= tie else float((critical + slack) * error)
    p_value = extreme / size if exact else (extreme + 1) / (size + 1)
    student = student_pivot(difference, error, freedom, level=level, tie=tie)
    return Pivot(max(p_value, student.p_value), max(reach, student.reach))


def student_pivot(
    difference: float, error: float, freedom: float, *, level: float = 0.95, tie: float = 0.0
) -> Pivot:
    """Test a studentised difference by Student's distribution; arguments as in :func:`exchange_pivot`.

    References
    ----------
    Student (1908), The probable error of a mean, doi:10.1093/biomet/6.1.1.

    Examples
    --------
    >>> pivot = student_pivot(0.5, 0.2, 20)
    >>> round(pivot.p_value, 3), round(pivot.reach, 3)
    (0.021, 0.417)
    """
    observed = float(np.abs(_studentised(difference, error, tie)))
    reach = 0.0 if error <= tie else float(scipy.special.stdtrit(freedom, (1.0 + level) / 2.0)) * error
    return Pivot(2.0 * float(scipy.special.stdtr(freedom, -observed)), reach)


def _studentised(difference: ArrayLike, error: ArrayLike, tie: float) -> FloatArray:
    """Return the ratio: 0 if both are 0, infinite if only the error is 0, NaN if either is undefined."""
    d, e = np.asarray(difference, dtype=np.float64), np.asarray(error, dtype=np.float64)
    d = np.where(np.abs(d) <= tie, 0.0, d)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = d / np.where(e <= tie, 0.0, e)
    return np.where((d == 0.0) & (e <= tie), 0.0, ratios)


def permutation_test(
    statistic: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    questions: tuple[ArrayLike, ArrayLike] | None = None,
    alternative: Alternative = "two-sided",
    n_resamples: int = 10_000,
    seed: Seed = 0,
) -> PermutationTest:
    """Test a paired contrast by exchanging the two conditions within questions.

    The trials of both conditions are stacked, and an exchange is a pair of weights that select the trials of either
    side. Any weighted statistic can be tested, not only means.

    Parameters
    ----------
    statistic, first, second, questions, seed
        As in :func:`~confidence_tasks.statistics.bootstrap_difference`. All rows of a question change sides together.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Whether a contrast counts as extreme by its absolute value, by being large or by being small.
    n_resamples : int, default 10000
        Number of random exchanges. If there are at most this many possible exchanges, 2 ** questions, each is evaluated
        once and the p-value is exact.

    Returns
    -------
    PermutationTest
        With random exchanges, p = (1 + number of exchanges as extreme) / (1 + number of exchanges), which is never 0.

    References
    ----------
    Phipson & Smyth (2010), Permutation p-values should never be zero, doi:10.2202/1544-6115.1585.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> test = permutation_test(mean, [[3.0, 5.0, 7.0, 9.0]], [[2.0, 4.0, 6.0, 7.0]])
    >>> test.estimate, test.p_value, test.exact
    (1.25, 0.125, True)
    """
    check_options(n_resamples, seed)
    check_option("alternative", alternative, get_args(Alternative))
    samples = paired_samples(statistic, first, second, questions)
    one, other = (sample.estimate() for sample in samples)
    estimate, n_units = Estimate(one - other, one.reason or other.reason), samples[0].n_units
    exact = is_exact(n_units, n_resamples)
    values = exchange_values(*samples, n_resamples, seed)
    return PermutationTest(
        estimate=estimate,
        p_value=share_as_extreme(estimate, values, alternative, exact, rounding_of(one, other)),
        alternative=alternative,
        n_units=n_units,
        n_resamples=len(values),
        n_undefined=int(np.isnan(values).sum()),
        exact=exact,
        seed=seed_value(seed),
    )


def equivalence_test(
    statistic: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    margin: float,
    alpha: float = 0.05,
    questions: tuple[ArrayLike, ArrayLike] | None = None,
    n_resamples: int = 10_000,
    seed: Seed = 0,
) -> EquivalenceTest:
    """Test whether two conditions differ by less than a margin (two one-sided tests).

    Parameters
    ----------
    statistic, first, second, questions, n_resamples, seed
        As in :func:`~confidence_tasks.statistics.bootstrap_difference`.
    margin : float
        The smallest difference that matters, in the units of the statistic, above zero.
    alpha : float, default 0.05
        Size of the test, in (0, 0.5); the interval has level 1 - 2 alpha.

    Returns
    -------
    EquivalenceTest
        ``equivalent`` is True if the interval lies within (-margin, margin).

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach for assessing the
    equivalence of average bioavailability, doi:10.1007/BF01068419.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> rng = np.random.default_rng(1)
    >>> first = rng.normal(size=200)
    >>> second = first + rng.normal(0.0, 0.1, size=200)
    >>> equivalence_test(mean, [first], [second], margin=0.05).equivalent
    True
    """
    if not (np.isfinite(margin) and margin > 0.0):
        raise ValueError(f"margin must be above zero, got {margin}")
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"alpha must lie within (0, 0.5), got {alpha}")
    check_options(n_resamples, seed, 1.0 - 2.0 * alpha)
    found = resampled_difference(*paired_samples(statistic, first, second, questions), n_resamples, seed)
    interval = interval_of(found, 1.0 - 2.0 * alpha, "percentile", seed)
    return EquivalenceTest(interval, margin, found.p_outside(margin))


def bonferroni(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Bonferroni's inequality: each times their number, at most 1.

    Parameters
    ----------
    p_values : array_like, shape (m,)
        p-values of one family of tests, in [0, 1], in any order and under any dependence.

    Returns
    -------
    ndarray, shape (m,)
        Adjusted p-values, in the order given. Reject those not above the family-wise error rate.

    References
    ----------
    Dunn (1961), Multiple comparisons among means, doi:10.1080/01621459.1961.10482090.

    Examples
    --------
    >>> bonferroni([0.01, 0.02, 0.4])
    array([0.03, 0.06, 1.  ])
    """
    p = as_probability(p_values, "p_values")
    return np.minimum(len(p) * p, 1.0)


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's step-down method: never larger than Bonferroni's, with the same guarantee.

    The k-th smallest of m is multiplied by m - k + 1, and raised to the largest adjusted value before it.

    Argument and value are those of :func:`bonferroni`.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> holm([0.01, 0.02, 0.4])
    array([0.03, 0.04, 0.4 ])
    """
    p = as_probability(p_values, "p_values")
    order = np.argsort(p)
    stepped = np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order])
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def adjusted_for_all(p_values: Sequence[float], adjust: Callable[[FloatArray], FloatArray]) -> list[float]:
    """Correct p-values for all comparisons; a comparison without a p-value counts, and stays NaN."""
    p = np.array(p_values)
    adjusted = adjust(np.nan_to_num(p, nan=1.0))
    return [float(value) for value in np.where(np.isnan(p), np.nan, adjusted)]


def questions_needed(n: IntArray, power: FloatArray, target: float) -> float:
    """Return the number of questions at which a power curve reaches ``target``.

    The normal quantile of power is interpolated linearly in the square root of the number of questions, which is exact
    for the test of a mean.

    Examples
    --------
    >>> questions_needed(np.array([100, 400]), np.array([0.5, 0.9]), 0.8)
    275.0
    """
    reached = np.flatnonzero(power >= target)
    if not len(reached):
        return math.inf
    after = int(reached[0])
    if after == 0:
        return math.nan
    root = np.sqrt(n[after - 1 : after + 1].astype(np.float64))
    quantile = scipy.special.ndtri(np.clip(power[after - 1 : after + 1], 1e-3, 1.0 - 1e-3))
    fraction = np.clip((scipy.special.ndtri(target) - quantile[0]) / (quantile[1] - quantile[0]), 0.0, 1.0)
    return float(np.ceil((root[0] + fraction * (root[1] - root[0])) ** 2))
