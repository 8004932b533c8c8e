"""Replies on lm-eval that know why they ended, and their tokens: texts, which lm-eval caches and returns unchanged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Self

from confidence_tasks.study.stage import Stop, Token


class Used(NamedTuple):
    """Number of tokens of a call, as the server counts them; NaN where it does not."""

    input_tokens: float = math.nan
    output_tokens: float = math.nan
    reasoning_tokens: float = math.nan


UNCOUNTED = Used()


class Generated(str):
    """A reply as text.

    Attributes
    ----------
    stop : {"", "length", "filter", "thought"}
        Why the reply ended before the model had finished; empty if it ended by itself, or nobody knows.
    lost : str
        Why there is no reply; empty if there is one.
    used : Used
        Number of tokens of the call.
    tokens : tuple of Token
        Tokens of the reply, if the server was asked for log-probabilities and listed them.
    choices : tuple of Generated
        The other choices of the call, which have counts of 0 tokens.

    Examples
    --------
    >>> reply = Generated("Answer: B", stop="length")
    >>> reply, reply.stop, Generated("", lost="no answer").lost
    ('Answer: B', 'length', 'no answer')
    """

    stop: Stop
    lost: str
    used: Used = UNCOUNTED  # of a reply in a cache of an earlier release, too
    tokens: tuple[Token, ...] = ()
    choices: tuple[Generated, ...] = ()

    def __new__(
        cls,
        text: str,
        stop: Stop = "",
        lost: str = "",
        used: Used = UNCOUNTED,
        tokens: tuple[Token, ...] = (),
    ) -> Self:
        """Return a text that has the attributes."""
        reply = super().__new__(cls, text)
        reply.stop, reply.lost, reply.used, reply.tokens = stop, lost, used, tokens
        return reply


def stop_of(reply: str) -> Stop:
    """Return why a reply ended; empty for a plain text, such as one in a cache of an earlier release."""
    return reply.stop if isinstance(reply, Generated) else ""


def why_lost(reply: str | None) -> str:
    """Return why there is no reply; empty if there is one."""
    if reply is None:
        return "the model returned no reply"
    return reply.lost if isinstance(reply, Generated) else ""


def used_by(reply: str) -> Used:
    """Return the number of tokens of the call of a reply, as far as the server counts them."""
    return reply.used if isinstance(reply, Generated) else UNCOUNTED


def read_usage(usage: object) -> Used:
    """Return the token counts that a server sends with its only reply; NaN for what is no count.

    Examples
    --------
    >>> read_usage({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9})
    Used(input_tokens=7.0, output_tokens=2.0, reasoning_tokens=nan)
    >>> read_usage({"input_tokens": 7, "output_tokens": "two"})
    Used(input_tokens=7.0, output_tokens=nan, reasoning_tokens=nan)
    """
    if not isinstance(usage, Mapping):
        return UNCOUNTED
    details = usage.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
    return Used(
        _count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        _count(usage.get("completion_tokens", usage.get("output_tokens"))),
        _count(reasoning),
    )


_MOST_TOKENS = 10**9


def _count(value: object) -> float:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_TOKENS:
        return math.nan
    return float(value)
