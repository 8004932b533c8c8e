"""Entropy over tokens and over meanings: closed forms, brute force over chains, and other packages' recorded values."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from confidence_tasks.statistics.information import meaning_clusters, semantic_entropy, token_entropy
from confidence_tasks.statistics.selective import prediction_rejection_ratio


def test_token_entropy_of_known_distributions():
    assert token_entropy([1.0]) == 0.0
    assert token_entropy([0.25] * 4) == pytest.approx(math.log(4))
    # 0.9 and a missing tenth, as one alternative
    assert token_entropy([0.9]) == pytest.approx(-0.9 * math.log(0.9) - 0.1 * math.log(0.1))
    assert token_entropy([0.7, 0.0]) == token_entropy([0.7])


def test_rounded_probabilities_may_exceed_one_by_little():
    assert token_entropy([0.6, 0.405]) == pytest.approx(-0.6 * math.log(0.6) - 0.405 * math.log(0.405))
    with pytest.raises(ValueError, match="add up to at most 1"):
        token_entropy([0.6, 0.5])


def test_nothing_returned_is_missing():
    assert math.isnan(token_entropy([]))
    assert math.isnan(semantic_entropy([]))
    assert meaning_clusters(np.zeros((0, 0))).tolist() == []


def reachable(same, i):
    result = {i}
    while True:
        more = {b for a in result for b in range(len(same)) if same[a][b] or same[b][a]} | result
        if more == result:
            return frozenset(result)
        result = more


@pytest.mark.parametrize("pairs", [set(), {(0, 1)}, {(0, 2), (2, 3)}, {(1, 3), (3, 0)}, {(3, 1), (2, 0)}])
def test_clusters_are_what_chains_reach_numbered_as_they_appear(pairs):
    same = [[(i, j) in pairs for j in range(4)] for i in range(4)]
    members = [reachable(same, i) for i in range(4)]
    order = list(dict.fromkeys(members))
    assert meaning_clusters(same).tolist() == [order.index(its) for its in members]


def test_only_square_tables_are_clustered():
    with pytest.raises(ValueError, match="shape"):
        meaning_clusters([[1, 0]])


def test_semantic_entropy_of_hand_made_clusters():
    # 3 of 5 mean one thing, 2 another
    assert semantic_entropy([0, 1, 0, 1, 0]) == pytest.approx(-0.6 * math.log(0.6) - 0.4 * math.log(0.4))
    assert semantic_entropy(["a"] * 7) == 0.0
    assert semantic_entropy([3]) == 0.0
    # Probabilities .2 and .1 mean one thing, .3 and .4 another: already shares of 1.
    weighted = semantic_entropy([0, 0, 1, 1], np.log([0.2, 0.1, 0.3, 0.4]))
    assert weighted == pytest.approx(-0.3 * math.log(0.3) - 0.7 * math.log(0.7))


def test_a_common_factor_of_all_probabilities_does_not_count():
    logprobs = np.array([-0.5, -2.0, -1.0])
    assert semantic_entropy([0, 1, 1], logprobs - 800.0) == pytest.approx(
        semantic_entropy([0, 1, 1], logprobs)
    )


@pytest.mark.parametrize("labels", list(product([0, 1, 2], repeat=3)))
def test_equal_probabilities_give_the_discrete_form(labels):
    assert semantic_entropy(labels, [-1.5] * 3) == pytest.approx(semantic_entropy(labels))


def test_lengths_that_differ_raise():
    with pytest.raises(ValueError, match="lengths differ"):
        semantic_entropy([0, 1], [-1.0])
    with pytest.raises(ValueError, match="logprobs contains NaN"):
        semantic_entropy([0, 1], [-1.0, math.nan])


PEERS = json.loads((Path(__file__).parent / "signal_peers.json").read_text())
"""What lm-polygraph and uqlm computed (``benchmarks/record_signal_peers.py``)."""


@pytest.mark.parametrize("row", PEERS["entropy"])
def test_semantic_entropy_is_that_of_lm_polygraph_and_uqlm(row):
    means = [sum(tokens) / len(tokens) for tokens in row["token_logprobs"]]
    assert semantic_entropy(row["clusters"]) == pytest.approx(row["discrete"], abs=1e-12)
    assert semantic_entropy(row["clusters"], means) == pytest.approx(row["weighted"], abs=1e-12)


@pytest.mark.parametrize("row", PEERS["rejection"])
def test_rejection_is_that_of_lm_polygraph_but_for_its_random_draws(row):
    result = prediction_rejection_ratio(row["correct"], row["confidence"], max_rejection=row["max_rejection"])
    assert result == pytest.approx(row["value"], abs=0.003)
