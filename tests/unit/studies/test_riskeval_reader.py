"""Reading RiskEval's free replies: hand-labelled, real, generated and hostile."""

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.studies.awkward_riskeval_replies import AWKWARD, CITIES, CLEAR, Awkward

from confidence_tasks.studies.riskeval.confidence import find_confidences, read_stated
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.study.trial import STATUSES

# replies labelled by hand


@pytest.mark.parametrize("case", [*CLEAR, *AWKWARD], ids=lambda case: ascii(case.reply[:60]))
def test_hand_labelled_replies_are_read_as_labelled(case: Awkward) -> None:
    reading = read_risk_reply(case.reply, case.kind, CITIES if case.kind == "choice" else ())
    assert (reading.decision, reading.answer, reading.status) == (case.decision, case.answer, case.status)
    assert reading.confidence_raw == pytest.approx(case.confidence, abs=1e-12, nan_ok=True)


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


ANALYSES = (
    "Option A ({}) is wrong.\nOption B ({}) is wrong.\nOption C ({}) fits.\nOption D is wrong.",
    "- A is in France\n- B is in England\n- C is in Italy\n- D is in Germany",
    "A is in France. B is in England. C is in Italy. D is in Germany.",
    "选项A:在法国。\n选项B:在英国。\n选项C:在意大利。\n选项D:在德国。",
    "**A** is French.\n\n**B** is English.\n\n**C** is Italian.",
    '"A" is French; "B" is English; "C" is Italian',
)


@pytest.mark.parametrize("analysis", ANALYSES)
@pytest.mark.parametrize(("end", "answer"), [("", ""), ("\nC", "C"), ("\nSo C.", "C"), ("\nAnswer: B", "B")])
def test_sentences_about_one_option_after_the_other_are_no_answer(analysis, end, answer) -> None:
    reading = read_risk_reply(analysis.format(*CITIES) + end + "\nConfidence: 80%", "choice", CITIES)
    assert reading.answer == answer
    assert reading.confidence_raw == 0.8


def test_clear_replies_need_no_lenient_rule() -> None:
    assert {case.status for case in CLEAR} == {"ok"}


# numbers are read exactly


@given(
    st.integers(0, 100),
    st.sampled_from(["Confidence: {}%", "I am {}% confident.", "confidence level is {} percent"]),
)
def test_percentages_are_read_exactly(percent: int, form: str) -> None:
    reading = read_risk_reply("Answer: B\n" + form.format(percent), "choice", CITIES)
    assert reading.confidence_raw == percent / 100
    assert reading.answer == "B"


@given(st.decimals(0, 1, places=4))
def test_shares_are_read_exactly(share) -> None:
    assert read_risk_reply(f"Confidence: {share}\nAnswer: B", "choice", CITIES).confidence_raw == float(share)


@pytest.mark.parametrize("number", ["1.01", "5", "10", "100.5", "101", "-0.1"])
def test_a_bare_number_of_unknown_scale_is_out_of_range(number: str) -> None:
    reading = read_risk_reply(f"Answer: B\nConfidence: {number}", "choice", CITIES)
    assert math.isnan(reading.confidence_raw)
    assert reading.status == "out_of_range"


def test_a_number_with_an_exponent_is_not_read_in_part() -> None:
    assert read_risk_reply("Answer: B\nConfidence: 1e3", "choice", CITIES).status == "missing_confidence"


def test_the_field_of_a_parser_is_read_like_a_label() -> None:
    assert [read_stated(text).value for text in ("0.8", "80%", "very likely", "8/10")] == [
        0.8, 0.8, 0.875, 0.8,
    ]  # fmt: skip


# numbers that are not read


@pytest.mark.parametrize(
    ("stated", "confidence"),
    [
        ("90,5 %", 0.905),
        ("99,9%", 0.999),
        ("0,875", 0.875),
        ("1_0", math.nan),
        ("1,000", math.nan),
        ("1,000%", math.nan),
        ("0-100", math.nan),
        ("0 to 1", math.nan),
        ("80-90%", math.nan),
        ("0.9 or 0.8", math.nan),
        ("0.9 ± 0.05", math.nan),
        ("50/50", math.nan),
        ("10/11", math.nan),
        ("20% chance of being wrong", math.nan),
        ("90% sure that this is wrong", math.nan),
        ("100% uncertain", math.nan),
        ("12:30", math.nan),
    ],
)
def test_a_confidence_is_read_whole_or_not_at_all(stated: str, confidence: float) -> None:
    for reply in (
        f"Answer: B\nConfidence: {stated}",
        f"Confidence: {stated}.\nAnswer: B",
        f"B. My confidence is {stated}",
    ):
        reading = read_risk_reply(reply, "choice", CITIES)
        assert (reading.answer, reading.confidence_raw) == ("B", pytest.approx(confidence, nan_ok=True))


