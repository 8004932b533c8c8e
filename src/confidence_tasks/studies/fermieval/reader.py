"""Reading a FermiEval reply: the two ends of an interval, as exponents of ten.

Ends are read as written. Nothing is raised to a power: ``1e3`` is the exponent 1000, and where a reply writes the
power itself, ``10^6``, its exponent is read, which a rule records. Numbers are never expanded, so that a thousand
digits cost no more than their length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from confidence_tasks.reading.answers import is_refusal
from confidence_tasks.reading.cleaning import (
    bounded,
    fold,
    last_box,
    read_first_turn,
    strip_thoughts,
)
from confidence_tasks.reading.fields import RULES as JSON_RULES
from confidence_tasks.reading.fields import read_json_fields
from confidence_tasks.studies.fermieval.prompts import LARGEST_EXPONENT
from confidence_tasks.study.trial import Status

KEYS = ("L", "U")

RULES: Mapping[str, str] = {
    **JSON_RULES,
    "next_turn": "The reply goes on with a question of its own making: what follows from there does not count.",
    "brackets": "There is no JSON: the last interval written as [10^a, 10^b] counts.",
    "power": "An end is written as a power of ten: its exponent counts.",
    "scientific": "An end is written as 1e3: it is the exponent 1000.",
    "decimal": "An end is not written as an integer: it counts as it is, without rounding.",
    "wording": "Words or marks stand around an exponent on its line.",
    "swapped": "The lower end exceeds the upper one: they are exchanged.",
}
"""Names of the lenient rules, and what each does."""

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("", re.compile(r"[-+]?\d++")),
    ("decimal", re.compile(r"[-+]?(?:\d++\.\d*+|\.\d++)")),
    ("scientific", re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)[eE][-+]?\d++")),
    ("power", re.compile(r"10\s{0,4}(?:\^|\*\*)\s{0,4}\(?([-+]?\d++(?:\.\d++)?)\)?")),
)
"""How an end may be written, and the rule that records it."""

_BRACED_POWER = re.compile(r"10\s{0,4}\^\s{0,4}\{\s{0,4}([-+]?\d++(?:\.\d++)?)\s{0,4}\}")
_POWER = r"10\s{0,4}(?:\^|\*\*)\s{0,4}\(?[-+]?\d++(?:\.\d++)?\)?"
_BRACKETS = re.compile(rf"\[\s{{0,8}}({_POWER})\s{{0,8}},\s{{0,8}}({_POWER})\s{{0,8}}\]")


@dataclass(frozen=True, slots=True)
class IntervalReading:
    """The interval that a reply states.

    Attributes
    ----------
    lower, upper : float
        Its ends as exponents of ten, lower <= upper; NaN unless both can be read and are within bounds.
    status : Status
        ``missing_answer`` for one end alone, ``out_of_range`` for an end beyond `LARGEST_EXPONENT`.
    stated : str
        The ends as written, shortened; empty when there is none.
    rules : tuple of str
        Names of the lenient rules used, in order.
    """

    lower: float
    upper: float
    status: Status
    stated: str
    rules: tuple[str, ...] = ()


def read_exponent(text: str) -> tuple[float, str]:
    """Read one end, and the name of the rule that it took; NaN when the text is not a number and nothing else.

    Examples
    --------
    >>> for text in ("13", "-4", "10^6", "1e3", "2.5", "9" * 400, "six", "10 million"):
    ...     print(text[:10], read_exponent(text))
    13 (13.0, '')
    -4 (-4.0, '')
    10^6 (6.0, 'power')
    1e3 (1000.0, 'scientific')
    2.5 (2.5, 'decimal')
    9999999999 (inf, '')
    six (nan, '')
    10 million (nan, '')
    """
    for rule, form in _FORMS:
        if found := form.fullmatch(text.strip()):
            return float(found[1] if rule == "power" else found[0]), rule
    return math.nan, ""


def read_fermi_interval(text: str) -> IntervalReading:
    r"""Read the interval of a reply: the last JSON object with L and U; any text in, a reading out, in linear time.

    Parameters
    ----------
    text : str
        The reply. Reasoning before the object is part of the format. Where a model goes on with a question of its own
        making, the first of its turns that states an end counts.

    Returns
    -------
    IntervalReading
        The ends, their status, and the lenient rules that they took.

    Examples
    --------
    >>> read_fermi_interval('About 10^13 pennies.\n{"L": 12, "U": 14}')
    IntervalReading(lower=12.0, upper=14.0, status='ok', stated='12, 14', rules=())
    >>> read_fermi_interval('{"L": 10^6, "U": 10^9}')
    IntervalReading(lower=6.0, upper=9.0, status='repaired', stated='10^6, 10^9', rules=('fields', 'power'))
    >>> read_fermi_interval('{"L": 9, "U": 6}').rules, read_fermi_interval('{"L": 1, "U": 1000000}').status
    (('swapped',), 'out_of_range')
    >>> read_fermi_interval('{"L": 3, "U": 5}\nQuestion: How many ants?\n{"L": 15, "U": 16}').stated
    '3, 5'
    >>> read_fermi_interval("Between a thousand and a million.").status
    'unreadable'
    """
    text = _BRACED_POWER.sub(r"10^\1", bounded(text))
    said = strip_thoughts(text)
    thought = ("thought",) if said != text else ()
    reading, cut = read_first_turn(said, _read_turn, lambda reading: reading.stated)
    if not reading.stated:
        return IntervalReading(math.nan, math.nan, _fault(len(KEYS), text), "", thought)
    rules = (*thought, *(("next_turn",) if cut else ()), *reading.rules)
    status: Status = "repaired" if rules and reading.status == "ok" else reading.status
    return replace(reading, status=status, rules=rules)


def _read_turn(text: str) -> IntervalReading:
    """Read the interval that one turn states."""
    found = read_json_fields(text, KEYS, last=True)
    fields, rules = found.fields, _beyond_format(found.rules, text)
    if not fields and (ends := _BRACKETS.findall(fold(text))):
        fields, rules = dict(zip(KEYS, ends[-1], strict=True)), ("brackets",)
    said = [fold(fields.get(key, "")) for key in KEYS]
    (lower, lower_rule), (upper, upper_rule) = map(read_exponent, said)
    rules = (*rules, *dict.fromkeys(rule for rule in (lower_rule, upper_rule) if rule))
    stated = ", ".join(map(_shortened, said)) if any(said) else ""
    missing = math.isnan(lower) + math.isnan(upper)
    if missing:
        return IntervalReading(math.nan, math.nan, _fault(missing, text), stated, rules)
    return _within_bounds(lower, upper, stated, rules)


def _within_bounds(lower: float, upper: float, stated: str, rules: tuple[str, ...]) -> IntervalReading:
    """Return the ends in their order, unless one is no order of magnitude."""
    if max(abs(lower), abs(upper)) > LARGEST_EXPONENT:
        return IntervalReading(math.nan, math.nan, "out_of_range", stated, rules)
    if lower > upper:
        lower, upper, rules = upper, lower, (*rules, "swapped")
    return IntervalReading(lower, upper, "repaired" if rules else "ok", stated, rules)


_APPROXIMATELY = re.compile(r"[≈≃≅]|\\(?:approx|simeq|sim)(?![A-Za-z])")
_LABEL = re.compile(
    r"(?:[=:]|(?<!\d)(?<!\d\s)~|\bis\b)(?:\s{0,4}(?:about|approximately|approx\.|roughly|around)\s)?",
    re.IGNORECASE,
)
"""A tilde behind a digit joins the ends of a range, as in 12~14."""
_SAID_AGAIN = re.compile(
    r"(?<=[\d*])\s{1,4}\([^()\d]{0,40}(?:10\s?\^\s?\(?(?P<exponent>[-+]?\d{1,9})\)?[^()\d]{0,40})?\)\W{0,4}\Z"
)
"""A remark in brackets, with the power of ten if with any number."""
_CLOSING_MARKS = re.compile(r"(?:```|~~~|\$\$|\\[\])]|-{3,}|\s)*+")
_MARKS = " \t*`$()[].\\"


def read_fermi_exponent(text: str) -> IntervalReading:
    r"""Read the exponent of a reply, the number on its last line that says anything, as an interval that is a point.

    Parameters
    ----------
    text : str
        The reply; text before that line is part of the format.

    Returns
    -------
    IntervalReading
        Both ends are the exponent, read as the end of an interval is.

    Examples
    --------
    >>> read_fermi_exponent("-4")
    IntervalReading(lower=-4.0, upper=-4.0, status='ok', stated='-4', rules=())
    >>> read_fermi_exponent("A trillion pennies, or so.\n**10^12**")
    IntervalReading(lower=12.0, upper=12.0, status='repaired', stated='10^12', rules=('wording', 'power'))
    >>> [read_fermi_exponent(closing).lower for closing in ("So x ≈ 13", r"\boxed{13}", "13 (i.e. 10^13)")]
    [13.0, 13.0, 13.0]
    """
    said = fold(_APPROXIMATELY.sub("=", strip_thoughts(bounded(text))))
    said = _BRACED_POWER.sub(r"10^\1", said).strip()
    last = next(
        (line.strip() for line in reversed(said.splitlines()) if not _CLOSING_MARKS.fullmatch(line)), ""
    )
    number = _number_of(last)
    value, rule = read_exponent(number)
    if math.isnan(value):
        return IntervalReading(math.nan, math.nan, _fault(len(KEYS), said), "")
    rules = tuple(name for name in ("wording" if number != last else "", rule) if name)
    return _within_bounds(value, value, _shortened(number), rules)


def _number_of(line: str) -> str:
    """Return what a line gives as its number, without the words, marks and remarks around it."""
    line = last_box(line) or line
    again = _SAID_AGAIN.search(line)
    if again is None:
        return _LABEL.split(line)[-1].strip(_MARKS)
    number = _LABEL.split(line[: again.start()])[-1].strip(_MARKS)
    return number if again["exponent"] in {None, number} else line


def _beyond_format(rules: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Drop the rule of text around the object where all of it comes before, as the prompt allows."""
    return tuple(rule for rule in rules if rule != "around" or not text.rstrip().endswith("}"))


def _fault(missing: int, text: str) -> Status:
    if missing < len(KEYS):
        return "missing_answer"
    return "refused" if is_refusal(text) else "unreadable"


_SHOWN = 24


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
