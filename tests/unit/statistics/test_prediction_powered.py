"""Prediction-powered means, against ppi_python, closed forms and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.validity.judge_studies import corrected_coverage

from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.core import Reason
from confidence_tasks.statistics.inference.prediction_powered import prediction_powered_mean

N_LABELS = 120


def judged() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    right = (rng.random(400) < 0.7).astype(float)
    grade = np.where(rng.random(400) < 0.88, right, 1 - right)
    return np.where(np.arange(400) < N_LABELS, right, np.nan), grade


PPI_PYTHON = {
    1.0: (0.6880952380952381, 0.6140611590520493, 0.7621293171384269),
    0.0: (0.725, 0.6451099269633636, 0.8048900730366364),
    None: (0.7054039923954374, 0.6471136083729936, 0.7636943764178812),
}
"""Estimate and limits of ``ppi_mean_pointestimate`` and ``ppi_mean_ci`` of ppi_python 0.2.3, by ``lam``."""


@pytest.mark.parametrize("weight", PPI_PYTHON)
def test_numbers_are_those_of_ppi_python(weight: float | None) -> None:
    estimate, low, high = PPI_PYTHON[weight]
    found = prediction_powered_mean(*judged(), weight=weight, largest_error=0.0)
    # Its best weight differs in what the variance of the grades is about; its variances divide by n.
    assert found.estimate == pytest.approx(estimate, abs=1e-12 if weight is not None else 1e-4)
    assert found.standard_error == pytest.approx((high - low) / 2 / 1.959964, rel=0.005)


def test_the_estimate_is_the_closed_form() -> None:
    label, grade = judged()
    known = ~np.isnan(label)
    expected = grade[~known].mean() + (label[known] - grade[known]).mean()
    assert prediction_powered_mean(label, grade, weight=1.0).estimate == pytest.approx(expected)


def test_a_judge_without_information_has_no_weight_and_a_perfect_one_the_best() -> None:
    rng = np.random.default_rng(0)
    right = (rng.random(2000) < 0.6).astype(float)
    label = np.where(np.arange(2000) < 500, right, np.nan)
    assert prediction_powered_mean(label, (rng.random(2000) < 0.6).astype(float)).weight < 0.1
    assert prediction_powered_mean(label, np.ones(2000)).weight == 0.0
    assert prediction_powered_mean(label, right).weight == pytest.approx(0.75, abs=0.03)  # N / (N + n)


def test_a_judge_who_agrees_with_few_labels_is_not_perfect() -> None:
    right = np.tile([1.0, 1.0, 0.0], 400)
    label = np.where(np.arange(1200) < 30, right, np.nan)
    sure, careful = (prediction_powered_mean(label, right, largest_error=each) for each in (0.0, 1.0))
    assert careful.standard_error > 1.5 * sure.standard_error


def test_clusters_are_the_units() -> None:
    label, grade = judged()
    once = prediction_powered_mean(label, grade, weight=0.8, largest_error=0.0)
    thrice = prediction_powered_mean(
        np.repeat(label, 3),
        np.repeat(grade, 3),
        clusters=np.repeat(np.arange(400), 3),
        weight=0.8,
        largest_error=0.0,
    )
    assert thrice.standard_error == pytest.approx(once.standard_error)
    assert (thrice.n_labels, thrice.n_units) == (N_LABELS, 400)


def test_few_labels_give_no_interval() -> None:
    label = np.where(np.arange(100) < 19, 1.0, np.nan)
    found = prediction_powered_mean(label, np.ones(100))
    assert np.isnan(found.low)
    assert found.low.reason is Reason.TOO_FEW
    assert found.estimate == 1.0


@pytest.mark.parametrize(
    ("labels", "grades", "options", "message"),
    [
        ([1.0, np.nan], [1.0, np.nan], {}, "every trial needs a grade"),
        ([1.0, 0.0], [1.0, 0.0], {}, "some trials must have a label"),
        ([np.nan, np.nan], [1.0, 0.0], {}, "some trials must have a label"),
        ([1.0, np.nan], [1.0, 0.0], {"weight": 1.5}, "weight must lie"),
        ([1.0, np.nan], [1.0, 0.0], {"level": 1.0}, "level"),
        ([1.0], [1.0, 0.0], {}, "length"),
    ],
)
def test_what_is_refused(
    labels: list[float], grades: list[float], options: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        prediction_powered_mean(labels, grades, **options)


def test_corrected_intervals_hold_where_those_of_the_judge_do_not() -> None:
    for covered, by_judge, width in corrected_coverage(1000, 100, 300).values():
        assert covered > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)
        assert by_judge < 0.5
        assert width < 0.9


@pytest.mark.parametrize("n", [20, 30, 100])
def test_equal_labels_and_grades_are_not_certain(n: int) -> None:
    """As wide as Wilson's interval of n right of n, about."""
    labels = np.where(np.arange(10 * n) < n, 1.0, np.nan)
    found = prediction_powered_mean(labels, np.ones(10 * n))
    low, _ = wilson_interval(n, n)
    assert found.estimate == 1.0
    assert 0.7 * (1.0 - low) < 1.0 - found.low < 1.5 * (1.0 - low)


@pytest.mark.parametrize("truth", [0.85, 0.93, 0.97])
def test_means_of_few_labels_near_one_are_covered_by_a_useless_judge(truth: float) -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        right = (rng.random(300) < truth).astype(float)
        found = prediction_powered_mean(np.where(np.arange(300) < 25, right, np.nan), np.ones(300))
        covered += bool(found.low <= right.mean() <= found.high)
    assert covered >= 0.93 * 400


@given(st.integers(20, 60), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, 2**32))
def test_an_accuracy_lies_within_its_bounds(n_labels, accuracy, graded_right, seed):
    """A judge who is stricter with labelled answers than with others corrects the accuracy beyond 1."""
    rng = np.random.default_rng(seed)
    right = (rng.random(200) < accuracy).astype(float)
    label = np.where(np.arange(200) < n_labels, right, np.nan)
    grade = (rng.random(200) < graded_right).astype(float)
    free = prediction_powered_mean(label, grade)
    found = prediction_powered_mean(label, grade, bounds=(0.0, 1.0))
    ends = np.clip([free.low, free.estimate, free.high], 0.0, 1.0)
    assert (found.low, found.estimate, found.high) == pytest.approx(tuple(ends))


def test_the_correction_can_exceed_one():
    label = np.where(np.arange(100) < 30, 1.0, np.nan)
    grade = np.where(np.arange(100) < 30, np.arange(100) % 2, 1.0)
    assert prediction_powered_mean(label, grade, weight=1.0).estimate == 1.5
    assert prediction_powered_mean(label, grade, weight=1.0, bounds=(0.0, 1.0)).estimate == 1.0
