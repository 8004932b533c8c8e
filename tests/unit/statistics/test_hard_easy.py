import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confidence_tasks.statistics import Estimate, Reason
from confidence_tasks.statistics.calibration import hard_easy_slope


def simulated(n, seed=0):
    rng = np.random.default_rng(seed)
    difficulty = rng.random(n)
    correct = (rng.random(n) < 1 - difficulty).astype(float)
    return correct, np.clip(0.9 - 0.3 * difficulty + rng.normal(0, 0.05, n), 0, 1), difficulty


# Shapes


def test_results_have_their_types():
    trials = simulated(40)
    assert isinstance(hard_easy_slope(*trials), Estimate)
    assert hard_easy_slope(*trials, weights=np.ones((3, 40))).shape == (3,)


# Errors and degenerate samples


@pytest.mark.parametrize(
    ("trials", "message"),
    [
        (([1, 0], [0.5, 0.5], [0.1]), "lengths differ"),
        (([1, 0], [0.5], [0.1, 0.2]), "lengths differ"),
        (([1, 0], [0.5, 0.5], [0.1, np.nan]), "complete"),
        (([1, 0], [0.5, 1.5], [0.1, 0.2]), "confidence must lie"),
        (([1, 3], [0.5, 0.5], [0.1, 0.2]), "correct must lie"),
    ],
)
def test_bad_input_raises(trials, message):
    with pytest.raises(ValueError, match=message):
        hard_easy_slope(*trials)


@pytest.mark.parametrize(
    ("trials", "reason"),
    [
        (([], [], []), Reason.EMPTY),
        (([1], [0.5], [0.3]), Reason.CONSTANT),
        (([1, 0, 1], [0.5, 0.6, 0.7], [0.1 + 0.2] * 3), Reason.CONSTANT),
    ],
)
def test_no_spread_of_difficulty_has_no_slope(trials, reason):
    assert hard_easy_slope(*trials).reason is reason


def test_rows_without_spread_are_nan():
    weights = [[1, 1, 0], [1, 0, 1], [0, 0, 0]]
    result = hard_easy_slope([1, 0, 0], [0.9, 0.8, 0.8], [0.3, 0.3, 0.7], weights=weights)
    assert np.isnan(result).tolist() == [True, False, True]


# Correctness


def test_line_matches_scipy():
    correct, confidence, difficulty = simulated(300)
    expected = stats.linregress(difficulty, confidence - correct)
    assert hard_easy_slope(correct, confidence, difficulty) == pytest.approx(expected.slope, rel=1e-10)


def test_whole_weights_are_repetitions():
    trials = simulated(50)
    weights = np.random.default_rng(1).multinomial(50, np.full(50, 1 / 50), size=10)
    expected = [hard_easy_slope(*(np.repeat(array, row) for array in trials)) for row in weights]
    np.testing.assert_allclose(hard_easy_slope(*trials, weights=weights), expected, rtol=1e-10)


# Properties


@given(st.floats(-1e3, 1e3), st.floats(0.1, 1e3))
def test_the_slope_follows_the_scale_of_difficulty(shift, scale):
    correct, confidence, difficulty = simulated(40)
    moved = hard_easy_slope(correct, confidence, shift + scale * difficulty)
    assert moved * scale == pytest.approx(hard_easy_slope(correct, confidence, difficulty), rel=1e-6)


def test_a_trial_that_does_not_count_costs_no_digits():
    weighted = hard_easy_slope([1, 1, 0], [0.5, 0.9, 0.6], [1e9, 1, 2], weights=[0, 1, 1])
    assert weighted == pytest.approx(hard_easy_slope([1, 0], [0.9, 0.6], [1, 2]), rel=1e-12)
