"""M-ratio is withheld, value and interval, where d' is below one half or accuracy below chance."""

import math

import numpy as np
import pytest

from confidence_tasks import compare, summary
from confidence_tasks.studies.logprob_metacognition import STUDY as LOGPROB
from confidence_tasks.studies.question_sets.measures import BOOLEAN_MEASURES
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study.measures import summarise
from confidence_tasks.study.standard import M_RATIO

NEGATIVE, CLOSE = "d' is negative: accuracy below one half", "d' is close to 0"
N = 400


def answers(accuracy: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correctness, a confidence that says something about it, and the key."""
    rng = np.random.default_rng(seed)
    correct = (np.arange(N) < round(accuracy * N)).astype(float)
    return (
        correct,
        np.where(rng.random(N) < 0.3 + 0.4 * correct, 0.97, 0.5),
        rng.integers(0, 2, N).astype(float),
    )


def table(accuracy: float) -> dict[str, np.ndarray]:
    correct, confidence, key = answers(accuracy)
    ids = np.array([f"q{i}" for i in range(N)], dtype=object)
    return {
        "correct": correct,
        "confidence": confidence,
        "stimulus": key,
        "mean_logprob": np.log(confidence) - np.arange(N) % 7 / 100,
        "question_id": ids,
    }


RATIOS = [
    *[measure for measure in SCALES.measures if measure.name in ("mratio", "mratio_95")],
    BOOLEAN_MEASURES[0],
]


@pytest.mark.parametrize("measure", RATIOS, ids=lambda measure: measure.name)
@pytest.mark.parametrize(
    ("accuracy", "reason"), [(0.23, NEGATIVE), (0.49, NEGATIVE), (0.51, CLOSE), (0.57, CLOSE)]
)
def test_a_measure_withholds_the_ratio(measure, accuracy, reason):
    value = measure.compute(table(accuracy), None)
    assert math.isnan(value)
    assert value.reason == reason


@pytest.mark.parametrize("measure", RATIOS, ids=lambda measure: measure.name)
def test_a_measure_gives_the_ratio_of_a_clear_d_prime_and_of_every_resample(measure):
    assert not math.isnan(measure.compute(table(0.8), None))
    weak = measure.compute(table(0.57), np.ones((3, N)))
    assert np.isfinite(weak).all()


def test_version_1_of_the_ratio_is_withheld_by_its_own_d_prime():
    (measure,) = [each for each in LOGPROB.measures if each.name == "mratio_v1"]
    correct, _, _ = answers(0.5)
    unrelated = np.random.default_rng(1).normal(size=N)
    value = measure.compute({"correct": correct, "mean_logprob": unrelated}, None)
    assert math.isnan(value)
    assert value.reason in (NEGATIVE, CLOSE)
    related = measure.compute({"correct": correct, "mean_logprob": unrelated + 1.5 * correct}, None)
    assert not math.isnan(related)


def test_logged_metrics_withhold_it():
    trials = [
        {"condition": "0-100", "source": "a", "correct": right, "confidence": stated}
        for right, stated in zip(*answers(0.23)[:2], strict=True)
    ]
    assert math.isnan(summarise(trials, [M_RATIO], ["0-100"])["mratio/0-100"])


def test_summary_withholds_value_and_interval():
    shown = summary(*answers(0.23)[:2], measures=["mratio"], n_resamples=50).to_frame().iloc[0]
    assert shown[["value", "low", "high"]].isna().all()
    assert NEGATIVE in shown["reason"]


def test_a_difference_of_ratios_is_withheld():
    questions = np.arange(N)
    found = compare(
        answers(0.8)[:2], answers(0.23, 1)[:2], questions=questions, measures=["mratio"], n_resamples=50
    )
    row = found.to_frame().iloc[0]
    assert row[["b", "difference", "low", "high", "p_value"]].isna().all()
    assert NEGATIVE in row["reason"]
