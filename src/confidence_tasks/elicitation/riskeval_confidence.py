"""Finding the confidence that a free reply states, in figures or in words, and placing it in [0, 1].

A number is placed only where its scale is known: by a percent sign, a fraction, a scale that the reply names, or its
size. A number between 1 and 10 without any of these may be tenths or percents: it is not placed. The confidence that an
answer would take, such as the break-even one of a penalty, is not the one that the reply has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from confidence_tasks.elicitation.numbers import number_in_words
from confidence_tasks.elicitation.verbal_confidence import is_denied, verbal_confidence

IMPLIED_PERCENT = (10, 100)
"""A bare number above the first and up to the second is a percentage."""

_WINDOW = 160
_NUMBER = r"(?:0,\d{1,40}|\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})(?!\d|e[-+]?\d)"
_PERCENT = r"(?:\s?(?:%|percent\b|per\scent\b|pct\b))"
FIGURES = re.compile(
    rf"""
    (?P<between>between\s)?
    (?:about\s|around\s|approximately\s|roughly\s|approx\.?\s|~\s?|≈\s?|exactly\s|an?\s)?
    (?P<bound>(?:[<>]=?|over|above|under|below|at\sleast|at\smost|more\sthan|less\sthan|greater\sthan|up\sto|nearly|almost)\s?)?
    (?P<first>(?>[-+]?{_NUMBER})(?!\s?:\s?\d))(?P<percent>{_PERCENT})?
    (?: (?:\s?(?:-|to)\s?|(?<=\b50)/(?=50\b)|(?(between)\sand\s|(?!)))
        (?P<second>{_NUMBER})(?P<second_percent>{_PERCENT})?
      | (?:\s?/\s?|\s(?:out\sof|of|in)\s)(?P<whole>{_NUMBER}) )?
    (?:\s?[(,]?\s?on\sa\sscale\s(?:of|from)\s\d{{1,3}}\s?(?:-|to)\s?(?P<top>\d{{1,6}})\)?)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHANCE = r"(?:probability|likelihood|chance)"
_RIGHT = r"(?:correct(?:ness)?|right)"
_OF_BEING_RIGHT = rf"(?:\sof\s(?:being\s)?{_RIGHT}|\sthat\s[^.\n]{{0,60}}?\b{_RIGHT})"
_NOUN = rf"(?:confidence|certainty|{_CHANCE}{_OF_BEING_RIGHT})"
"""Chances other than that of being right belong to the question."""
_LATER, _EARLIER = r"final|overall|current|updated|revised|adjusted", r"initial|original|preliminary|first"
_MARK_AND_FIGURE = (
    r"(?=\s?(?:[:=|]|->|\bis\b)(?:\s?(?:about|around|approximately|roughly|only|now|at|least|over|nearly|almost|between|"
    r"[~<>=])){0,3}\s?[-+.]?\d)"
)
_TO_ANSWER = (
    r"(?:required|needed|necessary|threshold|cut-?off|break-?even"
    r"|to\s(?:answer|break\seven|justify|guess|attempt))\b"
)
_LABEL = re.compile(
    rf"(?:\b(?:my|the|your|estimated|{_LATER}|{_EARLIER})\s){{0,3}}"
    rf"\b{_NOUN}(?:\s(?:level|score|rating|estimate|value))?(?:\s?\((?P<scale>[^()\n]{{0,60}})\))?"
    rf"(?:\sthat\s[^:=|\n.;%]{{1,80}}{_MARK_AND_FIGURE}|\s(?:in|of|for)\s[^:=|\n.;\d]{{1,80}}{_MARK_AND_FIGURE}"
    rf"|\s(?:in|of|that|for)\s[^:=|\n.;\d]{{1,80}}?(?=\s?(?:[:=|]|->|\bis\b(?!\s{_RIGHT}\b)))"
    rf"|(?P<needed>\s{_TO_ANSWER}[^:=|\n.;\d]{{0,60}}(?=\s?(?:[:=|]|->|\bis\b))))?"
    r"\s?(?P<mark>[:=|]|->|\bis\b|\bat\b|\bof\b|-\s)?\s{0,4}(?:now\s|only\s)?",
    re.IGNORECASE,
)
_SCALE = re.compile(r"\d{1,3}%?\s?(?:-|to)\s?(?P<top>\d{1,6})")
_SCALE_FIRST = re.compile(rf"{_SCALE.pattern}%?\s?[:=]\s{{0,4}}(?={_NUMBER})")
_FIGURES_FIRST = re.compile(
    rf"(?<![\d.,])(?P<first>{_NUMBER})(?P<percent>{_PERCENT})?[ \t]"
    rf"(?:(?:confident|sure|certain|confidence|certainty)\b(?!\s(?:interval|level|limit|region|band))"
    rf"|{_CHANCE}{_OF_BEING_RIGHT}|likely\s(?:to\sbe\s)?{_RIGHT})",
    re.IGNORECASE,
)
_MINE_IS = re.compile(
    r"(?:^|[.,;:(]\s|\b(?:but|and|while|whereas)\s)(?P<said>mine\sis\s(?:only\s|just\s|now\s)?)",
    re.IGNORECASE | re.MULTILINE,
)
_SPOKEN_OF = re.compile(r"\b(?:confidence|certainty)\b", re.IGNORECASE)
_ENDS = re.compile(r"\s{0,4}(?:[.,;:!)\n]|so\b|\Z)", re.IGNORECASE)
_SURE = re.compile(
    r"\bI(?:'m|\sam)\s(?P<phrase>(?:[a-z]{1,20}\s){0,3}?(?:sure|confident|certain|unsure|uncertain)(?:\sat\sall)?)"
    r"(?=\s{0,4}(?:[.,;:!)]|$)|\s(?:that\s)?(?:it|this)\b|\s(?:that|in|of|about)\s(?:the|my|this)\s(?:final\s)?(?:answer|choice)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_LEVEL = re.compile(
    r"\b(?P<phrase>(?:(?:very|extremely|quite|fairly)\s)?(?:high|low|medium|moderate))\s(?:level\sof\s)?confidence\b",
    re.IGNORECASE,
)
_WORDS_END = re.compile(r"[.,;:()\n|]")
_IN_BRACKETS = re.compile(rf"\(\s?(?P<first>{_NUMBER})(?P<percent>{_PERCENT})\s?\)", re.IGNORECASE)


