"""Scales of stated confidence: bounds, words or letters, and the value of a short text on them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from confidence_tasks.reading.cleaning import fold, strip_latex
from confidence_tasks.reading.sureness import EXPRESSIONS

SPAN = 200
"""Maximum number of characters of a value that are read."""

AUTO = "auto"
"""Name of the scale whose unit each reply shows: a percent sign, a decimal point, or a number above 1."""

LEVELS: Mapping[str, float] = {
    "very low": 0.0,
    "low": 0.25,
    "medium": 0.5,
    "moderate": 0.5,
    "high": 0.75,
    "very high": 1.0,
}
"""Five levels at equal distances, as most prompts that ask for them leave the distances open."""

LIKERT: Mapping[str, float] = {
    **LEVELS,
    "not at all confident": 0.0,
    "slightly confident": 0.25,
    "somewhat confident": 0.5,
    "moderately confident": 0.5,
    "very confident": 0.75,
    "extremely confident": 1.0,
}
"""Words of scales of five steps."""


class Value(NamedTuple):
    """A confidence that was read on a scale.

    Attributes
    ----------
    value : float
        From 0 to 1; NaN if the text states none on this scale.
    raw : float
        The number as written; NaN for words.
    unit : str
        ``probability``, ``percent``, ``share``, ``words``, ``letter``, or the scale; empty if there is no value.
    reason : str
        Why there is no value.
    """

    value: float = math.nan
    raw: float = math.nan
    unit: str = ""
    reason: str = "no number"


@dataclass(frozen=True, slots=True)
class ConfidenceScale:
    """A scale of confidence.

    Attributes
    ----------
    name : str
        The name that :func:`parse_scale` takes.
    low, high : float
        The numbers that mean no confidence and certainty; NaN if no number is read.
    words : mapping of str to float
        Value of each word or letter in lower case.
    """

    name: str
    low: float = math.nan
    high: float = math.nan
    words: Mapping[str, float] = field(default_factory=dict)

    def read(self, text: str) -> Value:
        """Read a short text, such as what follows a label.

        Examples
        --------
        >>> parse_scale("0-1").read("about 85% (quite sure)").value, parse_scale("1-5").read("4/5").value
        (0.85, 0.75)
        """
        plain = strip_latex(fold(text[:SPAN])).strip(_AROUND)
        match = _NUMBER.match(plain)
        if match is None:
            return self._word(plain)
        if self.name != AUTO and math.isnan(self.low):
            return Value(reason=f"a number, where {self.name} are expected")
        return self._number(match)

    def _word(self, plain: str) -> Value:
        value = self.words.get(_FIRST_WORDS.sub("", plain).strip(_AROUND).casefold())
        if value is None:
            return Value()
        return Value(value, math.nan, "letter" if len(plain) == 1 else "words", "")

    def _number(self, match: re.Match[str]) -> Value:
        raw = _float(match["number"])
        if match["until"]:
            raw = (raw + _float(match["until"])) / 2.0
        if match["whole"]:
            return self._share(raw, _float(match["whole"]))
        if match["percent"]:
            return self._percent(raw)
        return (
            self._shown(match["number"], raw) if self.name == AUTO else self._on_scale(raw, match["number"])
        )

    def _share(self, raw: float, whole: float) -> Value:
        if raw == whole == 50.0 != self.high:
            return Value(raw=raw, reason="50/50, which mostly means even odds")
        if whole == self.high or self.low == 0.0 or self.name == AUTO:
            value = (raw - self._zero) / (whole - self._zero) if whole > self._zero else math.nan
            return _bounded(Value(value, raw, "share", ""))
        return Value(raw=raw, reason=f"out of {whole:g} on the scale {self.name}")

    @property
    def _zero(self) -> float:
        return 0.0 if math.isnan(self.low) else self.low

    def _percent(self, raw: float) -> Value:
        if self.name == AUTO or (self.low == 0.0 and self.high in (1.0, 100.0)):
            return _bounded(Value(raw / 100.0, raw, "percent", ""))
        return Value(raw=raw, reason=f"a percentage on the scale {self.name}")

    def _on_scale(self, raw: float, written: str) -> Value:
        if self.high == 100.0 and self.low == 0.0 and 0.0 < raw <= 1.0 and not written.isdigit():
            return Value(raw=raw, reason="a fraction on a scale of percentages")
        unit = _UNITS.get(self.name, f"scale {self.name}")
        return _bounded(Value((raw - self.low) / (self.high - self.low), raw, unit, ""))

    @staticmethod
    def _shown(written: str, raw: float) -> Value:
        """Read a number without a scale by its form."""
        if written.lstrip("+") == "1":
            return Value(raw=raw, reason="a bare 1, which is certainty or one percent")
        is_percent = raw > 1.0
        value = raw / 100.0 if is_percent else raw
        return _bounded(Value(value, raw, "percent" if is_percent else "probability", ""))


_AROUND = " \t\r\n\"'*_`“”‘’«»$<>[]{}(\\"
_UNITS = {"0-1": "probability", "0-100": "percent"}
_DIGITS = r"[-+]?(?:\d{1,6}(?:[.,]\d{1,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?(?![.,]?\d)"
_NUMBER = re.compile(
    rf"""
    (?:(?:about|around|approximately|approx\.?|roughly|nearly|over|at\sleast|maybe|perhaps|~|≈|>|<|=)\s{{0,3}}){{0,2}}
    (?P<number>{_DIGITS})
    (?!\s?%?\s?(?:or|->)\s?\d|\s\d)
    (?:\s?%?\s?(?:-|–|to)\s?(?P<until>{_DIGITS}))?
    (?:\s?(?P<percent>%|percent\b|per\scent\b|pct\b)|\s?(?:/|out\sof|in)\s?(?P<whole>{_DIGITS}))?
    (?!\s?[a-z]{{3,20}}\b(?<!confident)(?<!confidence)(?<!sure)(?<!certain)(?<!certainty)(?<!that)(?<!because)(?<!since)
       (?<!based)(?<!given)(?<!and)(?<!for)(?<!due)(?<!chance)(?<!probability)(?<!likely)(?<!but)(?<!with))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FIRST_WORDS = re.compile(r"[.,;:(\[\n].*", re.DOTALL)
