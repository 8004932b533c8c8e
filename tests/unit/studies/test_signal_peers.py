"""Signals of whole replies equal what lm-polygraph and uqlm computed of the same log-probabilities and answers.

``benchmarks/record_signal_peers.py`` recorded their values. The statistics of other signals are compared with these
packages in ``tests/unit/statistics``.
"""

import json
import math
from pathlib import Path

import pytest

from confidence_tasks.studies.signals.table import SIGNALS
from confidence_tasks.studies.signals.trials import read_signal
from confidence_tasks.study import ModelReply, Question, Token

PEERS = json.loads((Path(__file__).parents[1] / "statistics" / "signal_peers.json").read_text())
EMMA = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen")

WITHOUT_PEER = {
    "stated": "lm-polygraph asks for a guess and a probability from 0 to 1, in other words",
    "stated_after": "lm-polygraph asks in other words",
    "words": "lm-polygraph has other expressions, with other probabilities",
    "mean_entropy": "the probability that is not listed counts here",
    "trace_length": "they have no signal of reasoning",
    "trace_logprob": "they have no signal of reasoning",
    "trace_entropy": "they have no signal of reasoning",
    "trace_agreement": "they have no signal of reasoning",
    "p_true": "they take the probability of one token, not its share of those of True and False",
    "p_true_samples": "the same",
    "top_k": "they take the first guess, not the one that matches the answer",
    "distribution": "they have no distribution over options",
    "panel": "uqlm asks judges in other words",
}
"""Signals that neither package has in this definition, with the difference."""

COMPARED_HERE = {"mean_logprob", "sum_logprob", "min_logprob", "agreement"}
COMPARED_AS_STATISTICS = {
    *("margin", "negentropy", "self_certainty"),
    *("semantic_entropy", "semantic_entropy_discrete", "semantic_sets"),
    *("degree_matrix", "eccentricity", "eigenvalue_sum", "kernel_entropy"),
    *("sequence_entropy", "sequence_entropy_normalised", "cocoa", "consistency_and_confidence"),
}


def answer_of(logprobs):
    """Return a reply whose answer has tokens with these log-probabilities."""
    words = [f" word{i}" for i in range(len(logprobs))]
    tokens = [Token(word, value, {}) for word, value in zip(words, logprobs, strict=True)]
    around = Token("Answer:", -0.3, {}), Token("\nConfidence: 80", -0.2, {})
    return ModelReply(f"Answer:{''.join(words)}\nConfidence: 80", (around[0], *tokens, around[1]))


@pytest.mark.parametrize("row", PEERS["answers"], ids=lambda row: f"{len(row['logprobs'])} tokens")
def test_log_probabilities_of_an_answer_are_those_of_lm_polygraph_and_uqlm(row):
    replies = {"answer": [answer_of(row["logprobs"])]}
    found = {name: read_signal(EMMA, name, replies)["value"] for name in SIGNALS if name.endswith("_logprob")}
    assert found["sum_logprob"] == pytest.approx(-row["MaximumSequenceProbability"], rel=1e-9)
    assert found["mean_logprob"] == pytest.approx(-row["Perplexity"], rel=1e-9)
    assert math.exp(found["sum_logprob"]) == pytest.approx(row["sequence_probability"], rel=1e-9)
    assert math.exp(found["mean_logprob"]) == pytest.approx(row["normalised_probability"], rel=1e-9)
    assert math.exp(found["min_logprob"]) == pytest.approx(row["min_probability"], rel=1e-9)


def test_agreement_of_equal_texts_is_the_exact_match_of_uqlm():
    peers = PEERS["matches"]
    answer, *samples = (
        ModelReply(f"Answer: {text}\nConfidence: 80") for text in (peers["answer"], *peers["samples"])
    )
    found = read_signal(EMMA, "agreement", {"answer": [answer], "samples": samples})
    assert found["value"] == pytest.approx(peers["exact_match"], abs=1e-9)


def test_every_signal_is_compared_or_has_no_peer():
    assert {*WITHOUT_PEER, *COMPARED_HERE, *COMPARED_AS_STATISTICS} == set(SIGNALS)
