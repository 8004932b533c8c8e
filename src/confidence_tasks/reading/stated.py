"""The confidence that a reply to anybody's prompt states behind a label, such as ``Confidence: 85%``."""

from __future__ import annotations

import math
import re

from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.thoughts import strip_thoughts

_STATED = re.compile(
    r"\b(?:confidence|probability|certainty)\b[^\S\n]{0,3}(?:\([^()\n]{0,40}\))?[^\w\n]{0,6}[:=][\s\"'*_`]{0,6}"
    r"(?P<number>\d{1,3}(?:\.\d{1,9})?)(?![\d.]*\d)(?:\s?(?P<percent>%)|\s?/\s?(?P<whole>\d{1,3})\b)?",
    re.IGNORECASE,
)
"""A label, and a number after a colon or an equals sign; quotation marks and emphasis may stand around both."""


def stated_confidence_of(reply: str) -> float:
    r"""Return the confidence that a reply states, from 0 to 1; NaN if it states none, or one that could be two things.

    The last number behind the label ``confidence``, ``probability`` or ``certainty`` counts. A number with a decimal
    point up to 1 is a probability, and any number above 1 is a percentage. A bare 1 could be either, and is missing.

    Examples
    --------
    >>> for text in ("Answer: B\nConfidence: 85%", '{"confidence": 0.9}', "Confidence: 8/10", "Confidence: 1", "Sure."):
    ...     print(stated_confidence_of(text))
    0.85
    0.9
    0.8
    nan
    nan
    """
    matches = list(_STATED.finditer(strip_thoughts(truncate_reply(reply))))
    if not matches:
        return math.nan
    last = matches[-1]
    value = _probability(last["number"], last["percent"], last["whole"])
    return value if 0.0 <= value <= 1.0 else math.nan


def _probability(number: str, percent: str | None, whole: str | None) -> float:
    value = float(number)
    if whole:
        return value / float(whole) if float(whole) else math.nan
    if percent or value > 1.0:
        return value / 100.0
    return math.nan if number == "1" else value