# What an answer would take ---------------------------------------------------------------------------------------

_BEFORE = 120
_CLAUSE = re.compile(
    r"[.!?](?=\s)|[,;()|\n]|\s-\s|\b(?:so|but|and|while|whereas|yet|since|because|hence|thus|therefore)\b",
    re.IGNORECASE,
)
_LEAST = r"(?:at\sleast|(?:more|greater|higher)\sthan|over|above|>=?|exceeding|a\sminimum\sof)"
_FILLERS = (
    rf"(?:\s?(?:{_LEAST}|to\s(?:be|have|reach|exceed)|an?|the|my|your|that|about|around|approximately|roughly|nearly|level|"
    r"of|is|minimum|some|[:=~])){0,6}\s?\Z"
)
_CONDITIONAL = re.compile(
    r"(?<!even\s)\b(?:if|when|whenever|unless|until|provided|whether|only\s(?:with|at|above|for))\b"
    r"(?!\s(?:forced|pressed)|\s(?:I|we)\s(?:had|have|were|was|must)\s(?:to|forced|guess)\b)",
    re.IGNORECASE,
)
_NEEDS = re.compile(
    rf"\b(?:need(?:s|ed|ing)?|requir(?:es?|ed|ing)|demand(?:s|ed)?|takes?|(?:must|have\sto|has\sto)\s(?:be|have|exceed))\b"
    rf"{_FILLERS}",
    re.IGNORECASE,
)
_BAR = re.compile(
    rf"\b(?:threshold|break-?\s?even|cut-?\s?off)\b|\bminimum{_FILLERS}|\S\s{_LEAST}\s?\Z"
    rf"|\b(?:exceed(?:s|ed|ing)?|surpass(?:es)?|meets?|clears?|reach(?:es)?|above|below|under|than)\sthe{_FILLERS}",
    re.IGNORECASE,
)
_OWN = re.compile(rf"\b(?:I(?:'m|\sam|\shave|\sfeel)|with)(?:\s(?:only|now))?{_FILLERS}", re.IGNORECASE)
_MINE = re.compile(r"my\b", re.IGNORECASE)
_NEEDED = re.compile(rf"\s(?:(?:is|are|was|would\sbe)\s)?{_TO_ANSWER}", re.IGNORECASE)


