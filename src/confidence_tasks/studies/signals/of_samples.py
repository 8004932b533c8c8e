"""Signals from samples of the answer: how many agree, and how many meanings they have."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean

from confidence_tasks.reading.equal_answers import word_similarity
from confidence_tasks.reading.token_probabilities import VOCABULARY_SPACES
from confidence_tasks.reading.token_signals import MissingSignalError, trace_tokens
from confidence_tasks.statistics import information
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.signals.answered import AnsweredQuestion
from confidence_tasks.study import ModelReply


def agreement(answered: AnsweredQuestion) -> float:
    """Return the share of the samples that mean the same as the answer."""
    return fmean(answered.samples.agree)


def semantic_entropy(answered: AnsweredQuestion) -> float:
    """Return the negative entropy over meanings; a sample is weighted by its length-normalised probability."""
    logprobs = list(map(fmean, answered.sample_logprobs))
    return -information.semantic_entropy(answered.samples.clusters, logprobs)


def semantic_entropy_discrete(answered: AnsweredQuestion) -> float:
    """Return the negative entropy over meanings; every sample counts as one."""
    return -information.semantic_entropy(answered.several_samples.clusters)


def semantic_sets(answered: AnsweredQuestion) -> float:
    """Return the negative number of meanings."""
    return -float(len(set(answered.several_samples.clusters)))


def negative(statistic: Callable[[FloatArray], float]) -> Callable[[AnsweredQuestion], float]:
    """Return the signal that is the negative of a statistic of the samples' similarity."""
    return lambda answered: -statistic(answered.several_samples.similarity[1:, 1:])


def sequence_entropy(answered: AnsweredQuestion) -> float:
    """Return the negative Monte Carlo entropy of the answers' probabilities."""
    return -information.monte_carlo_entropy(list(map(math.fsum, answered.sample_logprobs)))


def sequence_entropy_normalised(answered: AnsweredQuestion) -> float:
    """Return the negative Monte Carlo entropy of the length-normalised probabilities."""
    return -information.monte_carlo_entropy(list(map(fmean, answered.sample_logprobs)))


def cocoa(answered: AnsweredQuestion) -> float:
    """Return the negative product of the answer's uncertainty and its dissimilarity from the samples."""
    return -information.cocoa(math.fsum(answered.logprobs), answered.samples.similarity[0, 1:])


def consistency_and_confidence(answered: AnsweredQuestion) -> float:
    """Return the product of the answer's length-normalised probability and its similarity to the samples."""
    return information.consistency_and_confidence(
        fmean(answered.logprobs), answered.samples.similarity[0, 1:]
    )


def trace_agreement(answered: AnsweredQuestion) -> float:
    """Return the mean similarity, in words, of the answer's reasoning to that of the samples that have one."""
    texts = [_trace(answered.reply("answer"))]
    for reply in answered.replies.get("samples", ()):
        try:
            texts.append(_trace(reply))
        except MissingSignalError:
            continue
    if len(texts) < 2:
        raise MissingSignalError("no sample lists the tokens of its reasoning")
    return float(word_similarity(texts)[0, 1:].mean())


def _trace(reply: ModelReply) -> str:
    return "".join(token.text for token in trace_tokens(reply)).translate(VOCABULARY_SPACES)
