"""The public reader of stated confidence, on anybody's replies."""

import gzip
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.local_data import local_data

from confidence_tasks import read_confidence
from confidence_tasks.reading.confidence import PRESETS
from confidence_tasks.reading.confidence_scale import NAMED, parse_scale


@pytest.mark.parametrize(
    ("reply", "value", "unit", "rule", "answer"),
    [
        ("Guess: Lima\nProbability: 0.95", 0.95, "probability", "label", "Lima"),
        ("Lima\nProbability: 0.95", 0.95, "probability", "label", "Lima"),
        ("Lima\n0.95", 0.95, "probability", "last_line", "Lima"),
        ("Answer: Lima\nProbability: 95%", 0.95, "percent", "label", "Lima"),
        ("Answer: Lima\nConfidence: 0.95", 0.95, "probability", "label", "Lima"),
        ("Lima\n95%", 0.95, "percent", "last_line", "Lima"),
        ("Answer and Confidence (0-100): B, 85%", 0.85, "percent", "label", "B"),
        ("Explanation: a\nAnswer: Lima\nConfidence: 85%", 0.85, "percent", "label", "Lima"),
        ('{"answer": "C", "confidence": "62"}', 0.62, "percent", "label", "C"),
        ("<answer>Lima</answer><confidence>85</confidence>", 0.85, "percent", "label", "Lima</answer>"),
        ("Lima (confidence: 0.7)", 0.7, "probability", "label", "Lima"),
        ("**Confidence:** 17/20", 0.85, "share", "label", ""),
        ("Confidence: 9 out of 10", 0.9, "share", "label", ""),
        ("Confidence: 0,85", 0.85, "probability", "label", ""),
        ("Confidence: ８５％", 0.85, "percent", "label", ""),
        ("Confidence: about 80-90%", 0.85, "percent", "label", ""),
        ("Confidence: $0.9$", 0.9, "probability", "label", ""),
        ("Confidence: Highly likely", 0.9, "words", "label", ""),
        ("Probability: 0.95 that it is Lima", 0.95, "probability", "label", ""),
        ("Answer: x\nConfidence:\n85", 0.85, "percent", "label", "x"),
        ("My confidence is 90%.", 0.9, "percent", "label", ""),
        ("I am 85% confident that it is Lima.", 0.85, "percent", "sentence", ""),
        ("Confidence: 30\nAfter all:\nConfidence: 60", 0.6, "percent", "label", ""),
        ("<think>\nConfidence: 10\n</think>\nConfidence: 80", 0.8, "percent", "label", ""),
        ("0.85", 0.85, "probability", "alone", ""),
    ],
)
def test_usual_formats_are_read_without_any_setting(reply, value, unit, rule, answer) -> None:
    reading = read_confidence(reply)

    assert reading.value == pytest.approx(value)
    assert (reading.unit, reading.rule, reading.reason) == (unit, rule, "")
    if answer != "Lima</answer>":
        assert reading.answer == answer


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Confidence: 1", "a bare 1, which is certainty or one percent"),
        ("Confidence: 150", "out of range"),
        ("Confidence: -5", "out of range"),
        ("Confidence: 17/0", "out of range"),
        ("Confidence: high", "no number"),
        ("Confidence: 3 sources", "no number"),
        ("The probability is 1/6", "no confidence was found"),
        ("The answer is 42", "no confidence was found"),
        ("42", "no confidence was found"),
        ("Uncertainty score: 10", "no confidence was found"),
        ("", "no confidence was found"),
    ],
)
def test_what_could_be_two_things_or_nothing_is_missing_with_the_reason(reply, reason) -> None:
    reading = read_confidence(reply)

    assert math.isnan(reading.value)
    assert (reading.rule, reading.reason) == ("", reason)


