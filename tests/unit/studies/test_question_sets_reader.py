"""The readers of LifeEval and the question sets on malformed replies: statuses and missing values."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confidence_tasks.reading.fields import read_probability
from confidence_tasks.studies.lifeeval.question_sets.reader import (
    read_boolean_reply,
    read_judgement,
    read_options_reply,
)
from confidence_tasks.studies.lifeeval.reader import read_lifeeval_reply
from confidence_tasks.study.trial import READABLE, STATUSES

NAN = math.nan
CHOICES = ("London", "Paris", "Rome", "Bonn")


def same(value, expected):
    return value == expected or (math.isnan(value) and math.isnan(expected))


# Probabilities --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.85", 0.85),
        (".85", 0.85),
        ("85%", 0.85),
        ("85 percent", 0.85),
        ("about 0.85", NAN),
        ("20% chance of being wrong", NAN),
        ("90% sure that this is wrong", NAN),
        ("100% uncertain", NAN),
        ("0-100", NAN),
        ("1_0", NAN),
        ("90,5 %", 0.905),
        ("99,9%", 0.999),
        ("1,000", 1000.0),
        ("0,85", 0.85),
        ("1e-3", 0.001),
        ("1", 1.0),
        ("0", 0.0),
        ("-0.1", -0.1),
        ("1.2", 1.2),
        ("85", 85.0),
        ("120%", 1.2),
        ("high", NAN),
        ("", NAN),
        ("NaN", NAN),
        ("0.7-0.8", NAN),
        ("between 0.7 and 0.8", NAN),
        ("zero point eight five", NAN),
        ("one half", NAN),
        ("ninety-nine point five percent", NAN),
        ("fifty-fifty", NAN),
        ("seventy to eighty percent", NAN),
        ("one in three", NAN),
        ("<Probability that your answer is correct. As a float from 0.0 to 1.0>", NAN),
    ],
)
def test_probabilities(text, expected):
    assert same(read_probability(text)[0], expected)


# LifeEval -------------------------------------------------------------------------------------------------------

LIFEEVAL = [
    # answer, confidence, answer read, confidence read, status
    ("84", "0.7", "84", 0.7, "ok"),
    ('"84"', '"0.7"', "84", 0.7, "ok"),
    ("84.0", "0.7", "84", 0.7, "ok"),
    ("0", "1.0", "0", 1.0, "ok"),
    ("126", "0.0", "126", 0.0, "ok"),
    ("250", "0.7", "250", 0.7, "out_of_range"),
    ("-3", "0.7", "-3", 0.7, "out_of_range"),
    ("9" * 50, "0.7", "9" * 50, 0.7, "out_of_range"),
    ("9" * 5000, "0.7", "", 0.7, "missing_answer"),
    ('"80-85"', "0.7", "", 0.7, "missing_answer"),
    ('"80 to 85"', "0.7", "", 0.7, "missing_answer"),
    ('"eighty"', "0.7", "80", 0.7, "repaired"),
    ('"about 80"', "0.7", "80", 0.7, "repaired"),
    ('"84 years"', "0.7", "84", 0.7, "repaired"),
    ("78.5", "0.7", "78", 0.7, "repaired"),
    ('"85%"', "0.7", "", 0.7, "missing_answer"),
    ('""', "0.7", "", 0.7, "missing_answer"),
    ("null", "0.7", "", 0.7, "missing_answer"),
    ("[84]", "0.7", "", 0.7, "missing_answer"),
    ('"I cannot say"', "0.7", "", 0.7, "refused"),
    (
        '"<An integer value representing the age you believe the person will die at>"',
        "0.7",
        "",
        0.7,
        "missing_answer",
    ),
    ("84", '"85%"', "84", 0.85, "repaired"),
    ("84", '"0.7 (fairly sure)"', "84", 0.7, "repaired"),
    ("84", "1.2", "84", 1.2, "out_of_range"),
    ("84", "-0.1", "84", -0.1, "out_of_range"),
    ("84", "85", "84", 85.0, "out_of_range"),
    ("84", "0,85", "84", 0.85, "repaired"),
    ("84", '"0,875"', "84", 0.875, "repaired"),
    ("84", '"50/50"', "84", NAN, "missing_confidence"),
    ("84", '"high"', "84", NAN, "missing_confidence"),
    ("84", '"0.6-0.8"', "84", NAN, "missing_confidence"),
    ("84", "null", "84", NAN, "missing_confidence"),
    ("84", "NaN", "84", NAN, "missing_confidence"),
    ("null", "null", "", NAN, "unreadable"),
]


@pytest.mark.parametrize(("answer", "confidence", "read", "value", "status"), LIFEEVAL)
def test_lifeeval(answer, confidence, read, value, status):
    reading = read_lifeeval_reply(f'{{"Reasoning": "...", "Answer": {answer}, "Confidence": {confidence}}}')
    assert (reading.answer, reading.status) == (read, status)
    assert same(reading.confidence_raw, value)


WHOLE = '{\n    "Reasoning": "so",\n    "Answer": 84,\n    "Confidence": 0.7\n}'
WRAPPED = {
    "fence": f"```json\n{WHOLE}\n```",
    "comment": WHOLE.replace("84,", "84, // years"),
    "twice the same": f"{WHOLE}\n\n{WHOLE}",
    "single quotes": WHOLE.replace('"', "'"),
    "prompt repeated": f'Response:\n{{"Answer": "<An integer>", "Confidence": "<A float>"}}\n\n{WHOLE}',
    "prompt repeated afterwards": f'{WHOLE}\n\n{{"Answer": "<An integer>", "Confidence": "<A float>"}}',
    "no closing brace": WHOLE.replace("\n}", "\n"),
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_json_in_other_shapes_is_repaired(text):
    reading = read_lifeeval_reply(text)
    assert (reading.answer, reading.confidence_raw, reading.status) == ("84", 0.7, "repaired")
    assert reading.rules


@pytest.mark.parametrize(
    "between", ["\nOn reflection:\n", "\nFor example:\n", "\n\nQuestion: And now?\nAnswer: "]
)
def test_contradictory_objects_give_no_value(between):
    reading = read_lifeeval_reply(WHOLE + between + WHOLE.replace("84", "80"))
    assert (reading.answer, reading.confidence_raw, reading.status) == ("", 0.7, "missing_answer")


@pytest.mark.parametrize("cut", range(len(WHOLE)))
def test_a_truncated_reply_never_gives_a_wrong_number(cut):
    reading = read_lifeeval_reply(WHOLE[:cut])
    assert reading.answer in {"", "84"}
    assert math.isnan(reading.confidence_raw) or reading.confidence_raw == 0.7
    assert (reading.status in READABLE) == (bool(reading.answer) and not math.isnan(reading.confidence_raw))


# BoolQ ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "read", "status"),
    [
        ('"True"', "yes", "ok"),
        ('"False"', "no", "ok"),
        ("true", "yes", "ok"),
        ("false", "no", "ok"),
        ("False", "no", "repaired"),
        ('"TRUE"', "yes", "repaired"),
        ('"True, but only once"', "yes", "repaired"),
        ('"False (no such thing)"', "no", "repaired"),
        ('"False for rain, but True for snow"', "", "missing_answer"),
        ('"Yes and no"', "", "missing_answer"),
        ('"It depends"', "", "missing_answer"),
        ('"Unknown (no announcement yet)"', "", "refused"),
        ('"I don\'t know"', "", "refused"),
        ('"<True or False>"', "", "missing_answer"),
        ("1", "", "missing_answer"),
    ],
)
def test_boolq(answer, read, status):
    reading = read_boolean_reply(f'{{"Reasoning": "...", "Answer": {answer}, "Confidence": 0.7}}')
    assert (reading.answer, reading.confidence_raw, reading.status) == (read, 0.7, status)


# Options --------------------------------------------------------------------------------------------------------

OPTIONS = [
    # answer, probabilities, answer read, confidence read, favourites, status
    ('"B"', "0.1 0.7 0.1 0.1", "B", 0.7, "B", "ok"),
    ('"B"', '"0.1" "0.7" "0.1" "0.1"', "B", 0.7, "B", "ok"),
    ('"B"', "0.33 0.33 0.33 0", "B", 1 / 3, "ABC", "ok"),
    ('"B"', "0.2 1.4 0.2 0.2", "B", NAN, "", "out_of_range"),
    ('"B"', "-0.1 0.9 0.1 0.1", "B", NAN, "", "out_of_range"),
    ('"B"', "10 70 10 10", "B", NAN, "", "out_of_range"),
    ('"B"', '"10%" "70%" "10%" "10%"', "B", 0.7, "B", "repaired"),
    ('"B"', "0.2 0.8 0.4 0.2", "B", 0.5, "B", "repaired"),
    ('"B"', "0.0 0.0 0.0 0.0", "B", NAN, "", "unreadable"),
    ('"B"', "0.1 0.7 0.1", "B", NAN, "", "missing_confidence"),
    ('"B"', '"low" "high" "low" "low"', "B", NAN, "", "missing_confidence"),
    ('"B"', "null null null null", "B", NAN, "", "missing_confidence"),
    ('"B"', "0.7 0.1 0.1 0.1", "B", 0.7, "A", "ok"),
    ('"Paris"', "0.1 0.7 0.1 0.1", "B", 0.7, "B", "ok"),
    ('"b"', "0.1 0.7 0.1 0.1", "B", 0.7, "B", "repaired"),
    ('"B or C"', "0.1 0.4 0.4 0.1", "", 0.4, "BC", "missing_answer"),
    ('"E"', "0.25 0.25 0.25 0.25", "", 0.25, "ABCD", "missing_answer"),
    ('"None"', "0.0 0.0 0.0 0.0", "", NAN, "", "unreadable"),
    ('""', "0.25 0.25 0.25 0.25", "", 0.25, "ABCD", "missing_answer"),
    ("null", "0.1 0.7 0.1 0.1", "B", 0.7, "B", "repaired"),
    ("null", "0.4 0.4 0.1 0.1", "", 0.4, "AB", "missing_answer"),
    ("null", "null null null null", "", NAN, "", "unreadable"),
]


@pytest.mark.parametrize(("answer", "stated", "read", "value", "favourites", "status"), OPTIONS)
def test_options(answer, stated, read, value, favourites, status):
    fields = ", ".join(f'"{letter}": {p}' for letter, p in zip("ABCD", stated.split(), strict=False))
    reading = read_options_reply(f'{{"Reasoning": "...", "Answer": {answer}, {fields}}}', CHOICES)
    assert (reading.answer, "".join(reading.favourites), reading.status) == (read, favourites, status)
    assert reading.confidence_raw == pytest.approx(value, nan_ok=True)


def test_probabilities_are_divided_by_their_sum():
    reading = read_options_reply('{"Answer": "B", "A": 0.2, "B": 0.9, "C": 0.3, "D": 0.6}', CHOICES)
    assert reading.stated == (0.2, 0.9, 0.3, 0.6)
    assert reading.probabilities == pytest.approx((0.1, 0.45, 0.15, 0.3))
    assert reading.rules == ("normalised",)


# HaluEval -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "answer", "value", "status"),
    [
        ('{"Confidence": 0.9}', "Rome", 0.9, "ok"),
        ('0.9"\n}', "Rome", 0.9, "ok"),
        ("0.9", "Rome", 0.9, "ok"),
        ('90%"}', "Rome", 0.9, "repaired"),
        ("0.9}", "Rome", 0.9, "ok"),
        ('0.9"\n}\n', "Rome", 0.9, "ok"),
        ('0.9"\n}\n\nExplanation: foo', "Rome", 0.9, "repaired"),
        ('0.9"\n}\n```', "Rome", 0.9, "repaired"),
        ('<think>0.2?</think>0.9"\n}', "Rome", 0.9, "repaired"),
        ('"0.9"\n}', "Rome", 0.9, "repaired"),
        ('"0.9"', "Rome", 0.9, "repaired"),
        ('0.9"\n\nExplanation: foo', "Rome", 0.9, "repaired"),
        ('0.9", "Answer": "Bonn"}', "Bonn", 0.9, "repaired"),
        ('0.9"\n}\n\nNo:\n{"Confidence": 0.5}', "Rome", NAN, "unreadable"),
        ('1.2"\n}\n```', "Rome", 1.2, "out_of_range"),
        ("0.9 of them, or 0.8", "Rome", NAN, "unreadable"),
        ('0.9"\n}\n0.8"\n}', "Rome", NAN, "unreadable"),
        ('{"Answer": "ROME.", "Confidence": 0.9}', "Rome", 0.9, "ok"),
        ('{"Answer": "Bonn", "Confidence": 0.9}', "Bonn", 0.9, "repaired"),
        ('{"Confidence": 1.2}', "Rome", 1.2, "out_of_range"),
        ('1.2"}', "Rome", 1.2, "out_of_range"),
        ('{"Confidence": "high"}', "Rome", NAN, "missing_confidence"),
        ('{"Answer": "Rome"}', "Rome", NAN, "missing_confidence"),
        ("I cannot help with that.", "Rome", NAN, "refused"),
        ("", "Rome", NAN, "unreadable"),
        ("0.9 0.8", "Rome", NAN, "unreadable"),
    ],
)
def test_halueval(text, answer, value, status):
    reading = read_judgement(text, "Rome")
    assert (reading.answer, reading.status) == (answer, status)
    assert same(reading.confidence_raw, value)


# Any text -------------------------------------------------------------------------------------------------------

READERS = {
    "lifeeval": read_lifeeval_reply,
    "boolq": read_boolean_reply,
    "options": lambda text: read_options_reply(text, CHOICES),
    "halueval": lambda text: read_judgement(text, "Rome"),
}
pieces = st.sampled_from(
    [
        '{"Answer": ',
        '"Confidence": ',
        '"A": ',
        "}",
        ", ",
        "84",
        "0.7",
        "85%",
        '"True"',
        "nan",
        "1e999",
        "\n",
        '"',
        "-",
        "é",
    ]
)
texts = st.lists(pieces, max_size=30).map("".join) | st.text(max_size=200)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@settings(max_examples=150)
@given(text=texts)
def test_any_text_gives_a_reading(reader, text):
    reading = reader(text)
    assert reading.status in STATUSES
    if reading.status in READABLE:
        assert 0.0 <= reading.confidence_raw <= 1.0
    assert (reading.status == "ok") <= (reading.rules == ())


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "text", ["I'm sorry, but I cannot help with that.", "As an AI language model, I do not know."]
)
def test_a_refusal_has_its_own_status(reader, text):
    assert reader(text).status == "refused"


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_truncated_reasoning_is_no_refusal(reader):
    assert reader('{"Reasoning": "I cannot answer this without more context, so').status == "unreadable"
