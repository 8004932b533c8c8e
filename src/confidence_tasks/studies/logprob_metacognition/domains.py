"""Domains of knowledge of the log-probability study's questions, by words or by a classifier's model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

UNCLASSIFIED = "Unclassified"


_SECTIONS = (Path(__file__).parent / "domains.txt").read_text(encoding="utf-8").split("\n\n")


LEXICON: Mapping[str, str] = dict(section.split("\n", 1) for section in _SECTIONS)
"""Words of each domain, from ``domains.txt``; ``·`` joins the words of a phrase, ``*`` matches any ending."""


DOMAINS: tuple[str, ...] = (*LEXICON, UNCLASSIFIED)


LONGEST = 5_000
"""Maximum number of characters of a question that are searched."""


def domain_of(question: str) -> str:
    """Return the domain with the most distinct words in a question; of several, the one whose word comes first.

    Questions tend to name their topic before they describe it: "Which river rises near the castle of ..." is about a
    river. A question without any of the words is ``Unclassified``; most of these concern sport, food and words.

    Examples
    --------
    >>> domain_of("Which river flows through the capital of Austria?")
    'Geography'
    >>> domain_of("What was unusual about it?")
    'Unclassified'
    """
    text = question[:LONGEST].casefold().replace("’", "'")
    matches = {domain: list(pattern.finditer(text)) for domain, pattern in _patterns().items()}
    ranks = {
        domain: (-len({word[0] for word in words}), words[0].start())
        for domain, words in matches.items()
        if words
    }
    return min(ranks, key=lambda domain: ranks[domain], default=UNCLASSIFIED)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return the pattern of each domain; longer entries come first, so that a phrase counts once."""
    patterns = {}
    for domain, words in LEXICON.items():
        longest_first = sorted(words.split(), key=len, reverse=True)
        entries = "|".join(map(re.escape, longest_first)).replace("·", " ").replace(r"\*", r"\w*")
        patterns[domain] = re.compile(rf"(?<![\w-])(?:{entries})(?![\w-])")
    return patterns


CLASSIFIER_SYSTEM = "You sort trivia questions into domains of knowledge."


CLASSIFIER_LABELS = (*LEXICON, "Sports", "Pop Culture")
"""The six labels from which the author's classifier chooses; the last two count as ``Unclassified``."""


def classifier_prompt(question: str, answer: str) -> str:
    """Return the prompt that asks a model for the domain of a question."""
    domains = "\n".join(f"- {domain}" for domain in CLASSIFIER_LABELS)
    return (
        f"Question: {question}\nAnswer: {answer}\n\n"
        f"Which of these domains does the question belong to?\n{domains}\n\n"
        "Reply with the name of one domain and nothing else."
    )


def read_domain(reply: str) -> str:
    """Return the domain that a reply names; ``Unclassified`` if it names none, several, sports or pop culture.

    Examples
    --------
    >>> read_domain("Geography."), read_domain("Geography or History & Politics"), read_domain("Sports")
    ('Geography', 'Unclassified', 'Unclassified')
    """
    named = _named(reply)
    return named[0] if len(named) == 1 and named[0] in LEXICON else UNCLASSIFIED


def problem_of_domain(reply: str) -> str:
    """Return why a reply cannot be used, because it names no domain; empty if it names one or several.

    Examples
    --------
    >>> problem_of_domain("Sports"), problem_of_domain("Well, it depends")
    ('', 'the reply names none of the domains: Well, it depends')
    """
    return "" if _named(reply) else f"the reply names none of the domains: {' '.join(reply[:80].split())}"


def _named(reply: str) -> list[str]:
    text = reply[:1_000].casefold().replace(" and ", " & ")
    return [label for label in (*CLASSIFIER_LABELS, UNCLASSIFIED) if label.casefold() in text]
