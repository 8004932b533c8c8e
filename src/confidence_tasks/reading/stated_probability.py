"""Reading a probability that a reply states, and what a reply comes to that states an answer beside it."""

from __future__ import annotations

import math
import re

from confidence_tasks.reading.answers import Answer
from confidence_tasks.reading.cleaning import fold
from confidence_tasks.reading.numbers import SPAN, find_numbers
from confidence_tasks.reading.refusals import is_refusal
from confidence_tasks.study.reading import Reading

_REMARK = re.compile(r"\s*(?:(?:-|\(|,)\s*[^\s\d].*|\.?)", re.DOTALL)
"""What may follow a probability: a remark behind a dash, a bracket or a comma."""


def read_probability(text: str) -> tuple[float, tuple[str, ...]]:
    """Read the probability that a short text, such as a JSON field's value, states, and what had to be interpreted.

    A percentage is divided by 100; the number may lie outside [0, 1]. NaN when the text does not begin with a number,
    or goes on otherwise than with a remark behind a dash, a bracket or a comma.

    Examples
    --------
    >>> for text in ("0.85", "85%", "0.9 (very sure)", "1.2", "0.7-0.8", "20% chance of being wrong", "high"):
    ...     print(text, *read_probability(text))
    0.85 0.85 ()
    85% 0.85 ('percent',)
    0.9 (very sure) 0.9 ('remark',)
    1.2 1.2 ()
    0.7-0.8 nan ()
    20% chance of being wrong nan ()
    high nan ()
    """
    plain = fold(text[:SPAN]).strip()
    number = next(find_numbers(plain), None)
    if (
        number is None
        or number.start > 0
        or "fraction" in number.forms
        or not _REMARK.fullmatch(plain, number.end)
    ):
        return math.nan, ()
    value = number.value / 100 if number.percent else number.value
    rules = (("percent", number.percent), ("remark", plain != number.text))
    return float(value), (*(name for name, applies in rules if applies), *number.forms)


def is_probability(value: float) -> bool:
    """Return whether a number lies in [0, 1]; NaN does not."""
    return 0.0 <= value <= 1.0


def declines(said: str, reply: str) -> bool:
    """Whether the answer's field, or a reply without any JSON, declines to answer; reasoning that breaks off does not.

    Examples
    --------
    >>> declines("Unknown", "..."), declines("", "I cannot answer.")
    (True, True)
    >>> declines("", '{"Reasoning": "I cannot answer')
    False
    """
    return is_refusal(said or ("" if "{" in reply else reply))


def with_confidence(
    answer: Answer, said: str, confidence: str | None, rules: tuple[str, ...], reply: str
) -> Reading:
    """Put together a reading from an answer, the text of its field, and the text of its confidence's field.

    Texts of absent fields are empty and None. ``rules`` are lenient rules already used; ``reply`` is looked through for
    a refusal where it states neither. The status names the first fault: no answer, no confidence, one outside [0, 1].
    """
    value, interpreted = read_probability(confidence or "")
    rules = (*rules, *answer.rules, *interpreted)
    if not answer.text:
        if declines(said, reply):
            return Reading("", value, "refused", rules)
        return Reading("", value, "unreadable" if math.isnan(value) else "missing_answer", rules)
    if math.isnan(value):
        return Reading(answer.text, value, "missing_confidence", rules)
    if not is_probability(value):
        return Reading(answer.text, value, "out_of_range", rules)
    return Reading(answer.text, value, "repaired" if rules else "ok", rules)
