"""All pairs and ranks of several models, against tables of the studentised range, enumeration and simulation."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import studentized_range

from confidence_tasks.statistics.inference.many import (
    AllPairs,
    CountedTrials,
    Source,
    all_pairs,
    critical_value,
    model_moments,
    pair_variances,
    permuted_maxima,
    student_maxima,
)


@pytest.mark.parametrize(("k", "freedom"), [(3, np.inf), (10, np.inf), (4, 12.0)])
def test_independent_values_have_tukeys_studentised_range(k: int, freedom: float) -> None:
    maxima = student_maxima(0.3 * np.eye(k), freedom, n_draws=100_000)
    expected = studentized_range.ppf(0.95, k, freedom) / np.sqrt(2.0)
    assert np.quantile(maxima, 0.95) == pytest.approx(expected, abs=0.025)


def test_what_models_share_cancels() -> None:
    covariance = np.eye(4) * 0.1
    one, other = (student_maxima(covariance + shared, 30.0, n_draws=50_000) for shared in (0.0, 5.0))
    assert np.quantile(one, 0.95) == pytest.approx(np.quantile(other, 0.95), abs=0.03)


def mean_of(values: np.ndarray) -> Source:
    """Return a source of numbers, one a model and question, whose mean is compared; rows are questions."""
    distinct, kind = np.unique(values, return_inverse=True)
    n_units, n_models = values.shape
    unit, model = (index.ravel() for index in np.indices(values.shape))
    trials = CountedTrials(unit, model, kind.ravel(), n_units, n_models, len(distinct))

    def mean(weights: np.ndarray) -> np.ndarray:
        return weights @ distinct / weights.sum(axis=1)

    def influences(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = weights.sum(axis=1, keepdims=True)
        deviations = distinct - mean(weights)[:, np.newaxis]
        return deviations / np.sqrt(size * (size - 1.0)), np.zeros(len(weights))

    return trials, mean, influences


def largest_t(values: np.ndarray) -> float:
    """Return the largest paired t statistic of two columns."""
    n, k = values.shape
    found = []
    for i in range(k):
        for j in range(i):
            d = values[:, i] - values[:, j]
            # The error is that of the influences: squares about the difference of the means.
            found.append(abs(d.mean()) / np.sqrt(((d - d.mean()) ** 2).sum() / n / (n - 1)))
    return max(found)


def test_permutations_have_the_largest_paired_t_of_every_permutation_of_models() -> None:
    values = np.random.default_rng(0).normal(size=(4, 3))
    expected = [
        largest_t(np.array([row[list(order)] for row, order in zip(values, orders, strict=True)]))
        for orders in product(permutations(range(3)), repeat=4)
    ]
    maxima = permuted_maxima([mean_of(values)], n_draws=20_000)
    assert set(maxima.round(8)) <= set(np.round(expected, 8))
    for share in (0.5, 0.9, 0.95):
        assert np.quantile(maxima, share) == pytest.approx(np.quantile(expected, share), rel=0.03)


def test_values_and_errors_are_those_of_paired_differences() -> None:
    values = np.random.default_rng(1).normal(size=(30, 3))
    found, covariance = model_moments([mean_of(values)])
    assert found == pytest.approx(values.mean(axis=0))
    d = values[:, 0] - values[:, 2]
    assert pair_variances(covariance)[0, 2] == pytest.approx(d.var(ddof=1) / 30)


@given(
    st.lists(st.floats(0.01, 100.0), min_size=2, max_size=4), st.integers(0, 2**32 - 1), st.floats(1e-6, 1e3)
)
def test_a_model_that_replies_as_another_does_changes_no_maximum(
    spread: list[float], seed: int, scale: float
) -> None:
    """The variance of their difference is 0 but for rounding, which depends on the machine."""
    rng = np.random.default_rng(seed)
    replies = scale * rng.normal(size=(len(spread), 30)) * np.array(spread)[:, None]
    twice = np.cov(np.vstack([replies, replies[:1]]))
    twice[-1, -1] *= 1.0 + 4e-16  # as sums in another order differ
    errors = pair_variances(twice)
    assert errors[0, -1] == errors[-1, 0] == 0.0
    assert (errors[0, 1:-1] > 0.0).all()
    maxima = student_maxima(twice, np.inf, n_draws=20_000, seed=1)
    without = student_maxima(np.cov(replies), np.inf, n_draws=20_000, seed=1)
    assert critical_value(maxima, 0.95) == pytest.approx(critical_value(without, 0.95), abs=0.15)


def test_several_trials_of_a_question_are_permuted_and_summed_together() -> None:
    """Two equal replies to a question are as one, but for the factor n / (n - 1) of the trials."""
    values = np.random.default_rng(2).normal(size=(12, 3))
    trials, mean, influences = mean_of(values)
    twice = CountedTrials(
        *(np.tile(each, 2) for each in (trials.unit, trials.model, trials.kind)),
        n_units=12,
        n_models=3,
        n_kinds=trials.n_kinds,
        correction=12 / 11 * 23 / 24,
    )
    (_, once), (_, doubled) = (model_moments([(each, mean, influences)]) for each in (trials, twice))
    assert doubled == pytest.approx(once)
    alike = (permuted_maxima([(each, mean, influences)], n_draws=50) for each in (trials, twice))
    assert next(alike) == pytest.approx(next(alike))


def test_sources_are_averaged() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(20, 3)), rng.normal(size=(40, 3))
    found, covariance = model_moments([mean_of(one), mean_of(other)])
    assert found == pytest.approx((one.mean(axis=0) + other.mean(axis=0)) / 2)
    parts = [model_moments([mean_of(each)])[1] for each in (one, other)]
    assert covariance == pytest.approx(sum(parts) / 4)


def test_equal_models_differ_in_at_most_5_percent_of_small_studies() -> None:
    """The test is exact: ten models, 8 questions, skewed numbers, 1,000 studies."""
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(1000):
        source = mean_of(np.round(rng.exponential(size=(8, 10)) ** 2, 1))
        values, covariance = model_moments([source])
        maxima = permuted_maxima([source], n_draws=99, seed=rng)
        errors = np.sqrt(pair_variances(covariance))
        pairs = all_pairs(np.subtract.outer(values, values), errors, [maxima])
        found += bool((pairs.low > 0.0).any())
    assert 0.03 < found / 1000 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def pairs_of(values: list[float], error: float, level: float = 0.95) -> AllPairs:
    """Return the pairs of values of one error."""
    k = len(values)
    errors = np.full((k, k), error * np.sqrt(2.0))
    maxima = [student_maxima(np.eye(k), np.inf, n_draws=500)]
    return all_pairs(np.subtract.outer(values, values), errors, maxima, level=level)


@given(
    st.lists(st.floats(-5, 5).map(lambda x: round(x, 2)), min_size=2, max_size=7),
    st.floats(0.01, 2.0),
    st.sampled_from([0.8, 0.9, 0.95]),
)
def test_limits_p_values_and_ranks_agree(values: list[float], error: float, level: float) -> None:
    found = pairs_of(values, error, level)
    excludes = (found.low > 0.0) | (found.high < 0.0)
    assert (excludes == (found.p_value <= 1.0 - level + 1e-12)).all()
    assert found.low == pytest.approx(-found.high.T)
    first, last = found.ranks()
    flipped = found.ranks(lowest_first=True)
    # Rank 1 from below is rank k from above.
    assert (flipped[0] == len(values) + 1 - last).all()
    assert (flipped[1] == len(values) + 1 - first).all()
    for i, value in enumerate(values):
        assert first[i] <= 1 + sum(other > value for other in values)
        assert last[i] >= len(values) - sum(other < value for other in values)
    assert (first <= last).all()
    assert first.min() == 1


def test_clear_differences_give_single_ranks() -> None:
    first, last = pairs_of([0.2, 0.9, 0.5], 0.01).ranks()
    assert first.tolist() == last.tolist() == [3, 1, 2]


def test_without_a_standard_error_no_limit_contradicts_the_p_value() -> None:
    values = np.array([0.0, 1.0, 1.0])
    few, many = (np.ones(n) for n in (9, 99))
    differences, errors = np.subtract.outer(values, values), np.zeros((3, 3))
    assert np.isnan(all_pairs(differences, errors, [few]).low[0, 1])
    assert all_pairs(differences, errors, [many]).high[0, 1] == -1.0
    assert all_pairs(differences, errors, [many]).p_value[1, 2] == 1.0


def test_too_few_draws_for_a_level_give_no_limits() -> None:
    assert critical_value(np.arange(19.0), 0.95) == 18.0
    assert critical_value(np.arange(18.0), 0.95) == np.inf
    found = all_pairs(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.full((2, 2), 0.1), [np.arange(18.0)])
    assert np.isnan(found.low).all()
    assert [rank.tolist() for rank in found.ranks()] == [[1, 1], [2, 2]]


def test_the_larger_of_two_references_counts() -> None:
    differences, errors = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.full((2, 2), 0.5)
    small, large = np.linspace(0.0, 2.1, 199), np.linspace(0.0, 4.0, 199)
    both, one = all_pairs(differences, errors, [small, large]), all_pairs(differences, errors, [large])
    assert (both.low[0, 1], both.p_value[0, 1]) == (one.low[0, 1], one.p_value[0, 1])


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5])
def test_a_level_outside_0_and_1_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        all_pairs(np.zeros((2, 2)), np.ones((2, 2)), [np.ones(10)], level=level)
