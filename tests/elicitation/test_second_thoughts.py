"""Second thoughts on a line of their own: labelled by hand, with those that take nothing back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly, repeated

from confidence_tasks.elicitation.answers import read_answer
from confidence_tasks.elicitation.riskeval_reader import read_risk_reply
from confidence_tasks.elicitation.scale_reader import read_scale_reply
from confidence_tasks.elicitation.scales import Scale
from confidence_tasks.elicitation.second_thoughts import label_second_thoughts

CITIES = ("Paris", "London", "Rome", "Berlin")
PERCENT = Scale(0, 100)

TAKEN_BACK = [
    ("choice", "Answer: A\nNo wait, it's B.", "B"),
    ("choice", "Answer: A\n\nWait, no. It's London.", "B"),
    ("choice", "Answer: A\nActually, B.", "B"),
    ("choice", "Answer: A\nActually, no, it's B.", "B"),
    ("choice", "Answer: A\nActually no: the answer is B because it has more people.", "B"),
    ("choice", "Answer: A\nCorrection: B", "B"),
    ("choice", "**Answer:** A\n\n**Correction:** (B) London", "B"),
    ("choice", "Answer: A\nScratch that, B.", "B"),
    ("choice", "Answer: A\nOn second thought, it should be B, not A.", "B"),
    ("choice", "Answer: A\nSorry, I meant B.", "B"),
    ("choice", "Answer: A\nWait, it's C.\nNo, it's B.", "B"),
    ("choice", "Answer: A\nWait, it's C. No, it's B.", "B"),
    ("choice", "The answer is A.\nNo wait, it's B.", "B"),
    ("choice", "Paris is larger, so the answer is A.\nNo wait, it's B.", "B"),
    ("choice", "A\nNo wait, it's B.", "B"),
    ("choice", "My answer: Paris\nHmm, wait, I'd go with London.", "B"),
    ("boolean", "Answer: True\nNo wait, it's false.", "no"),
    ("boolean", "Answer: False\nActually, yes.", "yes"),
    ("boolean", "Answer: Yes\nActually, no.", "no"),
    ("number", "Final Answer: 18\nWait, no, it's 20.", "20"),
    ("number", "Final Answer: 18\nActually, $20.", "20"),
    ("number", "Final Answer: 18\nCorrection: 1,234.5", "1234.5"),
]
KEPT = [
    ("choice", "Answer: A\nActually, this is a hard question.", "A"),
    ("choice", "Answer: A\nWait, that is a trick.", "A"),
    ("choice", "Answer: A\nActually, a tough one.", "A"),
    ("choice", "Answer: A\nNo, B is a city in England.", "A"),
    ("choice", "Answer: A\nActually, B is wrong, as it is not in France.", "A"),
    ("choice", "Answer: A\nActually, B and C are smaller.", "A"),
    ("choice", "Answer: A\nWait, is it B? No, it's A.", "A"),
    ("choice", "Answer: A\nWait, B?", "A"),
    ("choice", "Answer: A\nNo, it's not B.", "A"),
    ("choice", "Answer: A\nActually, it's Madrid.", "A"),
    ("choice", "Answer: A\nActually, I considered B.", "A"),
    ("choice", "Answer: A\nIt is the largest.\nWait, it's B that has the tower.", "A"),
    ("choice", "Maybe it has a tower.\nWait, it's B.\nAnswer: A", "A"),
    ("choice", "Answer: A\nExplanation: I first counted the bridges.\nWait, it's B.\nBut no.", "A"),
    ("boolean", "Answer: No\nActually, it is a common belief.", "no"),
    ("boolean", "Answer: No\nNo, it's not true that all of them fly.", "no"),
    ("boolean", "Answer: False\nActually, it's true that some do.", "no"),
    ("number", "Final Answer: 18\nActually, it's 3 times as much as last year.", "18"),
    ("number", "Final Answer: 18\nActually, 2 of them are red.", "18"),
    ("number", "Final Answer: 18\nNo, 2 steps were needed.", "18"),
]


def answers(kind, reply: str) -> tuple[str, str]:
    """What the reader of scales and that of RiskEval read."""
    choices = CITIES if kind == "choice" else ()
    return (
        read_scale_reply(reply, PERCENT, kind=kind, choices=choices).answer,
        read_risk_reply(reply, kind, choices).answer,
    )


@pytest.mark.parametrize(("kind", "reply", "answer"), [*TAKEN_BACK, *KEPT])
@pytest.mark.parametrize("confidence", ["{}\nConfidence: 80%", "Confidence: 80%\n{}"])
def test_the_answer_is_the_one_that_stands_in_the_end(kind, reply, answer, confidence) -> None:
    assert answers(kind, confidence.format(reply)) == (answer, answer)


@pytest.mark.parametrize(("kind", "reply", "answer"), [*TAKEN_BACK, *KEPT])
def test_a_confidence_may_stand_between_an_answer_and_a_second_thought(kind, reply, answer) -> None:
    first, rest = reply.split("\n", 1)
    if ":" in first:
        assert answers(kind, f"{first}\nConfidence: 80%\n{rest}") == (answer, answer)


def test_a_confidence_in_an_answer_that_was_taken_back_is_none_in_the_new_one() -> None:
    reading = read_scale_reply(
        "Answer: A\nConfidence: 80\nNo wait, it's B.", PERCENT, kind="choice", choices=CITIES
    )
    assert (reading.answer, reading.status) == ("B", "missing_confidence")
    assert math.isnan(reading.confidence_raw)
    assert {"second_thought", "unpaired"} <= set(reading.rules)


def test_a_reply_that_was_taken_back_is_repaired() -> None:
    reading = read_risk_reply("Answer: A\nNo wait, it's B.\nConfidence: 80%", "choice", CITIES)
    assert (reading.decision, reading.answer, reading.confidence) == ("answer", "B", 0.8)
    assert (reading.status, reading.rules) == ("repaired", ("second_thought",))


@pytest.mark.parametrize(
    ("kind", "value", "answer"),
    [
        ("choice", "A. Correction: B", "B"),
        ("choice", "A. Actually, B.", "B"),
        ("choice", "A. Actually, a city on the Seine.", "A"),
        ("choice", "A. Actually, easy.", "A"),
        ("number", "18. Actually, 20", "20"),
        ("boolean", "True. Actually, no.", "no"),
    ],
)
def test_on_one_line_the_same_words_take_an_answer_back(kind, value, answer) -> None:
    assert read_answer(value, kind, CITIES if kind == "choice" else ()).text == answer


def test_a_text_is_kept_as_it_is() -> None:
    reply = "Answer: Paris\nNo wait, it's London."
    assert label_second_thoughts(reply, "text", ()) == reply


WORDS = st.sampled_from(
    ["Answer: A", "B", "No wait,", "it's", "Actually,", "Correction:", "Confidence: 8", "\n"]
)


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_lines_stay_lines_and_only_second_thoughts_change(text: str) -> None:
    before, after = text.split("\n"), label_second_thoughts(text, "choice", CITIES).split("\n")
    assert len(before) == len(after)
    assert all(
        old == new or (new in {"Answer: A", "Answer: B"} and not old.strip().startswith(("Answer", "Conf")))
        for old, new in zip(before, after, strict=True)
    )


@pytest.mark.parametrize("unit", ["No wait, it's B.\n", "Answer: A\nActually, B.\n", "no, ", "Correction: "])
def test_time_is_linear_in_the_length(unit: str) -> None:
    assert grows_linearly(
        lambda text: label_second_thoughts(f"Answer: A\n{text}", "choice", CITIES), repeated(unit), 10_000
    )
