"""Grading of answers: one rule for each kind of answer, shared by all studies.

`match_answer` compares short answers like Cacioli (2026), arXiv:2603.25112, section 3.1.
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
    """Normalise the case, punctuation, articles and white space of a short answer.

    This is the normalisation of TriviaQA (Joshi et al. 2017, doi:10.18653/v1/P17-1147), applied to NFKC text. A text
    that consists of articles and signs keeps them, so that ``The`` does not equal a pictogram among the aliases.

    Examples
    --------
    >>> normalise_text("The  Beatles!"), normalise_text("The The")
    ('beatles', 'the the')
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _NOT_WORDS.sub(" ", folded)).split()) or " ".join(folded.split())


def wordings(answer: str) -> tuple[str, ...]:
    """Return the normalised readings of a short answer: the whole text, and the text after ``It's`` or a list number.

    Both are needed, because ``It's`` may also be the beginning of a title.

    Examples
    --------
    >>> wordings("It's Paris."), wordings("It's a Wonderful Life"), wordings("Paris")
    (('it s paris', 'paris'), ('it s wonderful life', 'wonderful life'), ('paris',))
    """
    lead = _LEADING_UP.match(answer)
    return tuple(map(normalise_text, (answer, answer[lead.end() :]) if lead else (answer,)))


def same_number(answer: str, gold: str) -> bool:
    """Return True if two decimal numbers have the same value. A text that is not a number equals nothing.

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
    """Return 1.0 for a right answer, 0.0 for a wrong one, and NaN if there is no answer or no key.

    ``answer`` is what a reader returned, empty if there is none. ``gold`` is the key, ``aliases`` are other correct
    answers.

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
"""Smallest ratio of difflib's SequenceMatcher at which an answer is a spelling of an alias (section 3.1)."""

LONGEST = 100
"""Maximum length of texts whose similarity is computed, in quadratic time. Longer texts are only compared exactly."""


def match_answer(answer: str, question: Question, similarity: float = SIMILAR) -> Match:
    """Compare an answer with the key and its aliases: exactly after normalisation, and else by similarity.

    ``similarity`` is the least ratio of difflib's SequenceMatcher that counts, in [0, 1].

    Numbers are only compared by value. Similarity is computed from the whole answer and not from the text after
    ``It's``, as the denial of a long name would otherwise be similar enough.

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
    normalised = normalise_text(answer)
    if not normalised or len(normalised) > LONGEST:
        return "none"
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(normalised)
    for alias in dict.fromkeys(map(normalise_text, (question.gold, *question.aliases))):
        matcher.set_seq1(alias)
        if len(alias) <= LONGEST and _similar(matcher, similarity):
            return "fuzzy"
    return "none"


def _similar(matcher: SequenceMatcher[str], similarity: float) -> bool:
    """Return True if the ratio is high enough. Its two upper bounds are checked first, as they are cheaper."""
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    return all(bound() >= similarity for bound in bounds)
