"""Computation of metrics: columns, cells, pooling, missing values and weights."""

import math

import numpy as np
import pytest

from confidence_tasks.statistics import calibration
from confidence_tasks.study.columns import columns
from confidence_tasks.study.computations import proportion_of, statistic_of
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
from confidence_tasks.study.metrics import summarise

NAN = math.nan


def trial(condition: str = "0-20", source: str = "a", **changes: object) -> dict[str, object]:
    base = {
        "question_id": "q",
        "source": source,
        "condition": condition,
        "correct": 1.0,
        "confidence": 0.5,
        "status": "ok",
    }
    return base | changes


def test_columns_are_numbers_or_texts() -> None:
    table = columns([trial(), trial(correct=NAN)])
    assert table["correct"].dtype == np.float64
    assert list(table["status"]) == ["ok", "ok"]
    assert columns([]) == {}


def test_no_trials_give_every_key_as_nan() -> None:
    found = summarise([], (ACCURACY, PARSE_RATE), ("0-5", "0-20"))
    assert list(found) == ["accuracy/0-5", "accuracy/0-20", "parse_rate/0-5", "parse_rate/0-20"]
    assert all(math.isnan(value) for value in found.values())


def test_conditions_are_computed_separately() -> None:
    found = summarise([trial("0-5"), trial("0-20", correct=0.0)], (ACCURACY,), ("0-5", "0-20"))
    assert found == {"accuracy/0-5": 1.0, "accuracy/0-20": 0.0}


def test_sources_are_pooled_as_the_mean_of_their_values() -> None:
    trials = [trial(source="a")] * 9 + [trial(source="b", correct=0.0)]
    assert summarise(trials, (ACCURACY,), ("0-20",)) == {"accuracy/0-20": 0.5}


def test_missing_answers_leave_accuracy_and_count_in_the_parse_rate() -> None:
    trials = [
        trial(),
        trial(status="repaired", correct=0.0),
        trial(status="unreadable", correct=NAN, confidence=NAN),
        trial(status="out_of_range", confidence=NAN),
    ]
    found = summarise(trials, (ACCURACY, PARSE_RATE, PARSE_RATE_STRICT, CONFIDENCE), ("0-20",))
    assert found["accuracy/0-20"] == pytest.approx(2 / 3)
    assert found["parse_rate/0-20"] == 0.5
    assert found["parse_rate_strict/0-20"] == 0.25
    assert found["confidence/0-20"] == 0.5


def test_missing_answers_may_count_as_wrong() -> None:
    trials = [
        trial(),
        trial(status="missing_confidence"),
        trial(correct=0.0),
        *(trial(status=status, correct=NAN) for status in ("missing_answer", "unreadable", "refused")),
        trial(correct=NAN),  # an answer that no key judges
        trial(status="unreadable"),  # of a given answer that is known to be right
    ]
    found = summarise(trials, (ACCURACY, ACCURACY_OF_ALL), ("0-20",))
    assert found == {"accuracy/0-20": 3 / 4, "accuracy_of_all/0-20": 3 / 7}


def test_incomplete_trials_are_left_out() -> None:
    table = columns([trial(confidence=0.8), trial(confidence=NAN), trial(correct=NAN)])
    overconfidence = statistic_of(calibration.overconfidence, "correct", "confidence")
    assert overconfidence(table, None) == pytest.approx(-0.2)


def test_weights_equal_repeated_trials() -> None:
    trials = [trial(confidence=0.9), trial(confidence=0.2, correct=0.0), trial(confidence=NAN)]
    weights = np.array([[1.0, 1.0, 1.0], [3.0, 1.0, 5.0]])
    repeated = columns(trials[:1] * 3 + trials[1:2] + trials[2:] * 5)
    for compute in (
        statistic_of(calibration.brier, "correct", "confidence"),
        ACCURACY.compute,
        CONFIDENCE.compute,
    ):
        values = compute(columns(trials), weights)
        assert values == pytest.approx([compute(columns(trials), None), compute(repeated, None)])


def test_proportion_of_no_trials_is_nan() -> None:
    nothing = proportion_of(lambda trials: trials["correct"])
    assert math.isnan(nothing(columns([trial(correct=NAN)]), None))
    assert np.isnan(nothing(columns([trial()]), np.zeros((2, 1)))).all()


def test_measures_have_unique_names_and_descriptions() -> None:
    from confidence_tasks.studies.scales.measures import MEASURES

    assert len({measure.name for measure in MEASURES}) == len(MEASURES)
    assert all(isinstance(measure, Measure) and measure.description.endswith(".") for measure in MEASURES)
    assert not any(set(measure.name) & set("[] /") for measure in MEASURES)
