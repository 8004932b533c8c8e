"""Intervals from samples: outer quantiles, the choice of temperature, the tunnel index, self-consistency."""

import math

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score
from scipy.special import ndtri
from tests.trials import sample_trial, samples_summary

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.replies import interval_reply
from confidence_tasks.studies.fermieval.sampling import STUDY
from confidence_tasks.studies.fermieval.sampling.measures import (
    AGREEMENT,
    agreement,
    chosen_temperature,
    penalized_score,
    sampled_intervals,
    sampling_measures,
    sampling_summary,
    tunnel_indices,
)
from confidence_tasks.studies.fermieval.sampling.trials import ASKS
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.columns import columns


def question(name="q-1", truth=5):
    return Question(name, "fermi", "How many?", "number", str(truth))


def exponents(values, ask="direct", temperature=1.0, name="q-1", truth=5, split="test"):
    return [sample_trial(question(name, truth), ask, temperature, split, str(value)) for value in values]


def tunnel_subject(perception, samples, n=60, level=0.8, split="test"):
    """Samples of intervals by a subject with a calibrated belief and a perception tunnel."""
    rng = np.random.default_rng(2)
    trials, tail = [], (1 - level) / 2
    for i in range(n):
        truth = int(rng.integers(0, 20))
        center = truth + 4.0 * rng.normal()
        for start in rng.uniform(0.0, 1.0 - perception, samples):
            lower, upper = (
                center + 4.0 * float(ndtri(start + side * perception)) for side in (tail, 1.0 - tail)
            )
            reply = f'{{"L": {lower:.6f}, "U": {upper:.6f}}}'
            trials.append(sample_trial(question(f"q-{i}", truth), "interval", 1.0, split, reply, level))
    return trials


def test_a_sample_of_an_interval_and_of_an_exponent():
    interval = sample_trial(question(), "interval", 0.7, "test", interval_reply(4, 6), 0.9)
    point = sample_trial(question(), "direct", 0.7, "test", "6")
    assert (interval["condition"], interval["correct"], interval["confidence"]) == (
        *("interval,T=0.7,p=0.9", 1.0),
        0.9,
    )
    assert (point["lower"], point["upper"], point["correct"]) == (6.0, 6.0, 0.0)
    assert math.isnan(point["level"])
    assert interval.keys() == point.keys()
    assert math.isnan(sample_trial(question(), "direct", 0.7, "test", "")["correct"])


def test_intervals_are_outer_quantiles_question_by_question():
    trials = [
        *exponents(range(1, 21)),
        *exponents([7, 7, 7], name="q-2", truth=9),
        *exponents(["none"], name="q-3"),
        *exponents([50], name="q-4", split="calibration"),
    ]
    intervals = sampled_intervals(columns(trials), 0.9)
    assert intervals["question_id"].tolist() == ["q-1", "q-2"]
    assert intervals["lower"].tolist() == [1.0, 7.0]
    assert intervals["upper"].tolist() == [19.0, 7.0]
    assert intervals["truth"].tolist() == [5.0, 9.0]


def test_many_samples_reach_the_nominal_coverage_by_theorem_1():
    one, many = (tunnel_subject(0.3, samples) for samples in (1, 60))
    single, adjusted = (samples_summary(trials, [0.8])["coverage/p=0.8"] for trials in (one, many))
    assert single == pytest.approx(0.24, abs=0.2)
    assert adjusted == pytest.approx(0.8, abs=0.2)


def test_the_temperature_with_the_smallest_penalized_score_is_chosen():
    cold, warm, hot = [4, 4, 4, 4], [3, 4, 5, 6], [-50, 0, 40, 90]
    trials = [
        each
        for temperature, values in ((0.2, cold), (0.7, warm), (1.5, hot))
        for split in ("calibration", "test")
        for each in exponents(values, temperature=temperature, name=f"{split}-1", split=split)
    ]
    table = columns(trials)
    assert chosen_temperature(table, 0.9) == 0.7
    alone = columns([each for each in trials if each["temperature"] == 0.2])
    # missed by 1: a Winkler score of 2 / 0.1, and no coverage where 0.9 was asked for
    assert penalized_score(alone, 0.9, 100.0) == pytest.approx(20.0 + 100.0 * 0.81)
    summary = samples_summary(trials, [0.9])
    assert summary["temperature/p=0.9"] == 0.7
    assert summary["winkler/chosen,p=0.9"] == summary["winkler/T=0.7,p=0.9"] == 3.0
    test_alone = columns([each for each in trials if each["split"] == "test"])
    assert math.isnan(chosen_temperature(test_alone, 0.9))


