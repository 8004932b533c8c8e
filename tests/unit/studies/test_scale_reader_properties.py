"""Scale replies: what holds for every strict reply, for every text, and however long it is."""

import math
import tracemalloc
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.studies.awkward_scale_replies import CAPITALS

from confidence_tasks.reading.integer_scale import ALL_SCALES, Scale
from confidence_tasks.studies.scales.replies import ELICITATIONS
from confidence_tasks.studies.scales.trials import read_scale_reply
from confidence_tasks.study.trial import LETTERS, Kind, Reading

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


# The strict format


@st.composite
def strict_replies(draw: st.DrawFn) -> tuple[str, Scale, Kind, Reading]:
    """A reply to the letter of the format, and what it says."""
    scale = draw(st.sampled_from(ALL_SCALES))
    raw = draw(st.integers(scale.lower, scale.upper))
    kind: Kind = draw(st.sampled_from(KINDS))
    if kind == "choice":
        index = draw(st.integers(0, 3))
        letter, text = LETTERS[index], CAPITALS[index]
        said = draw(
            st.sampled_from([letter, f"{letter})", f"({letter})", f"{letter}.", f"{letter}) {text}", text])
        )
        answer = letter
    elif kind == "number":
        cents = draw(st.integers(-(10**9), 10**9))
        answer = f"{cents / 100:.2f}".rstrip("0").rstrip(".").replace("-0", "-0")
        answer = "0" if cents == 0 else answer
        said = draw(st.sampled_from([answer, f"{cents / 100:,.2f}"]))
    elif kind == "boolean":
        said = draw(st.sampled_from(["Yes", "No", "True", "False"]))
        answer = {"Yes": "yes", "True": "yes", "No": "no", "False": "no"}[said]
    else:
        said = answer = draw(st.sampled_from(["Marie Curie", "the Nile", "Żółw", "1984", "a hat"]))
    body = f"Answer: {said}\nConfidence: {raw}"
    if kind == "number":
        solution = draw(st.sampled_from(["", "1 + 1 = 2", "a\nb\n\nc 3"]))
        body = f"Solution: {solution}\nFinal {body}"
    return body, scale, kind, Reading(answer, float(raw), "ok")


@given(strict_replies())
def test_strict_reply_reads_ok_with_the_same_values(case) -> None:
    reply, scale, kind, expected = case
    assert read(reply, scale, kind) == expected


@given(strict_replies(), st.sampled_from(["\n\n", "\r\n", " \n", "\n\t"]))
def test_blank_space_between_the_lines_changes_nothing(case, line_end: str) -> None:
    reply, scale, kind, expected = case
    assert read(reply.replace("\n", line_end) + line_end, scale, kind) == expected


def bold_labels(reply: str) -> str:
    for label in ("Final Answer:", "Answer:", "Confidence:", "Solution:"):
        reply = reply.replace(f"\n{label}", f"\n**{label}**")
    return reply if reply.startswith("**") else f"**{reply.replace(':', ':**', 1)}"


