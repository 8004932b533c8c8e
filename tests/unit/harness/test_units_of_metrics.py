"""Limits in logs have the units of the report: clusters of questions, and questions that epochs repeat."""

import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score
from scipy.stats import binomtest
from tests.unit.studies.test_fermieval_trials import made_up
from tests.unit.studies.test_riskeval_trials import simulate

from confidence_tasks.harness.inspect.metrics import reference_of, study_metrics
from confidence_tasks.studies.fermieval.summary import fermieval_summary
from confidence_tasks.studies.riskeval.replies import condition_of
from confidence_tasks.studies.riskeval.summary import riskeval_summary

PENALTIES = (1.0, 10.0, 100.0)
RISK = {"conditions": [condition_of(each) for each in PENALTIES], "seed": 0}
LIMITS = [
    *(f"abstention_slope{end}/all" for end in ("_low", "_high")),
    *(f"normalized_scaffold_gain{end}/{regime}" for end in ("_low", "_high") for regime in ("all", "high_penalty")),
]  # fmt: skip


def logged(summary, arguments, trials, cluster=lambda trial: "") -> dict[str, float]:
    """Return the metrics of a log; trials of a question that are listed again are its epochs."""
    scores = [
        SampleScore(
            score=Score(value={"correct": trial["correct"]}, metadata=dict(trial)),
            sample_id=trial["question_id"],
            sample_metadata={"cluster": label} if (label := cluster(trial)) else {},
        )
        for trial in trials
    ]
    return study_metrics(reference_of(summary), arguments)(scores)


def decisions() -> list:
    """Five questions a passage, whose model answers if the passage is easy."""
    rng = np.random.default_rng(5)
    ease = iter(np.repeat(rng.random(40), 5 * len(PENALTIES)))
    trials = simulate(
        0, 200, lambda confidence, penalty: next(ease) > penalty / (2 + penalty), chosen=PENALTIES
    )
    return [{**trial, "source": "mine"} for trial in trials]  # fmt: skip


def passage(trial) -> str:
    return str(int(trial["question_id"].removeprefix("q-")) // 5)


def test_limits_of_the_slope_have_passages_as_units():
    trials = decisions()
    clustered = logged(riskeval_summary, RISK, trials, passage)
    as_one = logged(riskeval_summary, RISK, [{**trial, "question_id": passage(trial)} for trial in trials])
    assert [clustered[name] for name in LIMITS] == [as_one[name] for name in LIMITS]
    apart = logged(riskeval_summary, RISK, trials)
    width, narrow = (
        each["abstention_slope_high/all"] - each["abstention_slope_low/all"] for each in (clustered, apart)
    )
    assert width > 1.5 * narrow  # the design effect of five questions that decide alike is 5, its root 2.2


def test_limits_of_the_slope_count_a_question_once():
    trials = decisions()
    once, thrice = (logged(riskeval_summary, RISK, times * trials) for times in (1, 3))
    assert [thrice[name] for name in LIMITS] == pytest.approx([once[name] for name in LIMITS])


def test_pairs_of_logs_of_earlier_versions_are_units():
    """Their samples have no cluster: the identifier of the question tells it."""
    trials = [
        {**trial, "source": "halueval", "question_id": f"halueval-{number // 2}_{'rh'[number % 2]}"}
        for trial in decisions()
        for number in [int(trial["question_id"].removeprefix("q-"))]
    ]
    known = logged(
        riskeval_summary, RISK, trials, lambda trial: trial["question_id"].removesuffix("_r").removesuffix("_h")
    )  # fmt: skip
    found = logged(riskeval_summary, RISK, trials)
    assert found == pytest.approx(known, nan_ok=True)


def test_limits_of_coverage_have_passages_as_units():
    trials = [trial for trial in made_up(200) if trial["split"] == "test"]
    alike = [{**trial, "correct": trials[number // 5 * 5]["correct"]} for number, trial in enumerate(trials)]
    number = {trial["question_id"]: str(place // 5) for place, trial in enumerate(alike)}
    given = {"levels": [0.9], "conformal": False}
    found = logged(fermieval_summary, given, alike, lambda trial: number[trial["question_id"]])
    held = [trial["correct"] for trial in alike[::5]]
    expected = binomtest(int(sum(held)), len(held)).proportion_ci(method="wilson")
    assert (found["coverage_low/p=0.9"], found["coverage_high/p=0.9"]) == pytest.approx(expected)
