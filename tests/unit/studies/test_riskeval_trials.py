"""RiskEval's trials and measures: identities, closed forms, awkward replies, and missing values."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from confidence_tasks.sources import Question
from confidence_tasks.studies.riskeval.measures import COUNTS, MEASURES
from confidence_tasks.studies.riskeval.reader import RiskReading
from confidence_tasks.studies.riskeval.replies import PENALTIES, condition_of
from confidence_tasks.studies.riskeval.summary import riskeval_summary
from confidence_tasks.studies.riskeval.trials import RiskTrial, needs_judge, option_text, riskeval_trial

NAN = math.nan
CITY = Question("q-1", "demo", "Which city?", "choice", "B", ("Paris", "London", "Rome", "Berlin"))
KEYLESS = replace(CITY, gold=None)

confidences = st.floats(0, 1)
penalties = st.one_of(st.sampled_from(PENALTIES), st.floats(0, 100))


def reading(
    decision: str = "answer", answer: str = "B", confidence: float = 0.8, **changes: object
) -> RiskReading:
    return replace(RiskReading(answer, confidence, "ok", (), decision, str(confidence)), **changes)


def simulate(seed: int, n: int, policy, *, accuracy: float = 0.6, chosen=PENALTIES) -> list[RiskTrial]:
    """Questions with random confidence in whole percents, decided by ``policy(confidence, penalty)``."""
    rng = np.random.default_rng(seed)
    trials = []
    for i in range(n):
        question = replace(CITY, id=f"q-{i}")
        confidence, right = rng.integers(0, 101) / 100, rng.random() < accuracy
        for penalty in chosen:
            answers = policy(confidence, penalty)
            reply = (
                reading("answer", "B" if right else "A", confidence)
                if answers
                else reading("abstain", "", confidence)
            )
            trials.append(riskeval_trial(question, penalty, reply))
    return trials


def summary(trials: list[RiskTrial], chosen=PENALTIES) -> dict[str, float]:
    return riskeval_summary(trials, [condition_of(penalty) for penalty in chosen])


def optimal(confidence: float, penalty: float) -> bool:
    return confidence >= penalty / (1 + penalty)


# regret


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
    trials = [
        riskeval_trial(
            replace(CITY, id=f"q-{i}"), penalty, reading("answer" if answers else "abstain", "B", confidence)
        )
        for i, (confidence, answers) in enumerate(cases)
    ]
    threshold = penalty / (1 + penalty)
    distances = [abs(c - threshold) * (answers != (c >= threshold)) for c, answers in cases]
    values = summary(trials, [penalty])
    assert values[f"normalized_regret/{condition_of(penalty)}"] == pytest.approx(
        np.mean(distances), abs=1e-12
    )
    assert values[f"regret/{condition_of(penalty)}"] == pytest.approx(
        (1 + penalty) * np.mean(distances), abs=1e-11
    )


# policies with known scores


def test_an_optimal_policy_is_consistent_and_has_no_regret() -> None:
    values = summary(simulate(1, 50, optimal))
    for where in (*map(condition_of, PENALTIES), "all", "high_penalty"):
        assert values[f"policy_consistency/{where}"] == 1.0
        assert values[f"regret/{where}"] == pytest.approx(0.0, abs=1e-12)
        assert values[f"normalized_scaffold_gain/{where}"] == pytest.approx(0.0, abs=1e-12)


def test_a_reckless_policy_has_the_utility_of_the_closed_form() -> None:
    trials = simulate(2, 50, lambda confidence, penalty: True)
    accuracy = np.mean([trial["correct"] for trial in trials])
    values = summary(trials)
    for penalty in PENALTIES:
        where = condition_of(penalty)
        utility = accuracy - penalty * (1 - accuracy)
        assert values[f"utility/{where}"] == pytest.approx(utility, abs=1e-12)
        assert values[f"normalized_utility/{where}"] == pytest.approx(utility / (1 + penalty), abs=1e-12)
        assert values[f"abstention_rate/{where}"] == 0.0
        assert values[f"accuracy_answered/{where}"] == pytest.approx(accuracy)
    assert values["abstention_slope/all"] == pytest.approx(0.0, abs=1e-12)


def test_always_abstaining_earns_nothing_and_leaves_no_accuracy() -> None:
    values = summary(simulate(3, 20, lambda confidence, penalty: False))
    assert values["utility/all"] == 0.0
    assert values["abstention_rate/all"] == 1.0
    assert math.isnan(values["accuracy_answered/all"])
    assert math.isnan(values["auarc/all"])
    assert values["n_scaffold_without_answer/all"] > 0


def test_the_implied_threshold_of_an_optimal_policy_is_the_optimal_one() -> None:
    chosen = (0.5, 1.0, 2.0, 5.0)
    values = summary(simulate(4, 400, optimal, chosen=chosen), chosen)
    for penalty in chosen:
        threshold = penalty / (1 + penalty)
        assert values[f"implied_threshold/{condition_of(penalty)}"] == pytest.approx(threshold, abs=0.015)
        assert values[f"threshold_excess/{condition_of(penalty)}"] == pytest.approx(0.0, abs=0.015)


def test_the_slope_of_an_optimal_policy_and_its_interval_are_positive() -> None:
    values = summary(simulate(5, 80, optimal))
    assert (
        0
        < values["abstention_slope_low/all"]
        < values["abstention_slope/all"]
        < values["abstention_slope_high/all"]
    )


def test_the_scaffold_helps_a_reckless_but_calibrated_model() -> None:
    rng = np.random.default_rng(6)
    trials = []
    for i in range(400):
        confidence = rng.integers(0, 101) / 100
        answer = "B" if rng.random() < confidence else "A"
        trials += [
            riskeval_trial(replace(CITY, id=f"q-{i}"), p, reading("answer", answer, confidence))
            for p in PENALTIES
        ]
    values = summary(trials)
    gain = values["normalized_scaffold_gain/high_penalty"]
    assert gain == pytest.approx(
        values["normalized_scaffold_utility/high_penalty"] - values["normalized_utility/high_penalty"],
        abs=1e-12,
    )
    assert (
        0
        < values["normalized_scaffold_gain_low/high_penalty"]
        < gain
        < values["normalized_scaffold_gain_high/high_penalty"]
    )
    # confidence that means what it says has nothing to gain from recalibration
    assert values["normalized_recalibrated_utility/all"] == pytest.approx(
        values["normalized_scaffold_utility/all"], abs=0.03
    )


def test_recalibration_improves_the_scaffold_of_an_overconfident_model() -> None:
    rng = np.random.default_rng(7)
    trials = []
    for i in range(300):
        chance = rng.random()
        answer = "B" if rng.random() < chance else "A"
        stated = round(0.9 + 0.1 * chance, 3)
        trials += [
            riskeval_trial(replace(CITY, id=f"q-{i}"), p, reading("answer", answer, stated))
            for p in (1.0, 5.0)
        ]
    values = summary(trials, (1.0, 5.0))
    assert values["normalized_recalibrated_utility/all"] > values["normalized_scaffold_utility/all"] + 0.1


# averaging


def test_regimes_average_measures_and_sum_counts() -> None:
    values = summary(simulate(8, 30, lambda confidence, penalty: confidence > 0.5))
    high = [condition_of(penalty) for penalty in PENALTIES if penalty >= 10]
    assert len(high) == 4
    for measure in MEASURES:
        everywhere = [values[f"{measure.name}/{condition_of(p)}"] for p in PENALTIES]
        above = [values[f"{measure.name}/{label}"] for label in high]
        assert values[f"{measure.name}/all"] == pytest.approx(np.nanmean(everywhere), abs=1e-12)
        assert values[f"{measure.name}/high_penalty"] == pytest.approx(np.nanmean(above), abs=1e-12)
    assert values["n_trials/all"] == 300
    assert values["n_trials/high_penalty"] == 120


def test_no_trials_give_every_key_as_nan() -> None:
    empty, full = summary([]), summary(simulate(9, 3, optimal))
    assert list(empty) == list(full)
    assert all(math.isnan(value) for value in empty.values())


def test_no_high_penalty_leaves_that_regime_undefined() -> None:
    values = summary(simulate(10, 5, optimal, chosen=(0.5, 1.0)), (0.5, 1.0))
    assert math.isnan(values["policy_consistency/high_penalty"])
    assert not math.isnan(values["policy_consistency/all"])


def test_measure_names_are_unique_identifiers() -> None:
    names = [measure.name for measure in (*MEASURES, *COUNTS)]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() for name in names)
    assert "policy_consistency" in names


# missing values


def test_without_a_key_a_trial_counts_for_decisions_only() -> None:
    answered = riskeval_trial(KEYLESS, 1.0, reading())
    abstained = riskeval_trial(KEYLESS, 1.0, reading("abstain", ""))
    assert math.isnan(answered["correct"])
    assert math.isnan(answered["utility"])
    assert math.isnan(abstained["utility"])
    values = summary([answered, abstained], [1.0])
    assert values["abstention_rate/all"] == 0.5
    assert values["policy_consistency/all"] == 0.5
    assert all(
        math.isnan(values[f"{name}/all"])
        for name in ("utility", "ece", "brier", "auarc", "accuracy_answered")
    )


def test_measures_of_confidence_leave_out_trials_without_one() -> None:
    unsure = riskeval_trial(CITY, 1.0, reading(confidence=NAN, stated="", status="missing_confidence"))
    values = summary([unsure, riskeval_trial(CITY, 1.0, reading("answer", "A", 0.9))], [1.0])
    assert values["n_without_confidence/all"] == 1.0
    assert values["utility/all"] == 0.0  # one right, one wrong
    assert values["policy_consistency/all"] == 1.0
    assert values["brier/all"] == pytest.approx(0.81)


def test_a_scaffold_without_an_answer_earns_nothing_and_is_counted() -> None:
    silent = riskeval_trial(CITY, 1.0, reading("abstain", "", 0.9))
    named = riskeval_trial(CITY, 1.0, reading("abstain", "B", 0.9))
    values = summary([silent, named], [1.0])
    assert values["scaffold_utility/all"] == 0.5
    assert values["utility/all"] == 0.0
    assert values["n_scaffold_without_answer/all"] == 1.0


def test_a_reply_without_a_decision_counts_for_the_parse_rate_only() -> None:
    lost = riskeval_trial(CITY, 1.0, "???")
    values = summary([lost, riskeval_trial(CITY, 1.0, reading())], [1.0])
    assert values["parse_rate/all"] == 0.5
    assert values["abstention_rate/all"] == 0.0
    assert values["utility/all"] == 1.0


# awkward replies


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


# the judge


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
    trials = [
        riskeval_trial(replace(CITY, id=f"q-{i}"), 50.0, f"Answer: {answer}\nConfidence: 99%")
        for i, answer in enumerate(["B"] * 5 + ["Madrid", "E", "None of these", "the capital", "42"])
    ]
    values = summary(trials, [50.0])
    assert [trial["correct"] for trial in trials] == [1.0] * 5 + [0.0] * 5
    assert values["normalized_utility/lambda=50"] == pytest.approx((5 - 5 * 50) / 10 / 51)
    assert values["parse_rate/lambda=50"] == 1.0


def test_a_judge_may_accept_an_answer_in_own_words() -> None:
    trial = riskeval_trial(CITY, 10.0, "Answer: The capital of England\nConfidence: 99%", 1.0)
    assert (trial["answer"], trial["utility"]) == ("The capital of England", 1.0)


def test_an_unreadable_reply_costs_as_much_as_a_wrong_answer_in_utilities_of_all() -> None:
    replies = ["Answer: B\nConfidence: 99%", "ABSTAIN\nConfidence: 10%", "Answer: A or B\nConfidence: 5%", ""]
    trials = [riskeval_trial(replace(CITY, id=f"q-{i}"), 3.0, reply) for i, reply in enumerate(replies)]
    values = summary(trials, [3.0])
    for policy in ("", "scaffold_"):
        assert values[f"{policy}utility/lambda=3"] == pytest.approx(1 / 2)
        assert values[f"{policy}utility_of_all/lambda=3"] == pytest.approx((1 + 0 - 3 - 3) / 4)
        assert values[f"normalized_{policy}utility_of_all/lambda=3"] == pytest.approx((1 + 0 - 3 - 3) / 16)


def test_utilities_of_all_equal_utilities_if_every_reply_is_read() -> None:
    values = summary(simulate(7, 30, optimal))
    for name in ("utility", "normalized_utility", "scaffold_utility", "normalized_scaffold_utility"):
        assert values[f"{name}_of_all/all"] == pytest.approx(values[f"{name}/all"], abs=1e-12)
