"""The domain of knowledge that a question belongs to, by a lexicon that anybody can read and correct.

The four domains are those of Cacioli (2026), arXiv:2603.25112, section 3.1, whose own classification is not published;
the words are this package's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

UNCLASSIFIED = "Unclassified"

_SECTIONS = (Path(__file__).parent / "domains.txt").read_text(encoding="utf-8").split("\n\n")

LEXICON: Mapping[str, str] = dict(section.split("\n", 1) for section in _SECTIONS)
"""Words of each domain, from ``domains.txt``; ``·`` joins the words of a phrase, ``*`` stands for any ending."""

DOMAINS: tuple[str, ...] = (*LEXICON, UNCLASSIFIED)

LONGEST = 5_000
"""So many characters of a question are read."""


def domain_of(question: str) -> str:
    """Return the domain with most different words in a question, of several the one named first.

    A question names what it is about before it describes it: "Which river rises near the castle of ..." is about a
    river. Without any word it is ``Unclassified``; most such questions are of sport, food and words.

    Examples
    --------
    >>> domain_of("Which river flows through the capital of Austria?")
    'Geography'
    >>> domain_of("What was unusual about it?")
    'Unclassified'
    """
    text = question[:LONGEST].casefold().replace("’", "'")
    found = {domain: list(pattern.finditer(text)) for domain, pattern in _patterns().items()}
    named = {
        domain: (-len({word[0] for word in words}), words[0].start())
        for domain, words in found.items()
        if words
    }
    return min(named, key=lambda domain: named[domain], default=UNCLASSIFIED)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return one pattern a domain; longer entries come first, so that a phrase counts once."""
    return {
        domain: re.compile(rf"(?<![\w-])(?:{'|'.join(map(_entry, _entries(words)))})(?![\w-])")
        for domain, words in LEXICON.items()
    }


def _entries(words: str) -> list[str]:
    return sorted(words.split(), key=len, reverse=True)


def _entry(word: str) -> str:
    return re.escape(word).replace("·", " ").replace(r"\*", r"\w*")