def demanded(text: str, start: int, end: int) -> bool:
    """Whether the confidence stated there is what an answer would take, by the words of its clause around it."""
    clause = _CLAUSE.split(text[max(0, start - _BEFORE) : start])[-1]
    if _CONDITIONAL.search(clause) or _NEEDS.search(clause):
        return True
    if _MINE.match(text, start) or _OWN.search(clause):
        return False
    return bool(_BAR.search(clause) or _NEEDED.match(text, end))


_NOTHING, _NOWHERE = Decimal(0), Decimal(-1)


@dataclass(frozen=True, slots=True)
class StatedConfidence:
    """A confidence as stated.

    Attributes
    ----------
    value : float
        In [0, 1]; NaN when it cannot be placed there.
    text : str
        What was said; empty when nothing was.
    rules : tuple of str
        Lenient rules that were needed, or ``out_of_range`` for a number that cannot be placed.
    start, end : int
        Where it stands in the text, with its label.
    label : str
        What it stands behind; empty for a statement of another kind.
    """

    value: float = math.nan
    text: str = ""
    rules: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    label: str = ""


UNSTATED = StatedConfidence()


def confidence_statements(text: str) -> tuple[StatedConfidence, ...]:
    """Find everything that a text says about confidence, what counts most first.

    Labelled statements come first, then figures before a word (``85% sure``), then ``mine is 60%`` after words about
    confidence, then words alone (``I am fairly sure``); within each kind the last one first. A label with nothing
    readable behind it is a statement without a text, and so is the confidence that an answer would take.

    Parameters
    ----------
    text : str
        A cleaned reply.

    Returns
    -------
    tuple of StatedConfidence

    Examples
    --------
    >>> for text in ("Confidence: 80 to 90%", "I am fairly sure.", "Confidence: 7", "I'd need 90% confidence", "A"):
    ...     print([(found.value, found.text, found.rules) for found in confidence_statements(text)])
    [(0.85, '80 to 90%', ('range',))]
    [(0.675, 'fairly sure', ('in_words',))]
    [(nan, '7', ('out_of_range',))]
    [(nan, '', ())]
    []
    """
    kinds = (_labelled, _figures_first, _mine, _in_words)
    return tuple(
        StatedConfidence(start=found.start, end=found.end)
        if demanded(text, found.start, found.end)
        else found
        for kind in kinds
        for found in reversed(list(kind(text)))
    )


ROUNDING = 0.005
"""Figures that differ by no more say the same."""

_REVISED, _REPLACED = re.compile(rf"\b(?:{_LATER}|now)\b", re.IGNORECASE), re.compile(_EARLIER, re.IGNORECASE)


def settled_confidence(statements: Sequence[StatedConfidence]) -> StatedConfidence:
    r"""Return the confidence that statements come to: the first with a text, unless the labels contradict each other.

    A label may say that it replaces the others (``final``), or that it is replaced (``initial``).

    Parameters
    ----------
    statements : sequence of StatedConfidence
        As `confidence_statements` returns them.

    Examples
    --------
    >>> for text in ("Confidence: 40%. Final confidence: 80%", "Confidence: 40%\nConfidence: 80%"):
    ...     found = settled_confidence(confidence_statements(text))
    ...     print(found.value, found.text, found.rules)
    0.8 80% ()
    nan  ('two_confidences',)
    """
    first = next((statement for statement in statements if statement.text), UNSTATED)
    if not first.label or _REVISED.search(first.label) or "in_words" in first.rules:
        return first
    others = (
        other.value
        for other in statements
        if other.label and "in_words" not in other.rules and not _REPLACED.search(other.label)
    )
    if any(abs(value - first.value) > ROUNDING for value in others):
        return StatedConfidence(rules=("two_confidences",))
    return first


def read_confidence(value: str) -> StatedConfidence:
    """Read a text that is a confidence and nothing else, such as the field of a parser's reply.

    Examples
    --------
    >>> read_confidence("0.85").value, read_confidence("very likely").value, read_confidence("null").text
    (0.85, 0.875, '')
    """
    return _value(value, 0, 0, "") or UNSTATED


