"""Abstentions are an outcome of their own, in several languages; a right answer is never taken for one."""

import json
import math
from pathlib import Path

import pytest
from tests.trials import fermieval_trial

from confidence_tasks import read_confidence
from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.studies.lifeeval.reader import read_age
from confidence_tasks.studies.riskeval.confidence import find_confidences
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.studies.scales.trials import read_reply, read_scale_reply
from confidence_tasks.study import ModelReply, Question

CAPITALS = ("Paris", "London", "Rome", "Berlin")
SCALES = {"elicitation": "verbal", "strict": False}


def question(gold: str, *aliases: str) -> Question:
    return Question("q-1", "demo", "What?", "text", gold, aliases=aliases, metadata=SCALES)


LISTS = json.loads(Path(__file__).with_name("abstentions.json").read_text(encoding="utf-8"))
PHRASES = LISTS["abstentions"]
"""Phrases by language."""

ABSTENTIONS = (
    "I don't know.", "The passage does not contain enough information to answer this question.",
    "Unknown", "<UNKNOWN>", "N/A", "NA", "None", "No answer", "Cannot be determined.", "Unanswerable",
    "The question has no correct answer.", "I abstain.", "[ABSTAIN]", "Pass.", "I'll pass on this one.",
    "It is impossible to say.", "I don't have information about that.", "我不知道。", "わかりません。", "Nevím.",
)  # fmt: skip


@pytest.mark.parametrize("reply", [*ABSTENTIONS, *(phrases[-1] for phrases in PHRASES.values())])
def test_an_abstention_is_no_wrong_answer_in_any_study(reply: str) -> None:
    trial = riskeval_trial(question("Brno"), 1.0, reply)
    on_scale = read_reply(question("Brno"), "0-100", {"answer": [ModelReply(reply)]})

    assert trial["decision"] == "abstain"
    assert math.isnan(trial["correct"])
    assert (on_scale["status"], on_scale["answer"]) == ("refused", "")


@pytest.mark.slow
@pytest.mark.parametrize("language", PHRASES)
def test_phrases_of_each_language_are_abstentions_however_they_are_labelled(language: str) -> None:
    phrases = PHRASES[language]
    assert len(phrases) > 80
    for form in (
        "{}",
        "**{}**",
        "Answer: {}\nConfidence: 10",
        "Guess: {}\nProbability: 0.1",
        "{}\nConfidence: 20%",
    ):
        replies = [form.format(phrase) for phrase in phrases]
        assert [reply for reply in replies if not read_confidence(reply).abstained] == []
        assert [
            reply for reply in replies if riskeval_trial(question("Brno"), 1.0, reply)["correct"] == 0.0
        ] == []


@pytest.mark.parametrize("answer", LISTS["answers"])
def test_an_answer_that_begins_like_a_phrase_is_no_abstention(answer: str) -> None:
    assert not is_refusal(answer)


@pytest.mark.parametrize(
    ("reply", "gold"),
    [
        ("Answer: Na Příkopě 5\nConfidence: 90", "Na Příkopě 5"),
        ("Answer: Unknown Pleasures\nConfidence: 90", "Unknown Pleasures"),
        ("Unknown Pleasures", "Unknown Pleasures"),
        ("Na", "Na"),
        ("Answer: NA\nConfidence: 90", "Na"),
        ("Answer: I Don't Know How She Does It\nConfidence: 90", "I Don't Know How She Does It"),
        ("Answer: None\nConfidence: 90", "none"),
    ],
)
def test_an_answer_that_is_the_key_is_no_abstention(reply: str, gold: str) -> None:
    for key in (question(gold), question("another", gold)):
        assert riskeval_trial(key, 1.0, reply)["correct"] == 1.0
        assert read_reply(key, "0-100", {"answer": [ModelReply(reply)]})["correct"] == 1.0


@pytest.mark.parametrize("reply", ["Abstaining is better here.", "It is better to abstain.", "I'll pass."])
def test_abstaining_in_words(reply: str) -> None:
    assert read_risk_reply(reply, "choice", CAPITALS).decision == "abstain"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("A: Paris - no.\nB: London - yes.\nC: no.\n\nThe correct option is B.\nConfidence: 80%", "B"),
        ("A: no\nB: yes\n\nB\nConfidence: 80%", "B"),
        ("Option A: incorrect.\nOption B: correct.\nConfidence: 80%", ""),
        ("A - wrong\nB - right\nC - wrong\nD - wrong\nConfidence: 80%", ""),
        ("A: 10%\nB: 70%\nC: 15%\nD: 5%", ""),
        ("A: no. B: yes.\nConfidence: 80%", ""),
        ("B: London, the capital.\nConfidence: 80%", "B"),
    ],
)
def test_an_analysis_of_the_options_is_no_answer(reply: str, answer: str) -> None:
    assert read_risk_reply(reply, "choice", CAPITALS).answer == answer
    assert read_scale_reply(reply, Scale(0, 100), kind="choice", choices=CAPITALS).answer == answer


def test_a_revised_confidence_is_not_the_first_one() -> None:
    reply = "Answer: B\nConfidence: 85\nLet me revise my confidence to 65."

    assert math.isnan(read_scale_reply(reply, Scale(0, 100), kind="choice", choices=CAPITALS).confidence_raw)
    assert math.isnan(read_risk_reply(reply, "choice", CAPITALS).confidence_raw)


def test_years_that_are_left_are_no_age() -> None:
    given = ("19 more years", "another 20 years", "in 20 years", "84 years")
    assert [read_age(text).text for text in given] == ["", "", "", "84"]


def test_an_end_beyond_the_papers_range_is_out_of_range_unless_the_truth_is() -> None:
    trials = [
        fermieval_trial(Question("f-1", "fermi", "?", "number", truth), 0.9, "test", '{"L": 3, "U": 150}')
        for truth in ("4", "140")
    ]

    assert [trial["status"] for trial in trials] == ["out_of_range", "ok"]
    assert [trial["width"] for trial in trials] == pytest.approx([math.nan, 147.0], nan_ok=True)


def test_blank_lines_of_any_white_space_are_no_answers() -> None:
    """In linear time: the search for lines matches each character once."""
    plain = find_confidences("B, 90%", "choice", CAPITALS)[0]

    assert find_confidences("\r" * 100_000 + "\nB, 90%", "choice", CAPITALS)[0].value == plain.value == 0.9
