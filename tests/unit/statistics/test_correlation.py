"""The correlation of confidence with correctness; what it shares with other statistics is in test_trial_statistics."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from confidence_tasks.statistics import Reason
from confidence_tasks.statistics.calibration import confidence_correlation


@pytest.mark.parametrize("graded", [True, False])
def test_matches_scipy(graded):
    rng = np.random.default_rng(0)
    for _ in range(50):
        confidence = rng.choice([0.5, 0.7, 0.9, 0.95, 1.0], 40)
        probability = np.clip(0.8 * confidence + rng.normal(0, 0.2, 40), 0, 1)
        correct = probability if graded else (rng.random(40) < probability).astype(float)
        assert confidence_correlation(correct, confidence) == pytest.approx(
            pearsonr(correct, confidence).statistic, abs=1e-12
        )


def test_a_line_correlates_exactly_and_its_mirror_image_negatively():
    correct = np.linspace(0.1, 0.9, 9)
    assert confidence_correlation(correct, 0.5 + correct / 4) == pytest.approx(1.0, abs=1e-12)
    assert confidence_correlation(correct, 0.5 - correct / 4) == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("correct", "confidence"), [([1, 1, 1], [0.2, 0.5, 0.9]), ([1, 0, 1], [0.7, 0.7, 0.7])]
)
def test_without_variation_it_is_not_defined(correct, confidence):
    value = confidence_correlation(correct, confidence)
    assert np.isnan(value)
    assert value.reason is Reason.CONSTANT


def test_a_trial_that_does_not_count_costs_no_digits():
    close = [0.9, 0.9 + 1e-9, 0.9 + 2e-9]
    weighted = confidence_correlation([1, 0, 1, 1], [0, *close], weights=[0, 1, 1, 1])
    assert weighted == pytest.approx(pearsonr([0, 1, 1], close).statistic, rel=1e-6)
