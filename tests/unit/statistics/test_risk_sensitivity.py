import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression

from confidence_tasks.statistics import Reason, bootstrap, optimal_threshold
from confidence_tasks.statistics.decision import abstention_slope, implied_threshold, optimal_decision

PAPER_PENALTIES = np.array([0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0])


# Degenerate samples


def test_slope_needs_two_penalties():
    assert abstention_slope([1, 0, 1], [5.0, 5.0, 0.0]).reason is Reason.CONSTANT
    assert abstention_slope([1, 0], [0.0, 0.0]).reason is Reason.EMPTY


@pytest.mark.parametrize(
    ("answered", "confidence", "reason"),
    [
        ([1, 1], [0.2, 0.9], Reason.ONE_CLASS),
        ([0, 0], [0.2, 0.9], Reason.ONE_CLASS),
        ([0, 1], [0.5, 0.5], Reason.CONSTANT),
        ([1, 0], [0.2, 0.9], Reason.NOT_IDENTIFIED),  # answers when less confident
        ([0, 1, 0, 1], [0.2, 0.2, 0.9, 0.9], Reason.NOT_IDENTIFIED),  # decides without a look at confidence
    ],
)
def test_missing_thresholds_have_a_reason(answered, confidence, reason):
    assert implied_threshold(answered, confidence).reason is reason


# Correctness: slope


def test_slope_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    penalty = rng.choice(PAPER_PENALTIES, 300)
    answered = (rng.random(300) < 0.9 - 0.1 * np.log(penalty).clip(0)).astype(float)
    expected = stats.linregress(np.log(penalty), 1 - answered).slope
    assert abstention_slope(answered, penalty) == pytest.approx(expected, rel=1e-12)


def test_penalty_zero_has_no_logarithm_and_is_left_out():
    answered, penalty = [1, 0, 1, 0, 1, 1], [1.0, 2.0, 4.0, 8.0, 0.0, 0.0]
    assert abstention_slope(answered, penalty) == abstention_slope(answered[:4], penalty[:4])


def test_slope_of_a_model_that_ignores_the_penalty_is_zero():
    confidence = np.tile([0.2, 0.9], 9)
    penalty = np.repeat(PAPER_PENALTIES, 2)
    assert abstention_slope((confidence > 0.5).astype(float), penalty) == pytest.approx(0.0, abs=1e-15)
    assert abstention_slope(optimal_decision(confidence, penalty), penalty) > 0.1


def test_slope_has_an_interval_over_questions():
    rng = np.random.default_rng(3)
    questions, threshold = np.repeat(np.arange(60), 9), np.repeat(rng.random(60), 9)
    penalty = np.tile(PAPER_PENALTIES, 60)
    answered = optimal_decision(threshold, penalty)
    interval = bootstrap(abstention_slope, answered, penalty, clusters=questions, n_resamples=4000)
    of_question = [abstention_slope(answered[questions == q], penalty[questions == q]) for q in range(60)]
    assert interval.estimate == pytest.approx(np.mean(of_question))
    assert interval.standard_error == pytest.approx(np.std(of_question) / np.sqrt(60), rel=0.05)


# Correctness: threshold


@pytest.mark.parametrize("seed", range(5))
def test_threshold_is_where_an_unpenalized_logistic_regression_passes_one_half(seed):
    rng = np.random.default_rng(seed)
    confidence = rng.choice([0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0], 150)
    answered = rng.random(150) < 1 / (1 + np.exp(-6 * (confidence - 0.6)))
    curve = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky").fit(
        confidence[:, None], answered
    )
    expected = -curve.intercept_[0] / curve.coef_[0, 0]
    assert implied_threshold(answered, confidence) == pytest.approx(expected, abs=1e-8)


def test_threshold_of_a_separating_policy_is_the_middle_of_the_gap():
    assert implied_threshold([0, 0, 1], [0.1, 0.6, 0.8]) == pytest.approx(0.7)
    assert implied_threshold([0, 0, 1, 1], [0.1, 0.6, 0.6, 0.8]) == pytest.approx(0.6)


def test_middle_of_the_gap_is_the_limit_of_ridge_regression():
    confidence, answered = np.array([0.1, 0.55, 0.6, 0.8, 0.95]), np.array([0, 0, 0, 1, 1])
    curve = LogisticRegression(C=1e8, tol=1e-12, max_iter=10_000).fit(confidence[:, None], answered)
    limit = -curve.intercept_[0] / curve.coef_[0, 0]
    assert implied_threshold(answered, confidence) == pytest.approx(limit, abs=2e-3)


@pytest.mark.parametrize("penalty", [0.5, 2.0, 10.0])
def test_optimal_policy_implies_the_optimal_threshold(penalty):
    confidence = np.linspace(0.0, 1.0, 1001)
    result = implied_threshold(optimal_decision(confidence, penalty), confidence)
    assert result == pytest.approx(optimal_threshold(penalty), abs=0.001)


def test_threshold_is_recovered_from_noisy_decisions():
    rng = np.random.default_rng(8)
    confidence = rng.random((200, 400))
    answered = rng.random((200, 400)) < 1 / (1 + np.exp(-10 * (confidence - 0.7)))
    result = [implied_threshold(a, c) for a, c in zip(answered, confidence, strict=True)]
    assert np.mean(result) == pytest.approx(0.7, abs=4 * np.std(result) / np.sqrt(200))


# Properties


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(np.linspace(0, 1, 21))), min_size=3, max_size=40),
    st.floats(0.2, 1.0),
)
def test_threshold_scales_with_confidence(trials, factor):
    answered, confidence = np.array(trials, dtype=float).T
    threshold = implied_threshold(answered, confidence)
    assume(not np.isnan(threshold))
    scaled = implied_threshold(answered, factor * confidence)
    assert scaled == pytest.approx(factor * threshold, rel=1e-5, abs=1e-5)
