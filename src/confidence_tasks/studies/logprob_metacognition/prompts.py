"""The prompts of the log-probability study: a question with a short answer, and which domain a question belongs to.

Cacioli (2026), arXiv:2603.25112, section 3.1. The paper does not print its prompt; the wording is this package's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from confidence_tasks.study.parameter import NumberedConditions

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


TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""The paper's temperatures of sampling (section 3.1)."""

HOTTEST = 2.0
"""The highest temperature that the providers allow."""

DIRECTIONS = "Answer the question with a name, a number or a few words, without an explanation."

CLASSIFIER_SYSTEM = "You sort trivia questions into domains of knowledge."


def _temperature(number: float, named: str) -> float:
    if not 0.0 <= number <= HOTTEST:
        raise ValueError(f"temperature {named!r} must be a number from 0 (greedy decoding) to {HOTTEST:g}")
    return abs(number)


CONDITIONS = NumberedConditions("temperature", "T=", _temperature, "{:.15g}".format)
"""Temperatures of sampling."""

condition_of, temperature_of = CONDITIONS.label, CONDITIONS.number


def answer_prompt(question: str) -> str:
    """Return the prompt that asks for a short answer.

    Examples
    --------
    >>> print(answer_prompt("Who wrote Emma?"))
    Answer the question with a name, a number or a few words, without an explanation.
    <BLANKLINE>
    Question: Who wrote Emma?
    Answer:
    """
    return f"{DIRECTIONS}\n\nQuestion: {question}\nAnswer:"


def classifier_prompt(question: str, answer: str) -> str:
    """Return the prompt that asks a model for the domain of a question."""
    listed = "\n".join(f"- {domain}" for domain in DOMAINS)
    return (
        f"Question: {question}\nAnswer: {answer}\n\n"
        f"Which of these domains does the question belong to?\n{listed}\n\n"
        "Reply with the name of one domain and nothing else."
    )


def read_domain(reply: str) -> str:
    """Return the one domain that a reply names; the last, ``Unclassified``, when it names none or several.

    Examples
    --------
    >>> read_domain("Geography."), read_domain("Geography or History & Politics")
    ('Geography', 'Unclassified')
    """
    said = reply[:1_000].casefold().replace(" and ", " & ")
    named = [domain for domain in DOMAINS if domain.casefold() in said]
    return named[0] if len(named) == 1 else DOMAINS[-1]
