"""Signals from samples of an answer: how many agree, how many meanings they have, and how probable they are.

A higher value is always surer. A signal without a value raises MissingSignalError, whose message says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from confidence_tasks.reading.equal_answers import word_similarity
from confidence_tasks.reading.token_signals import MissingSignalError
from confidence_tasks.statistics import information
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.study.trial import Kind


class Samples(NamedTuple):
    """Samples with an answer, compared with the answer and with each other.

    Attributes
    ----------
    agree : list of bool
        Whether each means the same as the answer.
    clusters : list of int
        Number of the meaning of each.
    similarity : ndarray, shape (n + 1, n + 1)
        Similarity of the answer, which is first, and the samples.
    """

    agree: list[bool]
    clusters: list[int]
    similarity: FloatArray

    @classmethod
    def compare(cls, kind: Kind, answers: Sequence[str], same: BoolArray) -> Samples:
        """Compare the answer, which is first, and the samples; ``same``, (n + 1, n + 1), says which mean the same."""
        similarity = same.astype(np.float64)
        if kind == "text":
            similarity = np.maximum(similarity, word_similarity(answers))
        clusters = information.meaning_clusters(same[1:, 1:])
        return cls(same[0, 1:].tolist(), clusters.tolist(), similarity)


class SampledAnswer(Protocol):
    """An answer with samples of it. What is missing raises MissingSignalError."""

    @property
    def logprobs(self) -> Sequence[float]:
        """Log-probabilities of the answer's tokens."""

    @property
    def samples(self) -> Samples:
        """The samples that have an answer, at least one."""

    @property
    def sample_logprobs(self) -> Sequence[Sequence[float]]:
        """Log-probabilities of the tokens of each sample's answer, of two or more samples."""


SampleSignal: TypeAlias = Callable[[SampledAnswer], float]

DECIMALS = 12
"""Decimals of a statistic of all samples; later ones depend on the order of the samples, and on the machine.

Answers whose samples have the same meanings would differ by them, where a ranking has to count a tie.
"""


def _uncertainty(statistic: float) -> float:
    """Return the signal that is the negative of a statistic of all samples, whatever their order."""
    return -round(statistic, DECIMALS)


def several_samples(answered: SampledAnswer) -> Samples:
    """Return the samples, if there are two or more; otherwise raise MissingSignalError."""
    if len(answered.samples.agree) < 2:
        raise MissingSignalError("one sample with an answer has no entropy: two or more are needed")
    return answered.samples


def agreement(answered: SampledAnswer) -> float:
    """Return the share of the samples that mean the same as the answer."""
    return fmean(answered.samples.agree)


def semantic_entropy(answered: SampledAnswer) -> float:
    """Return the negative entropy over meanings; a sample is weighted by its length-normalised probability."""
    logprobs = list(map(fmean, answered.sample_logprobs))
    return _uncertainty(information.semantic_entropy(answered.samples.clusters, logprobs))


def semantic_entropy_discrete(answered: SampledAnswer) -> float:
    """Return the negative entropy over meanings; every sample counts as one."""
    return _uncertainty(information.semantic_entropy(several_samples(answered).clusters))


def semantic_sets(answered: SampledAnswer) -> float:
    """Return the negative number of meanings."""
    return -float(len(set(several_samples(answered).clusters)))


def _negative(statistic: Callable[[FloatArray], float]) -> SampleSignal:
    """Return the signal that is the negative of a statistic of the samples' similarity."""
    return lambda answered: _uncertainty(statistic(several_samples(answered).similarity[1:, 1:]))


def sequence_entropy(answered: SampledAnswer) -> float:
    """Return the negative Monte Carlo entropy of the answers' probabilities."""
    return -information.monte_carlo_entropy(list(map(math.fsum, answered.sample_logprobs)))


def sequence_entropy_normalised(answered: SampledAnswer) -> float:
    """Return the negative Monte Carlo entropy of the length-normalised probabilities."""
    return -information.monte_carlo_entropy(list(map(fmean, answered.sample_logprobs)))


def cocoa(answered: SampledAnswer) -> float:
    """Return the negative product of the answer's uncertainty and its dissimilarity from the samples."""
    return -information.cocoa(math.fsum(answered.logprobs), answered.samples.similarity[0, 1:])


def consistency_and_confidence(answered: SampledAnswer) -> float:
    """Return the product of the answer's length-normalised probability and its similarity to the samples."""
    return information.consistency_and_confidence(
        fmean(answered.logprobs), answered.samples.similarity[0, 1:]
    )


SAMPLE_SIGNALS: Mapping[str, SampleSignal] = {
    "agreement": agreement,
    "semantic_entropy": semantic_entropy,
    "semantic_entropy_discrete": semantic_entropy_discrete,
    "semantic_sets": semantic_sets,
    "degree_matrix": _negative(information.degree_uncertainty),
    "eccentricity": _negative(information.eccentricity),
    "eigenvalue_sum": _negative(information.eigenvalue_sum),
    "kernel_entropy": _negative(information.kernel_language_entropy),
    "sequence_entropy": sequence_entropy,
    "sequence_entropy_normalised": sequence_entropy_normalised,
    "cocoa": cocoa,
    "consistency_and_confidence": consistency_and_confidence,
}
"""The signals by name; docs/signals.md says what each is."""
