"""Replies that were cut off at a token limit: whether the format that was asked for is complete nevertheless."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from confidence_tasks.reading.cleaning import read_first_turn

_LONGEST_FORMAT, _MOST_STARTS = 4_000, 40
"""Maximum number of characters of a format, and of places where it may begin."""

_START = re.compile(r"^(?=\S)|(?=\{)", re.MULTILINE)
_LAST_WORD = re.compile(r"\S+\s*\Z")


def ends_in_format(text: str, is_format: Callable[[str], bool]) -> bool:
    r"""Return whether a reply that was cut off ends in the whole format, or goes on with another question after it.

    ``is_format(text)`` returns whether a text is exactly the format. A reply that ends in a number which could have
    more digits is not complete, and neither is one that says anything after the format: a reasoning model whose chat
    template begins the thought returns the thought without a mark, with drafts of the answer in it.

    Examples
    --------
    >>> def is_format(text):
    ...     return re.fullmatch(r"Answer: [AB]\nConfidence: \d{1,2}\n?", text) is not None
    >>> texts = ("It is B.\nAnswer: B\nConfidence: 85", "Answer: B\nConfidence: 8", "Answer: B\nConfidence: 85\nNo, A")
    >>> [ends_in_format(text, is_format) for text in texts]
    [True, False, False]
    >>> ends_in_format("Answer: B\nConfidence: 85\n\nQuestion: What is the", is_format)
    True
    """
    turn, goes_on = read_first_turn(text, str.strip, bool)
    if goes_on and is_format(turn):
        return True
    tail = next(filter(is_format, _tails(text)), "")
    # If the last word adds nothing, it is not part of the format.
    return bool(tail) and _is_closed(tail, is_format) and not is_format(_LAST_WORD.sub("", tail))


def _tails(text: str) -> Iterator[str]:
    """Yield the ends of a text that begin with a line or a brace, the shortest first."""
    text = text[-_LONGEST_FORMAT:]
    starts = [match.start() for match in _START.finditer(text)]
    yield from (text[start:] for start in reversed(starts[-_MOST_STARTS:]))


def _is_closed(tail: str, is_format: Callable[[str], bool]) -> bool:
    """Return whether the last word cannot go on: it ends in a mark or white space, or has no room for a digit."""
    if tail[-1].isdigit() or tail[-1] in ".,":
        return not is_format(f"{tail}0")
    return not tail[-1].isalpha()
