"""Variance between and within questions: against the F test, pandas, closed forms and known variances."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confidence_tasks.statistics.core import Reason
from confidence_tasks.statistics.reliability import (
    VarianceComponents,
    components_of_difference,
    retest_reliability,
    spearman_brown,
    split_half_reliability,
    variance_components,
)

RNG = np.random.default_rng


def table(n: int, epochs: int, between: float, within: float, seed: int = 0) -> np.ndarray:
    """Normal values of n questions in several epochs."""
    rng = RNG(seed)
    return rng.normal(0, math.sqrt(between), (n, 1)) + rng.normal(0, math.sqrt(within), (n, epochs))


def long(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values.ravel(), np.repeat(np.arange(len(values)), values.shape[1])


def test_the_share_follows_from_the_f_test() -> None:
    values = table(40, 4, 1.0, 2.0)
    f = stats.f_oneway(*values).statistic  # Shrout & Fleiss (1979), ICC(1,1), in terms of F
    assert variance_components(*long(values)).share == pytest.approx((f - 1) / (f + 3), rel=1e-10)


def test_the_published_example_of_shrout_and_fleiss() -> None:
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    found = variance_components(*long(ratings))
    # Psychol. Bull. 86:420-428, table 4: ICC(1,1) = .17 and ICC(1,4) = .44.
    assert (round(found.share, 2), round(found.reliability(4), 2)) == (0.17, 0.44)


def test_unequal_numbers_of_replies_are_estimated_without_bias() -> None:
    rng = RNG(1)
    counts = np.repeat([1, 2, 5], 60)
    question = np.repeat(np.arange(180), counts)
    found = []
    for _ in range(400):
        values = rng.normal(0, 1.0, 180)[question] + rng.normal(0, 2.0, len(question))
        found.append(variance_components(values, question))
    assert np.mean([each.within for each in found]) == pytest.approx(4.0, rel=0.02)
    assert np.mean([each.between for each in found]) == pytest.approx(1.0, rel=0.06)


def test_the_error_of_the_mean_is_that_of_the_questions_means() -> None:
    values = table(50, 3, 2.0, 1.0)
    found = variance_components(*long(values))
    assert found.error(50, 3) == pytest.approx(stats.sem(values.mean(axis=1)), rel=1e-10)


def test_the_error_of_a_design_is_that_of_a_simulation() -> None:
    rng = RNG(2)
    accuracy = rng.beta(2, 1, 20_000)
    between, within = accuracy.var(), np.mean(accuracy * (1 - accuracy))
    expected = VarianceComponents(2, 4, between, within)
    for n, epochs in ((120, 1), (40, 3), (12, 10)):
        means = [rng.binomial(epochs, rng.choice(accuracy, n)).mean() / epochs for _ in range(4000)]
        assert np.std(means) == pytest.approx(expected.error(n, epochs), rel=0.05)


@given(st.floats(0, 10), st.floats(0.01, 10), st.integers(2, 20))
def test_more_questions_are_never_worse_than_more_epochs(between: float, within: float, epochs: int) -> None:
    found = VarianceComponents(10, 20, between, within)
    assert found.error(100 * epochs, 1) <= found.error(100, epochs) * (1 + 1e-12)
    # Kish: values of the same question count as fewer of different ones.
    ratio = (found.error(100, epochs) / found.error(100 * epochs, 1)) ** 2
    assert found.design_effect(epochs) == pytest.approx(ratio)
    assert found.reliability(epochs) == pytest.approx(between / (between + within / epochs))


def test_components_of_a_difference_are_those_of_the_subjects() -> None:
    rng = RNG(3)
    shared = rng.normal(0, 2.0, 4000)
    models = [shared + rng.normal(0, sd, 4000) for sd in (0.5, 1.0)]
    values = [
        model[:, np.newaxis] + rng.normal(0, sd, (4000, k))
        for model, sd, k in zip(models, (1.0, 2.0), (2, 4), strict=True)
    ]
    found = components_of_difference(*long(values[0]), *long(values[1]))
    assert found.within == pytest.approx(1.0 + 4.0, rel=0.05)
    assert found.between == pytest.approx(0.25 + 1.0, rel=0.15)
    own = stats.sem(values[0].mean(axis=1) - values[1].mean(axis=1))
    assert math.sqrt((found.between + 1.0 / 2 + 4.0 / 4) / 4000) == pytest.approx(own, rel=0.03)


def test_questions_of_one_model_only_are_left_out() -> None:
    first, question = long(table(20, 2, 1.0, 1.0))
    second, _ = long(table(20, 2, 1.0, 1.0, seed=1))
    both = components_of_difference(first[:30], question[:30], second[10:], question[10:])
    inner = components_of_difference(first[10:30], question[10:30], second[10:30], question[10:30])
    assert both == inner
    assert both.n_questions == 10


# Correlations


def test_test_retest_is_the_mean_of_the_correlation_matrix() -> None:
    values = table(60, 5, 1.0, 0.7)
    matrix = pd.DataFrame(values).corr().to_numpy()
    expected = matrix[np.triu_indices(5, 1)].mean()
    assert retest_reliability(values) == pytest.approx(expected, rel=1e-12)


def test_split_half_of_two_epochs_is_the_correlation_after_spearman_and_brown() -> None:
    values = table(60, 2, 1.0, 0.7)
    r = stats.pearsonr(values[:, 0], values[:, 1]).statistic
    assert split_half_reliability(values) == pytest.approx(2 * r / (1 + r))


@pytest.mark.parametrize("epochs", [2, 3, 4, 5, 10, 13])
def test_split_half_estimates_the_reliability_of_the_mean(epochs: int) -> None:
    values = table(20_000, epochs, 1.0, 2.0)
    assert split_half_reliability(values) == pytest.approx(1.0 / (1.0 + 2.0 / epochs), abs=0.02)


def test_spearman_and_brown_undo_each_other() -> None:
    assert spearman_brown(spearman_brown(0.37, 5), 1 / 5) == pytest.approx(0.37)


def test_values_without_spread_have_no_reliability() -> None:
    assert retest_reliability(np.ones((10, 2))).reason is Reason.CONSTANT
    assert split_half_reliability(np.ones((10, 4))).reason is Reason.CONSTANT
    for few in (np.ones((2, 3)), np.ones((9, 1)), np.full((9, 3), np.nan)):
        assert retest_reliability(few).reason is Reason.TOO_FEW
        assert split_half_reliability(few).reason is Reason.TOO_FEW
    assert math.isnan(variance_components([1, 2, 3], ["a", "b", "c"]).within)
    assert math.isnan(variance_components([1, 2], ["a", "a"]).between)
    assert math.isnan(variance_components([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1]).share)
    empty = components_of_difference([1, 2], ["a", "a"], [1, 2], ["b", "b"])
    assert (empty.n_questions, math.isnan(empty.within)) == (0, True)


def test_missing_values_leave_out_a_reply_or_a_question() -> None:
    values = table(30, 3, 1.0, 1.0)
    holes = values.copy()
    holes[:5, 1] = np.nan
    assert retest_reliability(holes) == retest_reliability(values[5:])
    flat, question = long(holes)
    known = ~np.isnan(flat)
    assert variance_components(flat, question) == variance_components(flat[known], question[known])


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        variance_components([1, 2], ["a"])
    with pytest.raises(ValueError, match="questions, epochs"):
        retest_reliability([1.0, 2.0])
