"""Digests of questions and prompts, the same on every machine, by which runs are told apart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Any

_SHOWN, _SCANNED, _PROMPT, _CHOICES = 1_024, 8_192, 5_120, 600
"""Numbers of characters of a question, a message and the choices in Inspect's summary of a sample.

Texts from all files are cut to these lengths before they are compared.
"""


def digest(*texts: str) -> str:
    """Return a short digest of texts, the same on every machine.

    Examples
    --------
    >>> digest("a", "b") == digest("a", "b") != digest("ab")
    True
    """
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def question_digest(text: Any, choices: Any) -> str:
    """Return a digest of a question's text and its options in any order; empty if the text is unknown.

    Examples
    --------
    >>> question_digest("Which one?", ["a", "b"]) == question_digest("Which  one?", ["b", "a"])
    True
    >>> question_digest("Which one?", ["a", "b"]) == question_digest("Which one?", ["a", "c"])
    False
    """
    if not isinstance(text, str) or not text:
        return ""
    return _question_digest(text, *map(str, choices) if isinstance(choices, (list, tuple)) else ())


@lru_cache(maxsize=1024)  # consecutive samples often ask the same question
def _question_digest(text: str, *options: str) -> str:
    plain = " ".join(text[:_SCANNED].split())
    if len(plain) > _SHOWN:
        plain = textwrap.shorten(plain, _SHOWN, placeholder="...")
    return digest(plain, *(sorted(options) if sum(map(len, options)) <= _CHOICES else ()))


def prompt_digest(messages: str | Iterable[tuple[str, Any]]) -> str:
    """Return a digest of a prompt: a user's message, or pairs of a role and its text or contents.

    Examples
    --------
    >>> prompt_digest("How many?") == prompt_digest([("user", "How many?")])
    True
    """
    if isinstance(messages, str):
        return digest("user", messages[:_PROMPT])
    parts: list[str] = []
    for role, content in messages:
        parts.append(str(role))
        for part in (content,) if isinstance(content, str) else content:
            text = part if isinstance(part, str) else str(part.get("text", ""))
            parts.append(text[:_PROMPT])
    return digest(*parts)