_BOUNDS = re.compile(r"\s*\[?\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*(?:-|,|to)\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*\]?\s*")
_LETTERS = re.compile(r"([A-Za-z])-([A-Za-z])")


def _float(written: str) -> float:
    """Return the value of a number; a comma is a decimal sign, unless it groups thousands."""
    whole, comma, decimals = written.partition(",")
    is_group = comma and len(decimals) == 3 and whole.strip("+-0")
    return float(whole + decimals if is_group else written.replace(",", "."))


def _bounded(value: Value) -> Value:
    """Withhold a value outside [0, 1]."""
    if 0.0 <= value.value <= 1.0:
        return value
    return Value(raw=value.raw, reason="out of range")


def parse_scale(name: str) -> ConfidenceScale:
    """Return the scale that a user names.

    Parameters
    ----------
    name : str
        Two numbers, of which the first means no confidence, such as ``0-1``, ``0-100``, ``1-5`` or ``0.5-1``; two
        letters, such as ``E-A``; words at equal distances, the lowest first, such as ``unsure<neutral<sure``; ``words``
        (expressions of probability), ``levels`` (very low to very high), ``likert-5`` (1 to 5, or words), or ``auto``.

    Raises
    ------
    ValueError
        If the name is none of these.

    Examples
    --------
    >>> [parse_scale(name).read(text).value for name, text in (("0.5-1", "0.75"), ("E-A", "B"), ("words", "Likely."))]
    [0.5, 0.75, 0.7]
    """
    if name in NAMED:
        return NAMED[name]
    if bounds := _BOUNDS.fullmatch(name):
        low, high = float(bounds[1]), float(bounds[2])
        if low != high:
            return ConfidenceScale(f"{low:g}-{high:g}", low, high)
    if levels := _letters(name) or _ordered_words(name):
        return ConfidenceScale(name, words={level: i / (len(levels) - 1) for i, level in enumerate(levels)})
    raise ValueError(
        f"scale {name!r} cannot be read: write two numbers or letters of which the first means no confidence, such as"
        f" 0-1, 0-100 or E-A; words in order, such as 'unsure<neutral<sure'; or one of {', '.join(NAMED)}"
    )


def _letters(name: str) -> list[str]:
    """Return the letters from the first to the last of two, such as those of E-A; none if they are not two."""
    ends = _LETTERS.fullmatch(name)
    if not ends or ends[1].lower() == ends[2].lower():
        return []
    first, last = (ord(letter.lower()) for letter in ends.groups())
    step = 1 if last > first else -1
    return [chr(code) for code in range(first, last + step, step)]


def _ordered_words(name: str) -> list[str]:
    """Return the words of a scale such as ``unsure<neutral<sure``; none if they are no such scale."""
    levels = [level.strip().casefold() for level in name.split("<")]
    return levels if len(set(levels)) == len(levels) > 1 and all(levels) else []


NAMED: Mapping[str, ConfidenceScale] = {
    scale.name: scale
    for scale in (
        ConfidenceScale(AUTO, words={word.casefold(): value for word, value in EXPRESSIONS.items()}),
        ConfidenceScale("words", words={word.casefold(): value for word, value in EXPRESSIONS.items()}),
        ConfidenceScale("levels", words=LEVELS),
        ConfidenceScale("likert-5", 1.0, 5.0, LIKERT),
    )
}
"""Scales with a name of their own."""
