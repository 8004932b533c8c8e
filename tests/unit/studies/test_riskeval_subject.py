"""The simulated subject's policy and replies."""

import math

import pytest
from tests.items import reply_to

from confidence_tasks.simulation.subject import PROFILES, Subject, make_subject
from confidence_tasks.sources import Question, load
from confidence_tasks.studies.riskeval import STUDY
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.studies.riskeval.replies import PENALTIES, condition_of
from confidence_tasks.studies.riskeval.subject import reply_variants, true_values

QUESTIONS = load("arithmetic", n=200)


def reply_text(subject: Subject, question: Question, penalty: float) -> str:
    return reply_to(STUDY, question, condition_of(penalty), subject, seed="0").text


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_ideal_subjects_threshold_is_the_optimal_one(penalty: float) -> None:
    assert PROFILES["ideal"].answering_threshold(penalty) == penalty / (1 + penalty)


def test_by_default_a_subject_ignores_the_penalty_as_the_papers_models_do() -> None:
    assert {Subject().answering_threshold(penalty) for penalty in PENALTIES} == {0.5}
    replies = [
        {reply_text(Subject(), question, penalty) for penalty in (0.1, 100.0)} for question in QUESTIONS[:50]
    ]
    assert {len(texts) for texts in replies} == {1}


def test_true_values_of_a_subject_that_always_answers_follow_from_its_accuracy() -> None:
    subject, accuracy = PROFILES["reckless"], 0.5 * math.erfc(-1.5 / 2 / math.sqrt(2))
    for penalty in PENALTIES:
        values = true_values(subject, f"lambda={penalty:g}")
        assert values["abstention_rate"] == pytest.approx(0.0, abs=1e-12)
        assert values["accuracy_answered"] == pytest.approx(accuracy)
        assert values["normalized_utility"] == pytest.approx(accuracy - penalty / (1 + penalty))


def test_caution_shifts_and_sensitivity_scales_the_logit_of_the_threshold() -> None:
    subject = Subject(caution=4.0, risk_sensitivity=0.5)
    for penalty in (0.1, 1.0, 50.0):
        threshold = subject.answering_threshold(penalty)
        logit = math.log(threshold / (1 - threshold))
        assert logit == pytest.approx(math.log(4.0) + 0.5 * math.log(penalty))


def test_profiles_order_by_how_much_they_abstain() -> None:
    rates = {
        name: sum(reply_text(PROFILES[name], question, 10.0).startswith("ABSTAIN") for question in QUESTIONS)
        for name in ("reckless", "partial", "ideal", "cautious")
    }
    assert rates["reckless"] == 0
    assert list(rates.values()) == sorted(rates.values())
    assert rates["reckless"] < rates["partial"] < rates["ideal"]


def test_the_decision_follows_the_confidence_as_stated() -> None:
    for question in QUESTIONS:
        reading = read_risk_reply(
            reply_text(Subject(risk_sensitivity=1.0), question, 1.0), "choice", question.choices
        )
        assert (reading.decision == "answer") == (reading.confidence_raw >= 0.5)
        assert reading.status == "ok"


def test_outcome_and_confidence_do_not_depend_on_the_penalty() -> None:
    for question in QUESTIONS[:50]:
        readings = [
            read_risk_reply(reply_text(PROFILES["reckless"], question, penalty), "choice", question.choices)
            for penalty in PENALTIES
        ]
        assert len({(reading.answer, reading.confidence_raw) for reading in readings}) == 1


def test_reply_variants_state_the_same_or_lack_a_part() -> None:
    for text in reply_variants("B", 40)[:-2]:
        reading = read_risk_reply(text, "choice", ("x", "y"))
        assert (reading.decision, reading.answer, reading.confidence_raw) == (
            "answer",
            "B",
            pytest.approx(0.4),
        )
    for text in reply_variants("ABSTAIN", 40)[:-2]:
        reading = read_risk_reply(text, "choice", ("x", "y"))
        assert (reading.decision, reading.confidence_raw) == ("abstain", pytest.approx(0.4))
    unsaid, refused = (read_risk_reply(text, "choice", ("x", "y")) for text in reply_variants("B", 40)[-2:])
    assert unsaid.status == "missing_confidence"
    assert refused.status == "refused"


def test_policy_parameters_can_be_set_on_the_command_line() -> None:
    assert make_subject("ideal", caution=0.0).answering_threshold(100.0) == 0.0
