"""The distribution over integers from token probabilities, for any tokenizer."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.studies.fermieval.logprob.distribution import (
    distribution_text,
    integer_probabilities,
    read_distribution,
)
from confidence_tasks.study.stage import Token


def token(written, alternatives):
    logs = {text: math.log(p) for text, p in alternatives.items()}
    return Token(written, logs[written], logs)


def test_whole_integers_in_one_token():
    probabilities = integer_probabilities([token("13", {"13": 0.5, "12": 0.3, "I": 0.1, " 12": 0.05})])
    assert probabilities == pytest.approx({12: 0.35, 13: 0.5})


def test_integers_of_several_tokens_share_the_mass_of_the_first_token():
    probabilities = integer_probabilities(
        [token("1", {"1": 0.8, "9": 0.1}), token("3", {"3": 0.5, "2": 0.25, "<|im_end|>": 0.25})]
    )
    assert probabilities == pytest.approx({1: 0.2, 9: 0.1, 12: 0.2, 13: 0.4})


def test_negative_integers_follow_the_sign():
    probabilities = integer_probabilities(
        [token("-", {"-": 0.6, "4": 0.4}), token("3", {"3": 0.5, "5": 0.5})]
    )
    assert probabilities == pytest.approx({-5: 0.3, -3: 0.3, 4: 0.4})
    assert integer_probabilities([token("−4", {"−4": 0.5, "-4": 0.5})]) == pytest.approx({-4: 1.0})


def test_a_sign_without_digits_is_dropped():
    assert integer_probabilities([token("4", {"4": 0.4, "-": 0.6})]) == pytest.approx({4: 0.4})


@pytest.mark.parametrize("marker", [" ", "Ġ", "▁", "\n"])
def test_spaces_before_the_number(marker):
    probabilities = integer_probabilities([token(f"{marker}7", {f"{marker}7": 0.9, f"{marker}8": 0.1})])
    assert probabilities == pytest.approx({7: 0.9, 8: 0.1})
    apart = integer_probabilities([token(marker, {marker: 0.5, "9": 0.5}), token("7", {"7": 1.0})])
    assert apart == pytest.approx({7: 0.5, 9: 0.5})


@pytest.mark.parametrize("end", [".", "\n", " pennies", "</s>", ""])
def test_any_other_token_ends_the_number(end):
    probabilities = integer_probabilities([token("7", {"7": 1.0}), token(end, {end: 0.7, "5": 0.3})])
    assert probabilities == pytest.approx({7: 0.7, 75: 0.3})


@pytest.mark.parametrize(
    "after",
    [
        [],
        [Token("<|im_end|>", -28.7, {})],
        [Token("<|im_end|>", -0.1, {})],
        [Token("\n", math.log(0.5), {"\n": math.log(0.5), "A": math.log(0.2)})],
    ],
)
def test_a_token_after_the_number_takes_no_probability_from_it(after):
    """Servers report end tokens without alternatives, or with a log-probability that means nothing."""
    found = integer_probabilities([token("3", {"3": 0.8, "4": 0.15}), *after])

    assert found == pytest.approx({3: 0.8, 4: 0.15})


def test_listed_digits_are_all_that_the_number_loses():
    found = integer_probabilities(
        [token("3", {"3": 0.8}), token("<|return|>", {"<|return|>": 0.6, "0": 0.1})]
    )

    assert found == pytest.approx({3: 0.8 * 0.9, 30: 0.8 * 0.1})


def test_alternatives_are_used_if_the_reply_does_not_begin_with_an_integer():
    probabilities = integer_probabilities(
        [token("The", {"The": 0.7, "6": 0.2, "7": 0.1}), token(" 9", {" 9": 1.0})]
    )
    assert probabilities == pytest.approx({6: 0.2, 7: 0.1})


def test_without_integers_there_is_no_distribution():
    assert integer_probabilities([]) == {}
    assert integer_probabilities([Token("The", -0.1, {})]) == {}


def test_huge_integers_are_dropped():
    nines = [token("9" * 400, {"9" * 400: 0.5, "1001": 0.3, "1000": 0.2})]
    assert integer_probabilities(nines) == pytest.approx({1000: 0.2})
    assert integer_probabilities([token("9", {"9": 1.0})] * 5_000) == {}


tokens = st.builds(
    lambda text, logprob, others: Token(text, logprob, others),
    st.text(alphabet="0123456789-+ .a\u2581", max_size=4),
    st.floats(-30, 0),
    st.dictionaries(st.text(alphabet="0123456789- a", max_size=3), st.floats(-30, 0), max_size=5),
)


@given(st.lists(tokens, max_size=6))
def test_any_tokens_give_a_distribution_that_can_be_written_and_read(reply):
    probabilities = integer_probabilities(reply)
    assert all(p >= 0.0 and abs(value) <= 1000 for value, p in probabilities.items())
    assert read_distribution(distribution_text(probabilities)) == pytest.approx(probabilities)


@pytest.mark.parametrize("logprob", [5.0, math.inf, math.nan])
@pytest.mark.parametrize("where", ["written", "listed"])
def test_impossible_log_probabilities_give_no_distribution(logprob, where):
    token = Token("7", logprob, {"8": -1.0}) if where == "written" else Token("7", -0.5, {"8": logprob})
    assert integer_probabilities([token]) == {}


@pytest.mark.parametrize("listed", ["Ġ7", " 7", "▁7"])
def test_the_token_of_the_reply_is_used_once_however_it_is_listed(listed):
    probabilities = integer_probabilities(
        [Token(" 7", math.log(0.6), {listed: math.log(0.6), "Ġ8": math.log(0.3)})]
    )
    assert probabilities == pytest.approx({7: 0.6, 8: 0.3})
