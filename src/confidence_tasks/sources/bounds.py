"""Bounds of the rows and of the JSON in a user's file, checked before anything is built from its text.

A list of JSON takes up to 20 times the memory of its brackets, and Python's own functions fail on deep nesting. So a
file of brackets alone would exhaust the memory, and a nested value would fail wherever it is written later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_CHARACTERS_OF_A_ROW = 16 * 2**20
"""Maximum number of characters of a row: four times a context of a million tokens."""

MOST_LEVELS = 50
"""Maximum depth of nested lists and objects."""

FEW_CONTAINERS = 1_000_000
"""Number of lists and objects that any file may hold, however short: they take 0.2 GB."""

CHARACTERS_A_CONTAINER = 16
"""Minimum number of characters for each list or object of a larger file; token log-probabilities have about 27."""


class BoundError(ValueError):
    """A row or a JSON text exceeds a bound; the message says which."""


def bounded_rows(lines: Iterable[str]) -> Iterator[str]:
    r"""Yield lines as they are; BoundError for one that is longer than a row of replies or questions can be.

    Examples
    --------
    >>> list(bounded_rows(["a,b\n", "1,2\n"]))
    ['a,b\n', '1,2\n']
    """
    for line in lines:
        _refuse_long(line)
        yield line


def bounded_json_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""Yield the number, from 1, and the text of each line that is not empty.

    BoundError names a line that exceeds the bounds of a row, or with which all lines exceed those of JSON.

    Examples
    --------
    >>> list(bounded_json_lines(['{"a": 1}\n', "\n", '{"a": 2}\n']))
    [(1, '{"a": 1}\n'), (3, '{"a": 2}\n')]
    >>> list(bounded_json_lines(["1", "[" * 51 + "]" * 51]))
    Traceback (most recent call last):
    confidence_tasks.sources.bounds.BoundError: line 2: its JSON is nested more than 50 levels deep
    """
    bounds = JsonBounds()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            _refuse_long(line)
            bounds.add(line)
        except BoundError as error:
            raise BoundError(f"line {number}: {error}") from error
        yield number, line


def _refuse_long(line: str) -> None:
    """Raise BoundError for a line that is longer than a row of replies or questions can be."""
    if len(line) > MOST_CHARACTERS_OF_A_ROW:
        raise BoundError(f"the row has more than {MOST_CHARACTERS_OF_A_ROW:,} characters")


@dataclass
class JsonBounds:
    """What the JSON of one file holds; its parts may be added one by one.

    Attributes
    ----------
    n_characters, n_containers : int
        Number of characters, and of opening brackets of lists and objects, so far.

    Examples
    --------
    >>> JsonBounds().add('{"question": "[[[", "choices": ["a", "b"]}')
    >>> JsonBounds().add("[" * 51 + "]" * 51)
    Traceback (most recent call last):
    confidence_tasks.sources.bounds.BoundError: its JSON is nested more than 50 levels deep
    """

    n_characters: int = 0
    n_containers: int = 0

    def add(self, text: str | bytes) -> None:
        """Add a JSON text; BoundError if it is nested too deeply, or if the file holds little but brackets."""
        text = text.encode("utf-8", "replace") if isinstance(text, str) else text
        self.n_characters += len(text)
        brackets = text.translate(_SQUARE, _NO_BRACKETS)
        if len(brackets) > 2:  # some may stand in strings
            brackets = _STRING.sub(b"", text).translate(_SQUARE, _NO_BRACKETS)
        self.n_containers += brackets.count(b"[")
        if self.n_containers > max(FEW_CONTAINERS, self.n_characters / CHARACTERS_A_CONTAINER):
            raise BoundError("its JSON holds little but brackets")
        _refuse_deep(brackets)


def refuse_brackets(line: bytes) -> None:
    """Raise BoundError for a long line of JSON that holds little but brackets; a short one takes little memory.

    Examples
    --------
    >>> refuse_brackets(b"[" + b"[]," * 9 + b"[]]")
    """
    if len(line) > FEW_CONTAINERS:
        JsonBounds().add(line)


def _refuse_deep(brackets: bytes) -> None:
    """Raise BoundError if pairs of brackets are left after the innermost pairs were removed once for each level."""
    for _ in range(MOST_LEVELS):
        if b"[]" not in brackets:
            return
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets:
        raise BoundError(f"its JSON is nested more than {MOST_LEVELS} levels deep")


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SQUARE = bytes.maketrans(b"{}", b"[]")
