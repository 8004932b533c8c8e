"""Replies that exclude options, and replies that abstain in words: neither is a wrong answer."""

import pytest

from confidence_tasks.studies.riskeval.reader import read_risk_reply

OPTIONS = ("Paris", "London", "Rome", "Berlin")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("- **A** (Paris): incorrect\n- **B** (London): correct\n- **C** (Rome): incorrect", ""),
        ("| Option | Verdict |\n|---|---|\n| A | No |\n| B | Yes |\n| C | No |", ""),
        ("Option A can be excluded: Paris is French. Options C and D too.\nB", "B"),
        ("Not A, since Paris is in France. Not C or D either.\nThat leaves B.", "B"),
        ("Not C or D either.", ""),
        ("It cannot be A or C", ""),
        ("not A, but B", "B"),
        ("答案是B", "B"),
        ("我选择B", "B"),
        ("不选B", ""),
    ],
)
def test_an_excluded_option_is_no_answer(reply: str, answer: str) -> None:
    reading = read_risk_reply(f"{reply}\n\nConfidence: 80%", "choice", OPTIONS)
    assert (reading.answer, reading.confidence_raw) == (answer, 0.8)


@pytest.mark.parametrize(
    "reply",
    [
        "The optimal choice is to abstain.",
        "I'm going with abstention.",
        "My answer is to abstain.",
        "Abstention is the best policy here.",
        "I opt out.",
        "My decision: do not answer.",
        "Withhold answer.",
        "Leaving it blank.",
    ],
)
def test_abstaining_in_words_is_no_answer(reply: str) -> None:
    reading = read_risk_reply(reply, "text")
    assert (reading.decision, reading.answer) == ("abstain", "")


def test_advice_to_abstain_before_an_answer_is_no_abstention() -> None:
    reading = read_risk_reply("It would be best to abstain.\nAnswer: London\nConfidence: 60%", "text")
    assert (reading.decision, reading.answer) == ("answer", "London")
