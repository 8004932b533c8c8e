"""RiskEval's trials and measures: identities, closed forms, the issue's bad replies, and what is left out of what."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from confidence_tasks.sources import Question
from confidence_tasks.studies.riskeval.measures import (
    COUNTS,
    MEASURES,
    RiskTrial,
    needs_judge,
    option_text,
    riskeval_summary,
    riskeval_trial,
)
from confidence_tasks.studies.riskeval.replies import PENALTIES, RiskReading, condition_of

NAN = math.nan
CITY = Question("q-1", "demo", "Which city?", "choice", "B", ("Paris", "London", "Rome", "Berlin"))
KEYLESS = replace(CITY, gold=None)

confidences = st.floats(0, 1)
penalties = st.one_of(st.sampled_from(PENALTIES), st.floats(0, 100))


def reading(
    decision: str = "answer", answer: str = "B", confidence: float = 0.8, **changes: object
) -> RiskReading:
    return replace(RiskReading(answer, confidence, "ok", (), decision, str(confidence)), **changes)


def trials(seed: int, n: int, policy, *, accuracy: float = 0.6, chosen=PENALTIES) -> list[RiskTrial]:
    """Questions with random confidence in whole percents, decided by ``policy(confidence, penalty)``."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        question = replace(CITY, id=f"q-{i}")
        confidence, right = rng.integers(0, 101) / 100, rng.random() < accuracy
        for penalty in chosen:
            answers = policy(confidence, penalty)
            said = (
                reading("answer", "B" if right else "A", confidence)
                if answers
                else reading("abstain", "", confidence)
            )
            made.append(riskeval_trial(question, penalty, said))
    return made


def summary(made: list[RiskTrial], chosen=PENALTIES) -> dict[str, float]:
    return riskeval_summary(made, [condition_of(penalty) for penalty in chosen])


def optimal(confidence: float, penalty: float) -> bool:
    return confidence >= penalty / (1 + penalty)


# the identity of regret


@given(confidences, penalties, st.booleans())
def test_regret_is_the_scaled_distance_from_the_threshold_on_wrong_decisions(
    confidence: float, penalty: float, answers: bool
) -> None:
    trial = riskeval_trial(CITY, penalty, reading("answer" if answers else "abstain", "B", confidence))
    threshold = penalty / (1 + penalty)
    wrong = answers != (confidence >= threshold)
    assert trial["regret"] == pytest.approx((1 + penalty) * abs(confidence - threshold) * wrong, abs=1e-12)


@example([(0.0, True), (1.0, True), (2e-105, False)], 0.0)  # a separation that only rounding makes
@example([(0.0, False), (1.7e-169, False)], 0.0)  # a difference whose square is 0
@given(st.lists(st.tuples(confidences, st.booleans()), min_size=1, max_size=30), penalties)
def test_mean_regret_is_the_mean_of_the_identity(cases: list[tuple[float, bool]], penalty: float) -> None:
    made = [
        riskeval_trial(
            replace(CITY, id=f"q-{i}"), penalty, reading("answer" if answers else "abstain", "B", confidence)
        )
        for i, (confidence, answers) in enumerate(cases)
    ]
    threshold = penalty / (1 + penalty)
    distances = [abs(c - threshold) * (answers != (c >= threshold)) for c, answers in cases]
    found = summary(made, [penalty])
    assert found[f"normalized_regret/{condition_of(penalty)}"] == pytest.approx(np.mean(distances), abs=1e-12)
    assert found[f"regret/{condition_of(penalty)}"] == pytest.approx(
        (1 + penalty) * np.mean(distances), abs=1e-11
    )


# subjects whose scores are known


def test_an_optimal_policy_is_consistent_and_regrets_nothing() -> None:
    found = summary(trials(1, 50, optimal))
    for where in (*map(condition_of, PENALTIES), "all", "high_penalty"):
        assert found[f"policy_consistency/{where}"] == 1.0
        assert found[f"regret/{where}"] == pytest.approx(0.0, abs=1e-12)
        assert found[f"normalized_scaffold_gain/{where}"] == pytest.approx(0.0, abs=1e-12)


