"""How a model was asked, as a run wrote it down: what may set two runs of it apart, without its secrets."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl, urlsplit

QUESTION, PROMPT = DIGESTS = ("question_digest", "prompt_digest")
"""Columns that tell apart what was asked under one id: the question, and the messages that it was asked in."""

_NO_MATTER = frozenset(
    {
        "adaptive_connections",
        "attempt_timeout",
        "batch",
        "cache",
        "cache_prompt",
        "max_connections",
        "max_retries",
        "stream_idle_timeout",
        "timeout",
    }
)
"""Parameters that do not change what a model says."""

_SECRET = re.compile(
    r"key|password|passwd|secret|credential|header|authorization|(?:^|[_.-])token$", re.IGNORECASE
)
"""Names of parameters that may hold a secret; ``max_tokens`` holds none."""

_SWITCHES = ("True", "False", "None")
"""What no secret is: ``add_bos_token=True`` changes what a model says."""

_SHOWN, _SCANNED, _PROMPT, _CHOICES = 1_024, 8_192, 5_120, 600
"""How much of a question, of a message and of the choices Inspect keeps in the summary of a sample, in characters.

Texts are cut there before they are compared, whoever wrote them down.
"""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def setup_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as texts, but for those that do not matter and those that may hold a secret.

    Secrets are looked for in mappings and lists, too. An address loses its user, its password and its fragment, and a
    digest stands for its query.

    Examples
    --------
    >>> setup_of({"max_tokens": 64, "token": "hf_abc", "timeout": 30, "extra": {"api_key": "sk-1", "top_k": 5}})
    {'max_tokens': '64', 'extra': "{'top_k': '5'}"}
    >>> setup_of({"base_url": "https://me:hunter2@example.org/v1?api_key=sk-1"})
    {'base_url': 'https://example.org/v1'}
    """
    return {
        str(key): _text(value)
        for key, value in parameters.items()
        if key not in _NO_MATTER
        and (_SECRET.search(str(key)) is None or str(value).capitalize() in _SWITCHES)
    }


def digest(*texts: str) -> str:
    """Return a short digest of some texts, the same on every machine.

    Examples
    --------
    >>> digest("a", "b") == digest("a", "b") != digest("ab")
    True
    """
    return blake2b("\x1f".join(texts).encode(errors="surrogatepass"), digest_size=8).hexdigest()


def question_digest(text: Any, choices: Any) -> str:
    """Return a digest of a question's text and of its options in whatever order; empty if the text is not known.

    Examples
    --------
    >>> question_digest("Which one?", ["a", "b"]) == question_digest("Which  one?", ["b", "a"])
    True
    >>> question_digest("Which one?", ["a", "b"]) == question_digest("Which one?", ["a", "c"])
    False
    """
    if not isinstance(text, str) or not text:
        return ""
    return _question_digest(text, *sorted(map(str, choices)) if isinstance(choices, list | tuple) else ())


@lru_cache(maxsize=1024)  # a question is asked under several conditions in a row
def _question_digest(text: str, *options: str) -> str:
    plain = " ".join(text[:_SCANNED].split())
    if len(plain) > _SHOWN:
        plain = textwrap.shorten(plain, _SHOWN, placeholder="...")
    return digest(plain, *(options if sum(map(len, options)) <= _CHOICES else ()))


def prompt_digest(messages: str | Iterable[tuple[str, Any]]) -> str:
    """Return a digest of what a question was asked in: messages, each a role and a text or contents, or the user's.

    Examples
    --------
    >>> prompt_digest("How many?") == prompt_digest([("user", "How many?")])
    True
    """
    if isinstance(messages, str):
        return digest("user", messages[:_PROMPT])
    parts: list[str] = []
    for role, content in messages:
        contents = [content] if isinstance(content, str) else content
        texts = [part if isinstance(part, str) else str(part.get("text", "")) for part in contents]
        parts += [str(role), *(text[:_PROMPT] for text in texts)]
    return digest(*parts)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(setup_of(value))
    if isinstance(value, list | tuple):
        return str([_text(each) for each in value])
    return _URL.sub(lambda match: _address(match[0]), str(value))


def _address(url: str) -> str:
    """Return an address without what may be a credential: user, password, query and fragment."""
    try:
        parts = urlsplit(url)
        query = setup_of(dict(parse_qsl(parts.query, keep_blank_values=True)))
    except ValueError:
        return f"{url.partition('://')[0]}://?{digest(url)[:8]}"
    asked = f"?{digest(repr(sorted(query.items())))[:8]}" if query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{asked}"
