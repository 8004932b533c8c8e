"""Confidence in words as a number: one fixed table, made of published scales.

Words of likelihood take the middle of their range in Intelligence Community Directive 203 (Office of the Director of
National Intelligence, 2015, section D.6.e.2.a). Levels of confidence take the chance of being correct that the
Guidance Notes for Lead Authors of the IPCC Fourth Assessment Report (2005, table 3) give them, the middle where that
is a range. ``certain`` and ``impossible`` are 1 and 0 by their meaning. Words of being sure, which no standard
defines, take the level of confidence or the likelihood that they are nearest to; the table says which.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

TABLE: tuple[tuple[float, str, str], ...] = (
    (
        1.0,
        "meaning",
        "certain, certainty, absolute certainty, definite, definitely, no doubt, without a doubt, absolutely sure, "
        "completely sure, totally sure, entirely sure, fully sure, absolute, complete, full, total",
    ),
    (
        0.97,
        "ICD 203: 95 to 99%",
        "almost certain, almost certainly, nearly certain, virtually certain, near certain, near certainty",
    ),
    (
        0.95,
        "IPCC AR4: at least 9 out of 10",
        "very high, extremely high, highest, very sure, extremely sure, highly sure, very strong",
    ),
    (
        0.875,
        "ICD 203: 80 to 95%",
        "very likely, highly likely, extremely likely, very probable, highly probable",
    ),
    (
        0.8,
        "IPCC AR4: about 8 out of 10",
        "high, quite high, fairly high, pretty high, strong, sure, quite sure, pretty sure",
    ),
    (
        0.675,
        "ICD 203: 55 to 80%",
        "likely, probable, probably, most likely, moderately high, medium high, medium to high, moderate to high, "
        "fairly sure, reasonably sure, mostly sure, relatively sure",
    ),
    (
        0.5,
        "IPCC AR4: about 5 out of 10",
        "medium, moderate, average, fair, moderately sure, somewhat sure, partially sure",
    ),
    (
        0.5,
        "ICD 203: 45 to 55%",
        "roughly even chance, roughly even odds, about even, even chance, even odds, toss-up, toss up, coin flip, "
        "fifty-fifty, fifty fifty",
    ),
    (
        0.325,
        "ICD 203: 20 to 45%",
        "unlikely, improbable, probably not, low to medium, low to moderate",
    ),
    (
        0.2,
        "IPCC AR4: about 2 out of 10",
        "low, quite low, fairly low, pretty low, weak, unsure, slightly sure, not sure, not very sure, not too sure, "
        "not so sure, not that sure, not really sure, not entirely sure, not completely sure, not fully sure, "
        "not particularly sure, not highly sure, guess, a guess, guessing, just a guess",
    ),
    (
        0.125,
        "ICD 203: 5 to 20%",
        "very unlikely, highly unlikely, extremely unlikely, highly improbable",
    ),
    (
        0.05,
        "IPCC AR4: less than 1 out of 10",
        "very low, extremely low, lowest, minimal, very unsure, not at all sure, not sure at all, wild guess, "
        "a wild guess, pure guess, a pure guess, random guess, a random guess",
    ),
    (0.03, "ICD 203: 1 to 5%", "almost no chance, almost no, remote"),
    (0.0, "meaning", "impossible, no chance, no confidence, zero"),
)
"""Probabilities, where they are from, and the expressions that stand for them."""

EXPRESSIONS: Mapping[str, float] = {
    expression: value for value, _, expressions in TABLE for expression in expressions.split(", ")
}

_SURE, _UNSURE = re.compile(r"\b(?:confident|certain)\b"), re.compile(r"\b(?:uncertain|doubtful)\b")
"""Words that mean ``sure`` and ``unsure`` where the table does not have them."""

_NOISE = re.compile(
    r"\b(?:i am|i'm|i'd say|it is|it's|my|is|a|an|level|levels|degree|of|confidence|in this|in my answer)\b|[.!,;:]"
)


def verbal_confidence(phrase: str) -> float:
    """Return the number in [0, 1] that an expression such as ``very likely`` stands for; NaN where the table has none.

    Examples
    --------
    >>> verbal_confidence("Very likely."), verbal_confidence("high confidence"), verbal_confidence("purple")
    (0.875, 0.8, nan)
    """
    words = " ".join(phrase.casefold().split())[:80]
    for text in (words.strip(" .!,;:"), " ".join(_NOISE.sub(" ", words).split())):
        for known in (text, _UNSURE.sub("unsure", _SURE.sub("sure", text))):
            if known in EXPRESSIONS:
                return EXPRESSIONS[known]
    return math.nan
