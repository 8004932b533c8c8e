"""Recognising a reply that declines to answer: cannot, will not, does not know."""

from __future__ import annotations

import re
from typing import NamedTuple

from confidence_tasks.reading.cleaning import fold

SPAN = 500
"""So many characters at the start of a text are looked at: who declines says so at once."""

_DO = (
    r"(?:answer|assist|help|provide|comply|determine|solve|give|discuss|choose|fulfil|fulfill|respond|say|tell|"
    r"identify|select|verify|continue|engage|make|find|offer|share|create|access|see|view)"
)


class Refusal(NamedTuple):
    """One way to decline."""

    name: str
    pattern: re.Pattern[str]
    example: str


def _refusal(name: str, pattern: str, example: str) -> Refusal:
    return Refusal(name, re.compile(pattern, re.IGNORECASE), example)


REFUSALS: tuple[Refusal, ...] = (
    _refusal(
        "apology",
        r"\bsorry,? (?:but )?i (?:can't|cannot|can not|won't|am unable|am not able|do not|don't)\b",
        "I'm sorry, but I can't help with that.",
    ),
    _refusal(
        "cannot",
        rf"\bi (?:can't|cannot|can not|could not|couldn't|am not able to|am unable to) {_DO}\b",
        "I cannot answer this question.",
    ),
    _refusal(
        "unable",
        rf"\b(?:unable|impossible|not able|not possible) to {_DO}\b",
        "It is impossible to determine.",
    ),
    _refusal(
        "will_not",
        rf"\bi(?: (?:will not|won't|(?:prefer|choose|decide) not to|refuse to)|(?: woul|')d rather not) {_DO}\b",
        "I will not answer that.",
    ),
    _refusal(
        "decline",
        r"\bi (?:must |have to |respectfully |will )?decline\b|\bdecline to (?:answer|respond)\b",
        "I must decline to answer.",
    ),
    _refusal(
        "as_an_ai",
        r"\bas an? (?:ai|artificial intelligence|language model|large language model)\b",
        "As an AI language model, I do not have opinions.",
    ),
    _refusal(
        "does_not_know",
        r"\bi (?:do not|don't|really don't|honestly don't) know\b|\b(?:i have )?no idea\b",
        "I don't know.",
    ),
    _refusal(
        "undetermined",
        r"\b(?:cannot|can't|can not|could not) be (?:determined|answered|known|solved|inferred)\b",
        "This cannot be determined.",
    ),
    _refusal(
        "not_enough",
        r"\b(?:not enough|insufficient|lack of|no) (?:information|context|data)\b",
        "Not enough information to choose.",
    ),
    _refusal(
        "unknown", r"\A\W{0,4}(?:unknown|undetermined|not known|unsure|idk|n/?a|none given)\b", "Unknown"
    ),
)


def is_refusal(text: str) -> bool:
    """Return whether a text declines to answer. Ask only where no answer was found: many a reply apologises first.

    Examples
    --------
    >>> is_refusal("I’m sorry, but I can’t assist with that."), is_refusal("London")
    (True, False)
    """
    start = fold(text[:SPAN])
    return any(refusal.pattern.search(start) for refusal in REFUSALS)
