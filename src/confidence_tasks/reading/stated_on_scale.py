"""The confidence on a scale of integers that a short text, or a reply with nothing else, states."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from confidence_tasks.reading.cleaning import apply_rules, clean, clean_value, truncate_reply
from confidence_tasks.reading.integer_scale import PERCENT, Scale
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.reading.sentences import OUT_OF, revises_confidence, share_of
from confidence_tasks.reading.statements import Statement, find_statements

SPAN = 500
"""Maximum number of characters of a value that are read."""


_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,5})", re.ASCII)


_NUMBER = r"\d{1,300}(?:\.\d{1,20})?(?![\d.,_]*\d)"


@lru_cache(maxsize=64)
def _report_pattern(scale: Scale) -> re.Pattern[str]:
    """Match a number and the text that may surround it; a remark may name the bounds of the scale."""
    bounds = rf"(?<![\d.]){scale.lower}\s?(?:-|to|,|and)\s?{scale.upper}(?![\d%])"
    return re.compile(
        rf"""
        (?:I(?:'m|\sam)\s)?
        (?P<hedge>(?:about|around|approximately|approx\.?|roughly|~)\s?)?
        (?:(?P<range>{_NUMBER})\s?%?\s?(?:-|to)\s?)?
        (?P<number>(?(range)|[+-]?){_NUMBER})
        (?P<percent>\s?(?:%|percent\b|per\scent\b))?
        (?:{OUT_OF})?
        (?P<remark>\s(?:confident|confidence|sure|certain)\b(?:\s(?:in|of|about)\s(?:my|the|this|that)(?:\sanswer)?)?)?
        (?P<rest>\W{{0,8}}|\s?(?:[-(\[.,;:!]|\bon\b)(?:\D|{bounds})*|\s?\([^()%]{{0,80}}\)\W{{0,8}})
        """,
        re.VERBOSE | re.IGNORECASE,
    )


def read_on_scale(value: str, scale: Scale) -> tuple[float, tuple[str, ...]]:
    """Read the confidence in a short text, such as the rest of the line after ``Confidence:``.

    Only the first `SPAN` characters of ``value`` are read. The number is returned as stated, inside the bounds or not;
    it is NaN if the text states none. The rules name the lenient rules used, or the reason why there is no number.

    Examples
    --------
    >>> for text in ("17", "17/20", "about 15%", "15-18", "4/5", "0-20", "High"):
    ...     print(text, "->", read_on_scale(text, Scale(0, 20)))
    17 -> (17.0, ())
    17/20 -> (17.0, ('of_upper',))
    about 15% -> (15.0, ('hedge', 'percent'))
    15-18 -> (16.5, ('range',))
    4/5 -> (nan, ('of_upper',))
    0-20 -> (nan, ('range',))
    High -> (nan, ())
    """
    value = value[:SPAN].strip()
    if _INTEGER.fullmatch(value):
        return float(value), ()
    value, cleaning_rules = clean_value(value)
    match = _report_pattern(scale).fullmatch(value)
    if match is None:
        return math.nan, cleaning_rules
    rules = (*cleaning_rules, *_forms(match)) or ("numeral",)
    return _number_on_scale(match, scale), rules


def _forms(match: re.Match[str]) -> Iterator[str]:
    """Yield the rules for what stands around or within the number."""
    forms = {
        "decimal": "." in match["number"],
        "hedge": match["hedge"],
        "range": match["range"],
        "percent": match["percent"],
        "of_upper": match["whole"],
        "remark": match["remark"] or re.search(r"\w", match["rest"]),
    }
    return (name for name, applies in forms.items() if applies)


def _number_on_scale(match: re.Match[str], scale: Scale) -> float:
    """Return the number as stated on the scale; NaN if it is on another scale."""
    number = float(match["number"])
    if match["range"]:
        number = _middle(float(match["range"]), number, scale)
    if match["whole"]:
        return _share_of_scale(match, scale)
    if scale.label == _UNIT:
        return number / 100 if match["percent"] else number
    return math.nan if "." in match["number"] and 0 <= number <= 1 else number


def _middle(low: float, high: float, scale: Scale) -> float:
    """Return the middle of a range on the scale; NaN if it repeats the bounds or exceeds them."""
    repeats_bounds = (low, high) == (scale.lower, scale.upper)
    if repeats_bounds or not scale.lower <= low < high <= scale.upper:
        return math.nan
    return (low + high) / 2


_UNIT = "0-1"
"""Label of the scale of probabilities, on which decimals and percentages are read."""


def _share_of_scale(match: re.Match[str], scale: Scale) -> float:
    """Convert a number out of another one, such as 9/10, to probabilities or percentages; NaN on other scales.

    On a line for the confidence, ``7/8`` is no date, so that any whole will do.
    """
    number = float(match["number"])
    if float(match["whole"]) == scale.upper:
        return number
    joint = match["joint"].replace("/", "out of")
    share = share_of(number, match["whole"], joint) if scale.label in (_UNIT, PERCENT.label) else math.nan
    return share * scale.upper if 0 <= share <= 1 else math.nan


def read_stated_confidence(reply: str, scale: Scale) -> float:
    r"""Read the confidence of a reply to a question that asks for nothing else; NaN if the reply states none.

    Examples
    --------
    >>> for text in ("85%", "Confidence: 85", "I am 85% sure.", "| Confidence |", "Confidence: 85\nNo, 65."):
    ...     print(read_stated_confidence(text, PERCENT))
    85.0
    85.0
    85.0
    nan
    nan
    """
    cleaned, _ = clean(truncate_reply(reply))
    text, _ = apply_rules(LAYOUTS, cleaned)
    *_, confidences = find_statements(text)
    last = confidences[-1] if confidences else Statement(text, 0, len(text))
    value, _ = read_on_scale(last.value.rstrip("."), scale)
    return math.nan if revises_confidence(last.value + text[last.end :], value, scale.upper) else value
