"""Whether a text declines to answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from confidence_tasks.reading.cleaning import fold
from confidence_tasks.reading.declining import offers, says_that_it_has_no_answer

SPAN = 500
"""Number of characters at the start of a text that are searched for a refusal."""

_DO = (
    r"(?:answer|assist|help|provide|comply|determine|solve|give|discuss|choose|fulfil|fulfill|respond|say|tell|"
    r"identify|select|verify|continue|engage|make|find|offer|share|create|access|see|view)"
)

REFUSALS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "apology": r"\bsorry,? (?:but )?i (?:can't|cannot|can not|won't|am unable|am not able|do not|don't)\b",
        "cannot": rf"\bi (?:can't|cannot|can not|could not|couldn't|am not able to|am unable to) {_DO}\b",
        "unable": rf"\b(?:unable|impossible|not able|not possible) to {_DO}\b",
        "will_not": (
            r"\bi(?: (?:will not|won't|(?:prefer|choose|decide) not to|refuse to)|(?: woul|')d rather not)"
            rf" {_DO}\b"
        ),
        "decline": r"\bi (?:must |have to |respectfully |will )?decline\b|\bdecline to (?:answer|respond)\b",
        "as_an_ai": r"\bas an? (?:ai|artificial intelligence|language model|large language model)\b",
        "does_not_know": r"\bi (?:do not|don't|really don't|honestly don't) know\b|\b(?:i have )?no idea\b",
        "does_not_have": r"\bi (?:do not|don't) have (?:\w+ ){0,3}(?:information|data|knowledge)\b",
        "undetermined": r"\b(?:cannot|can't|can not|could not) be (?:determined|answered|known|solved|inferred)\b",
        "not_enough": (
            r"\b(?:not enough|insufficient|lack of|no) (?:information|context|data)\b"
            r"|\bnot (?:\w+ ){1,3}enough (?:information|context|data)\b"
        ),
        "passes": (
            r"(?:\A\W{0,4}|\bi(?:'ll| will| must| would)? )pass(?: on (?:this|that|it)[\w ]{0,20}| here)?\W{0,4}"
            r"(?:\Z|\n)"
        ),
        "no_right_answer": (
            r"\bquestion (?:has no|does not have an?) (?:correct |right )?answer\b|\A\W{0,4}unanswerable\b"
        ),
        "unknown": (
            r"\A\W{0,4}(?:unknown|undetermined|not known|unsure|idk|n/a|(?-i:NA)|none given)\W{0,4}"
            r"(?:\Z|\n|(?<=\())"
        ),
    }.items()
}
"""English phrases, searched in the beginning of a text."""

_NOTHING = frozenset(("none", "no comment", "not applicable"))
"""Phrases that are the whole first sentence of a reply."""

_SENTENCE = re.compile(r"[^\w]{0,8}([^.!?\n。！？<>\[\]]{1,60}?)[\s.!?。！？>\])\"'*]{0,8}(?:\Z|\n|\s)")


def is_refusal(text: str) -> bool:
    """Return True if a text declines to answer.

    Call it only if no answer was found: some replies apologise first, and some answers read like a phrase.

    Examples
    --------
    >>> is_refusal("I’m sorry, but I can’t assist with that."), is_refusal("Nevím."), is_refusal("London")
    (True, True, False)
    """
    start = fold(text[:SPAN])
    line = start.strip().partition("\n")[0]
    sentence = _SENTENCE.fullmatch(line)
    whole = sentence is not None and sentence[1].strip().casefold() in _NOTHING
    return (
        whole
        or any(pattern.search(start) for pattern in REFUSALS.values())
        or says_that_it_has_no_answer(line)
    )


MOST_OFFERS = 4
"""Number of places of a text that are searched for an answer in spite of a refusal."""


def is_abstention(text: str) -> bool:
    """Return True if a text declines to answer and does not go on to offer an answer.

    Examples
    --------
    >>> is_abstention("I'm sorry, but I don't know."), is_abstention("I'm not sure, but I think it is Lima.")
    (True, False)
    """
    return is_refusal(text) and all(map(is_refusal, islice(offers(text[:SPAN]), MOST_OFFERS)))