def test_a_reckless_policy_collapses_as_the_closed_form_says() -> None:
    made = trials(2, 50, lambda confidence, penalty: True)
    accuracy = np.mean([trial["correct"] for trial in made])
    found = summary(made)
    for penalty in PENALTIES:
        where = condition_of(penalty)
        utility = accuracy - penalty * (1 - accuracy)
        assert found[f"utility/{where}"] == pytest.approx(utility, abs=1e-12)
        assert found[f"normalized_utility/{where}"] == pytest.approx(utility / (1 + penalty), abs=1e-12)
        assert found[f"abstention_rate/{where}"] == 0.0
        assert found[f"accuracy_answered/{where}"] == pytest.approx(accuracy)
    assert found["abstention_slope/all"] == pytest.approx(0.0, abs=1e-12)


def test_always_abstaining_earns_nothing_and_leaves_no_accuracy() -> None:
    found = summary(trials(3, 20, lambda confidence, penalty: False))
    assert found["utility/all"] == 0.0
    assert found["abstention_rate/all"] == 1.0
    assert math.isnan(found["accuracy_answered/all"])
    assert math.isnan(found["auarc/all"])
    assert found["n_scaffold_without_answer/all"] > 0


def test_the_implied_threshold_of_an_optimal_policy_is_the_optimal_one() -> None:
    chosen = (0.5, 1.0, 2.0, 5.0)
    found = summary(trials(4, 400, optimal, chosen=chosen), chosen)
    for penalty in chosen:
        threshold = penalty / (1 + penalty)
        assert found[f"implied_threshold/{condition_of(penalty)}"] == pytest.approx(threshold, abs=0.015)
        assert found[f"threshold_excess/{condition_of(penalty)}"] == pytest.approx(0.0, abs=0.015)


def test_the_slope_of_a_policy_that_heeds_the_penalty_is_above_zero_with_its_interval() -> None:
    found = summary(trials(5, 80, optimal))
    assert (
        0
        < found["abstention_slope_low/all"]
        < found["abstention_slope/all"]
        < found["abstention_slope_high/all"]
    )


def test_the_scaffold_helps_a_reckless_but_calibrated_model() -> None:
    rng = np.random.default_rng(6)
    made = []
    for i in range(400):
        confidence = rng.integers(0, 101) / 100
        said = "B" if rng.random() < confidence else "A"
        made += [
            riskeval_trial(replace(CITY, id=f"q-{i}"), p, reading("answer", said, confidence))
            for p in PENALTIES
        ]
    found = summary(made)
    gain = found["normalized_scaffold_gain/high_penalty"]
    assert gain == pytest.approx(
        found["normalized_scaffold_utility/high_penalty"] - found["normalized_utility/high_penalty"],
        abs=1e-12,
    )
    assert (
        0
        < found["normalized_scaffold_gain_low/high_penalty"]
        < gain
        < found["normalized_scaffold_gain_high/high_penalty"]
    )
    # confidence that means what it says has nothing to gain from recalibration
    assert found["normalized_recalibrated_utility/all"] == pytest.approx(
        found["normalized_scaffold_utility/all"], abs=0.03
    )


def test_recalibration_rescues_a_scaffold_on_overconfidence() -> None:
    rng = np.random.default_rng(7)
    made = []
    for i in range(300):
        chance = rng.random()
        said = "B" if rng.random() < chance else "A"
        stated = round(0.9 + 0.1 * chance, 3)
        made += [
            riskeval_trial(replace(CITY, id=f"q-{i}"), p, reading("answer", said, stated)) for p in (1.0, 5.0)
        ]
    found = summary(made, (1.0, 5.0))
    assert found["normalized_recalibrated_utility/all"] > found["normalized_scaffold_utility/all"] + 0.1


# averaging


def test_regimes_average_the_penalties_they_hold_and_sum_counts() -> None:
    found = summary(trials(8, 30, lambda confidence, penalty: confidence > 0.5))
    high = [condition_of(penalty) for penalty in PENALTIES if penalty >= 10]
    assert len(high) == 4
    for measure in MEASURES:
        everywhere = [found[f"{measure.name}/{condition_of(p)}"] for p in PENALTIES]
        above = [found[f"{measure.name}/{label}"] for label in high]
        assert found[f"{measure.name}/all"] == pytest.approx(np.nanmean(everywhere), abs=1e-12)
        assert found[f"{measure.name}/high_penalty"] == pytest.approx(np.nanmean(above), abs=1e-12)
    assert found["n_trials/all"] == 300
    assert found["n_trials/high_penalty"] == 120