def _labelled(text: str) -> Iterator[StatedConfidence]:
    """Find ``confidence: 0.8``, ``confidence is high``, ``confidence 80%``."""
    for label in _LABEL.finditer(text):
        line = text[label.end() : label.end() + _WINDOW].partition("\n")[0]
        if not label["mark"] and not FIGURES.match(line):
            continue
        found = _value(line, label.start(), label.end(), label["scale"] or "")
        if label["needed"]:
            yield StatedConfidence(start=label.start(), end=found.end if found else label.end())
        elif found is not None:
            yield replace(found, label=label[0])
        elif label["mark"] in {":", "=", "|"}:
            yield StatedConfidence(start=label.start(), end=label.end() + len(line))


def _value(line: str, start: int, offset: int, scale: str) -> StatedConfidence | None:
    """Read the value at the beginning of a line: figures, words with figures in brackets, words."""
    bare = line.lstrip(" \"'*")
    if named := _SCALE_FIRST.match(bare):
        scale, bare = named[0], bare[named.end() :]
    offset += len(line) - len(bare)
    if figures := FIGURES.match(bare):
        return placed(figures, start, offset + figures.end(), scale)
    words = _WORDS_END.split(bare, maxsplit=1)[0]
    value = verbal_confidence(words)
    if math.isnan(value):
        number = number_in_words(words)
        if number is None or not number.percent:
            return None
        share = float(number.value / 100)
        return StatedConfidence(share, number.text, ("number_words",), start, offset + number.end)
    if aside := _IN_BRACKETS.search(bare[len(words) :]):
        return placed(aside, start, offset + len(words) + aside.end(), scale)
    return StatedConfidence(value, words.strip(), ("in_words",), start, offset + len(words))


def _figures_first(text: str) -> Iterator[StatedConfidence]:
    """Find ``85% confident``, ``0.7 probability``."""
    for match in _FIGURES_FIRST.finditer(text):
        start, end = match.span()
        denied = is_denied(text, start)
        yield StatedConfidence(start=start, end=end) if denied else placed(match, start, end, "")


def _mine(text: str) -> Iterator[StatedConfidence]:
    """Find ``mine is 60%`` after words about confidence."""
    for match in _MINE_IS.finditer(text):
        start, figures = match.start("said"), FIGURES.match(text, match.end())
        spoken_of = _SPOKEN_OF.search(text, max(0, start - _BEFORE), start)
        if spoken_of and figures and _ENDS.match(text, figures.end()):
            yield placed(figures, start, figures.end(), "")


def _in_words(text: str) -> Iterator[StatedConfidence]:
    """Find ``I am fairly sure`` and ``with high confidence``."""
    for pattern in (_SURE, _LEVEL):
        for match in pattern.finditer(text):
            value = verbal_confidence(match["phrase"])
            if not math.isnan(value):
                yield StatedConfidence(value, match["phrase"], ("in_words",), match.start(), match.end())


def placed(match: re.Match[str], start: int, end: int, scale: str) -> StatedConfidence:
    """Place the figures of a match in [0, 1]."""
    groups = match.groupdict()
    named = _SCALE.search(scale)
    top = groups.get("top") or (named["top"] if named else None)
    percent = groups.get("percent") or groups.get("second_percent")
    written = "100" if percent else groups.get("whole") or top
    whole = _decimal(written) if written else None
    numbers = [_decimal(groups[key]) for key in ("first", "second") if groups.get(key)]
    shares = [_share(number, whole) for number in numbers]
    text = match[0].strip()
    if not all(0 <= share <= 1 for share in shares):
        return StatedConfidence(math.nan, text, ("out_of_range",), start, end)
    rules = {
        "bound": groups.get("bound"),
        "range": groups.get("second"),
        "named_scale": top and not percent and Decimal(top) != 1,
        "implied_percent": whole is None and numbers[0] > 1,
    }
    used = tuple(name for name, applies in rules.items() if applies)
    return StatedConfidence(float(sum(shares, _NOTHING) / len(shares)), text, used, start, end)


def _decimal(figures: str) -> Decimal:
    return Decimal(figures.replace(",", "."))


def _share(number: Decimal, whole: Decimal | None) -> Decimal:
    """Return a number as a share of its whole; -1 where it is not known of what it is a part."""
    if whole is None:
        lower, upper = IMPLIED_PERCENT
        whole = Decimal(100) if lower < number <= upper else Decimal(1)
    return number / whole if whole else _NOWHERE
