"""The scale study through Inspect: what was put into a simulated subject comes out of the log."""

import math
from statistics import NormalDist

import pytest

from confidence_tasks import scale_granularity
from confidence_tasks.reading.integer_scale import GRANULARITY
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.scales.measures import MEASURES
from confidence_tasks.study.trial import STATUSES

from .conftest import Run, metrics, saying, trials

QUESTIONS = 60
"""Few: a sample costs the harness some 20 ms. The validity suite has the precise checks."""


@pytest.mark.slow
def test_every_measure_of_every_condition_is_logged(run: Run) -> None:
    found = metrics(run(scale_granularity(sources="arithmetic", n=QUESTIONS)))
    assert list(found) == [f"{measure.name}/{scale.label}" for measure in MEASURES for scale in GRANULARITY]
    assert all(math.isfinite(value) for value in found.values())


def test_an_ideal_subject_is_accurate_calibrated_and_efficient(run: Run) -> None:
    found = metrics(run(scale_granularity(scales="0-100", sources="arithmetic", n=QUESTIONS)))
    expected = NormalDist().cdf(Subject().d_prime / 2)
    assert abs(found["accuracy/0-100"] - expected) < 4 * math.sqrt(expected * (1 - expected) / QUESTIONS)
    assert found["parse_rate_strict/0-100"] == 1.0
    assert abs(found["overconfidence/0-100"]) < 0.2
    assert found["ece/0-100"] < 0.25


@pytest.mark.slow
def test_one_log_a_condition_gives_the_same_numbers(run: Run) -> None:
    whole = metrics(run(scale_granularity(sources="arithmetic", n=20), "simulated/overconfident"))
    for scale in ("0-5", "0-100"):
        part = metrics(
            run(scale_granularity(scales=scale, sources="arithmetic", n=20), "simulated/overconfident")
        )
        assert part == pytest.approx({name: whole[name] for name in part}, nan_ok=True, abs=0)


def test_the_same_command_twice_gives_the_same_trials(run: Run) -> None:
    first, second = (
        trials(run(scale_granularity(sources="arithmetic", n=8), "simulated/sloppy")) for _ in range(2)
    )
    assert repr(first) == repr(second)


def test_any_reply_becomes_a_trial_with_a_status(run: Run) -> None:
    hostile = [
        "",
        "\x00\u202e",
        "Confidence: " + "9" * 5_000,
        "<script>alert(1)</script>",
        "{" * 10_000,
        "no",
    ]
    made = trials(
        run(scale_granularity(scales="0-20", sources="arithmetic", n=len(hostile)), saying(hostile))
    )
    assert len(made) == len(hostile)
    assert all(trial["status"] in STATUSES for trial in made)


def test_a_log_says_where_its_numbers_come_from(run: Run) -> None:
    log = run(scale_granularity(scales="0-5", sources="arithmetic", n=4, seed=7))
    assert log.eval.metadata is not None
    assert log.eval.metadata["seed"] == 7
    assert {"confidence-tasks", "inspect-ai", "numpy", "scipy"} <= log.eval.metadata["versions"].keys()
    assert log.eval.headline_metric is not None


def test_a_rounder_uses_three_values(run: Run) -> None:
    found = metrics(run(scale_granularity(scales="0-100", sources="arithmetic", n=60), "simulated/rounder"))
    assert found["distinct/0-100"] <= 3
    assert found["round_share/0-100"] == 1.0