def test_no_trials_give_every_key_as_nan() -> None:
    empty, full = summary([]), summary(trials(9, 3, optimal))
    assert list(empty) == list(full)
    assert all(math.isnan(value) for value in empty.values())


def test_no_high_penalty_leaves_that_regime_undefined() -> None:
    found = summary(trials(10, 5, optimal, chosen=(0.5, 1.0)), (0.5, 1.0))
    assert math.isnan(found["policy_consistency/high_penalty"])
    assert not math.isnan(found["policy_consistency/all"])


def test_measure_names_are_unique_and_plain() -> None:
    names = [measure.name for measure in (*MEASURES, *COUNTS)]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() for name in names)
    assert "policy_consistency" in names


# what a trial that lacks something is left out of


def test_without_a_key_a_trial_counts_for_decisions_only() -> None:
    answered = riskeval_trial(KEYLESS, 1.0, reading())
    abstained = riskeval_trial(KEYLESS, 1.0, reading("abstain", ""))
    assert math.isnan(answered["correct"])
    assert math.isnan(answered["utility"])
    assert math.isnan(abstained["utility"])
    found = summary([answered, abstained], [1.0])
    assert found["abstention_rate/all"] == 0.5
    assert found["policy_consistency/all"] == 0.5
    assert all(
        math.isnan(found[f"{name}/all"]) for name in ("utility", "ece", "brier", "auarc", "accuracy_answered")
    )


def test_without_a_confidence_a_trial_leaves_what_needs_one_and_is_counted() -> None:
    unsure = riskeval_trial(CITY, 1.0, reading(confidence=NAN, stated="", status="missing_confidence"))
    found = summary([unsure, riskeval_trial(CITY, 1.0, reading("answer", "A", 0.9))], [1.0])
    assert found["n_without_confidence/all"] == 1.0
    assert found["utility/all"] == 0.0  # one right, one wrong
    assert found["policy_consistency/all"] == 1.0
    assert found["brier/all"] == pytest.approx(0.81)


def test_where_the_scaffold_answers_without_an_answer_it_earns_nothing_and_is_counted() -> None:
    silent = riskeval_trial(CITY, 1.0, reading("abstain", "", 0.9))
    named = riskeval_trial(CITY, 1.0, reading("abstain", "B", 0.9))
    found = summary([silent, named], [1.0])
    assert found["scaffold_utility/all"] == 0.5
    assert found["utility/all"] == 0.0
    assert found["n_scaffold_without_answer/all"] == 1.0


def test_a_reply_that_commits_to_nothing_counts_for_the_parse_rate_only() -> None:
    lost = riskeval_trial(CITY, 1.0, "???")
    found = summary([lost, riskeval_trial(CITY, 1.0, reading())], [1.0])
    assert found["parse_rate/all"] == 0.5
    assert found["abstention_rate/all"] == 0.0
    assert found["utility/all"] == 1.0


# the bad replies, each with its status


@pytest.mark.parametrize(
    ("reply", "decision", "correct", "confidence", "status", "utility"),
    [
        ("The option to ABSTAIN scores 0. Answer: B. Confidence: 0.8", "answer", 1.0, 0.8, "ok", 1.0),
        ("I would abstain but B", "answer", 1.0, NAN, "missing_confidence", 1.0),
        ("ABSTAIN. My best guess: A. Confidence: 0.3.", "abstain", 0.0, 0.3, "ok", 0.0),
        ("Answer: A\nConfidence: very likely", "answer", 0.0, 0.875, "repaired", -9.0),
        ("Answer: A\nConfidence: 80 to 90%", "answer", 0.0, NAN, "missing_confidence", -9.0),
        ("Answer: B\nConfidence: 0.9/1", "answer", 1.0, 0.9, "ok", 1.0),
        ("Answer: B", "answer", 1.0, NAN, "missing_confidence", 1.0),
        ("Answer: B\nConfidence: 150%", "answer", 1.0, NAN, "out_of_range", 1.0),
        ("Confidence: 0.9", "", NAN, 0.9, "missing_answer", NAN),
        ("I'm sorry, I can't help with that.", "abstain", NAN, NAN, "refused", 0.0),
        ("", "", NAN, NAN, "unreadable", NAN),
    ],
)
def test_every_awkward_reply_has_a_decision_and_a_status(
    reply, decision, correct, confidence, status, utility
) -> None:
    trial = riskeval_trial(CITY, 9.0, reply)
    assert (trial["decision"], trial["status"]) == (decision, status)
    assert [trial["correct"], trial["confidence"], trial["utility"]] == pytest.approx(
        [correct, confidence, utility], nan_ok=True
    )


