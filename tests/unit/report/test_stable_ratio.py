"""M-ratio and its interval are withheld where d' is small or negative, or few answers are right or wrong."""

import math

import numpy as np
import pytest

from confidence_tasks import compare, summary
from confidence_tasks.studies.lifeeval.question_sets.measures import BOOLEAN_MEASURES
from confidence_tasks.studies.logprob_metacognition import STUDY as LOGPROB
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.metrics import summarise
from confidence_tasks.study.standard import M_RATIO

NEGATIVE, CLOSE = "d' is negative: accuracy below one half", "d' is close to 0"
FEW = "too few informative questions"
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


TYPE_2 = [
    *[each for each in SCALES.measures if each.name in ("meta_d", "mratio", "meta_d_95", "mratio_95")],
    *BOOLEAN_MEASURES,
]
"""Every measure of type-2 sensitivity but those of version 1 of the log-probability study, which need 50 of a class."""


def with_wrong(n_wrong: int, n: int = 40) -> dict[str, np.ndarray]:
    """Trials with a number of wrong answers, and each confidence under each key among right and among wrong ones."""
    correct = (np.arange(n) >= n_wrong).astype(float)
    ids = np.array([f"q{i}" for i in range(n)], dtype=object)
    confidence = np.where(np.arange(n) % 4 < 2, 0.97, 0.5)
    return {
        "correct": correct,
        "confidence": confidence,
        "stimulus": np.arange(n) % 2.0,
        "question_id": ids,
    }


@pytest.mark.parametrize("measure", TYPE_2, ids=lambda measure: measure.name)
def test_fewer_than_five_wrong_or_right_answers_have_no_type_2_sensitivity(measure):
    assert not math.isnan(measure.compute(with_wrong(8), None))
    for n_wrong in (1, 2, 3, 4):
        value = measure.compute(with_wrong(n_wrong), None)
        assert math.isnan(value)
        assert value.reason  # of the fit, where even that fails
    assert measure.compute(with_wrong(4), None).reason == FEW
    if "mratio" not in measure.name:  # d' of many wrong answers is negative
        few_right = with_wrong(4)
        few_right["correct"] = 1.0 - few_right["correct"]
        assert measure.compute(few_right, None).reason == FEW


@pytest.mark.parametrize("measure", TYPE_2, ids=lambda measure: measure.name)
def test_questions_count_once_however_often_they_are_asked(measure):
    table = with_wrong(8)
    table["question_id"] = np.where(table["correct"] == 0.0, "q0", table["question_id"])
    assert measure.compute(table, None).reason == FEW
    without_names = {name: column for name, column in table.items() if name != "question_id"}
    assert not math.isnan(measure.compute(without_names, None))


def test_few_wrong_answers_of_one_source_withhold_the_mean_over_sources_in_logs_and_reports():
    shown = {}
    for name, n_wrong in {"few": 3, "enough": 8}.items():
        table = rows_of(with_wrong(n_wrong), slice(None))
        trials = [
            {
                "condition": "0-100",
                "source": "a",
                "question_id": str(i),
                "correct": right,
                "confidence": stated,
            }
            for i, (right, stated) in enumerate(zip(table["correct"], table["confidence"], strict=True))
        ]
        logged = summarise(trials, [M_RATIO], ["0-100"])["mratio/0-100"]
        row = summary(table["correct"], table["confidence"], measures=["mratio"], n_resamples=50).to_frame()
        shown[name] = math.isnan(logged), bool(row[["value", "low"]].isna().all(axis=None))
    assert shown == {"few": (True, True), "enough": (False, False)}
