"""A simulated subject guesses ages at death as its parameters promise."""

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
    made = []
    for item in ITEMS:
        case = item.question
        reply = reply_to(STUDY, item.question, item.condition, subject)
        made.append(lifeeval_trial(case, reply.text))
    return made


def logit(p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def column(made, name):
    return np.array([trial[name] for trial in made])


def test_who_knows_the_table_guesses_best_and_states_the_chance():
    made = trials()
    assert column(made, "correct") == pytest.approx(column(made, "mas"), abs=1e-12)
    assert column(made, "confidence") == pytest.approx(column(made, "mas"), abs=0.005)


def test_bias_and_gain_distort_the_logit_of_the_chance():
    stated = column(trials(bias=0.5, gain=0.8), "confidence")
    mas = column(trials(), "mas")
    expected = 1 / (1 + np.exp(-(0.5 + 0.8 * logit(mas))))
    assert stated == pytest.approx(expected, abs=0.0051)


def test_without_metacognition_confidence_is_one_half_and_overconfidence_is_difficulty():
    made = trials(meta_d_prime=0.0)
    assert set(column(made, "confidence")) == {0.5}
    slope = hard_easy_slope(*(column(made, name) for name in ("correct", "confidence", "difficulty")))
    assert slope == pytest.approx(1.0, abs=1e-9)


def test_half_the_metacognition_gives_the_slope_that_follows_from_it():
    made = trials(meta_d_prime=0.75)
    mas = column(made, "mas")
    stated = 1 / (1 + np.exp(-0.5 * logit(mas)))
    expected = hard_easy_slope(mas, stated, 1 - mas)
    slope = hard_easy_slope(*(column(made, name) for name in ("correct", "confidence", "difficulty")))
    assert slope == pytest.approx(expected, abs=0.01)
    assert 0.2 < slope < 0.8


def test_a_noisy_table_costs_score_and_calibration():
    exact, noisy, noisier = (trials(hazard_noise=noise) for noise in (0.0, 0.5, 1.0))
    regrets = [
        float(np.mean(column(made, "mas") - column(made, "correct"))) for made in (exact, noisy, noisier)
    ]
    errors = [ece(column(made, "correct"), column(made, "confidence")) for made in (exact, noisy, noisier)]
    assert regrets[0] == pytest.approx(0.0, abs=1e-12)
    assert regrets == sorted(regrets)
    assert regrets[1] > 0.005
    assert errors[0] < 0.005
    assert errors == sorted(errors)


def test_a_noisy_subject_believes_in_a_table_of_its_own():
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
    made = trials(profile=profile)
    assert {trial["status"] for trial in made} == {"ok"}


def test_a_sloppy_subject_is_read_when_it_says_enough():
    made = trials(profile="ideal", sloppiness=1.0)
    shares = {
        status: sum(trial["status"] == status for trial in made) / len(made) for status in ("ok", "refused")
    }
    assert shares["ok"] == 0.0
    assert 0.04 < shares["refused"] < 0.17
    readable = [trial for trial in made if trial["status"] in READABLE]
    assert 0.55 < len(readable) / len(made) < 0.85
    assert all(abs(trial["confidence"] - trial["mas"]) < 0.006 for trial in readable)
    unreadable = [trial for trial in made if trial["status"] not in READABLE]
    assert all(math.isnan(trial["confidence"]) for trial in unreadable)
