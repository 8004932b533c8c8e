"""Reading of numbers: signs, separators, currency, percent, fractions, powers of ten, number words.

Values are exact. Numerals with more than `MAX_DIGITS` digits, or beyond `MAX_MAGNITUDE` powers of ten, are skipped, so
that arithmetic is fast for any text and every value fits in a float.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from confidence_tasks.reading.cleaning import fold, strip_latex

MAX_DIGITS = 300
MAX_MAGNITUDE = 300
SPAN = 2_000
"""Maximum number of characters of a text that are searched for a number."""

SIGNIFICANT = 15
"""Number of significant digits of a fraction without a finite decimal expansion."""

_MULTIPLIERS = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

# Possessive (`++`) and bounded quantifiers keep the search linear: no long run of digits is ever tried twice.
_NUMERAL = re.compile(
    r"""
    (?<![A-Za-z0-9_)^]) (?<!\d[.,]) (?<!\w\*\*)  # never from the middle of a word, a number or a power
    (?P<sign>[-+]|(?:minus|negative)[ ])?
    (?:(?:US|CA|AU)?\$[ ]?|[€£¥₹][ ]?)?
    (?P<inner_sign>[-+])?
    (?:
        (?:(?P<whole>\d{1,6})(?:[ ]|-|[ ]and[ ]))? (?P<above>\d{1,12})[ ]?/[ ]?(?P<below>\d{1,12}) (?![\d/.])
      | (?:
            (?P<grouped>(?!0)\d{1,3}
                (?:(?:,\d{3}){1,99}+|(?:[ ]\d{3}){1,99}+|(?:'\d{3}){1,99}+|(?:_\d{3}){1,99}+)(?!\d)(?:\.\d++)?)
          | (?P<dotted>\d{1,3}(?:(?:\.\d{3}){2,99}+(?!\d)(?:,\d++)?|(?:\.\d{3}){1,99}+,\d++)
                |(?:0,\d++|\d++,\d{1,2})(?![\d,]))
          | (?P<plain>\d++(?:\.\d++)?|\.\d++)
        )
        (?: [eE](?P<exponent>[-+]?\d++)(?![A-Za-z])
          | [ ]?[x×*·][ ]?10[ ]?(?:\^|\*\*)[ ]?[({]?(?P<scale>[-+]?\d++)
          | [ ]?(?:\^|\*\*)[ ]?[({]?(?P<power>[-+]?\d++)
        )?
    )
    (?: [ ]?(?P<percent>%|percent\b|per[ ]cent\b|pct\b)
      | [ -]?(?P<multiplier>hundred|thousand|million|billion|trillion)\b
      | (?P<thousands>(?-i:k))\b )?
    (?!(?:st|nd|rd|th)\b|[ ]?\^|_\d)                              # an ordinal, the base of a power, or 1_0
    """,
    re.VERBOSE | re.IGNORECASE,
)

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: i for i, word in enumerate(_UNITS.split())} | {
    word: 10 * i for i, word in enumerate(_TENS.split(), start=2)
}
_DIGITS = "|".join(_UNITS.split()[:10])
_PARTS = {
    "half": 2,
    "halve": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
} | {"eighth": 8, "ninth": 9, "tenth": 10, "hundredth": 100}
_WORD = "|".join(sorted((*_SMALL, *_MULTIPLIERS), key=len, reverse=True))
# `(?=(?P<x>...))(?P=x)` is `(?P<x>...)` that never gives back: possessive groups of words fail before Python 3.11.5.
_WORDS = re.compile(
    rf"""
    (?<![\w-]) (?P<sign>(?:minus|negative)[ ])?
    (?:an?[ ](?=hundred|thousand|million|billion|trillion))?
    (?:(?=(?P<words>(?:{_WORD})(?!\w)(?:(?:[ -]|[ ]and[ ])(?:{_WORD})(?!\w)){{0,40}}))(?P=words))?
    (?:(?:(?<!\w)|[ ]) point (?=(?P<decimals>(?:[ -](?:{_DIGITS})(?!\w)){{1,15}}))(?P=decimals))?
    (?(words)|(?(decimals)|(?!)))
    (?:[ -] (?P<part>{"|".join(_PARTS)})(?P<plural>s)? | (?P<and_a_half>[ ]and[ ]a[ ]half))?
    (?:[ ](?P<times>{"|".join(_MULTIPLIERS)})(?!\w))?
    (?!-?\w)
    (?P<percent>[ ]?(?:%|percent\b|per[ ]cent\b))?
    """,
    re.VERBOSE | re.IGNORECASE,
)

_DETACHED_MINUS = re.compile(r"\A\s*-\s+(?=[$\d])")
_REMARK = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")
_LEADS = re.compile(
    r"\W{0,4}(?:(?:about|around|approximately|roughly|exactly|only|just|USD|EUR|GBP)\W{1,3})?", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"=|:(?!00\b)|\s[-+*/×<>]\s|\b(?:so|is|are|was|were|total|totals|therefore|thus|hence|equals|makes|gives|actually)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text.

    Attributes
    ----------
    value : Fraction
        The exact value. A percent sign does not change it: ``85%`` has the value 85.
    text : str
        The number as written.
    start, end : int
        Start and end in the text that was searched.
    percent : bool
        Whether a percent sign or word follows.
    forms : tuple of str
        Names of unusual notations, such as ``fraction`` or ``number_words``.
    """

    value: Fraction
    text: str
    start: int
    end: int
    percent: bool = False
    forms: tuple[str, ...] = ()


def find_numbers(text: str) -> Iterator[Number]:
    """Yield the numbers that a text writes in digits, in order and without overlap.

    Examples are ``1,234.5``, ``1.234,5``, ``1 234``, ``-$5``, ``3 1/2``, ``2.5e3`` and ``2.5 x 10^3``. Apply `fold`
    first to a text that may contain digits of other scripts.

    Examples
    --------
    >>> [canonical(number.value) for number in find_numbers("-$1,234.50 for 3 1/2 days, 2.5e3 or 1.5 million, 5-3")]
    ['-1234.5', '3.5', '2500', '1500000', '5', '3']
    """
    for match in _NUMERAL.finditer(text):
        value = _value(match)
        if value is not None and abs(value) < 10**MAX_MAGNITUDE:
            forms = tuple(name for name, groups in _FORMS.items() if any(match[group] for group in groups))
            yield Number(value, match[0], match.start(), match.end(), match["percent"] is not None, forms)


_FORMS = {
    "fraction": ("below",),
    "decimal_comma": ("dotted",),
    "power_of_ten": ("exponent", "scale", "power"),
    "multiplier": ("multiplier", "thousands"),
}


def _value(match: re.Match[str]) -> Fraction | None:
    """Return the exact value of a numeral; None if it is too large, a division by zero, or a power of another base."""
    if match["below"]:
        if int(match["below"]) == 0:
            return None
        value = int(match["whole"] or 0) + Fraction(int(match["above"]), int(match["below"]))
    else:
        plain = re.sub("[, '_]", "", match["grouped"] or match["plain"] or "")
        digits = match["dotted"].replace(".", "").replace(",", ".") if match["dotted"] else plain
        if len(digits) > MAX_DIGITS:
            return None
        value = Fraction(digits)
    exponent_digits = match["exponent"] or match["scale"] or match["power"] or "0"
    if len(exponent_digits) > MAX_DIGITS or (match["power"] and value != 10):
        return None
    exponent = int(exponent_digits)
    if abs(exponent) > MAX_MAGNITUDE:
        return None
    value = Fraction(10) ** exponent * (1 if match["power"] else value)
    value *= 1000 if match["thousands"] else _MULTIPLIERS.get((match["multiplier"] or "").lower(), 1)
    return -value if match["inner_sign"] == "-" or (match["sign"] or "+") != "+" else value


def find_number_words(text: str) -> Iterator[Number]:
    """Yield the numbers that a text writes in English words, in order and without overlap.

    Words that do not form one number, as in ``fifty-fifty`` and ``nineteen ninety-five``, are several numbers.

    Examples
    --------
    >>> [canonical(number.value) for number in find_number_words("two and a half, three quarters, zero point seven")]
    ['2.5', '0.75', '0.7']
    >>> [canonical(number.value) for number in find_number_words("fifty-fifty, twelve hundred, the twenty third")]
    ['50', '50', '1200']
    """
    for match in _WORDS.finditer(text):
        values = _combine_words(match["words"] or "zero")
        if match["decimals"]:
            decimals = re.split(r"[\s-]+", match["decimals"].lower().strip(" -"))
            values[-1] += Fraction(f"0.{''.join(str(_SMALL[word]) for word in decimals)}")
        if match["part"]:
            if (values[-1] == 1) == bool(match["plural"]):
                continue  # an ordinal
            values[-1] /= _PARTS[match["part"].lower()]
        values[-1] += Fraction(1, 2) if match["and_a_half"] else 0
        values[-1] *= _MULTIPLIERS.get((match["times"] or "").lower(), 1)
        for value in values:
            yield Number(
                -value if match["sign"] else value,
                match[0],
                match.start(),
                match.end(),
                match["percent"] is not None,
                ("number_words",),
            )


def _combine_words(words: str) -> list[Fraction]:
    """Return the numbers that consecutive number words form, each from as many words as possible."""
    numbers: list[Fraction] = []
    # Limits of the next multiplier and of the next small number, and the number that a multiplier multiplies.
    below = room = group = 0
    for word in re.split(r"[\s-]+", words.lower()):
        size = _MULTIPLIERS.get(word, 0)
        if word == "and":
            continue
        if numbers and size and 0 < group < size < below:
            numbers[-1] += group * (size - 1)
            below, room, group = (below, size, group * size) if size == 100 else (size, size, 0)
        elif numbers and 0 < _SMALL.get(word, 0) < room:
            numbers[-1] += _SMALL[word]
            group += _SMALL[word]
            room = 10 if _SMALL[word] >= 20 else 0  # units follow tens, nothing follows units
        else:
            value = size or _SMALL[word]
            numbers.append(Fraction(value))
            below, room, group = (
                (size, size, 0) if size > 100 else (10**15, size or (10 if value >= 20 else 0), value)
            )
    return numbers


def read_number(text: str) -> Number | None:
    r"""Return the number that a short text states as its result, such as the line of an answer; None if there is none.

    Of an equation, the right-hand side counts. A remark in brackets counts only if there is no number outside it. A
    text that begins with a number states this number (``18 dollars for 3 children``), and any other text states its
    last one (``The 3 children get 18``). Number words count if there are no digits. ``forms`` names the rules that were
    needed.

    Examples
    --------
    >>> for text in ("9 * 2 = $18.00", "18 (9 eggs at $2)", r"\boxed{\frac{3}{4}}", "eighteen", "−5", "none"):
    ...     number = read_number(text)
    ...     print(text, "->", number and canonical(number.value), number and number.forms)
    9 * 2 = $18.00 -> 18 ('equation',)
    18 (9 eggs at $2) -> 18 ('remark',)
    \boxed{\frac{3}{4}} -> 0.75 ('fraction',)
    eighteen -> 18 ('number_words',)
    −5 -> -5 ()
    none -> None None
    """
    plain = _DETACHED_MINUS.sub("-", strip_latex(fold(text[:SPAN])))
    numbers = list(find_numbers(plain)) or _number_words(plain)
    if not numbers:
        return None
    remarks = [remark.span() for remark in _REMARK.finditer(plain)]
    outside = [n for n in numbers if not any(start <= n.start < end for start, end in remarks)]
    aside = ("remark",) if 0 < len(outside) < len(numbers) else ()
    _, equals, right = (_REMARK.sub(" ", plain) if aside else plain).rpartition("=")
    result = read_number(right) if equals else None
    if result is not None:
        return replace(result, forms=(*result.forms, *aside, "equation"))
    numbers = outside or numbers
    first = numbers[0]
    if len(numbers) == 1:
        return replace(first, forms=first.forms + aside)
    leads = _LEADS.match(plain)
    begins = leads is not None and first.start <= leads.end()
    chosen = first if begins and not _GOES_ON.search(plain, first.end) else numbers[-1]
    return replace(chosen, forms=(*chosen.forms, *aside, "one_of_several"))


def _number_words(text: str) -> list[Number]:
    """Return the numbers in words. Beside other numbers, ``one`` is a pronoun, except in ``one in ten``."""
    numbers = list(find_number_words(text))
    kept = [n for n in numbers if n.text.lower() != "one" or text.startswith((" in ", " out "), n.end)]
    return kept or numbers


def canonical(value: Fraction) -> str:
    """Return a number in decimal digits, without separators, exponent or trailing zeros.

    The result is exact if the decimal expansion is finite, and else rounded half to even to 15 significant digits.

    Examples
    --------
    >>> canonical(Fraction(-1, 8)), canonical(Fraction(1, 3)), canonical(Fraction(1200))
    ('-0.125', '0.333333333333333', '1200')
    """
    remainder = value.denominator
    for prime in (2, 5):
        while remainder % prime == 0:
            remainder //= prime
    digits = 2 * MAX_DIGITS + 2 * MAX_MAGNITUDE if remainder == 1 else SIGNIFICANT
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emax=10**6, Emin=-(10**6))
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    written = f"{quotient:f}"
    return written.rstrip("0").rstrip(".") if "." in written else written
