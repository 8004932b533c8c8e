"""Whether an answer is right: one rule for each kind of answer, the same for every study and harness."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from confidence_tasks.study.question import Kind

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


def _same_label(answer: str, gold: str) -> bool:
    return answer == gold


def _same_text(answer: str, gold: str) -> bool:
    return normalise_text(gold) in wordings(answer)


_RULES: dict[Kind, Callable[[str, str], bool]] = {
    "choice": _same_label,
    "boolean": _same_label,
    "number": same_number,
    "text": _same_text,
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
