"""Intervals from token probabilities: smallest sets, their measures, and the fitted temperature."""

import math

import numpy as np
import pytest

from confidence_tasks.reading.explanation import explanation
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.logprob import STUDY
from confidence_tasks.studies.fermieval.logprob.distribution import integer_probabilities, read_distribution
from confidence_tasks.studies.fermieval.logprob.measures import (
    fitted_temperature,
    logprob_measures,
    logprob_summary,
    set_intervals,
)
from confidence_tasks.studies.fermieval.logprob.trials import distribution_trial
from confidence_tasks.study.columns import columns
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
        distribution = dict(zip(values.tolist(), p.tolist(), strict=True))
        trials.append(trial(distribution, truth, ("calibration", "test")[i % 2], f"q-{i}"))
    return trials


def test_a_trial_is_the_mode_and_its_share():
    result = trial({4: 0.2, 5: 0.5, 9: 0.1})
    assert (result["answer"], result["correct"]) == ("5", 1.0)
    assert result["confidence"] == pytest.approx(0.625)
    assert result["integer_mass"] == pytest.approx(0.8)


def test_a_trial_without_an_integer_has_no_numbers():
    result = trial({})
    assert result["status"] == "unreadable"
    assert math.isnan(result["correct"])
    assert result["integer_mass"] == 0.0
    assert "none" in explanation(STUDY, result, QUESTION)


def test_smallest_sets_and_their_spans():
    trials = [
        trial({4: 0.5, 5: 0.04, 9: 0.46}),
        trial({5: 0.97, 6: 0.03}),
        trial({}),
        trial({7: 1.0}, split="calibration"),
    ]
    sets = set_intervals(columns(trials), 0.9)
    assert sets["lower"].tolist() == [4.0, 5.0]
    assert sets["upper"].tolist() == [9.0, 5.0]
    assert sets["held"].tolist() == [0.0, 1.0]
    summary = logprob_summary(trials, [0.9], scaled=False)
    assert (summary["membership/p=0.9"], summary["coverage/p=0.9"]) == (0.5, 1.0)
    assert summary["mean_width/p=0.9"] == summary["winkler/p=0.9"] == 2.5
    assert summary["coverage_gap/p=0.9"] == pytest.approx(0.1)
    assert summary["parse_rate/all"] == 0.75
    assert not any(name.startswith("scaled_") for name in summary)


def test_the_fitted_temperature_corrects_sharpened_distributions():
    trials = subject(sharpened=4.0)
    summary = logprob_summary(trials, LEVELS)
    assert 2.5 < summary["temperature/all"] < 6.0
    for level in LEVELS:
        assert summary[f"coverage/p={level}"] < level - 0.05
        assert summary[f"scaled_coverage/p={level}"] > level - 0.05
        assert summary[f"scaled_winkler/p={level}"] < summary[f"winkler/p={level}"]


def test_the_temperature_is_fitted_on_the_calibration_half_alone():
    trials = subject()
    alone = [each for each in trials if each["split"] == "calibration"]
    whole, half = (float(fitted_temperature(columns(some), LEVELS).temperature) for some in (trials, alone))
    assert whole == half


def test_without_calibration_trials_there_is_no_temperature():
    summary = logprob_summary([trial({5: 1.0})], LEVELS)
    assert math.isnan(summary["temperature/all"])
    assert math.isnan(summary["scaled_winkler/p=0.9"])
    assert summary["winkler/p=0.9"] == 0.0


def test_without_a_readable_trial_measures_are_undefined():
    summary = logprob_summary([trial({}), trial({}, split="calibration")], LEVELS)
    assert math.isnan(summary["accuracy/all"])
    assert math.isnan(summary["coverage/p=0.9"])
    assert summary["parse_rate/all"] == 0.0


def test_without_trials_the_keys_are_the_same_and_the_values_nan():
    summary = logprob_summary([], LEVELS)
    assert summary.keys() == logprob_summary([trial({5: 1.0})], LEVELS).keys()
    assert all(math.isnan(value) for value in summary.values())


def test_weights_that_are_counts_stand_for_repeated_trials():
    trials = subject(40, sharpened=2.0)
    table = columns(trials)
    weights = np.random.default_rng(1).integers(0, 4, (3, len(trials))).astype(float)
    weights[:, table["split"] == "calibration"] = 1.0
    for measure in logprob_measures(LEVELS):
        if measure.name == "temperature/all":
            continue
        for row, value in zip(weights, measure.compute(table, weights), strict=True):
            repeated = [each for each, count in zip(trials, row, strict=True) for _ in range(int(count))]
            assert value == pytest.approx(measure.compute(columns(repeated), None)), measure.name


# Invalid probabilities --------------------------------------------------------------------------------------------


def make_trial(probabilities):
    return distribution_trial(Question("q-1", "fermi", "How many?", "number", "5"), "test", probabilities)


def test_a_sum_above_1_by_rounding_is_normalized_and_explained():
    result = make_trial({4: 0.20013, 5: 0.8})
    assert result["status"] == "repaired"
    assert result["integer_mass"] == 1.0
    assert result["confidence"] == pytest.approx(0.8 / 1.00013)
    assert math.fsum(read_distribution(result["distribution"]).values()) == pytest.approx(1.0, abs=1e-11)
    assert "divided by their sum" in explanation(STUDY, result, QUESTION)


def test_a_sum_far_above_1_is_no_distribution():
    result = make_trial({4: 0.9, 5: 0.9})
    assert (result["status"], result["answer"], result["distribution"]) == ("missing_confidence", "", "")
    assert all(math.isnan(result[name]) for name in ("confidence", "correct", "integer_mass"))
    assert "much more than 1" in explanation(STUDY, result, QUESTION)
