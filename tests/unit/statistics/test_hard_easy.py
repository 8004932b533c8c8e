import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confidence_tasks.statistics import Estimate, Reason
from confidence_tasks.statistics.calibration import hard_easy_regression, hard_easy_slope


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
    line = hard_easy_regression(*trials, level=0.9)
    assert (line.n, line.level) == (40, 0.9)


# Errors and degenerate samples


@pytest.mark.parametrize("statistic", [hard_easy_slope, hard_easy_regression])
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
def test_bad_input_raises(statistic, trials, message):
    with pytest.raises(ValueError, match=message):
        statistic(*trials)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_level_outside_its_domain_raises(level):
    with pytest.raises(ValueError, match="level"):
        hard_easy_regression(*simulated(10), level=level)


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
    line = hard_easy_regression(*trials)
    for value in (line.slope, line.intercept, line.standard_error, line.low, line.high):
        assert np.isnan(value)
        assert value.reason is reason


def test_rows_without_spread_are_nan():
    weights = [[1, 1, 0], [1, 0, 1], [0, 0, 0]]
    found = hard_easy_slope([1, 0, 0], [0.9, 0.8, 0.8], [0.3, 0.3, 0.7], weights=weights)
    assert np.isnan(found).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("difficulty", "reason"),
    [([0.1, 0.5], Reason.TOO_FEW), ([0.1, 0.1, 0.1, 0.5], Reason.NOT_IDENTIFIED)],
)
def test_a_slope_without_residuals_has_no_interval(difficulty, reason):
    n = len(difficulty)
    line = hard_easy_regression([1] * (n - 1) + [0], np.linspace(0.5, 0.9, n), difficulty)
    assert np.isfinite(line.slope)
    assert line.standard_error.reason is line.low.reason is line.high.reason is reason


# Correctness


def test_line_matches_scipy():
    correct, confidence, difficulty = simulated(300)
    expected = stats.linregress(difficulty, confidence - correct)
    line = hard_easy_regression(correct, confidence, difficulty)
    assert line.slope == pytest.approx(expected.slope, rel=1e-10)
    assert line.intercept == pytest.approx(expected.intercept, rel=1e-10)
    assert hard_easy_slope(correct, confidence, difficulty) == pytest.approx(expected.slope, rel=1e-10)


def test_standard_error_is_hc3_in_matrix_form():
    correct, confidence, difficulty = simulated(50)
    design = np.column_stack([np.ones(50), difficulty])
    inverse = np.linalg.inv(design.T @ design)
    residual = (confidence - correct) - design @ (inverse @ design.T @ (confidence - correct))
    leverage = np.diag(design @ inverse @ design.T)
    covariance = inverse @ design.T @ np.diag((residual / (1 - leverage)) ** 2) @ design @ inverse
    line = hard_easy_regression(correct, confidence, difficulty, level=0.9)
    assert line.standard_error == pytest.approx(np.sqrt(covariance[1, 1]), rel=1e-10)
    half = stats.t(48).ppf(0.95) * line.standard_error
    assert (line.low, line.high) == pytest.approx((line.slope - half, line.slope + half))


def test_repeated_questions_tell_nothing_new():
    trials = simulated(200)
    once = hard_easy_regression(*trials)
    again = [np.repeat(array, 4) for array in trials]
    line = hard_easy_regression(*again, questions=np.repeat(np.arange(200), 4))
    assert line.slope == pytest.approx(once.slope)
    assert (line.low, line.high) == pytest.approx((once.low, once.high), rel=0.02)
    assert hard_easy_regression(*again).standard_error < 0.55 * once.standard_error
    assert hard_easy_regression(*again, questions=np.arange(800)).low == hard_easy_regression(*again).low


def test_whole_weights_are_repetitions():
    trials = simulated(50)
    weights = np.random.default_rng(1).multinomial(50, np.full(50, 1 / 50), size=10)
    expected = [hard_easy_slope(*(np.repeat(array, row) for array in trials)) for row in weights]
    np.testing.assert_allclose(hard_easy_slope(*trials, weights=weights), expected, rtol=1e-10)


def test_the_interval_covers_the_slope_as_often_as_it_says():
    # Overconfidence 0.9 - 0.3 d - (1 - d) rises by 0.7 per unit of difficulty.
    covered = 0
    for seed in range(600):
        line = hard_easy_regression(*uniform_trials(80, seed))
        covered += line.low <= 0.7 <= line.high
    assert covered / 600 == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 600))


def uniform_trials(n, seed):
    rng = np.random.default_rng(seed)
    difficulty = rng.random(n)
    return (rng.random(n) < 1 - difficulty).astype(float), 0.9 - 0.3 * difficulty, difficulty


# Properties


@given(st.floats(-1e3, 1e3), st.floats(0.1, 1e3))
def test_the_slope_follows_the_scale_of_difficulty(shift, scale):
    correct, confidence, difficulty = simulated(40)
    moved = hard_easy_slope(correct, confidence, shift + scale * difficulty)
    assert moved * scale == pytest.approx(hard_easy_slope(correct, confidence, difficulty), rel=1e-6)


def test_a_trial_that_does_not_count_costs_no_digits():
    weighted = hard_easy_slope([1, 1, 0], [0.5, 0.9, 0.6], [1e9, 1, 2], weights=[0, 1, 1])
    assert weighted == pytest.approx(hard_easy_slope([1, 0], [0.9, 0.6], [1, 2]), rel=1e-12)
