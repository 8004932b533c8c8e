"""The calibration question sets through Inspect, with generated and with real questions."""

import math
from pathlib import Path
from statistics import NormalDist

import pytest
from inspect_ai.model import get_model

from confidence_tasks import boolq, halueval, lsat_ar, sat_en, sciq
from confidence_tasks.studies.lifeeval.question_sets.measures import measures_of
from confidence_tasks.studies.lifeeval.question_sets.replies import QUESTION_SETS

from .conftest import Run, metrics, trials

pytestmark = pytest.mark.slow

TASKS = {"boolq": boolq, "sciq": sciq, "lsat_ar": lsat_ar, "sat_en": sat_en, "halueval": halueval}
GENERATED = {
    "boolq": "arithmetic_boolean",
    "sciq": "arithmetic",
    "lsat_ar": "arithmetic",
    "sat_en": "arithmetic",
}
ACCURACY = NormalDist().cdf(0.75)


@pytest.mark.parametrize(("name", "source"), GENERATED.items())
def test_every_measure_is_logged(run: Run, name: str, source: str) -> None:
    found = metrics(run(TASKS[name](n=100, source=source)))
    expected = [f"{measure.name}/{source}" for measure in measures_of(QUESTION_SETS[name].form)]
    assert list(found) == expected
    assert all(math.isfinite(value) for value in found.values())


@pytest.mark.parametrize("name", TASKS)
def test_a_subject_answers_the_real_questions_in_format(run: Run, mirror: Path, name: str) -> None:
    found = metrics(run(TASKS[name](n=6)))
    assert found[f"parse_rate_strict/{name}"] == 1.0


@pytest.mark.parametrize(("name", "source"), [("boolq", "arithmetic_boolean"), ("sciq", "arithmetic")])
def test_accuracy_and_overconfidence_are_the_subjects(run: Run, name: str, source: str) -> None:
    n = 50
    ideal, overconfident = (
        metrics(run(TASKS[name](n=n, source=source), get_model("simulated/ideal", bias=bias)))
        for bias in (0.0, 1.5)
    )
    error = math.sqrt(ACCURACY * (1 - ACCURACY) / n)
    assert abs(ideal[f"accuracy/{source}"] - ACCURACY) < 4 * error
    assert abs(ideal[f"overconfidence/{source}"]) < 4 * error
    assert overconfident[f"accuracy/{source}"] == ideal[f"accuracy/{source}"]
    assert overconfident[f"overconfidence/{source}"] > ideal[f"overconfidence/{source}"] + 0.05


@pytest.mark.parametrize(
    ("name", "source", "alternatives"), [("boolq", "arithmetic_boolean", 2), ("sciq", "arithmetic", 4)]
)
def test_token_probabilities_beside_stated_ones(run: Run, name: str, source: str, alternatives: int) -> None:
    log = run(TASKS[name](n=16, source=source, top_logprobs=alternatives))
    for trial in trials(log):
        assert trial["token_confidence"] == pytest.approx(trial["confidence"], abs=0.006)
        assert trial["token_correct"] == trial["correct"]
    assert abs(metrics(log)[f"token_ece/{source}"] - metrics(log)[f"ece/{source}"]) < 0.1


def test_options_beyond_the_alternatives_returned_count_as_zero(run: Run) -> None:
    log = run(sciq(n=16, source="arithmetic", top_logprobs=2))
    made = trials(log)
    assert all(trial["token_confidence"] >= trial["confidence"] - 0.006 for trial in made)
    assert any(trial["token_confidence"] > trial["confidence"] + 0.02 for trial in made)


def test_a_sloppy_subject_is_read_where_it_says_enough(run: Run) -> None:
    found = metrics(run(sciq(n=40, source="arithmetic"), get_model("simulated/ideal", sloppiness=1.0)))
    assert found["parse_rate_strict/arithmetic"] == 0.0
    assert 0.4 < found["parse_rate/arithmetic"] < 0.95
    assert math.isfinite(found["ece/arithmetic"])
