"""Signals that the tokens of a reply have: of its answer, and of the reasoning before it.

A higher value is always surer. A signal without a value raises MissingSignalError, whose message says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from confidence_tasks.reading.signal_scales import COUNT, DIVERGENCE, NATS, SHARE, Scale
from confidence_tasks.reading.token_probabilities import (
    candidates,
    is_known,
    is_unmeasured,
    missing_reason,
    token_problem,
)
from confidence_tasks.statistics import information
from confidence_tasks.study.stage import ModelReply, Token


class MissingSignalError(ValueError):
    """A signal has no value; the message says why."""


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


_TAG = re.compile(r"<[^<>]{0,40}>")


def reasoning_of(reply: ModelReply) -> list[Token]:
    """Return the listed tokens of a reply's reasoning, with the tags around it; none if there is nothing in them."""
    text = "".join(token.text for token in reply.reasoning)
    return list(reply.reasoning) if any(map(str.isalnum, _TAG.sub("", text))) else []


def trace_tokens(reply: ModelReply) -> list[Token]:
    """Return the tokens of a reply's reasoning; MissingSignalError if there are none with log-probabilities."""
    tokens = reasoning_of(reply)
    if not tokens:
        raise MissingSignalError(token_problem(reply) or _NO_TRACE)
    if not all(is_known(token.logprob) for token in tokens) or is_unmeasured(tokens):
        raise MissingSignalError("a token of the reasoning has no log-probability")
    return tokens


_NO_TRACE = "the reply has no reasoning, or its tokens are not listed"


def trace_length(reply: ModelReply) -> float:
    """Return the negative number of tokens of reasoning, as listed or as the provider counts them."""
    listed = len(reasoning_of(reply))
    counted = 0.0 if math.isnan(reply.reasoning_tokens) else reply.reasoning_tokens
    if not listed and not counted:
        raise MissingSignalError("the reply has no reasoning, or its length is not reported")
    return -float(listed or counted)


def trace_logprob(reply: ModelReply) -> float:
    """Return the mean log-probability of the tokens of reasoning."""
    return fmean(min(token.logprob, 0.0) for token in trace_tokens(reply))


def trace_entropy(reply: ModelReply) -> float:
    """Return the negative mean entropy of the tokens of reasoning."""
    return mean_entropy(trace_tokens(reply))


class ReplySignal(NamedTuple):
    """A signal of a reply whose tokens are those of the answer: how it is read, and the scale of its value."""

    read: Callable[[ModelReply], float]
    scale: Scale


REPLY_SIGNALS: Mapping[str, ReplySignal] = {
    "mean_entropy": ReplySignal(lambda reply: mean_entropy(reply.tokens), NATS),
    "token_margin": ReplySignal(lambda reply: margin(reply.tokens), SHARE),
    "negentropy": ReplySignal(lambda reply: negentropy(reply.tokens), SHARE),
    "self_certainty": ReplySignal(lambda reply: self_certainty(reply.tokens), DIVERGENCE),
    "trace_length": ReplySignal(trace_length, COUNT),
    "trace_logprob": ReplySignal(trace_logprob, NATS),
    "trace_entropy": ReplySignal(trace_entropy, NATS),
}
"""Signals of any reply with log-probabilities, beside the mean, the sum and the minimum of the log-probabilities.

``token_margin`` is the signal ``margin`` of the study ``signals``; samples of lm-eval have a ``margin`` of options.
"""
