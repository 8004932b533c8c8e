"""A confidence after an answer, without a label: numbers that are read, and numbers that are not."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.studies.awkward_riskeval_replies import CITIES

from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.study.trial import Kind

SHARES = ("10%", "25%", "50%", "0.9")
CHOICES = {"choice": CITIES, "shares": SHARES}


def read(reply: str, kind: str) -> tuple[str, str, float]:
    kinds: dict[str, Kind] = {"shares": "choice", "number": "number", "boolean": "boolean", "text": "text"}
    reading = read_risk_reply(reply, kinds.get(kind, "choice"), CHOICES.get(kind, ()))
    return reading.decision, reading.answer, reading.confidence_raw


# read


@pytest.mark.parametrize(
    "form",
    [
        "{}, 90%", "{} - 90%", "{}; 90 %", "{} | 90 percent", "{} (90%)", "{} [90%]", "{}: 90%", "**{}** — 90%",
        "{}, about 90%", "{}\n90%", "{}, 90%.\nIt is the largest of them.", "It is the largest.\n{}, 90%",
        "Answer: {}, 90%", "Answer: {} (90%)\n\nIt is the largest.", "The answer is {}, 90%.",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("kind", "answer"), [("choice", "B"), ("number", "42"), ("boolean", "yes")])
def test_a_percentage_after_any_answer_is_its_confidence(form: str, kind: str, answer: str) -> None:
    assert read(form.format(answer), kind) == ("answer", answer, 0.9)


@pytest.mark.parametrize(
    ("kind", "reply", "expected"),
    [
        ("choice", "B, 0.9", ("answer", "B", 0.9)),
        ("choice", "B (0.9)", ("answer", "B", 0.9)),
        ("choice", "B. London, 9/10", ("answer", "B", 0.9)),
        ("choice", "London, 90%", ("answer", "B", 0.9)),
        ("choice", "I think it is London (90%).", ("answer", "B", 0.9)),
        ("choice", "ABSTAIN, 40%", ("abstain", "", 0.4)),
        ("choice", "ABSTAIN. 40%", ("abstain", "", 0.4)),
        ("choice", r"\boxed{B}, 90%", ("answer", "B", 0.9)),
        ("number", r"$\boxed{42}$, 90%", ("answer", "42", 0.9)),
        ("boolean", "True - 0.8", ("answer", "yes", 0.8)),
        ("number", "$1,000, 90%", ("answer", "1000", 0.9)),
        ("number", "42 apples, 90%", ("answer", "42", 0.9)),
        ("number", "The total is 42 apples, 90%.", ("answer", "42", 0.9)),
        ("number", "42 (90% sure)", ("answer", "42", 0.9)),
        ("number", "#### 42\n90%", ("answer", "42", 0.9)),
        ("text", "Answer: Marie Curie (90%)", ("answer", "Marie Curie", 0.9)),
    ],
)
def test_a_number_after_an_answer_is_its_confidence(
    kind: str, reply: str, expected: tuple[str, str, float]
) -> None:
    decision, answer, confidence = read(reply, kind)
    assert (decision, answer) == expected[:2]
    assert confidence == pytest.approx(expected[2], abs=1e-12)


@given(st.integers(0, 100), st.sampled_from("ABCD"))
def test_every_percentage_is_read_exactly(percent: int, letter: str) -> None:
    assert read(f"{letter}, {percent}%", "choice") == ("answer", letter, percent / 100)


def test_a_confidence_without_a_label_needs_a_lenient_rule() -> None:
    reading = read_risk_reply("B, 90%", "choice", CITIES)
    assert (reading.status, reading.rules, reading.stated) == ("repaired", ("no_label",), "90%")


@pytest.mark.parametrize(("kind", "answer"), [("choice", "B"), ("number", "42"), ("boolean", "yes")])
@pytest.mark.parametrize("form", ["It is the largest.\n{}", "{}.\nIt is the largest of them."])
def test_a_line_of_reasons_beside_an_answer_does_not_hide_it(form: str, kind: str, answer: str) -> None:
    assert read(form.format(answer), kind)[:2] == ("answer", answer)


# not read


@pytest.mark.parametrize(
    ("kind", "reply", "answer"),
    [
        # an answer on the last line of its derivation is the answer
        ("number", "She has 3 * 4 eggs.\n12", "12"),
        ("number", "She has 3 * 4 eggs.\n\n**12**", "12"),
        ("number", "3 of 4 are left.\n75%", "75"),
        ("number", "She has 3 * 4 eggs.\n#### 12", "12"),
        ("number", "Answer:\n12", "12"),
        ("number", "Half of it.\n0.5", "0.5"),
        # the answer once more, as a share
        ("number", "Answer: 1/4 (25%)", "0.25"),
        ("number", "0.25, 25%", "0.25"),
        ("number", "20% of 60 = 12, 90%", "12"),
        ("number", "Answer: 42\n0.9", "42"),
        ("choice", "B, 85-95%", "B"),
        ("choice", "A (10%)\nB (90%)\nC (0%)\nSo my answer is B (90%)", ""),
        # percentages of the answer's own
        ("number", "20%", "20"),
        ("number", "She saves 20%, 90%", "90"),
        ("number", "The price rises from 42 to 63, 50%", "50"),
        # an option, or a figure that one holds
        ("shares", "Answer: B (25%)", "B"),
        ("shares", "B\n25%", "B"),
        ("shares", "B, 25%", "B"),
        ("shares", "The answer is\n25%", "B"),
        ("shares", "D, 90%", "D"),
        # penalties, scores and thresholds
        ("choice", "B, -10", "B"),
        ("choice", "B, 1", "B"),
        ("choice", "B, since the threshold is 91%", "B"),
        ("choice", "B, above 91%", "B"),
        ("choice", "B. I am above the break-even point (91%).", "B"),
        ("choice", "ABSTAIN, 0", ""),
        ("choice", "ABSTAIN, below 91%", ""),
        ("choice", "ABSTAIN\n0", ""),
        # of something else
        ("choice", "Answer: B\nMost of it is water (70%).", "B"),
        ("choice", "Answer: B. The tax (25%) is high.", "B"),
        ("choice", "B, 90% of them agree", "B"),
        ("choice", "B, 150%", "B"),
        # one for each option
        ("choice", "A: 10%\nB: 80%\nC: 10%\nAnswer: B", "B"),
        ("choice", "A (60%)\nB (40%)\nSo B.", ""),
        ("choice", '"Answer": "B",\n"A": 0.2,\n"B": 0.7,\n"C": 0.1', ""),
    ],
)  # fmt: skip
def test_other_numbers_are_no_confidence(kind: str, reply: str, answer: str) -> None:
    _, stated, confidence = read(reply, kind)
    assert math.isnan(confidence)
    assert stated == answer or not answer


@pytest.mark.slow
@pytest.mark.parametrize(("form", "confidence"), [("{}#### {}", math.nan), ("{}{}, 83.7%", 0.837)])
def test_solutions_of_real_problems_end_with_their_answer(mirror: Path, form: str, confidence: float) -> None:
    with (mirror / "openai" / "gsm8k" / "main" / "test.jsonl").open(encoding="utf-8") as lines:
        solutions = [json.loads(line)["answer"].split("#### ") for line in lines]
    assert len(solutions) == 1319
    for derivation, gold in solutions:
        _, answer, stated = read(form.format(derivation, gold), "number")
        assert answer == gold.replace(",", ""), derivation
        assert stated == pytest.approx(confidence, nan_ok=True), derivation


@pytest.mark.parametrize("kind", ["choice", "number"])
def test_a_labelled_confidence_has_priority(kind: str) -> None:
    answer = {"choice": "B", "number": "42"}[kind]
    assert read(f"Confidence: 70%\n{answer}, 90%", kind) == ("answer", answer, 0.7)
