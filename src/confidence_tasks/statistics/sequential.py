"""Tests and confidence sequences of means that stay valid if they are looked at after every observation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import BoolArray, FloatArray, as_floats, check_level, masked_as_nan

__all__ = ["ConfidenceSequence", "GateTest", "confidence_sequence", "gate_test"]

Side: TypeAlias = Literal["above", "below", "open"]

BETS = (np.arange(20) + 0.5) / 20
"""Shares of the largest possible bet. The capital is the mean over them, so that no share must be chosen."""

N_MEANS = 2000
"""Number of steps between the bounds at which a confidence sequence tests means; limits are rounded outwards to one."""


@dataclass(slots=True)
class GateTest:
    """Test of whether a mean lies above or below a bound, which takes one observation after the other.

    Two gamblers start with a capital of 1. The first bets on observations above the bound, the second on observations
    below. If the mean is not above the bound, the first cannot expect to win, so that his capital reaches ``2 / alpha``
    with a probability of at most ``alpha / 2``, however often one looks (Ville's inequality). The test decides when one
    of them gets there, and stays with it.

    Attributes
    ----------
    bound : float
        Value with which the mean is compared, strictly between the bounds.
    bounds : tuple of float
        Smallest and largest possible observation.
    alpha : float
        Largest probability of a wrong decision, in (0, 1): ``alpha / 2`` for each side.
    n : int
        Number of observations so far.
    decision : {"above", "below", "open"}
        Where the mean lies, ``"open"`` as long as that is not known.
    n_decided : int
        Number of observations at the decision; 0 as long as there is none.

    Raises
    ------
    ValueError
        If an argument or an observation is out of range.

    References
    ----------
    Waudby-Smith & Ramdas (2024), Estimating means of bounded random variables by betting, J. R. Stat. Soc. B 86:1,
    arXiv:2010.09686. The capital is the mean over fixed shares of the largest bet, as in Cover's universal portfolio.

    Examples
    --------
    >>> test = GateTest(0.5)
    >>> test.add(1.0 for _ in range(20))
    >>> test.decision, test.n_decided
    ('above', 8)
    """

    bound: float
    bounds: tuple[float, float] = (0.0, 1.0)
    alpha: float = 0.05
    n: int = 0
    decision: Side = "open"
    n_decided: int = 0
    _log_capital: FloatArray = field(default_factory=lambda: np.zeros((2, len(BETS))), repr=False)

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_level(1.0 - self.alpha)
        _check_bound(self.bound, self.bounds)

    def add(self, values: Iterable[float]) -> None:
        """Add observations in their order; NaN is one that was lost, and counts as the worst case for either side."""
        worst = _worst_cases(np.asarray(list(values), dtype=np.float64), self.bounds)
        for first in range(0, worst.shape[1], _BLOCK):
            self._take(worst[:, first : first + _BLOCK])

    def _take(self, worst: FloatArray) -> None:
        """Bet on some observations, (2, n), one after the other."""
        winnings = _winnings(worst, float(_scaled(self.bound, self.bounds)))
        before = self._log_capital[:, :, np.newaxis]
        after = np.cumsum(np.concatenate([before, np.log1p(winnings)], axis=2), axis=2)[:, :, 1:]
        largest = after.max(axis=1, keepdims=True)
        capital = largest[:, 0] + np.log(np.exp(after - largest).mean(axis=1))
        is_enough = capital.max(axis=0) >= np.log(2.0 / self.alpha)
        if self.decision == "open" and is_enough.any():
            first = int(np.argmax(is_enough))
            self.decision = ("above", "below")[int(capital[:, first].argmax())]
            self.n_decided = self.n + first + 1
        self.n += worst.shape[1]
        self._log_capital = after[:, :, -1]


def gate_test(
    values: ArrayLike, bound: float, *, bounds: tuple[float, float] = (0.0, 1.0), alpha: float = 0.05
) -> GateTest:
    """Test observations in their order until it is known whether their mean lies above or below a bound.

    Parameters
    ----------
    values : array_like, shape (n,)
        Independent observations in a random order; NaN is one that was lost.
    bound, bounds, alpha
        As in :class:`GateTest`.

    Returns
    -------
    GateTest
        The test, with its ``decision`` and ``n_decided``.

    Raises
    ------
    ValueError
        If an argument or an observation is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = gate_test(rng.random(1000) < 0.8, 0.7)
    >>> found.decision, found.n_decided
    ('above', 494)
    """
    test = GateTest(bound, bounds, alpha)
    test.add(as_floats(masked_as_nan(values), "values"))
    return test


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """Intervals of a mean after each observation, which all contain it at once.

    Attributes
    ----------
    estimate : ndarray, shape (n,)
        Mean of the observations so far that were not lost; NaN as long as there is none.
    low, high : ndarray, shape (n,)
        Limits after each observation. They never move apart again.
    level : float
        Probability with which all intervals contain the mean.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    level: float


def confidence_sequence(
    values: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    bound: float | None = None,
) -> ConfidenceSequence:
    """Return intervals of a mean that are valid at all times, so that one may stop at any of them.

    Parameters
    ----------
    values : array_like, shape (n,)
        Independent observations in a random order; NaN is one that was lost, and counts as the worst case for either
        limit.
    bounds : tuple of float
        Smallest and largest possible observation.
    level : float, default 0.95
        Probability with which the intervals contain the mean at all times, in (0, 1).
    bound : float, optional
        A value of interest: a limit passes it exactly when :func:`gate_test` decides at ``alpha = 1 - level``.

    Returns
    -------
    ConfidenceSequence
        The values that the two sides of :class:`GateTest` have not rejected so far. Limits are multiples of a 2000th
        of the range, rounded outwards, or ``bound``.

    Raises
    ------
    ValueError
        If an argument or an observation is out of range.

    References
    ----------
    Waudby-Smith & Ramdas (2024), J. R. Stat. Soc. B 86:1, arXiv:2010.09686.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = confidence_sequence(rng.random(1000) < 0.8)
    >>> found.low[[9, 99, 999]].round(3), found.high[[9, 99, 999]].round(3)
    (array([0.296, 0.638, 0.742]), array([0.972, 0.86 , 0.814]))
    """
    check_level(level)
    observed = as_floats(masked_as_nan(values), "values")
    means = np.arange(1, N_MEANS) / N_MEANS
    if bound is not None:
        _check_bound(bound, bounds)
        means = np.unique(np.append(means, _scaled(bound, bounds)))
    worst = _worst_cases(observed, bounds)
    low = _largest_rejected(worst[0], means, level)
    high = 1.0 - _largest_rejected(1.0 - worst[1], 1.0 - means[::-1], level)
    known = ~np.isnan(observed)
    with np.errstate(invalid="ignore"):
        estimate = np.cumsum(np.where(known, observed, 0.0)) / np.where(
            known.cumsum(), known.cumsum(), np.nan
        )
    smallest, largest = bounds
    low, high = (smallest + (largest - smallest) * limit for limit in (low, high))
    return ConfidenceSequence(estimate, low, high, level)


def _check_bound(bound: float, bounds: tuple[float, float]) -> None:
    low, high = bounds
    if not -np.inf < low < bound < high < np.inf:
        raise ValueError(f"bound must lie between the bounds {low:g} and {high:g}, got {bound:g}")


def _scaled(values: FloatArray | float, bounds: tuple[float, float]) -> FloatArray:
    """Move the range of observations to [0, 1]."""
    low, high = bounds
    return np.asarray((np.asarray(values) - low) / (high - low))


def _worst_cases(values: FloatArray, bounds: tuple[float, float]) -> FloatArray:
    """Return observations on [0, 1] as the bets above and below see them, (2, n): a lost one loses for both."""
    if values.ndim != 1:
        raise ValueError(f"values must be one-dimensional, got shape {values.shape}")
    scaled = _scaled(values, bounds)
    outside = values[(scaled < -_ROUNDING) | (scaled > 1.0 + _ROUNDING)]
    if outside.size:
        raise ValueError(f"values must lie in [{bounds[0]:g}, {bounds[1]:g}], got {outside[0]:g}")
    return np.clip([np.where(np.isnan(scaled), lost, scaled) for lost in (0.0, 1.0)], 0.0, 1.0)


_ROUNDING = 1e-9


_BLOCK = 4096
"""Number of observations on which all bets are computed together."""


def _winnings(worst: FloatArray, bound: float) -> FloatArray:
    """Return what each bet wins or loses on each observation, in shares of its capital, above and below: (2, k, n)."""
    above, below = worst
    gains = np.array([above / bound - 1.0, (1.0 - below) / (1.0 - bound) - 1.0])
    winnings: FloatArray = BETS[:, np.newaxis] * gains[:, np.newaxis, :]
    return winnings


def _largest_rejected(values: FloatArray, means: FloatArray, level: float) -> FloatArray:
    """Return after each observation the largest of some means that bets above it have rejected so far; 0 if none is.

    The capital of every bet decreases in the mean, so that all smaller means are rejected, too.
    """
    capital = np.ones((len(means), len(BETS)))
    rejected: BoolArray = np.zeros(len(means), dtype=np.bool_)
    limits = np.zeros(len(values))
    first = 0
    for i, value in enumerate(values):
        # Means below the limit stay rejected; their capital, which may be huge, is no longer needed.
        capital[first:] *= 1.0 + BETS * (value / means[first:, np.newaxis] - 1.0)
        rejected[first:] = capital[first:].mean(axis=1) >= 2.0 / (1.0 - level)
        first = len(means) - int(np.argmax(rejected[::-1])) if rejected.any() else 0
        limits[i] = means[first - 1] if first else 0.0
    return limits