def test_the_tunnel_index_is_the_entropy_that_reasoning_removes():
    trials = [*exponents([1, 2, 3, 4]), *exponents([1, 1, 2, 2], "reasoned")]
    assert tunnel_indices(columns(trials), 1.0)["value"] == pytest.approx(1.0)
    assert samples_summary(trials, [0.9])["tunnel_index/T=1"] == pytest.approx(1.0)
    known = {"name": "q-2", "split": "calibration"}
    both_halves = [*trials, *exponents([1, 2], **known), *exponents([1, 2], "reasoned", **known)]
    assert tunnel_indices(columns(both_halves), 1.0)["value"] == pytest.approx([1.0])
    same = [*exponents([1, 2, 3, 4]), *exponents([4, 3, 2, 1], "reasoned")]
    assert tunnel_indices(columns(same), 1.0)["value"] == pytest.approx(0.0)
    *_, measure = sampling_measures(["direct", "reasoned"], [1.0], [])
    assert measure.name == "tunnel_index/T=1"
    assert math.isnan(measure.compute(columns(exponents([1, 2])), None))


def test_self_consistency_measures_count_the_most_frequent_exponent():
    trials = [*exponents([5, 5, 5, 6]), *exponents([1, 2, 2, 9], name="q-2", truth=1)]
    assert {name: agreement(name, columns(trials), "direct", 1.0)["value"].mean() for name in AGREEMENT} == {
        "accuracy": pytest.approx((0.75 + 0.25) / 2),
        "majority_accuracy": 0.5,
        "agreement": pytest.approx((0.75 + 0.5) / 2),
    }


def test_unreadable_samples_count_for_the_parse_rate_only():
    whole = exponents([3, 4, 5, 6])
    broken = [*whole, *exponents(["?"] * 4)]
    before, after = (samples_summary(trials, [0.9]) for trials in (whole, broken))
    assert {name for name in before if before[name] != pytest.approx(after[name], nan_ok=True)} == {
        "parse_rate/all"
    }
    assert after["parse_rate/all"] == 0.5


def test_metrics_have_the_same_names_without_trials():
    trials = [
        *tunnel_subject(0.3, 4, n=4),
        *exponents([1, 2, 3, 4]),
        *exponents([1, 1, 2, 2], "reasoned"),
        *exponents([1, 1, 2, 2], "reasoned", split="calibration", name="q-2"),
        *exponents([1, 9, 4, 2], "reasoned", temperature=0.2),
    ]
    design = {"levels": [0.8, 0.9], "asks": ASKS, "temperatures": [0.2, 1.0]}
    scores = [SampleScore(score=Score(value=trial)) for trial in trials]
    (summarised,) = metrics_of(STUDY, TaskMetrics(sampling_summary, design, (), ""), "all")
    names = [measure.name for measure in sampling_measures(ASKS, [0.2, 1.0], [0.8, 0.9])]
    for done in (0, 1, 16, 20, 24, 28, len(scores)):
        summary = summarised(scores[:done])
        assert list(summary) == names
        assert not (done == 0 and any(not math.isnan(value) for value in summary.values()))
    assert summary == pytest.approx(summary | samples_summary(trials, [0.8, 0.9]), nan_ok=True)


def test_weights_repeat_questions():
    rng = np.random.default_rng(2)
    trials = [
        each
        for i in range(8)
        for ask in ("direct", "reasoned")
        for each in exponents(
            rng.integers(0, 9, 6),
            ask,
            name=f"q-{i}",
            split=("calibration", "test")[i % 2],
            truth=int(rng.integers(0, 9)),
        )
    ]
    table = columns(trials)
    number = np.array([int(name.removeprefix("q-")) for name in table["question_id"]])
    counts = rng.integers(0, 4, (3, 8)).astype(float)
    counts[:, ::2] = 1.0  # what the calibration half chooses stays
    for measure in sampling_measures(("direct", "reasoned"), [1.0], [0.8]):
        if measure.name.startswith("temperature"):
            continue
        for row, value in zip(counts, measure.compute(table, counts[:, number]), strict=True):
            repeated = [
                {**each, "question_id": f"{each['question_id']}/{copy}"}
                for each, i in zip(trials, number, strict=True)
                for copy in range(int(row[i]))
            ]
            assert value == pytest.approx(measure.compute(columns(repeated), None)), measure.name
