"""Reading the confidence that a text states on an integer scale.

The number said is the number read: nothing is converted from one scale to another. A percent sign is a habit (``75%``
on 7-79 says 75). A number that names another scale (``4/5`` on 0-20, ``0.85`` on 0-100) is not read, nor is a text with
a second number, a number in words, or words before or behind a number that could change what it means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from confidence_tasks.reading.cleaning import clean_value
from confidence_tasks.studies.scales.scale import Scale

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


REPORTS: Mapping[str, tuple[str, str]] = {
    "numeral": ("A sign, a leading zero or a full stop.", "+17"),
    "decimal": ("A decimal on the integer scale; up to 1 it is a proportion, which is not read.", "15.5"),
    "hedge": ("An approximate number: the number stays.", "about 15"),
    "range": ("The middle of two numbers within the scale, which are not the scale itself.", "15-18"),
    "percent": ("A percent sign: the number stays.", "15%"),
    "of_upper": ("A number over the upper bound.", "17/20"),
    "remark": ("A remark without a number of its own behind the number.", "15 (high)"),
}
"""Names of the lenient rules: what each reads, and an example on 0-20."""

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,5})", re.ASCII)
_NUMBER = r"\d{1,300}(?:\.\d{1,20})?(?![\d.,_]*\d)"


@lru_cache(maxsize=64)
def _report(scale: Scale) -> re.Pattern[str]:
    """Match a number and what may stand around it; a remark may name the bounds of the scale."""
    bounds = rf"(?<![\d.]){scale.lower}\s?(?:-|to|,|and)\s?{scale.upper}(?![\d%])"
    return re.compile(
        rf"""
        (?P<hedge>(?:about|around|approximately|approx\.?|roughly|~)\s?)?
        (?:(?P<range>{_NUMBER})\s?%?\s?(?:-|to)\s?)?
        (?P<number>(?(range)|[+-]?){_NUMBER})
        (?P<percent>\s?(?:%|percent\b|per\scent\b))?
        (?:\s?(?:/|out\sof\b)\s?(?P<whole>{_NUMBER}))?
        (?P<remark>\s(?:confident|confidence|sure|certain)\b)?
        (?P<rest>\W{{0,8}}|\s?(?:[-(\[.,;:!]|\bon\b)(?:\D|{bounds})*)
        """,
        re.VERBOSE | re.IGNORECASE,
    )


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
    >>> for text in ("17", "17/20", "about 15%", "15-18", "4/5", "0-20", "High"):
    ...     print(text, "->", read_confidence(text, Scale(0, 20)))
    17 -> ScaleReport(raw=17.0, rules=())
    17/20 -> ScaleReport(raw=17.0, rules=('of_upper',))
    about 15% -> ScaleReport(raw=15.0, rules=('hedge', 'percent'))
    15-18 -> ScaleReport(raw=16.5, rules=('range',))
    4/5 -> ScaleReport(raw=nan, rules=('of_upper',))
    0-20 -> ScaleReport(raw=nan, rules=('range',))
    High -> ScaleReport(raw=nan, rules=())
    """
    value = value[:SPAN].strip()
    if _INTEGER.fullmatch(value):
        return ScaleReport(float(value))
    value, used = clean_value(value)
    match = _report(scale).fullmatch(value)
    if match is None:
        return ScaleReport(math.nan, used)
    number, other = float(match["number"]), match["range"]
    forms = {
        "decimal": "." in match["number"],
        "hedge": match["hedge"],
        "range": other,
        "percent": match["percent"],
        "of_upper": match["whole"],
        "remark": match["remark"] or re.search(r"\w", match["rest"]),
    }
    rules = (*used, *(name for name, applies in forms.items() if applies)) or ("numeral",)
    if other:
        low, high = float(other), number
        echoed = (low, high) == (scale.lower, scale.upper)
        number = math.nan if echoed or not scale.lower <= low < high <= scale.upper else (low + high) / 2
    of_another_scale = (forms["decimal"] and 0 <= number <= 1) or (
        match["whole"] and float(match["whole"]) != scale.upper
    )
    return ScaleReport(math.nan if of_another_scale else number, rules)
