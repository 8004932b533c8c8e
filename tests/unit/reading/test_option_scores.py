"""Signals of options against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax as scipy_softmax
from scipy.stats import entropy

from confidence_tasks.reading.option_scores import (
    OptionTable,
    margin,
    option_logprob,
    option_mass,
    option_negentropy,
    option_probability,
    option_probability_bytes,
    option_probability_mutual_info,
    option_probability_norm,
    option_self_certainty,
    softmax,
)

TABLE = OptionTable(
    np.log([[0.2, 0.1, 0.1], [0.01, 0.04, 0.05]]),
    np.log([[0.5, 0.1, 0.4], [0.2, 0.2, 0.6]]),
    [("Lima", "Cusco", "Oslo"), ("a", "bb", "ééé")],
)


def test_the_probability_of_an_option_is_its_share_of_all_options():
    value, chosen = option_probability(TABLE)
    assert value == pytest.approx([0.5, 0.5])
    assert chosen.tolist() == [0, 2]
    assert option_mass(TABLE) == pytest.approx([0.4, 0.1])


def test_normalised_signals_divide_by_characters_and_bytes_of_the_option():
    per_character = [0.01, 0.04 ** (1 / 2), 0.05 ** (1 / 3)]
    per_byte = [0.01, 0.04 ** (1 / 2), 0.05 ** (1 / 6)]
    assert option_probability_norm(TABLE).value[1] == pytest.approx(max(per_character) / sum(per_character))
    assert option_probability_bytes(TABLE).value[1] == pytest.approx(max(per_byte) / sum(per_byte))


def test_mutual_information_subtracts_the_score_after_an_empty_prompt():
    ratios = [0.2 / 0.5, 0.1 / 0.1, 0.1 / 0.4]
    value, chosen = option_probability_mutual_info(TABLE)
    assert value[0] == pytest.approx(1 / sum(ratios))
    assert chosen[0] == 1


def test_the_margin_is_the_ratio_of_the_two_best_options_in_nats():
    assert margin(TABLE).value == pytest.approx([math.log(2), math.log(0.05 / 0.04)])


def test_impossible_options_have_no_probability_and_nothing_possible_has_no_signal():
    scores = np.array([[-1.0, -np.inf], [-np.inf, -np.inf], [np.nan, -1.0]])
    table = OptionTable(scores, np.full_like(scores, np.nan), [("a", "b")] * 3)
    assert option_probability(table).value.tolist() == pytest.approx([1.0, np.nan, np.nan], nan_ok=True)
    assert np.isnan(margin(table).value).all()


@given(st.lists(st.lists(st.floats(-700, 0), min_size=3, max_size=3), min_size=1, max_size=5))
def test_softmax_is_that_of_scipy(rows):
    assert softmax(np.array(rows)) == pytest.approx(scipy_softmax(rows, axis=1), abs=1e-12)


@given(st.lists(st.lists(st.floats(-30, 0), min_size=4, max_size=4), min_size=1, max_size=5))
def test_certainty_over_options_is_the_divergence_of_scipy(rows):
    table = OptionTable(np.array(rows), np.full((len(rows), 4), np.nan), [tuple("abcd")] * len(rows))
    shares, uniform = scipy_softmax(rows, axis=1), np.full(4, 0.25)
    from_uniform = [entropy(row, uniform) / math.log(4) for row in shares]
    to_uniform = [entropy(uniform, row) for row in shares]
    assert option_negentropy(table).value == pytest.approx(from_uniform, abs=1e-12)
    assert option_self_certainty(table).value == pytest.approx(to_uniform, abs=1e-12)
    assert option_logprob(table).value == pytest.approx(np.max(rows, axis=1))
    for signal in (option_negentropy, option_self_certainty, option_logprob):
        assert signal(table).chosen.tolist() == option_probability(table).chosen.tolist()


def test_an_option_without_probability_has_no_finite_self_certainty_and_nothing_possible_has_no_certainty():
    scores = np.array([[-1.0, -np.inf], [-np.inf, -np.inf], [np.nan, -1.0]])
    table = OptionTable(scores, np.full_like(scores, np.nan), [("a", "b")] * 3)
    assert option_negentropy(table).value.tolist() == pytest.approx([1.0, np.nan, np.nan], nan_ok=True)
    assert np.isnan(option_self_certainty(table).value).all()
    assert option_logprob(table).value.tolist() == pytest.approx([-1.0, np.nan, np.nan], nan_ok=True)
