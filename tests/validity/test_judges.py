"""Intervals that labels of people correct contain the truth, whatever the judge's errors."""

import math

import pytest
from tests.validity.judge_studies import corrected_coverage

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("n", "n_labels"), [(300, 50), (500, 100), (1000, 100), (1000, 300)])
def test_prediction_powered_intervals_cover(n: int, n_labels: int) -> None:
    for name, (covered, _, _) in corrected_coverage(n, n_labels, 400).items():
        error = math.sqrt(0.95 * 0.05 / 400)
        assert 0.93 - 3 * error < covered < 0.97 + 3 * error, name
