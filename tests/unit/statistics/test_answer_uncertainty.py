"""Certainty of tokens and similarity of samples: closed forms, identities, and other packages' recorded values."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from confidence_tasks.statistics.information import (
    cocoa,
    consistency_and_confidence,
    degree_uncertainty,
    eccentricity,
    eigenvalue_sum,
    kernel_language_entropy,
    meaning_clusters,
    monte_carlo_entropy,
    self_certainty,
    token_margin,
    token_negentropy,
)

PEERS = json.loads((Path(__file__).parent / "signal_peers.json").read_text())
"""What lm-polygraph and uqlm computed (``benchmarks/record_signal_peers.py``)."""

GRAPHS = (degree_uncertainty, eigenvalue_sum, eccentricity, kernel_language_entropy)

probabilities = st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=20).map(lambda p: np.array(p) / sum(p))
sizes = st.lists(st.integers(1, 4), min_size=1, max_size=5)


def cliques(members):
    """Return the similarity of samples that form groups of equal ones."""
    label = np.repeat(np.arange(len(members)), members)
    return (label[:, np.newaxis] == label).astype(float)


# Tokens


@given(probabilities)
def test_certainty_of_a_token_is_its_divergence_from_the_uniform_distribution(p):
    uniform = np.full(len(p), 1 / len(p))
    assert self_certainty(np.log(p)) == pytest.approx(entropy(uniform, p), abs=1e-9)
    assert token_negentropy(p) == pytest.approx(entropy(p, uniform) / math.log(len(p)), abs=1e-9)
    assert token_margin(p) == pytest.approx(sorted(p)[-1] - sorted(p)[-2])


@given(probabilities, st.floats(0.1, 1.0))
def test_negentropy_does_not_depend_on_what_is_not_listed(p, listed):
    assert token_negentropy(p * listed) == pytest.approx(token_negentropy(p), abs=1e-9)


def test_a_token_without_alternatives_has_no_certainty():
    for certainty in (token_margin, token_negentropy):
        assert math.isnan(certainty([0.9]))
        assert math.isnan(certainty([]))
    assert math.isnan(self_certainty([-0.1]))
    assert math.isnan(token_negentropy([0.0, 0.0]))


@pytest.mark.parametrize("row", PEERS["tokens"])
def test_certainty_of_tokens_is_that_of_lm_polygraph_and_uqlm(row):
    logprobs = np.array(row["logprobs"])
    assert np.mean([self_certainty(token) for token in logprobs]) == pytest.approx(
        row["self_certainty"], abs=1e-12
    )
    for name, certainty in (
        ("mean_token_negentropy", token_negentropy),
        ("probability_margin", token_margin),
    ):
        values = [certainty(np.exp(token)) for token in logprobs]
        assert np.mean(values) == pytest.approx(row[name], abs=1e-12)
    assert min(token_negentropy(np.exp(token)) for token in logprobs) == pytest.approx(
        row["min_token_negentropy"]
    )


# Samples


@given(sizes)
def test_groups_of_equal_samples_have_closed_forms(members):
    """k groups: k meanings, the norm of k - 1 contrasts, and Simpson's index of the groups' sizes."""
    n, k = sum(members), len(members)
    similarity = cliques(members)
    assert eigenvalue_sum(similarity) == pytest.approx(k)
    assert eccentricity(similarity) == pytest.approx(math.sqrt(k - 1), abs=1e-7)
    assert degree_uncertainty(similarity) == pytest.approx(1 - sum(m**2 for m in members) / n**2)


@given(sizes)
def test_the_kernel_of_groups_has_known_eigenvalues(members):
    """The heat kernel of m equal samples is a (1/m) of ones plus exp(-2 m t) times what is orthogonal to them."""
    n, eigenvalues = sum(members), []
    for m in members:
        rest = math.exp(-2 * m * 0.3)
        diagonal = (1 + (m - 1) * rest) / m
        eigenvalues += [1 / diagonal / n, *[rest / diagonal / n] * (m - 1)]
    assert sum(eigenvalues) == pytest.approx(1.0)
    assert kernel_language_entropy(cliques(members)) == pytest.approx(entropy(eigenvalues), abs=1e-9)


@given(sizes, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(members, random):
    order = random.sample(range(sum(members)), sum(members))
    rng = np.random.default_rng(random.randrange(99))
    similarity = np.maximum(cliques(members), 0.9 * rng.random((len(order), len(order))))
    for graph in GRAPHS:
        assert graph(similarity[np.ix_(order, order)]) == pytest.approx(graph(similarity), abs=1e-7)
        assert graph(similarity.T) == pytest.approx(graph(similarity), abs=1e-7)


@pytest.mark.parametrize("row", PEERS["samples"])
def test_graphs_of_samples_are_those_of_lm_polygraph(row):
    entails, contradicts = np.array(row["entails"]), np.array(row["contradicts"])
    assert degree_uncertainty(entails) == pytest.approx(row["DegMat"], abs=1e-12)
    assert eigenvalue_sum(entails) == pytest.approx(row["EigValLaplacian"], abs=1e-12)
    assert eccentricity(entails) == pytest.approx(row["Eccentricity"], abs=1e-12)
    same = (entails > contradicts) & (entails > contradicts).T
    assert len(set(meaning_clusters(same))) == row["NumSemSets"]
    # That package divides by ln n. Neutral pairs count one half.
    entropy_of_kernel = kernel_language_entropy((1 + entails - contradicts) / 2)
    assert entropy_of_kernel / math.log(5) == pytest.approx(row["KernelLanguageEntropy"], abs=1e-9)


@pytest.mark.parametrize("row", PEERS["samples"])
def test_probabilities_of_samples_are_those_of_lm_polygraph_and_uqlm(row):
    tokens, similarities = row["token_logprobs"], row["similarities"]
    sums = [sum(of_sample) for of_sample in tokens]
    means = [sum(of_sample) / len(of_sample) for of_sample in tokens]
    assert monte_carlo_entropy(sums) == pytest.approx(row["MonteCarloSequenceEntropy"], abs=1e-12)
    assert monte_carlo_entropy(means) == pytest.approx(row["MonteCarloNormalizedSequenceEntropy"], abs=1e-12)
    assert cocoa(sums[0], similarities) == pytest.approx(row["CocoaMSP"], abs=1e-12)
    assert cocoa(means[0], similarities) == pytest.approx(row["CocoaPPL"], abs=1e-12)
    assert consistency_and_confidence(means[0], similarities) == pytest.approx(
        row["consistency_and_confidence"], abs=1e-12
    )


def test_no_samples_have_no_uncertainty():
    for graph in GRAPHS:
        assert math.isnan(graph(np.zeros((0, 0))))
    assert math.isnan(monte_carlo_entropy([]))
    assert math.isnan(cocoa(-1.0, []))
    assert math.isnan(consistency_and_confidence(-1.0, []))


@pytest.mark.parametrize("graph", GRAPHS)
def test_one_sample_is_equal_to_itself(graph):
    assert graph([[1.0]]) == pytest.approx(1.0 if graph is eigenvalue_sum else 0.0)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    ("similarity", "message"),
    [([[1, 0]], "shape"), ([[1, 2], [0, 1]], r"\[0, 1\]"), ([[0.5]], "diagonal"), ([[math.nan]], "NaN")],
)
def test_what_is_no_similarity_raises(graph, similarity, message):
    with pytest.raises(ValueError, match=message):
        graph(similarity)


def test_other_wrong_arguments_raise():
    with pytest.raises(ValueError, match="at most 0"):
        monte_carlo_entropy([0.5])
    with pytest.raises(ValueError, match="at most 0"):
        self_certainty([0.5, -1.0])
    with pytest.raises(ValueError, match="logprob must be at most 0"):
        cocoa(0.5, [1.0])
    with pytest.raises(ValueError, match="threshold"):
        eccentricity([[1.0]], threshold=0.0)
    with pytest.raises(ValueError, match="time"):
        kernel_language_entropy([[1.0]], time=0.0)