@pytest.mark.parametrize(
    ("reply", "settings", "value"),
    [
        ("G1: Lima\nP1: 0.8\nG2: Cusco\nP2: 0.2", {"preset": "tian"}, 0.8),
        ("Guess: Lima\nProbability: 1", {"preset": "tian"}, 1.0),
        ("Guess: Lima\nConfidence: almost certain", {"preset": "tian-words"}, 0.95),
        ("Answer and Confidence (0-100): (Y), 85%", {"preset": "xiong"}, 0.85),
        ("Answer: Lima\nConfidence: 85", {"preset": "hle"}, 0.85),
        ("Confidence: 1", {"preset": "percent"}, 0.01),
        ("Confidence: 4", {"preset": "likert-5"}, 0.75),
        ("Confidence: very confident", {"preset": "likert-5"}, 0.75),
        ("Confidence: Very high", {"preset": "levels"}, 1.0),
        ("Grade: B", {"preset": "letters"}, 0.75),
        ('{"answer": 4, "sure": 0.8}', {"preset": "json:sure"}, 0.8),
        ('Sure: {"a": {"p": "70%"}}', {"key": "p"}, 0.7),
        ("Uncertainty score: 10", {"direction": "uncertainty", "scale": "0-100"}, 0.9),
        ("Confidence: 3.5", {"scale": "1-6"}, 0.5),
        ("Confidence: 0.75", {"scale": "0.5-1"}, 0.5),
        ("Confidence: 8", {"scale": "10-0"}, 0.2),
        ("certitude = .4", {"labels": ["certitude"]}, 0.4),
        ("p<0.7>", {"pattern": r"p<([\d.]+)>"}, 0.7),
        ("5", {"scale": "0-10"}, 0.5),
    ],
)
def test_presets_scales_labels_keys_and_patterns(reply, settings, value) -> None:
    assert read_confidence(reply, **settings).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("reply", "scale", "reason"),
    [
        ("Confidence: 95", "0-1", "out of range"),
        ("Confidence: 0.95", "0-100", "a fraction on a scale of percentages"),
        ("Confidence: 80%", "1-5", "a percentage on the scale 1-5"),
        ("Confidence: 8/10", "1-5", "out of 10 on the scale 1-5"),
        ("Confidence: 8", "words", "a number, where words are expected"),
    ],
)
def test_a_number_of_another_scale_is_missing(reply, scale, reason) -> None:
    assert read_confidence(reply, scale=scale).reason == reason


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preset": "tain"}, "did you mean 'tian'"),
        ({"scale": "high-low"}, "cannot be read: write two numbers"),
        ({"scale": "5-5"}, "cannot be read"),
        ({"direction": "down"}, "confidence or uncertainty"),
        ({"pattern": "("}, "no regular expression"),
    ],
)
def test_a_setting_that_cannot_be_read_is_refused_with_the_fix(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        read_confidence("Confidence: 5", **settings)


@given(
    st.one_of(
        st.text(max_size=300),
        st.builds(
            "{}{}{} {}".format,
            st.sampled_from(["Confidence", "Probability", "Guess", '{"confidence"', "<confidence"]),
            st.sampled_from([":", "=", ">", " is ", "\n"]),
            st.text(alphabet="0123456789.,%/-+eE of ", max_size=40),
            st.text(max_size=20),
        ),
    ),
    st.sampled_from([*PRESETS, "json:confidence"]),
    st.sampled_from(["confidence", "uncertainty"]),
)
def test_any_reply_gives_a_probability_or_a_reason(reply, preset, direction) -> None:
    reading = read_confidence(reply, preset, direction=direction)

    assert 0.0 <= reading.value <= 1.0 or math.isnan(reading.value)
    assert math.isnan(reading.value) == bool(reading.reason) == (not reading.rule)


@given(st.integers(0, 100), st.sampled_from(["{}%", "{} %", "{}/100", "about {}%", "**{}%**", "{} percent"]))
def test_a_percentage_is_read_in_any_writing(percent, form) -> None:
    assert read_confidence(f"Confidence: {form.format(percent)}").value == pytest.approx(percent / 100)


@given(st.floats(0, 1).map(lambda p: round(p, 4)), st.integers(1, 9), st.integers(1, 90))
def test_any_numeric_scale_is_linear(share, low, width) -> None:
    written = low + share * width
    value = read_confidence(f"Confidence: {written:.6f}", scale=f"{low}-{low + width}").value
    assert value == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize("bad", [None, math.nan, 3])
def test_a_missing_reply_is_no_error(bad) -> None:
    assert read_confidence(bad).reason == "no confidence was found"


def test_named_scales_read_their_own_words() -> None:
    for name, scale in NAMED.items():
        for word, value in scale.words.items():
            assert parse_scale(name).read(f"{word.title()}.").value == value


def test_long_replies_take_linear_time() -> None:
    for text in ("Confidence: " * 100_000, "9" * 500_000, "{" * 50_000, "answer and " * 50_000):
        read_confidence(text)


@pytest.mark.skipif(local_data() is None, reason="the real replies are not here")
def test_real_replies_are_read_as_their_authors_read_them() -> None:
    folder = local_data()
    assert folder is not None
    n_stated = 0
    with gzip.open(folder / "replies" / "calibration_sets_3_models.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            try:
                stated = float(row["Confidence"])
            except (KeyError, TypeError, ValueError):
                continue
            if 0.0 <= stated <= 1.0:
                n_stated += 1
                assert read_confidence(row["content"]).value == pytest.approx(stated)
    assert n_stated == 2671
