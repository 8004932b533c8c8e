"""Confidences that replies to other people's prompts state."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.reading.stated import stated_confidence_of


@pytest.mark.parametrize(
    ("reply", "confidence"),
    [
        ("Guess: Lima\nProbability: 0.95", 0.95),
        ("**Confidence:** 70", 0.7),
        ("Answer: C\nConfidence (0-100): 40", 0.4),
        ('{"answer": "C", "confidence": "62"}', 0.62),
        ("Confidence: 17/20", 0.85),
        ("Confidence: 87.5", 0.875),
        ("Confidence: 0", 0.0),
        ("Confidence: 1.0", 1.0),
        ("Confidence: 90\nOn reflection:\nConfidence: 60", 0.6),
        ("<think>\nConfidence: 10\n</think>\nConfidence: 80", 0.8),
    ],
)
def test_a_labelled_number_is_read(reply, confidence):
    assert stated_confidence_of(reply) == pytest.approx(confidence)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "42",
        "The probability of rain is high.",
        "Confidence: 1",
        "Confidence: 101",
        "Confidence: 1.2.3",
        "Confidence: 3/0",
    ],
)
def test_what_is_none_or_could_be_two_things_is_missing(reply):
    assert math.isnan(stated_confidence_of(reply))


@given(st.text(max_size=200))
def test_any_text_gives_a_probability_or_nothing(text):
    value = stated_confidence_of(f"Confidence: {text}")
    assert math.isnan(value) or 0 <= value <= 1
