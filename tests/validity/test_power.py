"""The power that is predicted is the power that studies have which are gone through one by one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.sizes import n_studies
from tests.unit.report.full_studies import ALPHA, SETTINGS, Setting, rejections

from confidence_tasks.decisions.power import power_curve
from confidence_tasks.simulation.subject import Subject, make_subject
from confidence_tasks.statistics import auroc2, permutation_test

pytestmark = pytest.mark.slow

N_STUDIES = n_studies(180)
PREDICTED = n_studies(1_000)
"""Studies by which power is predicted."""


def answers(subject: Subject, study: int, n: int, who: str) -> list[np.ndarray]:
    """Correctness and confidence in hundredths of a subject, without prompts, replies and populations."""
    decisions = [subject.decide(f"q{i}", who, f"{study}/{who}") for i in range(n)]
    return [
        np.array([float(decision.correct) for decision in decisions]),
        np.array([round(100 * decision.confidence) / 100 for decision in decisions]),
    ]


@pytest.mark.parametrize("n", [100, 300])
def test_predicted_power_is_that_of_studies_one_by_one(n: int) -> None:
    curve = power_curve("scales", "auroc", 0.1, n=[n], n_studies=PREDICTED)
    first = make_subject("ideal", **{curve.pair.parameter: curve.pair.first})
    second = replace(first, **{curve.pair.parameter: curve.pair.second})
    found = 0
    for study in range(N_STUDIES):
        sides = answers(first, study, n, "first"), answers(second, study, n, "second")
        found += permutation_test(auroc2, *sides, n_resamples=199, seed=study).p_value <= 0.05
    error = math.hypot(*(math.sqrt(0.25 / size) for size in (N_STUDIES, PREDICTED)))
    assert abs(found / N_STUDIES - curve.power[0]) < 3.5 * error
    assert 0.1 < curve.power[0] < 0.95
    print(n, found / N_STUDIES, curve.power[0])


def test_power_is_the_size_of_the_test_where_the_pair_differs_by_next_to_nothing() -> None:
    curve = power_curve("scales", "brier", -1e-4, n=[50, 200], n_studies=PREDICTED)
    assert (abs(curve.power - 0.05) < 3.5 * math.sqrt(0.05 * 0.95 / PREDICTED)).all()


def test_power_of_a_difference_in_accuracy_is_that_of_the_normal_approximation() -> None:
    n, p, q = 300, 0.7733726, 0.6733726
    curve = power_curve("scales", "accuracy", p - q, n=[n], n_studies=PREDICTED)
    assert curve.pair.first_measure == pytest.approx(p, abs=1e-3)
    # Independent answers: the variance of a difference of two Bernoulli variables. The difference moves in steps of 2/n
    # once the number of unlike answers is given, and a tie counts as extreme: half a step is lost.
    error = math.sqrt((p * (1 - p) + q * (1 - q)) / n)
    phi = 0.5 * math.erfc(-((p - q - 1 / n) / error - 1.959964) / math.sqrt(2))
    assert curve.power[0] == pytest.approx(phi, abs=3.5 * math.sqrt(phi * (1 - phi) / PREDICTED))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: f"{setting.study}-{setting.measure}")
def test_predicted_power_is_what_many_whole_studies_found(setting: Setting) -> None:
    curve = power_curve(setting.study, setting.measure, setting.effect, n=[setting.n], n_studies=PREDICTED)
    recorded = setting.rejected / setting.studies
    error = math.sqrt(recorded * (1 - recorded) * (1 / PREDICTED + 1 / setting.studies))
    assert abs(curve.power[0] - recorded) < 3 * error


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: f"{setting.study}-{setting.measure}")
def test_a_few_whole_studies_reject_as_often_as_was_recorded(setting: Setting) -> None:
    """The record is not stale: further studies, gone through reply by reply, agree with it within their error."""
    pair = power_curve(setting.study, setting.measure, setting.effect, n=[setting.n], n_studies=10).pair
    recorded = setting.rejected / setting.studies
    assert ALPHA < recorded < 1.0
    again = n_studies(setting.again)
    error = math.sqrt(recorded * (1 - recorded) * (1 / again + 1 / setting.studies))
    found = rejections(setting, pair, range(10_000, 10_000 + again)) / again
    assert abs(found - recorded) < 3 * error
