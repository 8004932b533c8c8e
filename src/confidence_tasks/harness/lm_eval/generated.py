"""Replies on lm-eval that know why they ended: texts, which lm-eval caches and returns unchanged."""

from __future__ import annotations

from typing import Self

from confidence_tasks.study.stage import Stop


class Generated(str):
    """A reply as text.

    Attributes
    ----------
    stop : {"", "length", "filter", "thought"}
        Why the reply ended before the model had finished; empty if it ended by itself, or nobody knows.
    lost : str
        Why there is no reply; empty if there is one.

    Examples
    --------
    >>> reply = Generated("Answer: B", stop="length")
    >>> reply, reply.stop, Generated("", lost="no answer").lost
    ('Answer: B', 'length', 'no answer')
    """

    stop: Stop
    lost: str

    def __new__(cls, text: str, stop: Stop = "", lost: str = "") -> Self:
        """Return a text that has the attributes."""
        reply = super().__new__(cls, text)
        reply.stop, reply.lost = stop, lost
        return reply


def stop_of(reply: str) -> Stop:
    """Return why a reply ended; empty for a plain text, such as one in a cache of an earlier release."""
    return reply.stop if isinstance(reply, Generated) else ""


def why_lost(reply: str | None) -> str:
    """Return why there is no reply; empty if there is one."""
    if reply is None:
        return "the model returned no reply"
    return reply.lost if isinstance(reply, Generated) else ""