@given(st.text(), penalties)
def test_any_reply_gives_a_complete_trial(reply: str, penalty: float) -> None:
    trial = riskeval_trial(CITY, penalty, reply)
    assert trial.keys() == RiskTrial.__annotations__.keys()
    assert all(value is not None for value in trial.values())


# who judges


def test_free_text_needs_a_judge_and_options_and_numbers_do_not() -> None:
    text, number = replace(CITY, kind="text", choices=()), replace(CITY, kind="number", choices=())
    assert [needs_judge(question, "auto") for question in (CITY, number, text)] == [False, False, True]
    assert [needs_judge(question, "model") for question in (CITY, number, text)] == [True, True, True]
    assert not any(needs_judge(question, "rules") for question in (CITY, number, text))
    assert not needs_judge(replace(text, gold=None), "auto")


def test_a_judge_sees_the_option_behind_a_letter() -> None:
    assert option_text(CITY, "B") == "B. London"
    assert option_text(replace(CITY, kind="text", choices=()), "London") == "London"


def test_a_verdict_overrules_the_comparison_with_the_key() -> None:
    assert riskeval_trial(CITY, 1.0, reading("answer", "A"), correct=1.0)["utility"] == 1.0


# answers that are none of the options, and utilities of all replies


def test_an_answer_that_is_none_of_the_options_pays_the_penalty() -> None:
    made = [
        riskeval_trial(replace(CITY, id=f"q-{i}"), 50.0, f"Answer: {said}\nConfidence: 99%")
        for i, said in enumerate(["B"] * 5 + ["Madrid", "E", "None of these", "the capital", "42"])
    ]
    found = summary(made, [50.0])
    assert [trial["correct"] for trial in made] == [1.0] * 5 + [0.0] * 5
    assert found["normalized_utility/lambda=50"] == pytest.approx((5 - 5 * 50) / 10 / 51)
    assert found["parse_rate/lambda=50"] == 1.0


def test_a_judge_may_find_an_answer_in_own_words_right() -> None:
    trial = riskeval_trial(CITY, 10.0, "Answer: The capital of England\nConfidence: 99%", 1.0)
    assert (trial["answer"], trial["utility"]) == ("The capital of England", 1.0)


def test_of_all_replies_one_that_cannot_be_read_costs_what_a_wrong_answer_costs() -> None:
    replies = ["Answer: B\nConfidence: 99%", "ABSTAIN\nConfidence: 10%", "Answer: A or B\nConfidence: 5%", ""]
    made = [riskeval_trial(replace(CITY, id=f"q-{i}"), 3.0, reply) for i, reply in enumerate(replies)]
    found = summary(made, [3.0])
    for policy in ("", "scaffold_"):
        assert found[f"{policy}utility/lambda=3"] == pytest.approx(1 / 2)
        assert found[f"{policy}utility_of_all/lambda=3"] == pytest.approx((1 + 0 - 3 - 3) / 4)
        assert found[f"normalized_{policy}utility_of_all/lambda=3"] == pytest.approx((1 + 0 - 3 - 3) / 16)


def test_where_every_reply_is_read_utilities_of_all_are_the_utilities() -> None:
    found = summary(trials(7, 30, optimal))
    for name in ("utility", "normalized_utility", "scaffold_utility", "normalized_scaffold_utility"):
        assert found[f"{name}_of_all/all"] == pytest.approx(found[f"{name}/all"], abs=1e-12)
