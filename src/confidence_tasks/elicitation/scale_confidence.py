"""Reading the confidence that a text states on an integer scale.

The number said is the number read: nothing is converted from one scale to another. A percent sign is a habit (``75%``
on 7-79 says 75). A number that itself names another scale (``4/5`` on 0-20, ``0.85`` on 0-100) is no report on the
scale asked for and is left unread, unless it is off that scale as well, which is a violation like any other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from confidence_tasks.elicitation.cleaning import Rule, clean_value, is_placeholder
from confidence_tasks.elicitation.numbers import Number, find_numbers, number_in_words
from confidence_tasks.elicitation.scales import Scale
from confidence_tasks.elicitation.verbal_confidence import is_denied

SPAN = 500
"""So many characters of a value are read."""


@dataclass(frozen=True, slots=True)
class ScaleReport:
    """A confidence as stated on a scale.

    Attributes
    ----------
    raw : float
        The number, in the units of the scale, wherever it lies; NaN when there is none.
    rules : tuple of str
        The lenient rules used, or why there is no number; empty for a plain integer.
    """

    raw: float
    rules: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.raw)

    @property
    def claim(self) -> float:
        """What is claimed, however it is said."""
        return self.raw


Core = tuple[float, str]
"""The number that a rule recognises, NaN where it recognises that there is none, and what stands around it."""

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,5})", re.ASCII)
_NUMBER = r"[-+]?\d{1,12}(?:\.\d{1,12})?"
_UNSIGNED = r"\d{1,12}(?:\.\d{1,12})?"
_OVER = re.compile(
    rf"(?<![\w.])({_NUMBER})\s?%?(?:\s[a-z]{{1,12}}(?=\sout))?\s?[(\[]?(?:/|out\sof|of)\s?(?:a\spossible\s)?({_UNSIGNED})(?![\w/])",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"(?<![\w.])(?:between\s({_NUMBER})\s?%?\sand|({_NUMBER})\s?%?\s?(?:--?|to|or|~))\s?({_UNSIGNED})(?![\w/])",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    rf"(?:\b(?:actually|rather|no|make\s(?:that|it)|correction|i\smean))\W{{1,3}}(?:about\s)?({_UNSIGNED})(?!\w)",
    re.IGNORECASE,
)
_OPTION_SHARE = re.compile(r"(?<!\w)[A-Z]\s?[:=)]\s?\d")
_POINT = re.compile(r"\.\d|\d,\d")
_CERTAIN = re.compile(r"\babsolute(?:ly)? certain", re.IGNORECASE)
_NO_CONFIDENCE = re.compile(r"\bno confidence at all\b", re.IGNORECASE)


@lru_cache(maxsize=64)
def _mention(scale: Scale) -> re.Pattern[str]:
    """Match a mention of the scale itself: ``on a scale of 0 to 20``, ``(0-20)``, ``between 0 and 20``."""
    bounds = rf"(?<![\d.]){scale.lower}\s?(?:-|to|,|and)\s?{scale.upper}(?![\d%])"
    return re.compile(
        rf"(?:\b(?:on|in)\s)?(?:\b(?:a|the)\s)?\bscale\s(?:of\s|from\s|between\s)?{bounds}|[\[(]\s?{bounds}\s?[\])]"
        rf"|(?:\b(?:between|from)\s)?{bounds}",
        re.IGNORECASE,
    )


def _distribution(text: str, scale: Scale) -> Core | None:
    return (math.nan, "") if len(_OPTION_SHARE.findall(text)) > 1 else None


def _anchor(text: str, scale: Scale) -> Core | None:
    if any(map(str.isdigit, text)):
        return None
    ends = ((_CERTAIN, scale.upper), (_NO_CONFIDENCE, scale.lower))
    return next(((float(end), "") for pattern, end in ends if pattern.search(text)), None)


def _of_upper(text: str, scale: Scale) -> Core | None:
    match = _OVER.search(text)
    return (float(match[1]), _around(text, match)) if match and float(match[2]) == scale.upper else None


def _other_scale(text: str, scale: Scale) -> Core | None:
    match = _OVER.search(text)
    return (_only_a_violation(float(match[1]), scale), _around(text, match)) if match else None


def _correction(text: str, scale: Scale) -> Core | None:
    corrections = list(_CORRECTION.finditer(text))
    return (float(corrections[-1][1]), "") if corrections else None


def _range(text: str, scale: Scale) -> Core | None:
    match = _RANGE.search(text)
    return ((float(match[1] or match[2]) + float(match[3])) / 2, _around(text, match)) if match else None


def _stated(text: str) -> Number | None:
    """Return the first number that is not denied."""
    return next((number for number in find_numbers(text) if not is_denied(text, number.start)), None)


def _proportion(text: str, scale: Scale) -> Core | None:
    number = _stated(text)
    if number is None or not _POINT.search(number.text) or number.percent or not 0 < number.value <= 1:
        return None
    return _only_a_violation(float(number.value), scale), _around(text, number)


def _decimal(text: str, scale: Scale) -> Core | None:
    number = _stated(text)
    return _numeral(text, scale) if number and _POINT.search(number.text) else None


def _numeral(text: str, scale: Scale) -> Core | None:
    number = _stated(text)
    return (float(number.value), _around(text, number)) if number else None


def _number_words(text: str, scale: Scale) -> Core | None:
    number = number_in_words(text)
    if number is None or (number.value == 1 and number.text.strip() != text.strip()):
        return None  # "one" is mostly a pronoun
    raw = float(number.value)
    whole = number_in_words(text[number.end :].partition("out of")[2])
    if whole is None and "one_of_several" in number.forms:
        return math.nan, _around(text, number)
    proportion = 0 < raw < 1 and not number.percent
    other = proportion or (whole is not None and whole.value != scale.upper)
    return _only_a_violation(raw, scale) if other else raw, _around(text, number)


def _only_a_violation(raw: float, scale: Scale) -> float:
    """Keep a number of another scale only where it is off this one too."""
    return raw if scale.violates(raw) else math.nan


def _around(text: str, found: re.Match[str] | Number) -> str:
    """Return what stands before and after a number, its percent sign included."""
    start, end = (found.start, found.end) if isinstance(found, Number) else found.span()
    sign = " %" if isinstance(found, Number) and found.percent else ""
    return f"{text[:start]}{sign} {text[end:]}"


REPORTS: tuple[Rule[Callable[[str, Scale], Core | None]], ...] = (
    Rule("distribution", _distribution, "A number for every option is not one report.", "A: 3, B: 15"),
    Rule("anchor", _anchor, "The words that the prompt gives to the two ends.", "absolute certainty"),
    Rule("of_upper", _of_upper, "A number over the upper bound.", "17/20"),
    Rule("other_scale", _other_scale, "A number over anything else is read only as a violation.", "4/5"),
    Rule("correction", _correction, "The number after a change of mind.", "15, no, 17"),
    Rule("range", _range, "The middle of two numbers.", "15-18"),
    Rule("proportion", _proportion, "A decimal up to 1 is read only as a violation.", "0.85"),
    Rule("decimal", _decimal, "A decimal on the integer scale.", "15.5"),
    Rule("numeral", _numeral, "The first number in the text that is not denied.", "+17"),
    Rule("number_words", _number_words, "A number in words.", "seventeen"),
)
"""Ways to state a number, tried in order; the first that applies decides. The scale of the examples is 0-20."""

OFF_SCALE = frozenset({"distribution", "other_scale", "proportion", "number_words"})
"""Rules that may recognise a statement which is no report on the scale asked for."""


def _holds(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda around: compiled.search(around) is not None


QUALIFIERS: tuple[Rule[Callable[[str], bool]], ...] = (
    Rule("percent", _holds(r"%|\bper ?cent\b"), "A percent sign: the number stays.", "15%"),
    Rule(
        "hedge",
        _holds(
            r"~|\b(?:about|around|approx|approximately|roughly|nearly|almost|somewhere|maybe|perhaps|probably|or so)\b"
        ),
        "An approximate number: the number stays.",
        "about 15",
    ),
    Rule(
        "bound",
        _holds(r"[<>]|\b(?:at least|at most|over|under|above|below|more than|less than|up to)\b|\+\s*$"),
        "A bound: the number stays.",
        ">15",
    ),
    Rule("tolerance", _holds(r"±|\+/-"), "A tolerance: the number stays.", "15 ± 2"),
    Rule("remark", _holds(r"[^\W\d_]{2}"), "Words around the number.", "15 (high)"),
)
"""What may stand around a number without changing it."""


def read_confidence(value: str, scale: Scale) -> ScaleReport:
    """Read the confidence that a short text, such as what follows ``Confidence:``, states.

    Parameters
    ----------
    value : str
        Any text; its first `SPAN` characters are read.
    scale : Scale
        The scale that was asked for.

    Returns
    -------
    ScaleReport
        The number as said, on the scale or off it; NaN when none is stated.

    Examples
    --------
    >>> for text in ("17", "17/20", "about 15%", "15-18", "ninety", "4/5", "High"):
    ...     print(text, "->", read_confidence(text, Scale(0, 20)))
    17 -> ScaleReport(raw=17.0, rules=())
    17/20 -> ScaleReport(raw=17.0, rules=('of_upper',))
    about 15% -> ScaleReport(raw=15.0, rules=('percent', 'hedge', 'remark'))
    15-18 -> ScaleReport(raw=16.5, rules=('range',))
    ninety -> ScaleReport(raw=90.0, rules=('number_words',))
    4/5 -> ScaleReport(raw=nan, rules=('other_scale',))
    High -> ScaleReport(raw=nan, rules=())
    """
    value = value[:SPAN].strip()
    if _INTEGER.fullmatch(value):
        return ScaleReport(float(value))
    if is_placeholder(value):
        return ScaleReport(math.nan, ("placeholder",))
    value, used = clean_value(value)
    text = _mention(scale).sub(" ", value)
    if text != value:
        used = (*used, "scale_mention")
    for rule in REPORTS:
        core = rule.apply(text, scale)
        if core is not None:
            raw, around = core
            qualifiers = tuple(qualifier.name for qualifier in QUALIFIERS if qualifier.apply(around))
            named = () if rule.name == "numeral" and (used or qualifiers) else (rule.name,)
            return ScaleReport(raw, (*used, *named, *qualifiers))
    return ScaleReport(math.nan, used)
