"""Reading RiskEval's free replies: hand-labelled ones, real ones, generated ones and hostile ones."""

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.elicitation.awkward_riskeval_replies import AWKWARD, CITIES, CLEAR, Awkward
from tests.growth import grows_linearly, repeated

from confidence_tasks.elicitation.riskeval_confidence import confidence_statements, read_confidence
from confidence_tasks.elicitation.riskeval_reader import read_risk_reply
from confidence_tasks.trial import STATUSES

# replies labelled by hand


@pytest.mark.parametrize("case", [*CLEAR, *AWKWARD], ids=lambda case: ascii(case.reply[:60]))
def test_reads_what_a_careful_human_reads(case: Awkward) -> None:
    reading = read_risk_reply(case.reply, case.kind, CITIES if case.kind == "choice" else ())
    assert (reading.decision, reading.answer, reading.status) == (case.decision, case.answer, case.status)
    assert reading.confidence == pytest.approx(case.confidence, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("reply", "choices"),
    [
        (
            "My answer is Franklin D. Roosevelt. Confidence: 85%",
            ("Franklin D. Roosevelt", "B", "C", "Barack Obama"),
        ),
        ("It is estimated that 1 in 9.\nConfidence: 85%", ("It is estimated that 1 in 9.", "1 in 9")),
    ],
)
def test_an_option_that_looks_like_more_than_one_sentence_is_read_whole(reply: str, choices) -> None:
    assert read_risk_reply(reply, "choice", choices).answer == "A"


def test_clear_replies_need_no_lenient_rule() -> None:
    assert {case.status for case in CLEAR} == {"ok"}


# any confidence in any of the forms asked for is read back exactly


@given(
    st.integers(0, 100),
    st.sampled_from(["Confidence: {}%", "I am {}% confident.", "confidence level is {} percent"]),
)
def test_percentages_are_read_exactly(percent: int, form: str) -> None:
    reading = read_risk_reply("Answer: B\n" + form.format(percent), "choice", CITIES)
    assert reading.confidence == percent / 100
    assert reading.answer == "B"


@given(st.decimals(0, 1, places=4))
def test_shares_are_read_exactly(share) -> None:
    assert read_risk_reply(f"Confidence: {share}\nAnswer: B", "choice", CITIES).confidence == float(share)


@pytest.mark.parametrize("number", ["1.01", "5", "10", "100.5", "101", "-0.1"])
def test_a_bare_number_whose_scale_is_not_known_is_not_placed(number: str) -> None:
    reading = read_risk_reply(f"Answer: B\nConfidence: {number}", "choice", CITIES)
    assert math.isnan(reading.confidence)
    assert reading.status == "out_of_range"


def test_a_number_with_an_exponent_is_not_read_in_part() -> None:
    assert read_risk_reply("Answer: B\nConfidence: 1e3", "choice", CITIES).status == "missing_confidence"


def test_the_field_of_a_parser_is_read_like_a_label() -> None:
    assert [read_confidence(text).value for text in ("0.8", "80%", "very likely", "0.7-0.9", "8/10")] == [
        0.8, 0.8, 0.875, 0.8, 0.8,
    ]  # fmt: skip


# real replies: three models' answers to other prompts, with the authors' own parse


@pytest.mark.parametrize(
    ("dataset", "kind"),
    [
        ("boolq_valid", "boolean"),
        ("life_eval", "number"),
        ("sciq_test", "choice"),
        ("lsat_ar_test", "choice"),
        ("sat_en", "choice"),
    ],
)
def test_agrees_with_the_authors_parse_of_real_replies(shared_data: Path, dataset: str, kind) -> None:
    with gzip.open(shared_data / "replies" / "calibration_sets_3_models.jsonl.gz", "rt") as lines:
        rows = [row for row in map(json.loads, lines) if row["dataset"] == dataset]
    options = tuple(f"placeholder {letter}" for letter in "ABCDE") if kind == "choice" else ()
    compared = agreed = 0
    for row in rows:
        parsed = _canonical(str(row.get("Answer", "")), kind)
        if not parsed:
            continue
        reading = read_risk_reply(row["content"], kind, options)
        compared += 1
        confidence = float(row["Confidence"]) if row.get("Confidence") and kind != "choice" else math.nan
        agreed += reading.answer == parsed and (
            kind == "choice" or reading.confidence == pytest.approx(confidence, nan_ok=True)
        )
    assert compared > 500
    assert agreed == compared


def _canonical(parsed: str, kind: str) -> str:
    """Bring the authors' parse to this package's form; what is no label of that kind is not compared."""
    if kind == "boolean":
        return {"true": "yes", "false": "no"}.get(parsed.strip().lower(), "")
    if kind == "number":
        return parsed.removesuffix(".0") if parsed.replace(".", "").isdigit() else ""
    return parsed if parsed in {"A", "B", "C", "D", "E"} else ""


# totality and time


@given(st.text(), st.sampled_from(["choice", "number", "text", "boolean"]))
def test_any_text_gives_a_reading(reply: str, kind) -> None:
    reading = read_risk_reply(reply, kind, CITIES if kind == "choice" else ())
    assert reading.status in STATUSES
    assert reading.decision in {"answer", "abstain", ""}
    assert math.isnan(reading.confidence) or 0.0 <= reading.confidence <= 1.0
    assert bool(reading.answer) or reading.decision != "answer"


TELLING = """
ABSTAIN abstain I would will not but Answer: B C. 85% 0.9 confidence Confidence: is high very likely the best guess
if were so therefore ( ) { } " : , - / 10 out of to sorry cannot final_answer <think> </think> ```
"""
WORDS = st.sampled_from([*TELLING.split(), "\n"])


@given(st.lists(WORDS, max_size=60).map(" ".join))
def test_any_salad_of_telling_words_gives_a_reading(reply: str) -> None:
    reading = read_risk_reply(reply, "choice", CITIES)
    assert reading.status in STATUSES
    statements = confidence_statements(reply)
    assert all(0 <= statement.start <= statement.end <= len(reply) for statement in statements)


HOSTILE = {
    "labels": "Confidence: 0.5\n",
    "words": "confidence of ",
    "abstain": "I would abstain but ",
    "braces": '{"answer": ',
    "digits": "9",
    "spaces": " ",
    "brackets": "(",
    "boxes": "\\boxed{",
    "guesses": "if I had to guess ",
    "between": "between 1 and ",
    "needs": "I need at least ",
    "needed": "confidence that is is ",
    "at least": "at least 9% sure ",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_is_linear_in_the_length(unit: str) -> None:
    assert grows_linearly(lambda reply: read_risk_reply(reply, "choice", CITIES), repeated(unit), 10_000)


def test_a_reply_of_ten_million_characters_is_read_at_its_ends() -> None:
    reading = read_risk_reply("word " * 2_000_000 + "\nAnswer: B\nConfidence: 0.9", "choice", CITIES)
    assert (reading.answer, reading.confidence) == ("B", 0.9)
