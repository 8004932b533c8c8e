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
from types import MappingProxyType
from typing import NamedTuple

CERTAIN, IMPOSSIBLE = 1.0, 0.0

ICD_203: Mapping[str, float] = MappingProxyType(
    {
        "almost no chance": 0.03,  # 1 to 5%
        "very unlikely": 0.125,  # 5 to 20%
        "unlikely": 0.325,  # 20 to 45%
        "roughly even chance": 0.5,  # 45 to 55%
        "likely": 0.675,  # 55 to 80%
        "very likely": 0.875,  # 80 to 95%
        "almost certain": 0.97,  # 95 to 99%
    }
)
IPCC_AR4: Mapping[str, float] = MappingProxyType(
    {
        "very low": 0.05,  # less than 1 out of 10
        "low": 0.2,  # about 2 out of 10
        "medium": 0.5,  # about 5 out of 10
        "high": 0.8,  # about 8 out of 10
        "very high": 0.95,  # at least 9 out of 10
    }
)


class Words(NamedTuple):
    """Expressions, parted by commas, that mean the same number.

    ``<sure>`` stands for sure, confident and certain, ``<unsure>`` for their opposites.
    """

    value: float
    source: str
    expressions: str


TABLE: tuple[Words, ...] = (
    Words(
        CERTAIN,
        "meaning",
        "certain, certainty, absolute certainty, definite, definitely, no doubt, without a doubt, absolutely <sure>, "
        "completely <sure>, totally <sure>, entirely <sure>, fully <sure>, absolute, complete, full, total",
    ),
    Words(
        ICD_203["almost certain"],
        "ICD 203",
        "almost certain, almost certainly, nearly certain, virtually certain, near certain, near certainty",
    ),
    Words(
        IPCC_AR4["very high"],
        "IPCC AR4",
        "very high, extremely high, highest, very <sure>, extremely <sure>, highly <sure>, very strong",
    ),
    Words(
        ICD_203["very likely"],
        "ICD 203",
        "very likely, highly likely, extremely likely, very probable, highly probable",
    ),
    Words(
        IPCC_AR4["high"],
        "IPCC AR4",
        "high, quite high, fairly high, pretty high, strong, sure, confident, quite <sure>, pretty <sure>",
    ),
    Words(
        ICD_203["likely"],
        "ICD 203",
        "likely, probable, probably, most likely, moderately high, medium high, medium to high, moderate to high, "
        "fairly <sure>, reasonably <sure>, mostly <sure>, relatively <sure>",
    ),
    Words(
        IPCC_AR4["medium"],
        "IPCC AR4",
        "medium, moderate, average, fair, moderately <sure>, somewhat <sure>, partially <sure>",
    ),
    Words(
        ICD_203["roughly even chance"],
        "ICD 203",
        "roughly even chance, roughly even odds, about even, even chance, even odds, toss-up, toss up, coin flip, "
        "fifty-fifty, fifty fifty",
    ),
    Words(
        ICD_203["unlikely"],
        "ICD 203",
        "unlikely, improbable, probably not, low to medium, low to moderate",
    ),
    Words(
        IPCC_AR4["low"],
        "IPCC AR4",
        "low, quite low, fairly low, pretty low, weak, uncertain, unsure, doubtful, slightly <sure>, not <sure>, "
        "not very <sure>, not too <sure>, not so <sure>, not that <sure>, not really <sure>, not entirely <sure>, "
        "not completely <sure>, not fully <sure>, not particularly <sure>, not highly <sure>, guess, a guess, "
        "guessing, just a guess",
    ),
    Words(
        ICD_203["very unlikely"],
        "ICD 203",
        "very unlikely, highly unlikely, extremely unlikely, highly improbable",
    ),
    Words(
        IPCC_AR4["very low"],
        "IPCC AR4",
        "very low, extremely low, lowest, minimal, very <unsure>, not at all <sure>, not <sure> at all, wild guess, "
        "a wild guess, pure guess, a pure guess, random guess, a random guess",
    ),
    Words(ICD_203["almost no chance"], "ICD 203", "almost no chance, almost no, remote"),
    Words(IMPOSSIBLE, "meaning", "impossible, no chance, no confidence, zero"),
)
"""Every expression with its number and where the number is from."""

_STANDS_FOR = {"<sure>": ("sure", "confident", "certain"), "<unsure>": ("unsure", "uncertain", "doubtful")}


def _spelled_out(expression: str) -> list[str]:
    """Return an expression with each word that its mark stands for."""
    for mark, words in _STANDS_FOR.items():
        if mark in expression:
            return [expression.replace(mark, word) for word in words]
    return [expression]


EXPRESSIONS: Mapping[str, float] = MappingProxyType(
    {
        phrase: words.value
        for words in TABLE
        for expression in words.expressions.split(", ")
        for phrase in _spelled_out(expression)
    }
)
"""The number of every expression, spelled out."""

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
        if text in EXPRESSIONS:
            return EXPRESSIONS[text]
    return math.nan
