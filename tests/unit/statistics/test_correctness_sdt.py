"""Distances of right and wrong answers: closed forms of two normal distributions, and resampling by weights."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from confidence_tasks.statistics import auroc2, meta_information
from confidence_tasks.statistics.sdt import (
    d_a,
    d_prime_ratings,
    m_ratio_ratings,
    mean_difference,
    z_roc_slope,
)

N = 40_000


def population(distance, sd, accuracy=0.5):
    """Trials whose evidence has exactly the quantiles of N(0, 1) when wrong and of N(distance, sd^2) when right."""
    right = round(N * accuracy)
    of_right, of_wrong = (ndtri((np.arange(size) + 0.5) / size) for size in (right, N - right))
    correct = np.repeat([1.0, 0.0], [right, N - right])
    return correct, np.concatenate([distance + sd * of_right, of_wrong])


@pytest.mark.parametrize("accuracy", [0.3, 0.5, 0.8])
@pytest.mark.parametrize(("distance", "sd"), [(0.5, 1.0), (1.4, 1.0), (2.5, 1.0), (1.4, 1.6), (1.4, 0.7)])
def test_slope_and_d_a_are_those_of_the_two_normals(distance, sd, accuracy):
    trials = population(distance, sd, accuracy)
    assert z_roc_slope(*trials) == pytest.approx(1.0 / sd, abs=1e-2)
    assert d_a(*trials) == pytest.approx(distance * math.sqrt(2.0 / (1.0 + sd**2)), abs=1e-2)
    assert mean_difference(*trials) == pytest.approx(distance, abs=2e-3)
    if sd == 1.0:
        assert d_prime_ratings(*trials) == pytest.approx(distance, abs=5e-3)


@pytest.mark.parametrize(("distance", "sd"), [(0.5, 1.0), (1.4, 1.0), (1.4, 1.6)])
def test_d_a_is_the_area_under_the_roc_in_other_units(distance, sd):
    correct, evidence = population(distance, sd)
    area = auroc2(correct, ndtr(evidence / 4.0))
    assert math.sqrt(2.0) * ndtri(area) == pytest.approx(d_a(correct, evidence), abs=5e-3)


@pytest.mark.parametrize(
    ("distance", "area"), [(0.5, 0.638), (1.0, 0.760), (1.4, 0.839), (2.0, 0.921), (2.5, 0.961)]
)
def test_version_1_m_ratio_is_one_under_equal_variance_whatever_the_area(distance, area):
    """The warning of meta_d_ratings: what AUROC2 and meta-information tell apart, this M-ratio does not."""
    correct, evidence = population(distance, 1.0)
    assert auroc2(correct, ndtr(evidence / 4.0)) == pytest.approx(area, abs=1e-3)
    assert m_ratio_ratings(correct, evidence) == pytest.approx(1.0, abs=5e-3)


def test_version_1_m_ratio_is_moved_by_the_base_rate_where_variances_differ():
    """The same two distributions, so the same area: more right answers alone turn loss into surplus, or the reverse."""
    areas, ratios = [], []
    for accuracy in (0.3, 0.8):
        correct, evidence = population(1.4, 1.6, accuracy)
        areas.append(auroc2(correct, ndtr(evidence / 4.0)))
        ratios.append(m_ratio_ratings(correct, evidence))
    assert areas[0] == pytest.approx(areas[1], abs=1e-3)
    assert ratios[0] > 1.3
    assert ratios[1] < 0.6


def test_only_the_order_counts_except_for_the_difference():
    correct, evidence = population(1.0, 1.3, 0.6)
    bent = np.exp(evidence)
    for measure in (d_prime_ratings, z_roc_slope, d_a, meta_information):
        assert measure(correct, bent) == pytest.approx(measure(correct, evidence), abs=2e-3)
    assert mean_difference(correct, bent) != pytest.approx(mean_difference(correct, evidence), abs=0.1)


@pytest.mark.parametrize("measure", [d_prime_ratings, z_roc_slope, d_a, mean_difference])
def test_weights_are_numbers_of_repetitions(measure):
    rng = np.random.default_rng(0)
    correct, evidence = rng.integers(0, 2, 60).astype(float), rng.normal(size=60)
    weights = rng.integers(0, 4, (5, 60)).astype(float)
    result = measure(correct, evidence, weights=weights)
    for value, row in zip(result, weights.astype(int), strict=True):
        assert value == pytest.approx(measure(np.repeat(correct, row), np.repeat(evidence, row)), abs=1e-12)


@pytest.mark.parametrize("measure", [d_prime_ratings, z_roc_slope, d_a, mean_difference])
@pytest.mark.parametrize("correct", [[], [1.0, 1.0, 1.0], [0.0, 0.0]])
def test_nothing_to_compare_is_undefined(measure, correct):
    value = measure(correct, np.arange(len(correct), dtype=float))
    assert math.isnan(value)
    assert value.reason is not None
