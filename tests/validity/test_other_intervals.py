"""Fieller's, BCa, credible and conformal intervals hold what they should."""

import math

import pytest
from tests.validity.other_intervals import BOOTSTRAPPED, CONFORMAL, bootstrapped, conformal, fieller

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("d_prime", "meta_d"), [(1.5, 1.0), (1.4, 1.4), (0.5, 0.4), (0.3, 0.3)])
@pytest.mark.parametrize("n", [100, 1_000])
def test_fieller_s_interval_keeps_its_level_even_near_zero(d_prime: float, meta_d: float, n: int) -> None:
    found = fieller(d_prime, meta_d, n, 1_000)
    assert abs(found.covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 1_000)


def test_fieller_s_interval_is_no_interval_where_d_prime_is_near_zero() -> None:
    assert fieller(0.3, 0.3, 100, 300).bounded < 0.5
    assert fieller(1.5, 1.0, 200, 300).bounded == 1.0


@pytest.mark.parametrize("name", BOOTSTRAPPED)
def test_percentiles_cover(name: str) -> None:
    found = bootstrapped(name, 150, 150, 500)
    assert found.covered >= 0.93 - 4 * math.sqrt(0.93 * 0.07 / 150)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", CONFORMAL)
def test_conformal_intervals_hold_the_next_truth_as_often_as_they_promise(name: str, whole: bool) -> None:
    found = conformal(name, 0.9, 60, 400, whole=whole)
    # Ten questions share a calibration set: 400 studies are worth between 400 and 4,000 questions.
    assert found >= 0.9 - 4 * math.sqrt(0.9 * 0.1 / 1_500)
    if not whole:
        assert found <= 0.9 + 2 / 61 + 4 * math.sqrt(0.9 * 0.1 / 1_500)
