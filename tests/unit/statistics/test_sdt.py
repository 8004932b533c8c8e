import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from confidence_tasks.statistics import Reason
from confidence_tasks.statistics.sdt import type1

counts = arrays(np.float64, 8, elements=st.integers(0, 50).map(float))


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


# Shapes


def test_one_table_gives_numbers_and_a_batch_gives_arrays(rng):
    s1, s2 = rng.integers(1, 30, (2, 6, 8))
    batch = type1(s1, s2)
    for i in range(6):
        one = type1(s1[i], s2[i])
        assert batch.d_prime[i] == one.d_prime
        assert batch.criterion[i] == one.criterion


# Errors and degenerate input


@pytest.mark.parametrize(
    ("s1", "s2", "reason"),
    [
        ([0, 0, 0, 0], [0, 0, 0, 0], Reason.EMPTY),
        ([1, 2, 3, 4], [0, 0, 0, 0], Reason.ONE_CLASS),
        ([0, 0, 0, 0], [1, 2, 3, 4], Reason.ONE_CLASS),
    ],
)
def test_missing_trials_have_a_reason(s1, s2, reason):
    for padding in ("1/2K", "none"):
        result = type1(s1, s2, padding=padding)
        assert {getattr(result, name).reason for name in result.__slots__} == {reason}


def test_a_rate_of_one_leaves_d_prime_undefined_unless_padded():
    assert type1([10, 0], [0, 10], padding="none").d_prime.reason is Reason.NOT_IDENTIFIED
    assert type1([10, 0], [0, 10], padding="none").hit_rate == 1.0
    assert np.isfinite(type1([10, 0], [0, 10]).d_prime)


@given(counts, counts, st.sampled_from(["1/2K", "hautus", "none"]))
def test_any_counts_give_a_number_or_a_reason(s1, s2, padding):
    result = type1(s1, s2, padding=padding)
    for name in result.__slots__:
        value = getattr(result, name)
        assert np.isfinite(value) or value.reason is not None


# Correctness


def test_rates_d_prime_and_criterion_by_hand():
    result = type1([50, 34, 10, 6], [10, 10, 30, 50], padding="none")
    assert (result.hit_rate, result.false_alarm_rate) == (0.8, 0.16)
    z_hit, z_false_alarm = stats.norm.ppf([0.8, 0.16])
    assert result.d_prime == pytest.approx(z_hit - z_false_alarm, rel=1e-14)
    assert result.criterion == pytest.approx(-(z_hit + z_false_alarm) / 2, rel=1e-14)


def test_rates_near_one_keep_their_precision():
    result = type1([1e15, 1, 0, 1e-5], [1e-5, 0, 1, 1e15], padding="none")
    assert result.d_prime == pytest.approx(2 * stats.norm.isf(1e-5 / (1e15 + 1)), rel=1e-12)


def test_standard_error_of_d_prime_is_that_of_simulated_tables(rng):
    s1, s2 = (rng.multinomial(1000, p, size=20_000) for p in ([0.5, 0.2, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]))
    result = type1(s1, s2)
    assert result.d_prime.std() == pytest.approx(result.d_prime_se.mean(), rel=0.03)


# Invariance


@given(counts, counts)
def test_exchanging_stimuli_and_responses_keeps_d_prime_and_turns_the_criterion(s1, s2):
    plain, turned = type1(s1, s2), type1(s2[::-1], s1[::-1])
    assert plain.d_prime == pytest.approx(turned.d_prime, abs=1e-12, nan_ok=True)
    assert plain.criterion == pytest.approx(-turned.criterion, abs=1e-12, nan_ok=True)
