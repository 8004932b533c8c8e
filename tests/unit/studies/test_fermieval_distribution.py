"""The distribution over integers that token probabilities give, whatever the tokenizer."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.studies.fermieval_logprob.trials import (
    distribution_text,
    integer_probabilities,
    read_distribution,
)
from confidence_tasks.study.stage import Token


def of(written, alternatives):
    logs = {text: math.log(p) for text, p in alternatives.items()}
    return Token(written, logs[written], logs)


def test_whole_integers_in_one_token():
    found = integer_probabilities([of("13", {"13": 0.5, "12": 0.3, "I": 0.1, " 12": 0.05})])
    assert found == pytest.approx({12: 0.35, 13: 0.5})


def test_integers_written_digit_by_digit_split_the_mass_of_their_beginning():
    found = integer_probabilities(
        [of("1", {"1": 0.8, "9": 0.1}), of("3", {"3": 0.5, "2": 0.25, "<|im_end|>": 0.25})]
    )
    assert found == pytest.approx({1: 0.2, 9: 0.1, 12: 0.2, 13: 0.4})


def test_negative_integers_follow_the_sign():
    found = integer_probabilities([of("-", {"-": 0.6, "4": 0.4}), of("3", {"3": 0.5, "5": 0.5})])
    assert found == pytest.approx({-5: 0.3, -3: 0.3, 4: 0.4})
    assert integer_probabilities([of("−4", {"−4": 0.5, "-4": 0.5})]) == pytest.approx({-4: 1.0})


def test_a_sign_that_was_not_followed_is_lost():
    assert integer_probabilities([of("4", {"4": 0.4, "-": 0.6})]) == pytest.approx({4: 0.4})


@pytest.mark.parametrize("marker", [" ", "Ġ", "▁", "\n"])
def test_spaces_before_the_number(marker):
    found = integer_probabilities([of(f"{marker}7", {f"{marker}7": 0.9, f"{marker}8": 0.1})])
    assert found == pytest.approx({7: 0.9, 8: 0.1})
    apart = integer_probabilities([of(marker, {marker: 0.5, "9": 0.5}), of("7", {"7": 1.0})])
    assert apart == pytest.approx({7: 0.5, 9: 0.5})


@pytest.mark.parametrize("end", [".", "\n", " pennies", "</s>", ""])
def test_what_ends_the_number(end):
    found = integer_probabilities([of("7", {"7": 1.0}), of(end, {end: 0.7, "5": 0.3})])
    assert found == pytest.approx({7: 0.7, 75: 0.3})


def test_a_reply_that_does_not_begin_with_an_integer_keeps_the_integers_beside_it():
    found = integer_probabilities([of("The", {"The": 0.7, "6": 0.2, "7": 0.1}), of(" 9", {" 9": 1.0})])
    assert found == pytest.approx({6: 0.2, 7: 0.1})


def test_nothing_is_found_where_there_is_nothing():
    assert integer_probabilities([]) == {}
    assert integer_probabilities([Token("The", -0.1, {})]) == {}


def test_huge_integers_are_dropped():
    nines = [of("9" * 400, {"9" * 400: 0.5, "1001": 0.3, "1000": 0.2})]
    assert integer_probabilities(nines) == pytest.approx({1000: 0.2})
    assert integer_probabilities([of("9", {"9": 1.0})] * 5_000) == {}


tokens = st.builds(
    lambda text, logprob, others: Token(text, logprob, others),
    st.text(alphabet="0123456789-+ .a\u2581", max_size=4),
    st.floats(-30, 0),
    st.dictionaries(st.text(alphabet="0123456789- a", max_size=3), st.floats(-30, 0), max_size=5),
)


@given(st.lists(tokens, max_size=6))
def test_any_tokens_give_a_distribution_that_survives_being_written(reply):
    found = integer_probabilities(reply)
    assert all(p >= 0.0 and abs(value) <= 1000 for value, p in found.items())
    assert read_distribution(distribution_text(found)) == pytest.approx(found)


@pytest.mark.parametrize("logprob", [5.0, math.inf, math.nan])
@pytest.mark.parametrize("where", ["written", "listed"])
def test_impossible_log_probabilities_give_no_distribution(logprob, where):
    token = Token("7", logprob, {"8": -1.0}) if where == "written" else Token("7", -0.5, {"8": logprob})
    assert integer_probabilities([token]) == {}


@pytest.mark.parametrize("listed", ["Ġ7", " 7", "▁7"])
def test_the_token_that_was_written_counts_once_however_it_is_listed(listed):
    found = integer_probabilities([Token(" 7", math.log(0.6), {listed: math.log(0.6), "Ġ8": math.log(0.3)})])
    assert found == pytest.approx({7: 0.6, 8: 0.3})
