"""How a short answer compares with the key and its aliases.

Cacioli (2026), arXiv:2603.25112, section 3.1.
"""

from __future__ import annotations

import math
from difflib import SequenceMatcher
from typing import Literal

from confidence_tasks.reading.grading import grade, normalise_text
from confidence_tasks.study.question import Question

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


def correctness(match: Match, answer: str, gold: str | None) -> float:
    """Return 1 for a match and 0 for none; NaN without an answer or a key.

    Examples
    --------
    >>> correctness("fuzzy", "Jane Austin", "Jane Austen"), correctness("none", "", "Jane Austen")
    (1.0, nan)
    """
    return math.nan if not answer or gold is None else float(match != "none")
