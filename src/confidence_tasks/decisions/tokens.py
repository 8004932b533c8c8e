"""Counting of tokens with a named tokenizer of this machine, or by characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English text, by which tokens are counted without a tokenizer."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way to count tokens.

    Attributes
    ----------
    name : str
        What tables call it.
    count : callable
        ``count(text)`` returns the number of tokens of a text, which may be a fraction.
    """

    name: str
    count: Callable[[str], float]


def token_counter(name: str = "") -> TokenCounter:
    """Return the counter of a tokenizer; by default one that takes four characters for a token.

    Parameters
    ----------
    name : str, optional
        An encoding or a model of `tiktoken` that is in its cache, such as ``o200k_base``; or the folder of a
        transformers tokenizer, or its name on a hub if it is in the local cache. Nothing is downloaded.

    Raises
    ------
    ValueError
        If there is no such tokenizer on this machine.

    Examples
    --------
    >>> counter = token_counter()
    >>> counter.name, counter.count("How sure are you?")
    ('4 characters per token', 4.25)
    """
    if not name:
        return TokenCounter(
            f"{CHARACTERS_PER_TOKEN} characters per token", lambda text: len(text) / CHARACTERS_PER_TOKEN
        )
    encode = _tiktoken(name) or _transformers(name)
    # Conditions and worked examples repeat texts.
    return TokenCounter(name, lru_cache(maxsize=4096)(lambda text: float(len(encode(text)))))


def _tiktoken(name: str) -> Callable[[str], Sized] | None:
    """Return the function that encodes a text by tiktoken; None if it has no such encoding or model."""
    try:
        import tiktoken
    except ImportError:
        return None
    try:
        with _without_download(name):
            known = name in tiktoken.list_encoding_names()
            encoding = tiktoken.get_encoding(name) if known else tiktoken.encoding_for_model(name)
    except KeyError:
        return None
    return lambda text: encoding.encode(text, disallowed_special=())


@contextmanager
def _without_download(name: str) -> Iterator[None]:
    """Raise ValueError where tiktoken would download an encoding."""
    from tiktoken import load

    original = load.read_file

    def refuse(blobpath: str) -> bytes:
        if "://" not in blobpath:
            return original(blobpath)
        raise ValueError(
            f"the tokenizer {name!r} is not in tiktoken's cache, and nothing is downloaded here: load it with tiktoken,"
            " set TIKTOKEN_CACHE_DIR to a folder that has it, or leave out --tokenizer to count characters"
        )

    load.read_file = refuse
    try:
        yield
    finally:
        load.read_file = original


def _transformers(name: str) -> Callable[[str], Sized]:
    """Return the function that encodes a text by a transformers tokenizer; ValueError if there is none."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise ValueError(
            f"the tokenizer {name!r} is none of tiktoken, and transformers is not installed: pip install"
            " 'confidence-tasks[hf]', or leave out --tokenizer to count characters"
        ) from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(Path(name).expanduser()), local_files_only=True)
    except Exception as error:  # transformers raises errors of many kinds
        raise ValueError(
            f"there is no tokenizer {name!r} on this machine: name an encoding of tiktoken such as o200k_base, the"
            " folder of a transformers tokenizer, or one in the cache of the hub; or leave out --tokenizer to count"
            " characters"
        ) from error
    return lambda text: tokenizer.encode(text, add_special_tokens=False)
