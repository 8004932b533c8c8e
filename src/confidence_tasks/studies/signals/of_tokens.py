"""Signals from the log-probabilities of the answer's tokens, and from the reasoning before it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean

from confidence_tasks.reading.token_probabilities import (
    candidates,
    is_known,
    missing_reason,
)
from confidence_tasks.statistics import information
from confidence_tasks.studies.signals.answered import AnsweredQuestion, reasoning_of, trace_tokens
from confidence_tasks.studies.signals.reader import MissingSignalError
from confidence_tasks.study import Token


def mean_entropy(tokens: Sequence[Token]) -> float:
    """Return the negative mean entropy of tokens; MissingSignalError without alternatives."""
    if not any(token.alternatives for token in tokens):
        raise MissingSignalError("there are no alternatives to the answer's tokens")
    try:
        return -fmean(information.token_entropy(_probabilities(token)) for token in tokens)
    except ValueError as error:
        raise MissingSignalError(f"impossible log-probabilities: {error}") from error


def _probabilities(token: Token) -> list[float]:
    return [math.exp(value) for value in _logprobs(token)]


def _logprobs(token: Token) -> list[float]:
    return [min(value, 0.0) for value in candidates(token).values() if is_known(value)]


def margin(tokens: Sequence[Token]) -> float:
    """Return the mean difference between the two highest probabilities."""
    return _mean_of(lambda token: information.token_margin(_probabilities(token)), tokens)


def negentropy(tokens: Sequence[Token]) -> float:
    """Return the mean normalised negentropy."""
    return _mean_of(lambda token: information.token_negentropy(_probabilities(token)), tokens)


def self_certainty(tokens: Sequence[Token]) -> float:
    """Return the mean self-certainty."""
    return _mean_of(lambda token: information.self_certainty(_logprobs(token)), tokens)


def _mean_of(certainty: Callable[[Token], float], tokens: Sequence[Token]) -> float:
    """Return the mean certainty of the tokens that have alternatives; MissingSignalError if none has."""
    with_alternatives = [token for token in tokens if len(_logprobs(token)) > 1]
    if not with_alternatives:
        raise MissingSignalError("there are no alternatives to the answer's tokens")
    if problem := missing_reason(with_alternatives):
        raise MissingSignalError(problem)
    return fmean(map(certainty, with_alternatives))


def trace_length(answered: AnsweredQuestion) -> float:
    """Return the negative number of tokens of reasoning, as listed or as the provider counts them."""
    reply = answered.reply("answer")
    listed = len(reasoning_of(reply))
    counted = 0.0 if math.isnan(reply.reasoning_tokens) else reply.reasoning_tokens
    if not listed and not counted:
        raise MissingSignalError("the reply has no reasoning, or its length is not reported")
    return -float(listed or counted)


def trace_logprob(answered: AnsweredQuestion) -> float:
    """Return the mean log-probability of the tokens of reasoning."""
    return fmean(min(token.logprob, 0.0) for token in trace_tokens(answered.reply("answer")))


def trace_entropy(answered: AnsweredQuestion) -> float:
    """Return the negative mean entropy of the tokens of reasoning."""
    return mean_entropy(trace_tokens(answered.reply("answer")))
