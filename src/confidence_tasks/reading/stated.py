"""The confidence that a reply to anybody's prompt states, such as ``Confidence: 85%`` or ``I am 85% sure``."""

from __future__ import annotations

import math
import re

from confidence_tasks.reading.cleaning import apply_rules, fold, strip_struck, truncate_reply
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.reading.sentences import (
    OUT_OF,
    PERCENT,
    confidences_before_a_word,
    is_about_the_answer,
    revises_confidence,
    share_of,
)
from confidence_tasks.reading.thoughts import strip_thoughts

_LAYOUTS = {name: LAYOUTS[name] for name in ("labels", "tags", "table")}
_LABEL = re.compile(
    r"(?<!lack of )\b(?:confidence|probability|certainty)(?:[ _](?:score|level|rating))?\b[^\S\n]{0,3}"
    r"(?:\([^()\n]{0,40}\)|\[[^\[\]\n]{0,40}\])?(?:[^\w\n]{0,6}[:=][\s\"'*_`]{0,6}|\sis\s)(?=\S)",
    re.IGNORECASE,
)
"""A label with a colon or an equals sign; quotation marks and emphasis may stand around it."""
_NUMBER = re.compile(
    r"(?:I(?:'m|\sam)\s)?(?:(?:about|around|approximately|roughly|~)\s?)?(?P<first>\d{1,3}(?:\.\d{1,9})?)(?![\d.]*\d)"
    rf"{PERCENT}?(?:{OUT_OF})?(?!\s?(?:-|->|to|or|and|/|:|±)\s?\d| \d)",
    re.IGNORECASE,
)


def stated_confidence_of(reply: str) -> float:
    r"""Return the confidence that a reply states, from 0 to 1; NaN if it states none, or one that could be two things.

    The number behind the last label ``confidence``, ``probability`` or ``certainty``, in any of sixteen languages,
    counts; without a label, the last number before a word such as ``confident``. A number with a decimal point up to 1
    is a probability, and any number above 1 is a percentage. A bare 1 could be either, and is missing, as is a
    confidence that a later sentence revises.

    Examples
    --------
    >>> for text in ("Answer: B\nConfidence: 85%", '{"confidence": 0.9}', "Confidence: 17 out of 20", "Confidence: 1"):
    ...     print(stated_confidence_of(text))
    0.85
    0.9
    0.85
    nan
    """
    text, _ = apply_rules(_LAYOUTS, fold(strip_struck(strip_thoughts(truncate_reply(reply)))))
    labels = list(_LABEL.finditer(text))
    if labels:
        number = _NUMBER.match(text, labels[-1].end())
    else:
        sentences = (m for m in confidences_before_a_word(text) if is_about_the_answer(text, *m.span()))
        number = max(sentences, key=re.Match.start, default=None)
    value = _probability(number) if number else math.nan
    revised = number is not None and revises_confidence(text[number.end() :], value)
    return value if 0.0 <= value <= 1.0 and not revised else math.nan


def _probability(number: re.Match[str]) -> float:
    value = float(number["first"].replace(",", "."))
    if number["whole"]:
        return share_of(value, number["whole"], number["joint"])
    if number["percent"] or value > 1.0:
        return value / 100.0
    return math.nan if number["first"] == "1" else value
