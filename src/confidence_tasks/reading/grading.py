"""Whether an answer is right: one rule for each kind of answer, the same for every study and harness.

`match_answer` compares a short answer as Cacioli (2026), arXiv:2603.25112, section 3.1, does.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from operator import eq
from typing import Literal

from confidence_tasks.study.trial import Kind, Question

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NOT_WORDS = re.compile(r"[^\w\s]|_")
_LEADING_UP = re.compile(
    r"\W{0,4}(?:(?:it|that|this)(?:['’]s|\sis|\swas|\swould\sbe)|\d{1,2}[.)](?!\s\d{1,3}\b))\s", re.IGNORECASE
)


def normalise_text(text: str) -> str:
    """Fold a short answer: case, accents' form, punctuation, articles and white space.

    The normalisation of TriviaQA (Joshi et al. 2017, doi:10.18653/v1/P17-1147), on NFKC text. A text that is nothing
    but articles and signs keeps them, so that ``The`` is not the same as a pictogram among the aliases.

    Examples
    --------
    >>> normalise_text("The  Beatles!"), normalise_text("The The")
    ('beatles', 'the the')
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _NOT_WORDS.sub(" ", folded)).split()) or " ".join(folded.split())


def wordings(answer: str) -> tuple[str, ...]:
    """Return what a short answer may say, folded: all of it, and what follows ``It's`` or the number of a list.

    A reader cannot tell these from the beginning of a title.

    Examples
    --------
    >>> wordings("It's Paris."), wordings("It's a Wonderful Life"), wordings("Paris")
    (('it s paris', 'paris'), ('it s wonderful life', 'wonderful life'), ('paris',))
    """
    lead = _LEADING_UP.match(answer)
    return tuple(map(normalise_text, (answer, answer[lead.end() :]) if lead else (answer,)))


def same_number(answer: str, gold: str) -> bool:
    """Return whether two decimal numbers are equal in value; what is not a number equals nothing.

    Examples
    --------
    >>> same_number("18.00", "18"), same_number("about 18", "18")
    (True, False)
    """
    try:
        return Decimal(answer) == Decimal(gold)
    except InvalidOperation:
        return False


_RULES: dict[Kind, Callable[[str, str], bool]] = {
    "choice": eq,
    "boolean": eq,
    "number": same_number,
    "text": lambda answer, gold: normalise_text(gold) in wordings(answer),
}


def grade(answer: str, *, kind: Kind, gold: str | None, aliases: Sequence[str] = ()) -> float:
    """Return 1.0 for a right answer, 0.0 for a wrong one, NaN when there is no answer or no key.

    ``answer`` is as the reader gives it, empty when the reply commits to none; ``aliases`` are right as well as the
    key.

    Examples
    --------
    >>> grade("1,000", kind="number", gold="1000"), grade("1000.0", kind="number", gold="1000")
    (0.0, 1.0)
    """
    if not answer or gold is None:
        return math.nan
    rule = _RULES[kind]
    return float(any(rule(answer, key) for key in (gold, *aliases)))


Match = Literal["exact", "fuzzy", "none"]

SIMILAR = 0.85
"""Ratio of difflib's SequenceMatcher from which an answer counts as an alias in another spelling (section 3.1)."""

LONGEST = 100
"""Longer texts are no spelling of a short answer, and are compared exactly only: the ratio's time is quadratic."""


def match_answer(answer: str, question: Question) -> Match:
    """Compare an answer with the key and its aliases: after normalisation, else by similarity.

    Numbers are compared by value only. Similarity is that of the whole answer: of what follows ``It's`` alone, one that
    denies a long name would be similar enough.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen",))
    >>> [match_answer(text, question) for text in ("jane austen!", "Jane Austin", "Jane Eyre")]
    ['exact', 'fuzzy', 'none']
    """
    if grade(answer, kind=question.kind, gold=question.gold, aliases=question.aliases) == 1.0:
        return "exact"
    if question.kind != "text" or question.gold is None:
        return "none"
    said = normalise_text(answer)
    if not said or len(said) > LONGEST:
        return "none"
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(said)
    for alias in dict.fromkeys(map(normalise_text, (question.gold, *question.aliases))):
        matcher.set_seq1(alias)
        if len(alias) <= LONGEST and _similar(matcher):
            return "fuzzy"
    return "none"


def _similar(matcher: SequenceMatcher[str]) -> bool:
    """Return whether the ratio is high enough; two upper bounds of it cost less."""
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    return all(bound() >= SIMILAR for bound in bounds)
