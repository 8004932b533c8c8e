"""Guesses and confidences of LifeEval's simulated subject follow from its parameters."""

import math

import numpy as np
import pytest
from tests.items import items_of, reply_to
from tests.trials import lifeeval_trial

from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.statistics import ece
from confidence_tasks.statistics.calibration import hard_easy_slope
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.studies.lifeeval.replies import belief
from confidence_tasks.studies.lifeeval.trials import guess_score, maximum_score
from confidence_tasks.study.trial import READABLE

ITEMS = items_of(STUDY, n=200)


def trials(**parameters):
    subject = make_subject(parameters.pop("profile", "ideal"), **parameters)
    simulated = []
    for item in ITEMS:
        case = item.question
        reply = reply_to(STUDY, item.question, item.condition, subject)
        simulated.append(lifeeval_trial(case, reply.text))
    return simulated


def logit(p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def column(simulated, name):
    return np.array([trial[name] for trial in simulated])


def test_a_subject_with_the_exact_table_guesses_best_and_states_the_score():
    simulated = trials()
    assert column(simulated, "correct") == pytest.approx(column(simulated, "mas"), abs=1e-12)
    assert column(simulated, "confidence") == pytest.approx(column(simulated, "mas"), abs=0.005)


def test_bias_and_gain_distort_the_logit_of_the_score():
    stated = column(trials(bias=0.5, gain=0.8), "confidence")
    mas = column(trials(), "mas")
    expected = 1 / (1 + np.exp(-(0.5 + 0.8 * logit(mas))))
    assert stated == pytest.approx(expected, abs=0.0051)


def test_without_metacognition_confidence_is_one_half_and_overconfidence_is_difficulty():
    simulated = trials(meta_d_prime=0.0)
    assert set(column(simulated, "confidence")) == {0.5}
    slope = hard_easy_slope(*(column(simulated, name) for name in ("correct", "confidence", "difficulty")))
    assert slope == pytest.approx(1.0, abs=1e-9)


def test_an_m_ratio_of_one_half_halves_the_slope():
    simulated = trials(meta_d_prime=0.75)
    mas = column(simulated, "mas")
    stated = 1 / (1 + np.exp(-0.5 * logit(mas)))
    expected = hard_easy_slope(mas, stated, 1 - mas)
    slope = hard_easy_slope(*(column(simulated, name) for name in ("correct", "confidence", "difficulty")))
    assert slope == pytest.approx(expected, abs=0.01)
    assert 0.2 < slope < 0.8


def test_hazard_noise_lowers_score_and_calibration():
    exact, noisy, noisier = (trials(hazard_noise=noise) for noise in (0.0, 0.5, 1.0))
    subjects = (exact, noisy, noisier)
    regrets = [float(np.mean(column(each, "mas") - column(each, "correct"))) for each in subjects]
    errors = [ece(column(each, "correct"), column(each, "confidence")) for each in subjects]
    assert regrets[0] == pytest.approx(0.0, abs=1e-12)
    assert regrets == sorted(regrets)
    assert regrets[1] > 0.005
    assert errors[0] < 0.005
    assert errors == sorted(errors)


def test_the_confidence_of_a_noisy_subject_is_by_its_own_table():
    item = next(item for item in ITEMS if item.condition == "radius=5")
    case = item.question
    exact = belief(item.question, make_subject("ideal"), 1.0)
    assert guess_score(case, exact[0]) == pytest.approx(exact[1], abs=1e-12)
    assert exact[1] == pytest.approx(maximum_score(case), abs=1e-12)
    believed = {
        belief(case, make_subject("ideal", hazard_noise=1.0), score) for score in np.linspace(-2, 2, 10)
    }
    assert len(believed) == 10


@pytest.mark.parametrize("profile", ["overconfident", "underconfident", "rounder", "blind"])
def test_profiles_reply_in_format(profile):
    simulated = trials(profile=profile)
    assert {trial["status"] for trial in simulated} == {"ok"}


def test_sloppy_replies_are_read_unless_a_value_is_missing():
    simulated = trials(profile="ideal", sloppiness=1.0)
    shares = {
        status: sum(trial["status"] == status for trial in simulated) / len(simulated)
        for status in ("ok", "refused")
    }
    assert shares["ok"] == 0.0
    assert 0.04 < shares["refused"] < 0.17
    readable = [trial for trial in simulated if trial["status"] in READABLE]
    assert 0.55 < len(readable) / len(simulated) < 0.85
    assert all(abs(trial["confidence"] - trial["mas"]) < 0.006 for trial in readable)
    unreadable = [trial for trial in simulated if trial["status"] not in READABLE]
    assert all(math.isnan(trial["confidence"]) for trial in unreadable)
