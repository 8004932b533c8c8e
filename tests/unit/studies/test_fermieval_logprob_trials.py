"""Intervals from token probabilities: smallest sets, their worth, and the temperature that mends them."""

import math

import numpy as np
import pytest

from confidence_tasks.reading.explanation import explanation
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval_logprob import STUDY
from confidence_tasks.studies.fermieval_logprob.trials import (
    distribution_trial,
    fitted_temperature,
    integer_probabilities,
    logprob_measures,
    logprob_summary,
    read_distribution,
    set_intervals,
)
from confidence_tasks.study.measures import columns
from confidence_tasks.study.stage import Token

LEVELS = (0.9, 0.95)


QUESTION = Question("q", "fermi", "How many?", "number", "5")


def trial(probabilities, truth=5, split="test", name="q-1"):
    logs = {str(value): math.log(p) for value, p in probabilities.items()}
    best = max(logs, key=logs.get) if logs else ""
    tokens = [Token(best, logs[best], logs)] if logs else [Token("Well", -0.1, {})]
    return distribution_trial(
        Question(name, "fermi", "How many?", "number", str(truth)), split, integer_probabilities(tokens)
    )


def subject(n=300, sharpened=1.0):
    """A calibrated subject whose distributions are raised to a power."""
    rng = np.random.default_rng(3)
    trials = []
    for i in range(n):
        center = int(rng.integers(-5, 20))
        values = np.arange(center - 9, center + 10)
        p = np.exp(-((values - center) ** 2) / 8.0)
        truth = rng.choice(values, p=p / p.sum())
        p = p**sharpened / (p**sharpened).sum()
        found = dict(zip(values.tolist(), p.tolist(), strict=True))
        trials.append(trial(found, truth, ("calibration", "test")[i % 2], f"q-{i}"))
    return trials


def test_a_trial_is_the_mode_and_its_share():
    made = trial({4: 0.2, 5: 0.5, 9: 0.1})
    assert (made["answer"], made["correct"]) == ("5", 1.0)
    assert made["confidence"] == pytest.approx(0.625)
    assert made["integer_mass"] == pytest.approx(0.8)


def test_without_an_integer_there_are_no_numbers():
    made = trial({})
    assert made["status"] == "unreadable"
    assert math.isnan(made["correct"])
    assert made["integer_mass"] == 0.0
    assert "none" in explanation(STUDY, made, QUESTION)


def test_smallest_sets_and_the_intervals_that_span_them():
    made = [
        trial({4: 0.5, 5: 0.04, 9: 0.46}),
        trial({5: 0.97, 6: 0.03}),
        trial({}),
        trial({7: 1.0}, split="calibration"),
    ]
    sets = set_intervals(columns(made), 0.9)
    assert sets["lower"].tolist() == [4.0, 5.0]
    assert sets["upper"].tolist() == [9.0, 5.0]
    assert sets["held"].tolist() == [0.0, 1.0]
    found = logprob_summary(made, [0.9], scaled=False)
    assert (found["membership/p=0.9"], found["coverage/p=0.9"]) == (0.5, 1.0)
    assert found["mean_width/p=0.9"] == found["winkler/p=0.9"] == 2.5
    assert found["coverage_gap/p=0.9"] == pytest.approx(0.1)
    assert found["parse_rate/all"] == 0.75
    assert not any(name.startswith("scaled_") for name in found)


def test_the_temperature_undoes_what_sharpened_the_distributions():
    trials = subject(sharpened=4.0)
    found = logprob_summary(trials, LEVELS)
    assert 2.5 < found["temperature/all"] < 6.0
    for level in LEVELS:
        assert found[f"coverage/p={level}"] < level - 0.05
        assert found[f"scaled_coverage/p={level}"] > level - 0.05
        assert found[f"scaled_winkler/p={level}"] < found[f"winkler/p={level}"]


def test_the_temperature_is_fitted_on_the_calibration_half_alone():
    trials = subject()
    alone = [made for made in trials if made["split"] == "calibration"]
    whole, half = (float(fitted_temperature(columns(some), LEVELS).temperature) for some in (trials, alone))
    assert whole == half


def test_without_calibration_trials_there_is_no_temperature():
    found = logprob_summary([trial({5: 1.0})], LEVELS)
    assert math.isnan(found["temperature/all"])
    assert math.isnan(found["scaled_winkler/p=0.9"])
    assert found["winkler/p=0.9"] == 0.0


def test_no_readable_trial_gives_no_number():
    found = logprob_summary([trial({}), trial({}, split="calibration")], LEVELS)
    assert math.isnan(found["accuracy/all"])
    assert math.isnan(found["coverage/p=0.9"])
    assert found["parse_rate/all"] == 0.0


def test_no_trials_give_the_same_keys_without_values():
    found = logprob_summary([], LEVELS)
    assert found.keys() == logprob_summary([trial({5: 1.0})], LEVELS).keys()
    assert all(math.isnan(value) for value in found.values())


def test_weights_that_are_counts_stand_for_repeated_trials():
    trials = subject(40, sharpened=2.0)
    table = columns(trials)
    weights = np.random.default_rng(1).integers(0, 4, (3, len(trials))).astype(float)
    weights[:, table["split"] == "calibration"] = 1.0
    for measure in logprob_measures(LEVELS):
        if measure.name == "temperature/all":
            continue
        for row, value in zip(weights, measure.compute(table, weights), strict=True):
            repeated = [made for made, count in zip(trials, row, strict=True) for _ in range(int(count))]
            assert value == pytest.approx(measure.compute(columns(repeated), None)), measure.name


# Probabilities that are none --------------------------------------------------------------------------------------


def asked(probabilities):
    return distribution_trial(Question("q-1", "fermi", "How many?", "number", "5"), "test", probabilities)


def test_a_sum_that_rounding_takes_above_1_is_divided_out_and_said():
    made = asked({4: 0.20013, 5: 0.8})
    assert made["status"] == "repaired"
    assert made["integer_mass"] == 1.0
    assert made["confidence"] == pytest.approx(0.8 / 1.00013)
    assert math.fsum(read_distribution(made["distribution"]).values()) == pytest.approx(1.0, abs=1e-11)
    assert "divided by their sum" in explanation(STUDY, made, QUESTION)


def test_a_sum_far_above_1_is_no_distribution():
    made = asked({4: 0.9, 5: 0.9})
    assert (made["status"], made["answer"], made["distribution"], made["integer_mass"]) == (
        "missing_confidence",
        "",
        "",
        0.0,
    )
    assert math.isnan(made["confidence"])
    assert math.isnan(made["correct"])
    assert "much more than 1" in explanation(STUDY, made, QUESTION)
