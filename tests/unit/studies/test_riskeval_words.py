"""Confidence in words: the published scales, and the order of expressions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.studies.riskeval.confidence import EXPRESSIONS, TABLE, verbal_confidence

# The published ranges themselves, in percent: ICD 203 (2015), section D.6.e.2.a; IPCC AR4 guidance (2005), table 3.
ICD_203_RANGES = {
    "almost no chance": (1, 5),
    "very unlikely": (5, 20),
    "unlikely": (20, 45),
    "roughly even chance": (45, 55),
    "likely": (55, 80),
    "very likely": (80, 95),
    "almost certain": (95, 99),
}
IPCC_CHANCES = {
    "very low": (0, 10),
    "low": (20, 20),
    "medium": (50, 50),
    "high": (80, 80),
    "very high": (90, 100),
}


@pytest.mark.parametrize("ranges", [ICD_203_RANGES, IPCC_CHANCES])
def test_words_have_the_middle_of_the_published_range(ranges) -> None:
    for word, (low, high) in ranges.items():
        assert verbal_confidence(word) == pytest.approx((low + high) / 200)


def test_no_expression_has_two_numbers() -> None:
    assert len(EXPRESSIONS) == sum(expressions.count(", ") + 1 for _, _, expressions in TABLE)


def test_every_number_is_a_probability_and_the_table_descends() -> None:
    values = [value for value, _, _ in TABLE]
    assert values == sorted(values, reverse=True)
    assert (min(values), max(values)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fairly certain", "fairly confident"),
        ("very doubtful", "very unsure"),
        ("not at all confident", "not at all sure"),
    ],
)
def test_synonyms_have_the_same_value(one: str, other: str) -> None:
    assert verbal_confidence(one) == verbal_confidence(other)


def test_certain_alone_is_more_than_sure() -> None:
    assert verbal_confidence("certain") == 1.0 > verbal_confidence("sure")


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        ("fairly sure", "sure"),
        ("sure", "very sure"),
        ("very sure", "absolutely sure"),
        ("not sure", "somewhat sure"),
        ("not at all confident", "not very confident"),
        ("unlikely", "likely"),
        ("low", "medium"),
    ],
)
def test_stronger_words_have_larger_values(weaker: str, stronger: str) -> None:
    assert verbal_confidence(weaker) < verbal_confidence(stronger)


@pytest.mark.parametrize(
    ("phrase", "value"),
    [
        ("Very likely.", 0.875),
        ("HIGH", 0.8),
        ("high level of confidence", 0.8),
        ("I'd say very high", 0.95),
        ("It is likely", 0.675),
        ("not very certain", 0.2),
    ],
)
def test_phrases_of_replies_are_recognised(phrase: str, value: float) -> None:
    assert verbal_confidence(phrase) == value


@pytest.mark.parametrize("phrase", ["", "none", "N/A", "purple", "not high", "high but low", "85"])
def test_expressions_outside_the_table_have_no_value(phrase: str) -> None:
    assert math.isnan(verbal_confidence(phrase))


@given(st.text())
def test_any_text_gives_a_probability_or_nan(text: str) -> None:
    value = verbal_confidence(text)
    assert math.isnan(value) or 0.0 <= value <= 1.0
