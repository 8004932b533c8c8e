import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.unit.statistics.peers import load_interval_score

from confidence_tasks.statistics import coverage, winkler_score
from confidence_tasks.statistics.intervals import (
    adjusted_interval,
    degenerate_share,
    mean_width,
    penalized_winkler_score,
)

interval_score = load_interval_score()

LEVELS = [0.9, 0.95, 0.99, 0.998]

exponents = st.integers(-100, 100)
intervals = st.lists(st.tuples(exponents, exponents, st.integers(0, 50)), min_size=1, max_size=20)


def unpacked(cases):
    truth, lower, width = np.array(cases, dtype=float).T
    return truth, lower, lower + width


# Errors


@pytest.mark.parametrize("measure", [coverage, lambda y, low, high: winkler_score(y, low, high, 0.9)])
def test_ends_in_the_wrong_order_raise(measure):
    with pytest.raises(ValueError, match="lower must not exceed upper"):
        measure([1, 1], [0, 2], [3, 1])


@pytest.mark.parametrize("nominal", [0.0, 1.0, 95, np.nan, [0.9, 0.9, 0.9]])
def test_nominal_coverage_outside_its_domain_raises(nominal):
    with pytest.raises(ValueError, match="nominal"):
        winkler_score([1, 1], [0, 0], [2, 2], nominal)


def test_negative_penalty_raises():
    with pytest.raises(ValueError, match="shortfall_weight"):
        penalized_winkler_score([1], [0], [2], 0.9, shortfall_weight=-1.0)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [([], []), ([1, 2], [3]), (1, 2), ([1, np.nan], [3, 3]), ([1, 4], [3, 3]), ([1], [np.inf])],
)
def test_invalid_samples_raise(lower, upper):
    with pytest.raises(ValueError):
        adjusted_interval(lower, upper, 0.9)


@pytest.mark.parametrize("nominal", [0.0, 1.0, 95, np.nan])
def test_sampled_intervals_need_a_nominal_coverage(nominal):
    with pytest.raises(ValueError, match="nominal"):
        adjusted_interval([1, 2, 3], [1, 2, 3], nominal)


# Degenerate samples


def test_open_intervals_have_coverage_1_and_infinite_width():
    truth, lower, upper = [3, 4], [-np.inf, 0.0], [np.inf, 3.0]
    assert coverage(truth, lower, upper) == 0.5
    assert mean_width(lower, upper) == np.inf
    assert winkler_score(truth, lower, upper, 0.9) == np.inf
    weights = np.array([[0.0, 2.0], [1.0, 1.0]])
    np.testing.assert_array_equal(mean_width(lower, upper, weights=weights), [3.0, np.inf])


@pytest.mark.parametrize(("lower", "upper"), [(np.inf, np.inf), (-np.inf, -np.inf)])
def test_intervals_at_infinity_raise(lower, upper):
    with pytest.raises(ValueError):
        coverage([0.0], [lower], [upper])


def test_no_intervals_have_no_score():
    assert np.isnan(penalized_winkler_score([], [], [], 0.9, shortfall_weight=1.0))


# Correctness


@given(intervals, st.sampled_from(LEVELS))
def test_winkler_score_is_that_of_scoringrules(cases, nominal):
    truth, lower, upper = unpacked(cases)
    expected = interval_score(truth, lower, upper, 1 - nominal).mean()
    assert winkler_score(truth, lower, upper, nominal) == pytest.approx(expected, rel=1e-12)


@given(intervals, st.sampled_from(LEVELS))
def test_winkler_score_is_a_weighted_quantile_loss(cases, nominal):
    truth, lower, upper = unpacked(cases)
    alpha = 1 - nominal

    def quantile_loss(end, level):
        return (truth - end) * (level - (truth < end))

    losses = quantile_loss(lower, alpha / 2) + quantile_loss(upper, 1 - alpha / 2)
    expected = (2 / alpha * losses).mean()
    assert winkler_score(truth, lower, upper, nominal) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("nominal", LEVELS)
def test_winkler_score_is_least_for_the_quantiles_of_the_truth(nominal):
    truth = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    best = stats.norm.ppf((1 + nominal) / 2)

    def score(lower, upper):
        return winkler_score(truth, np.full(20_000, lower), np.full(20_000, upper), nominal)

    for shift in (-0.3, 0.3):
        assert score(-best, best) < min(score(-best + shift, best), score(-best, best + shift))