VARIANTS = {
    "bold": bold_labels,
    "capitals": lambda reply: reply.replace("Answer:", "ANSWER:").replace("Confidence:", "CONFIDENCE:"),
    "space before the colon": lambda reply: reply.replace("Confidence:", "Confidence :"),
    "prose before": lambda reply: f"Certainly, with pleasure. Here you are.\n\n{reply}",
    "prose after": lambda reply: f"{reply}\n\nIs there anything else that you need?",
    "thought before": lambda reply: f"<think>\nHm. Answer: C\nConfidence: 1\n</think>\n{reply}",
    "fenced": lambda reply: f"```\n{reply}\n```",
    "bullets": lambda reply: (
        "- " + reply.replace("\nConfidence", "\n- Confidence").replace("\nFinal", "\n- Final")
    ),
    "token after": lambda reply: f"{reply}<|im_end|>",
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
@given(case=strict_replies())
def test_dressing_changes_the_status_and_nothing_else(variant, case) -> None:
    reply, scale, kind, expected = case
    reading = read(variant(reply), scale, kind)

    assert same_values(reading, expected)
    assert reading.status == "repaired"
    assert reading.rules


@given(strict_replies())
def test_order_of_the_two_lines_changes_the_status_and_nothing_else(case) -> None:
    reply, scale, kind, expected = case
    *before, answer, confidence = reply.split("\n")
    reading = read("\n".join([*before, confidence, answer]), scale, kind)

    assert same_values(reading, expected)
    assert reading.status == "repaired"
    assert "order" in reading.rules


@given(strict_replies(), st.sampled_from("٠०০０𝟎𝟬๐᠐"))
def test_digits_of_any_script_are_digits(case, zero: str) -> None:
    reply, scale, kind, expected = case
    assert unicodedata.decimal(zero) == 0
    *before, confidence = reply.split("\n")
    foreign = confidence.translate({ord("0") + digit: chr(ord(zero) + digit) for digit in range(10)})
    reading = read("\n".join([*before, foreign]), scale, kind)

    assert same_values(reading, expected)
    assert reading.status == "repaired"


# Any text at all

FRAGMENTS = [
    "Answer", "Final Answer", "Confidence", "Solution", ":", "=", "\n", " ", "B", "(B)", "London", "Paris", "17", "/20",
    "%", "-", "**", "\\boxed{", "}", "{", '"', "'", ",", ".", "<think>", "</think>", "<your answer>", "|", "is", "or",
    "the answer is", "I am", "sure", "ninety", "1e9", "9" * 400, "½", "١", "not", "I cannot answer", "```", "#", "<b>",
    "</b>", "<|im_end|>", "Question:", "$", "\\frac{1}{0}", "1/0", "10^99999", "\x00", "\ud800", "\u202e", "ﷺ", "🅱",
]  # fmt: skip
anything = st.one_of(
    st.text(st.characters(), max_size=300),
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(" ".join),
)


@given(anything, st.sampled_from(ALL_SCALES), st.sampled_from(KINDS), st.sampled_from(ELICITATIONS))
@settings(max_examples=400)
@example("Answer: B\nConfidence: " + "9" * 100_000, ON_20, "choice", "verbal")
@example("Solution: \nFinal Answer: 1e999999999\nConfidence: 5", ON_20, "number", "verbal")
def test_any_text_gives_a_reading_that_agrees_with_its_status(text, scale, kind, elicitation) -> None:
    choices = CAPITALS if kind == "choice" else ()
    reading = read_scale_reply(text, scale, kind=kind, choices=choices, elicitation=elicitation)
    stated = not math.isnan(reading.confidence_raw)

    assert math.isfinite(reading.confidence_raw) or not stated
    assert kind != "choice" or reading.answer in ("", *"ABCD")
    assert kind != "boolean" or reading.answer in ("", "yes", "no")
    match reading.status:
        case "ok":
            assert reading.answer
            assert scale.lower <= reading.confidence_raw <= scale.upper
            assert reading.rules == ()
        case "repaired":
            assert reading.answer
            assert not scale.violates(reading.confidence_raw)
            assert reading.rules
        case "out_of_range":
            assert reading.answer
            assert scale.violates(reading.confidence_raw)
        case "missing_confidence":
            assert reading.answer
            assert not stated
        case "missing_answer":
            assert not reading.answer
            assert stated
        case "unreadable":
            assert not reading.answer
            assert not stated
        case "refused":
            assert not reading.answer


# Time and memory


def test_reply_of_a_megabyte_is_read_at_its_ends_in_little_memory() -> None:
    filler = "Let us think about that. " * 40_000
    assert len(filler) == 1_000_000
    tracemalloc.start()
    first = read(f"Answer: B\nConfidence: 17\n{filler}")
    last = read(f"{filler}\nAnswer: B\nConfidence: 17")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (first.answer, first.confidence_raw) == (last.answer, last.confidence_raw) == ("B", 17)
    assert peak < 32_000_000


def test_a_long_thought_does_not_hide_the_answer() -> None:
    reading = read(f"<think>{'hm ' * 400_000}</think>\nAnswer: B\nConfidence: 17")

    assert reading == Reading("B", 17.0, "repaired", ("thought",))
