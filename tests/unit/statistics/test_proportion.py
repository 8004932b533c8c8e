import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confidence_tasks.statistics.inference.limits import wilson_interval

# Shapes


def test_limits_have_the_broadcast_shape():
    low, high = wilson_interval([[0], [1]], [3, 4, 5])
    assert low.shape == high.shape == (2, 3)


# Errors and degenerate samples


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (np.nan, 3), (1, np.inf), (1, np.nan)])
def test_impossible_counts_raise(successes, trials):
    with pytest.raises(ValueError, match="successes"):
        wilson_interval(successes, trials)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_level_outside_its_domain_raises(level):
    with pytest.raises(ValueError, match="level"):
        wilson_interval(1, 3, level=level)


def test_no_trials_no_interval():
    assert np.isnan(wilson_interval(0, 0)).all()


# Correctness


@given(st.integers(1, 500), st.floats(0.0, 1.0), st.sampled_from([0.5, 0.9, 0.95, 0.998]))
def test_limits_are_those_of_scipy(n, share, level):
    k = round(share * n)
    expected = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    np.testing.assert_allclose(wilson_interval(k, n, level=level), expected, rtol=1e-10, atol=1e-14)


@given(st.integers(1, 200), st.floats(0.01, 0.99))
def test_a_limit_is_a_proportion_that_the_score_test_just_rejects(n, share):
    k = round(share * n)
    for limit in wilson_interval(k, n):
        assert abs(k - n * limit) <= 1.959963984540054 * np.sqrt(n * limit * (1 - limit)) + 1e-9


# Properties


@given(st.integers(0, 50), st.integers(0, 50))
def test_exchanging_success_and_failure_mirrors_the_interval(successes, failures):
    low, high = wilson_interval(successes, successes + failures)
    mirrored = wilson_interval(failures, successes + failures)
    np.testing.assert_allclose((1 - high, 1 - low), mirrored, atol=1e-14)


def test_all_and_none_reach_the_ends_exactly():
    assert wilson_interval(0, 7)[0] == 0.0
    assert wilson_interval(7, 7)[1] == 1.0