def test_coverage_counts_the_ends():
    assert coverage([1, 2, 3, 4, 5], [1, 0, 3, 5, 0], [2, 2, 3, 6, 4]) == 0.6


def test_penalty_is_the_squared_shortfall():
    truth, lower, upper = [0, 0, 9, 9], [0, 0, 0, 0], [1, 1, 1, 1]
    score = winkler_score(truth, lower, upper, 0.9)
    assert penalized_winkler_score(truth, lower, upper, 0.9, shortfall_weight=100) == pytest.approx(
        score + 16
    )
    assert penalized_winkler_score(truth, lower, upper, 0.4, shortfall_weight=100) == pytest.approx(
        winkler_score(truth, lower, upper, 0.4)
    )


def test_degenerate_share_counts_points():
    assert degenerate_share([1, 2, 3, 4], [1, 3, 3, 4]) == 0.75


# Correctness: sampled ends


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40), st.sampled_from([0.5, 0.8, *LEVELS]))
def test_sampled_ends_are_quantiles_of_the_empirical_distribution(samples, nominal):
    lower, upper = adjusted_interval(samples, samples, nominal)
    ordered = np.sort(samples)
    tail = (1000 - round(1000 * nominal)) / 2000  # exact for these levels
    for end, level in ((lower, tail), (upper, 1 - tail)):
        assert end in ordered
        assert round((ordered <= end).mean() - level, 12) >= 0
        assert round((ordered < end).mean() - level, 12) < 0


def test_ranks_are_those_of_the_decimal_level():
    # alpha / 2 = 0.05 of 100 is rank 5; (1 - 0.9) / 2 in floats is a little less, 1 - 0.95 a little more.
    lower, upper = adjusted_interval(np.arange(1, 101), np.arange(1, 101), 0.9)
    assert (lower, upper) == (5, 95)


def tunnelled(beta, nominal, size, rng):
    """Ends stated by a model that sees a random part, of mass beta, of a standard normal belief."""
    tail = (1 - nominal) / 2
    start = rng.random(size) * (1 - beta)
    return stats.norm.ppf(start + beta * tail), stats.norm.ppf(start + beta * (1 - tail))


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9, 1.0])
def test_adjusted_ends_are_the_quantiles_of_the_whole_belief(beta):
    """Theorem 1, with the error that proposition 1 gives it."""
    nominal, size = 0.9, 20_000
    lower, upper = adjusted_interval(*tunnelled(beta, nominal, size, np.random.default_rng(2)), nominal)
    quantile = stats.norm.ppf(0.95)
    error = np.sqrt((1 - beta) * 0.05 * 0.95 / size) / stats.norm.pdf(quantile)
    assert (lower, upper) == pytest.approx((-quantile, quantile), abs=4 * error + 1e-9)


def test_unadjusted_intervals_of_a_partial_belief_have_low_coverage():
    rng = np.random.default_rng(3)
    lower, upper = tunnelled(0.5, 0.9, 5000, rng)
    truth = rng.normal(size=5000)
    assert coverage(truth, lower, upper) == pytest.approx(0.45, abs=0.03)
    low, high = adjusted_interval(lower, upper, 0.9)
    assert coverage(truth, np.full(5000, low), np.full(5000, high)) == pytest.approx(0.9, abs=0.02)


def test_questions_are_adjusted_one_by_one():
    rng = np.random.default_rng(4)
    lower = rng.normal(size=(3, 2, 15))
    upper = lower + rng.random((3, 2, 15))
    result = adjusted_interval(lower, upper, 0.8)
    assert result[0].shape == result[1].shape == (3, 2)
    assert (result[0][1, 0], result[1][1, 0]) == adjusted_interval(lower[1, 0], upper[1, 0], 0.8)


# Properties


@given(intervals, st.sampled_from(LEVELS), st.integers(-20, 20))
def test_scores_do_not_change_when_everything_moves(cases, nominal, shift):
    truth, lower, upper = unpacked(cases)
    moved = winkler_score(truth + shift, lower + shift, upper + shift, nominal)
    assert moved == pytest.approx(winkler_score(truth, lower, upper, nominal), rel=1e-12)


@given(st.lists(st.tuples(exponents, st.integers(0, 50)), min_size=1, max_size=30), st.sampled_from(LEVELS))
def test_adjusted_ends_are_in_order(cases, nominal):
    lower, width = np.array(cases, dtype=float).T
    low, high = adjusted_interval(lower, lower + width, nominal)
    assert low <= high
