"""Tests of paired contrasts whose unit of resampling is the question: by permutation, and of equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics._core import Estimate
from confidence_tasks.statistics._resampling import (
    Alternative,
    Method,
    Seed,
    Statistic,
    check_options,
    exchanged,
    one_stratum,
    paired_contrast,
    resample,
    share_as_extreme,
)
from confidence_tasks.statistics.question_draws import is_exact
from confidence_tasks.statistics.resampling import Interval, interval_of, seed_value


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A paired contrast with its permutation p-value.

    Attributes
    ----------
    estimate : Estimate
        Statistic of the first condition minus that of the second.
    p_value : Estimate
        Probability of a contrast at least as extreme if the labels of the conditions meant nothing.
    alternative : {"two-sided", "greater", "less"}
        The direction called extreme.
    n_units : int
        Number of questions whose conditions were exchanged.
    n_resamples : int
        Number of exchanges evaluated.
    n_undefined : int
        How many of them left the contrast undefined; each counts as extreme, which keeps the test's size.
    exact : bool
        True when every exchange was evaluated, False when they were drawn at random.
    seed : int or None
        The seed; None when a generator was handed in.
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
        """Whether the whole interval lies within the margin; False when there is no interval."""
        return bool(-self.margin < self.interval.low and self.interval.high < self.margin)


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

    The rows of both conditions are stacked. An exchange is then a matrix of zeros and ones that says which rows
    count as the first condition, so that any weighted statistic can be tested, not means alone.

    Parameters
    ----------
    statistic, first, second, questions
        As in :func:`~confidence_tasks.statistics.bootstrap_difference`. All rows of a question change sides together.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Whether a contrast is extreme by its size, or by being large, or by being small.
    n_resamples : int, default 10000
        Number of random exchanges. When there are no more than that many exchanges in all, 2 ** questions, each is
        evaluated once and the p-value is exact.
    seed : int or numpy.random.Generator, default 0
        Source of the random exchanges.

    Returns
    -------
    PermutationTest
        With random exchanges, p = (1 + number as extreme) / (1 + number drawn), never zero.

    Raises
    ------
    ValueError
        As in :func:`~confidence_tasks.statistics.bootstrap_difference`, and for an unknown alternative.

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
    check_options(n_resamples, 0.5, "percentile")
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(f'alternative must be "two-sided", "greater" or "less", got {alternative!r}')
    contrast = paired_contrast(statistic, first, second, questions)
    estimate = contrast.estimate()
    exact = is_exact(contrast.n_units, n_resamples)
    size = 2**contrast.n_units if exact else n_resamples
    values = exchanged(contrast, size, exact, np.random.default_rng(seed))
    return PermutationTest(
        estimate=estimate,
        p_value=share_as_extreme(estimate, values, alternative, exact),
        alternative=alternative,
        n_units=contrast.n_units,
        n_resamples=size,
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
    method: Method = "percentile",
    seed: Seed = 0,
) -> EquivalenceTest:
    """Test whether two conditions differ by less than a margin (two one-sided tests).

    Parameters
    ----------
    statistic, first, second, questions, n_resamples, method, seed
        As in :func:`~confidence_tasks.statistics.bootstrap_difference`.
    margin : float
        The smallest difference that matters, in the units of the statistic, above zero.
    alpha : float, default 0.05
        Size of the test, in (0, 0.5); the interval has level 1 - 2 alpha.

    Returns
    -------
    EquivalenceTest
        ``equivalent`` when the interval lies within (-margin, margin).

    Raises
    ------
    ValueError
        As in :func:`~confidence_tasks.statistics.bootstrap_difference`, and for a margin or an alpha outside its
        domain.

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
    check_options(n_resamples, 1.0 - 2.0 * alpha, method)
    if method not in ("percentile", "bca"):
        raise ValueError(f'method must be "percentile" or "bca" in an equivalence test, got {method!r}')
    contrast = paired_contrast(statistic, first, second, questions)
    found = resample(contrast, one_stratum(contrast.n_units), n_resamples, method, seed)
    interval = interval_of(found, 1.0 - 2.0 * alpha, method, seed)
    return EquivalenceTest(interval, margin, found.p_outside(margin))
