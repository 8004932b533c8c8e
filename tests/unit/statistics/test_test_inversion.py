"""Differences of what is too high by chance, by the intervals of its terms."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from confidence_tasks.statistics import ece
from confidence_tasks.statistics.calibration.binning import BinnedTrials
from confidence_tasks.statistics.core import Estimate
from confidence_tasks.statistics.inference.limits import mover


@dataclass(frozen=True)
class Normal:
    """The interval of an estimate that varies normally, no lower than 0."""

    estimate: float
    error: float

    def limits(self, level: float) -> tuple[Estimate, Estimate]:
        low, high = stats.norm.interval(level, self.estimate, self.error)
        return Estimate(max(low, 0.0)), Estimate(high)


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.9])
@pytest.mark.parametrize("value", [1.0, 0.02])
def test_of_normal_estimates_it_is_their_difference(correlation, value):
    """Also where the lower end of one stands at its bound."""
    covariance = correlation * 0.1 * 0.2
    difference, error = mover(Normal(value, 0.1).limits, Normal(2.0, 0.2).limits, correlation, 0.9)
    assert difference == pytest.approx(value - 2.0)
    assert error == pytest.approx(np.sqrt(0.1**2 + 0.2**2 - 2 * covariance))


def test_what_is_alike_differs_by_nothing():
    held = BinnedTrials.of(np.repeat([1.0, 0.0], [70, 30]), np.full(100, 0.8))
    assert mover(held.limits, held.limits, 1.0, 0.95) == (0.0, 0.0)


def test_estimates_that_are_too_high_by_different_amounts_differ_by_the_truth():
    """Of the nearly calibrated subject the estimate is too high by more: the plain difference is too small."""
    rng = np.random.default_rng(0)
    held, plain = [], []
    for _ in range(150):
        chance = rng.choice(np.arange(0.525, 0.85, 0.05), 150)
        correct = (rng.random(150) < chance).astype(float)
        stated = (chance + 0.1, chance + 0.02)
        difference, error = mover(*(BinnedTrials.of(correct, c).limits for c in stated), 0.5, 0.95)
        held.append(abs(difference - 0.08) <= 1.96 * error)
        plain.append(ece(correct, stated[0]) - ece(correct, stated[1]))
    assert np.mean(held) > 0.9
    assert np.mean(plain) < 0.06
