"""Confidences on a scale: the tables of rules, and what holds for every scale."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.studies.scale_rules import REPORTS

from confidence_tasks.reading.integer_scale import ALL_SCALES, PERCENT, Scale
from confidence_tasks.reading.stated_on_scale import read_on_scale
from confidence_tasks.studies.scales.trials import read_scale_reply

ON_20, ON_100 = Scale(0, 20), Scale(0, 100)


@pytest.mark.parametrize("name", REPORTS)
def test_example_of_each_rule_is_read_by_it(name: str) -> None:
    _, example = REPORTS[name]
    _, rules = read_on_scale(example, ON_20)
    assert name in rules


@given(st.sampled_from(ALL_SCALES), st.integers(-1000, 1000))
def test_integer_is_plain_wherever_it_lies(scale: Scale, raw: int) -> None:
    assert read_on_scale(str(raw), scale) == (float(raw), ())


# fmt: off
DRESSINGS = ["{}%", "about {}", "~{}", "{}.", "**{}**", "[{}]", '"{}"', "{} (high)", "{} - high", "{}% sure", "{}.0",
             "+{}", "{} on a scale of 0 to 100", "{} (0-100)", "{}/100", "{} out of 100", r"\boxed{{{}}}"]
# fmt: on


@pytest.mark.parametrize("dressing", DRESSINGS)
@pytest.mark.parametrize("raw", [2, 15, 50, 100])
def test_dressing_is_taken_off(dressing: str, raw: int) -> None:
    number, rules = read_on_scale(dressing.format(raw), ON_100)
    assert number == raw
    assert rules


@given(st.sampled_from(ALL_SCALES), st.data())
def test_middle_of_a_range(scale: Scale, data: st.DataObject) -> None:
    low = data.draw(st.integers(scale.lower, scale.upper - 1))
    high = data.draw(st.integers(low + 1, scale.upper))
    raw, _ = read_on_scale(f"{low}-{high}", scale)
    if (low, high) == (scale.lower, scale.upper):  # the scale itself, repeated
        assert math.isnan(raw)
    else:
        assert raw == (low + high) / 2


@given(st.sampled_from(ALL_SCALES), st.integers(1, 200), st.integers(0, 200))
def test_number_over_anything_but_the_upper_bound_is_a_share_of_100_only(
    scale: Scale, whole: int, part: int
) -> None:
    raw, _ = read_on_scale(f"{part}/{whole}", scale)
    if whole == scale.upper:
        assert raw == part
    elif scale == PERCENT and part <= whole and (part, whole) != (50, 50):  # 50/50 is even odds
        assert raw == pytest.approx(100 * part / whole)
    else:
        assert math.isnan(raw)


@given(st.sampled_from(ALL_SCALES), st.integers(1, 99))
def test_proportion_is_never_read_as_a_number_on_the_scale(scale: Scale, hundredths: int) -> None:
    for point in ".,":
        assert math.isnan(read_on_scale(f"0{point}{hundredths:02d}", scale)[0])


@pytest.mark.parametrize(
    "value",
    [
        "",
        "High",
        "N/A",
        "?",
        "<integer between 0 and 20>",
        "0-20",
        "0-100",
        "[0, 20]",
        "infinity",
        "nan",
        "not 17",
    ],
)
def test_no_number_is_no_report(value: str) -> None:
    assert math.isnan(read_on_scale(value, ON_20)[0])


@given(st.text(st.characters(), max_size=100), st.sampled_from(ALL_SCALES))
def test_any_text_gives_a_finite_report_or_none(value: str, scale: Scale) -> None:
    raw, _ = read_on_scale(value, scale)
    assert not math.isinf(raw)


@pytest.mark.parametrize(
    "reply",
    [
        "Guess: Lima\nProbability: 0.95",
        "Lima\nProbability: 0.95",
        "Lima\n0.95",
        "Answer: Lima\nProbability: 95%",
        "Answer: Lima\nConfidence: 0.95",
        "Answer: Lima\nConfidence: 19 out of 20",
        "Answer: Lima\nConfidence: 0.95 (about 9 in 10)",
    ],
)
def test_probabilities_are_read_on_the_scale_from_0_to_1(reply: str) -> None:
    """The formats of Tian et al. (2023) and others."""
    reading = read_scale_reply(reply, Scale(0, 1), kind="text")

    assert (reading.answer, reading.confidence_raw) == ("Lima", 0.95)


@pytest.mark.parametrize(
    ("text", "value"), [("9/10", 90.0), ("17 out of 20", 85.0), ("85 (about 9 in 10)", 85.0)]
)
def test_clear_percentages(text: str, value: float) -> None:
    assert read_on_scale(text, PERCENT)[0] == value
