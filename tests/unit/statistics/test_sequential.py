"""Tests and intervals of means that may be looked at after every observation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from confidence_tasks.statistics import confidence_sequence, gate_test
from confidence_tasks.statistics.sequential import GateTest

SHARES = [Fraction(2 * k + 1, 40) for k in range(20)]


def capital(values: list[Fraction], mean: Fraction) -> list[Fraction]:
    """The capital after each observation of a gambler who bets that the mean is larger, in exact numbers.

    A bet pays x / mean for each unit that is laid, which is fair if the mean is the mean.
    """
    purses, after = [Fraction(1)] * len(SHARES), []
    for x in values:
        purses = [
            kept - kept * share + kept * share * x / mean for kept, share in zip(purses, SHARES, strict=True)
        ]
        after.append(sum(purses) / len(purses))
    return after


def decided(values: list[Fraction], bound: Fraction, alpha: Fraction) -> tuple[str, int]:
    above, below = capital(values, bound), capital([1 - x for x in values], 1 - bound)
    for n, (up, down) in enumerate(zip(above, below, strict=True), start=1):
        if max(up, down) >= 2 / alpha:
            return ("above" if up > down else "below"), n
    return "open", 0


observations = st.lists(st.integers(0, 8).map(lambda k: Fraction(k, 8)), max_size=60)


@settings(max_examples=60, deadline=None)
@given(observations, st.integers(1, 19), st.sampled_from([Fraction(1, 2), Fraction(1, 20)]))
def test_a_test_is_a_game_with_fair_bets(values: list[Fraction], twentieths: int, alpha: Fraction) -> None:
    bound = Fraction(twentieths, 20)
    found = gate_test([float(x) for x in values], float(bound), alpha=float(alpha))
    assert (found.decision, found.n_decided) == decided(values, bound, alpha)
    assert found.n == len(values)


@settings(max_examples=15, deadline=None)
@given(observations.filter(len))
def test_limits_are_the_means_that_the_game_has_rejected(values: list[Fraction]) -> None:
    grid = [Fraction(k, 50) for k in range(1, 50)]
    found = confidence_sequence([float(x) for x in values])
    rejected_low = [0.0] + [float(m) for m in grid if max(capital(values, m)) >= 40]
    rejected_high = [1.0] + [float(1 - m) for m in grid if max(capital([1 - x for x in values], m)) >= 40]
    assert max(rejected_low) - 1e-12 <= found.low[-1] < max(rejected_low) + 1 / 50 + 1e-12
    assert min(rejected_high) + 1e-12 >= found.high[-1] > min(rejected_high) - 1 / 50 - 1e-12


@settings(max_examples=30, deadline=None)
@given(observations.filter(len), st.integers(1, 19))
def test_a_limit_passes_the_bound_when_the_test_decides(values: list[Fraction], twentieths: int) -> None:
    bound = -1 + twentieths / 10
    seen = [2 * float(x) - 1 for x in values]
    test = gate_test(seen, bound, bounds=(-1, 1), alpha=0.2)
    limits = confidence_sequence(seen, bounds=(-1, 1), level=0.8, bound=bound)
    crossed = (limits.low >= bound - 1e-9) | (limits.high <= bound + 1e-9)
    assert (int(np.argmax(crossed)) + 1 if crossed.any() else 0) == test.n_decided
    assert (np.diff(limits.low) >= 0).all()
    assert (np.diff(limits.high) <= 0).all()


def bernoulli(rate: float, n: int, seed: int) -> NDArray[np.float64]:
    return (np.random.default_rng(seed).random(n) < rate).astype(float)


def test_a_lost_observation_is_the_worst_case_for_either_side() -> None:
    values = bernoulli(0.9, 300, 0)
    values[::7] = np.nan
    lost = np.isnan(values)
    found = gate_test(values, 0.6)
    assert found.decision == "above"
    assert found.n_decided == gate_test(np.where(lost, 0.0, values), 0.6).n_decided
    limits = confidence_sequence(values)
    np.testing.assert_array_equal(limits.low, confidence_sequence(np.where(lost, 0.0, values)).low)
    np.testing.assert_array_equal(limits.high, confidence_sequence(np.where(lost, 1.0, values)).high)
    assert limits.estimate[-1] == pytest.approx(np.nanmean(values))
    assert gate_test(np.full(1000, np.nan), 0.5).decision == "open"


def test_observations_may_come_one_by_one() -> None:
    values = bernoulli(0.9, 200, 1)
    one_by_one = GateTest(0.7)
    for each in values:
        one_by_one.add([each])
    whole = gate_test(values, 0.7)
    assert (one_by_one.decision, one_by_one.n_decided) == (whole.decision, whole.n_decided) != ("open", 0)


def test_a_decision_stays() -> None:
    found = gate_test([*[1.0] * 20, *[0.0] * 500], 0.5)
    assert (found.decision, found.n_decided) == ("above", 8)


def test_a_test_at_the_bound_decides_rarely_however_often_one_looks() -> None:
    decisions = [gate_test(bernoulli(0.8, 500, seed), 0.8).decision for seed in range(400)]
    assert sum(each != "open" for each in decisions) <= 0.05 * 400 + 3 * np.sqrt(400 * 0.05 * 0.95)


def test_hundreds_of_thousands_of_observations_neither_overflow_nor_underflow() -> None:
    limits = confidence_sequence(bernoulli(0.5, 20_000, 0)[:6_000])
    assert 0.46 < limits.low[-1] < 0.5 < limits.high[-1] < 0.54
    assert gate_test(np.ones(100_000), 0.5).decision == "above"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bound": 0.0}, "bound must lie between the bounds 0 and 1, got 0"),
        ({"bound": float("nan")}, "bound must lie between"),
        ({"bounds": (0.0, float("inf"))}, "bound must lie between"),
        ({"alpha": 0.0}, "lie in"),
        ({"values": [0.5, 1.5]}, "values must lie in \\[0, 1\\], got 1.5"),
        ({"values": [[0.5]]}, "one-dimensional"),
    ],
)
def test_arguments_out_of_range_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gate_test(**{"values": [0.5], "bound": 0.5, **change})  # type: ignore[arg-type]


def test_an_empty_sequence_has_no_limits() -> None:
    found = confidence_sequence([])
    assert len(found.low) == len(found.high) == len(found.estimate) == 0