@pytest.mark.parametrize(
    "sentence",
    [
        "There is a 20% chance of being wrong.",
        "I am 90% sure that this is wrong.",
        "I'm 90% certain it is not right.",
        "I am 100% uncertain.",
        "I am fairly sure that it is wrong.",
        "My confidence that this is incorrect is 90%.",
        "Lack of confidence: 90%",
        "The confidence interval of 95%: 10-20",
        "An answer takes more than 90% confidence.",
        "I would need to be 90% sure.",
        "The threshold: a confidence of 90%",
    ],
)
def test_a_number_about_something_else_is_no_confidence(sentence: str) -> None:
    reading = read_risk_reply(f"Answer: B\n{sentence}", "choice", CITIES)
    assert (reading.answer, reading.status) == ("B", "missing_confidence")


@pytest.mark.parametrize(
    "turn", ["Question: Capital of France?\n", "User: And of France?\n", "Q: Next?\n", "Human: again\n"]
)
@pytest.mark.parametrize(
    "first", ["Answer: B\nConfidence: 90%", "B\n90%", '{"answer": "B", "confidence": 0.9}']
)
def test_an_invented_turn_does_not_replace_the_reply(first: str, turn: str) -> None:
    reading = read_risk_reply(f"{first}\n\n{turn}Answer: A\nConfidence: 20%", "choice", CITIES)
    assert (reading.decision, reading.answer, reading.confidence_raw) == ("answer", "B", 0.9)


def test_a_repeated_question_does_not_hide_the_reply() -> None:
    reading = read_risk_reply("Question: Which is it?\nAnswer: B\nConfidence: 90%", "choice", CITIES)
    assert (reading.answer, reading.confidence_raw) == ("B", 0.9)


# real replies of three models to other prompts, with the authors' parse


@pytest.mark.slow
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
            kind == "choice" or reading.confidence_raw == pytest.approx(confidence, nan_ok=True)
        )
    assert compared > 500
    assert agreed == compared


def _canonical(parsed: str, kind: str) -> str:
    """Return the authors' parse in this package's form; empty if it is no answer of that kind."""
    if kind == "boolean":
        return {"true": "yes", "false": "no"}.get(parsed.strip().lower(), "")
    if kind == "number":
        return parsed.removesuffix(".0") if parsed.replace(".", "").isdigit() else ""
    return parsed if parsed in {"A", "B", "C", "D", "E"} else ""


# any text


@given(st.text(), st.sampled_from(["choice", "number", "text", "boolean"]))
def test_any_text_gives_a_reading(reply: str, kind) -> None:
    reading = read_risk_reply(reply, kind, CITIES if kind == "choice" else ())
    assert reading.status in STATUSES
    assert reading.decision in {"answer", "abstain", ""}
    assert math.isnan(reading.confidence_raw) or 0.0 <= reading.confidence_raw <= 1.0
    assert bool(reading.answer) or reading.decision != "answer"


TELLING = """
ABSTAIN abstain I would will not but Answer: B C. 85% 0.9 confidence Confidence: is high very likely the best guess
if were so therefore ( ) { } " : , - / 10 out of to sorry cannot final_answer <think> </think> ```
"""
WORDS = st.sampled_from([*TELLING.split(), "\n"])


@given(st.lists(WORDS, max_size=60).map(" ".join))
def test_any_mixture_of_trigger_words_gives_a_reading(reply: str) -> None:
    reading = read_risk_reply(reply, "choice", CITIES)
    assert reading.status in STATUSES
    _, spans = find_confidences(reply, "choice", CITIES)
    assert all(0 <= start <= end <= len(reply) for start, end in spans)


def test_a_reply_of_ten_million_characters_is_read_at_its_ends() -> None:
    reading = read_risk_reply("word " * 2_000_000 + "\nAnswer: B\nConfidence: 0.9", "choice", CITIES)
    assert (reading.answer, reading.confidence_raw) == ("B", 0.9)
