"""Scale replies: the hand-labelled list, the tables of rules, the formats and the bounds."""

import math

import pytest
from tests.unit.studies.awkward_scale_replies import CAPITALS, Awkward
from tests.unit.studies.awkward_scale_replies_later import AWKWARD_REPLIES
from tests.unit.studies.scale_rules import ARRANGEMENTS, REPORTS

from confidence_tasks.reading.answers import ANSWER_FORMS
from confidence_tasks.reading.cleaning import CLEANING, VALUE_CLEANING
from confidence_tasks.reading.integer_scale import ALL_SCALES, Scale
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.studies.scales.replies import ELICITATIONS, TOP_K, scale_prompt
from confidence_tasks.studies.scales.trials import read_scale_reply
from confidence_tasks.study.trial import LETTERS, Kind, Question, Reading

KINDS: tuple[Kind, ...] = ("choice", "number", "text", "boolean")
ON_20 = Scale(0, 20)


def read(
    reply: str, scale: Scale = ON_20, kind: Kind = "choice", choices: tuple[str, ...] = CAPITALS
) -> Reading:
    return read_scale_reply(reply, scale, kind=kind, choices=choices)


def same_values(one: Reading, other: Reading) -> bool:
    return one.answer == other.answer and (
        one.confidence_raw == other.confidence_raw
        or (math.isnan(one.confidence_raw) and math.isnan(other.confidence_raw))
    )


# The hand-labelled list


@pytest.mark.parametrize("case", AWKWARD_REPLIES, ids=lambda case: repr(case.reply)[1:60])
def test_awkward_reply_is_read_as_by_a_careful_human(case: Awkward) -> None:
    reading = read(case.reply, Scale.parse(case.scale), case.kind, case.choices)

    assert same_values(reading, Reading(case.answer, case.confidence_raw, case.status))
    assert reading.status == case.status


def test_awkward_list_is_long_and_covers_every_status() -> None:
    assert len({(case.reply, case.scale, case.kind) for case in AWKWARD_REPLIES}) >= 150
    assert {case.status for case in AWKWARD_REPLIES} == {
        "ok", "repaired", "out_of_range", "missing_confidence", "missing_answer", "unreadable", "refused",
    }  # fmt: skip


def test_every_rule_named_stands_in_a_table() -> None:
    tables = [CLEANING, VALUE_CLEANING, LAYOUTS]
    tables += [
        table for forms in ANSWER_FORMS.values() for table in (forms.plain, forms.whole, forms.lenient)
    ]
    known = {name for table in tables for name in table} | set(ARRANGEMENTS) | set(REPORTS)
    noted = {"box", "lead_in", "taken_back", "two_claims", "refusal"}
    used = {
        rule
        for case in AWKWARD_REPLIES
        for rule in read(case.reply, Scale.parse(case.scale), case.kind, case.choices).rules
    }

    assert used <= known | noted
    assert noted <= used


# Tables


@pytest.mark.parametrize(
    ("name", "reply"),
    {
        "json": '{"Answer": "B", "Confidence": 17}',
        "tags": "<answer>B</answer><confidence>17</confidence>",
        "next_line": "## Answer\nB\n## Confidence\n17",
    }.items(),
)
def test_example_of_layout_is_read(name: str, reply: str) -> None:
    reading = read(reply)

    assert (reading.answer, reading.confidence_raw) == ("B", 17)
    assert name in reading.rules


@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_example_of_arrangement_is_marked(name: str) -> None:
    _, text = ARRANGEMENTS[name]
    reading = read(text)

    assert name in reading.rules
    assert reading.answer == ("" if name == "taken_back" else "B")


# The formats


@pytest.mark.parametrize("elicitation", ELICITATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_reply_that_fills_in_the_prompts_own_format_is_ok(kind: Kind, elicitation) -> None:
    question = Question("q-1", "demo", "?", kind, None, CAPITALS if kind == "choice" else ())
    said, answer = {
        "choice": ("B", "B"),
        "number": ("18", "18"),
        "text": ("Nile", "Nile"),
        "boolean": ("No", "no"),
    }[kind]
    asked = scale_prompt(question, ON_20, elicitation).partition("Respond in the following format only:\n")[2]
    reply = asked.replace("<integer between 0 and 20>", "17")
    for placeholder in ("<your answer>", "<numerical answer>", "<your guess>"):
        reply = reply.replace(placeholder, said)
    reply = reply.replace("<your step-by-step reasoning>", "so be it").replace(
        "<your step-by-step solution>", "9 + 9"
    )
    assert "<" not in reply

    reading = read_scale_reply(reply, ON_20, kind=kind, choices=question.choices, elicitation=elicitation)

    assert reading == Reading(answer, 17.0, "ok")


@pytest.mark.parametrize("elicitation", ELICITATIONS)
def test_echo_of_the_prompt_is_unreadable(elicitation) -> None:
    question = Question("q-1", "demo", "What is the capital of England?", "text", None)

    reading = read_scale_reply(
        scale_prompt(question, ON_20, elicitation), ON_20, kind="text", elicitation=elicitation
    )

    assert reading.status == "unreadable"


def test_first_guess_counts_in_top_k_however_it_is_dressed() -> None:
    lines = [f"**Answer {i + 1}:** {LETTERS[i]}\n**Confidence {i + 1}:** {17 - i}" for i in range(TOP_K)]

    reading = read_scale_reply("\n".join(lines), ON_20, kind="choice", choices=CAPITALS, elicitation="top_k")

    assert (reading.answer, reading.confidence_raw, reading.status) == ("A", 17, "repaired")


def test_reasoning_that_was_not_asked_for_is_extra_text() -> None:
    reply = "Reasoning: it is known\nAnswer: B\nConfidence: 17"

    assert read(reply).rules == ("extra_text",)
    assert read_scale_reply(reply, ON_20, kind="choice", choices=CAPITALS, elicitation="cot").status == "ok"


# The scale


@pytest.mark.parametrize("scale", ALL_SCALES, ids=lambda scale: scale.label)
def test_status_follows_the_margin_of_the_scale(scale: Scale) -> None:
    margin = 0.05 * scale.width
    for raw in range(scale.lower - 20, scale.upper + 21):
        beyond = max(scale.lower - raw, raw - scale.upper, 0)
        expected = "ok" if beyond == 0 else "repaired" if beyond <= margin + 1e-9 else "out_of_range"
        reading = read(f"Answer: B\nConfidence: {raw}", scale)

        assert (reading.status, reading.confidence_raw) == (expected, raw)
        assert ("clipped" in reading.rules) == (expected == "repaired")
