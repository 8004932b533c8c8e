"""Finding the confidence that a free reply states, in figures or in words, and placing it in [0, 1].

A number is read whole or not at all, and only where its scale is known: by a percent sign, by the number that it is out
of, by a label that names the scale, or by its size. A number between 1 and 10 without any of these is not placed. What
else its clause speaks of, such as being wrong or what an answer would take, makes it no confidence in the answer.

Words of likelihood take the middle of their range in Intelligence Community Directive 203 (Office of the Director of
National Intelligence, 2015, section D.6.e.2.a). Levels of confidence take the chance of being correct that the
Guidance Notes for Lead Authors of the IPCC Fourth Assessment Report (2005, table 3) give them, the middle where that
is a range. ``certain`` and ``impossible`` are 1 and 0 by their meaning. Words of being sure, which no standard
defines, take the level of confidence or the likelihood that they are nearest to; the table says which.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.numbers import find_numbers
from confidence_tasks.study.trial import Kind

IMPLIED_PERCENT = (10, 100)
"""A bare number above the first and up to the second is a percentage."""

ROUNDING = 0.005
"""Largest difference between two figures that state the same confidence."""

_NUMBER = r"(?:\d{1,40}(?:\.\d{1,40}|,\d{1,2})?|0,\d{1,40}|\.\d{1,40})(?![\d_]|[.,]\d|e[-+]?\d)"
_PERCENT = r"(?P<percent>\s?(?:%|percent\b))"
_FIGURES = (
    rf"(?:(?:about|around|approximately|roughly|only|just|~)\s?)?(?P<bound>[<>]=?\s?)?(?P<first>[-+]?{_NUMBER}){_PERCENT}?"
    r"(?:\s?(?:/|out\sof)\s?(?P<whole>100?|1)(?![\d.]))?(?!\s?(?:-|to|or|/|:|±)\s?\d)"
)
_VALUE = re.compile(
    rf"{_FIGURES}(?=\s{{0,4}}(?:[.,;:!()\[\]|}}\"'\n]|-\s|(?:so|and|but)\b|\Z))", re.IGNORECASE
)
_RIGHT = r"(?:correct(?:ness)?|right)"
_OF_BEING_RIGHT = (
    rf"(?:probability|likelihood|chance)(?:\sof\s(?:being\s)?{_RIGHT}|\sthat\s[^.\n]{{0,60}}?\b{_RIGHT})"
)
"""Words for the chance of being right; other chances belong to the question."""
_LABEL = re.compile(
    rf"\b(?:(?:my|the|your|estimated|overall|(?P<revised>final|revised|updated)|initial)\s){{0,3}}"
    rf"\b(?:confidence|certainty|{_OF_BEING_RIGHT})(?:\s(?:level|score|rating|estimate))?"
    r"(?:\s?\((?:0%?\s?(?:-|to)\s?(?P<top>100|1)%?|[^()\d\n]{0,60})\))?"
    r"(?:\s(?:that|in|for)\s[^:=|\n.;%]{1,80}(?=\s?(?:[:=|]|\bis\b)))?"
    r"(?:\s?(?P<mark>[:=|]|->)\s{0,4}|[ ](?:is|of|at)[ ]|[ ](?=[\d.~<>]))",
    re.IGNORECASE,
)
_FIGURES_FIRST = re.compile(
    rf"(?<![\w.,/])(?<!\d-)(?P<first>{_NUMBER}){_PERCENT}?[ ]"
    rf"(?:(?:confident|sure|certain|confidence|certainty)\b(?!\s(?:interval|level|limit|region|band))"
    rf"|{_OF_BEING_RIGHT}|likely\s(?:to\sbe\s)?{_RIGHT})",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\bI(?:'m|\sam)\s(?P<sure>(?:[a-z]{1,20}\s){0,3}?(?:sure|confident|certain|unsure|uncertain)(?:\sat\sall)?)"
    r"(?=\s{0,4}(?:[.,;:!)]|$)|\s(?:that\s)?(?:it|this)\b|\s(?:that|in|of|about)\s(?:the|my|this)\s(?:final\s)?answer\b)"
    r"|\bwith\s(?P<level>(?:(?:very|extremely|quite|fairly)\s)?(?:high|low|medium|moderate))\s(?:level\sof\s)?confidence\b",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = re.compile(r"[^.,;:()\n|]{0,100}")
_IN_BRACKETS = re.compile(rf"\s?\(\s?{_FIGURES}\s?\)", re.IGNORECASE)

_SPAN = 120
"""Maximum number of characters of the clause before, and after, a statement."""
_CLAUSE_ENDS = re.compile(
    r"[.!?](?=\s|\Z)|[,;()|\n]|\s-\s|\b(?:so|but|and|while|yet|since|because|hence|thus)\b", re.IGNORECASE
)
_OF_ANOTHER_MATTER = re.compile(
    r"\b(?:not|never|cannot|lack|without|wrong|incorrect|mistaken|error|if|when|unless|until|whether|would|must"
    r"|need\w*|requir\w*|demand\w*|minimum|threshold|break-?\s?even|cut-?\s?off|exceed\w*|above|below|under|over|than|at\sleast)\b"
    r"|n't\b",
    re.IGNORECASE,
)
"""Words of a denial, a condition, or the confidence that an answer would take."""


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
    revised : bool
        Whether its label says that it replaces what was said before.
    """

    value: float = math.nan
    text: str = ""
    rules: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    revised: bool = False


UNSTATED = StatedConfidence()


def find_confidences(
    text: str, kind: Kind, choices: Sequence[str] = ()
) -> tuple[StatedConfidence, list[tuple[int, int]]]:
    r"""Find the confidence that a cleaned reply comes to, and where all statements of one lie, in order.

    Labelled confidences count before figures with a word behind them (``85% sure``), these before words alone (``I am
    fairly sure``), and these before a figure behind an answer (``B, 90%``). Different figures of one sort leave it open
    which of them counts, unless the label of the last says that it is the final one.

    Examples
    --------
    >>> for text in ("Confidence: 85%", "I am fairly sure.", "Confidence: 7", "90% sure that this is wrong", "B, 90%"):
    ...     found, spans = find_confidences(text, "choice", ("Paris", "London"))
    ...     print(found.value, found.text, found.rules, spans)
    0.85 85% () [(0, 15)]
    0.675 fairly sure ('in_words',) [(0, 16)]
    nan 7 ('out_of_range',) [(0, 13)]
    nan  () [(0, 8)]
    0.9 90% ('no_label',) [(1, 6)]
    """
    sorts = [list(find(text)) for find in (_labelled, _figures_first, _in_words)]
    sorts.append(list(_behind_an_answer(text, kind, tuple(choices))))
    spans = sorted((one.start, one.end) for found in sorts for one in found)
    for found in sorts:
        counting = [one for one in found if one.text]
        figures = [one for one in counting if "in_words" not in one.rules]
        if figures and not figures[-1].revised and not _agree(figures):
            return StatedConfidence(rules=("two_confidences",)), spans
        if counting:
            return (figures or counting)[-1], spans
    return UNSTATED, spans


def _agree(found: Sequence[StatedConfidence]) -> bool:
    return all(abs(one.value - found[0].value) <= ROUNDING for one in found[1:])


def read_confidence(value: str) -> StatedConfidence:
    """Read a text that is a confidence and nothing else, such as the field of a parser's reply.

    Examples
    --------
    >>> read_confidence("0.85").value, read_confidence("very likely").value, read_confidence("null").text
    (0.85, 0.875, '')
    """
    return _value(value, 0, None)


def _labelled(text: str) -> Iterator[StatedConfidence]:
    """Find ``confidence: 0.8``, ``confidence is high``, ``confidence 80%``."""
    for label in _LABEL.finditer(text):
        found = replace(
            _value(text, label.end(), label["top"]), start=label.start(), revised=bool(label["revised"])
        )
        if not found.text and label["mark"]:
            yield replace(found, end=label.end() + len(text[label.end() :].partition("\n")[0]))
        elif found.text:
            yield _own(text, found, label[0])


def _value(text: str, position: int, top: str | None) -> StatedConfidence:
    """Read the value at a place of a text: figures, words with figures in brackets, words."""
    while text[position : position + 1] in {'"', "'", "*"}:
        position += 1
    if figures := _VALUE.match(text, position):
        return _placed(figures, top)
    words = _WORDS.match(text, position)
    value = verbal_confidence(words[0]) if words else math.nan
    if words is None or math.isnan(value):
        return UNSTATED
    if aside := _IN_BRACKETS.match(text, words.end()):
        return _placed(aside, top)
    return StatedConfidence(value, words[0].strip(), ("in_words",), position, words.end())


def _figures_first(text: str) -> Iterator[StatedConfidence]:
    """Find ``85% confident``, ``0.7 probability of being right``."""
    for match in _FIGURES_FIRST.finditer(text):
        yield _own(text, _placed(match))


def _in_words(text: str) -> Iterator[StatedConfidence]:
    """Find ``I am fairly sure`` and ``with high confidence``."""
    for match in _IN_WORDS.finditer(text):
        phrase = match["sure"] or match["level"]
        value = verbal_confidence(phrase)
        if not math.isnan(value):
            yield _own(text, StatedConfidence(value, phrase, ("in_words",), *match.span()))


def _own(text: str, found: StatedConfidence, label: str = "") -> StatedConfidence:
    """Return a statement without its text where the words of its clause are of another matter."""
    before = _CLAUSE_ENDS.split(text[max(0, found.start - _SPAN) : found.start])[-1]
    after = _CLAUSE_ENDS.split(text[found.end : found.end + _SPAN], maxsplit=1)[0]
    if any(map(_OF_ANOTHER_MATTER.search, (before, label, after))):
        return StatedConfidence(start=found.start, end=found.end)
    return found


def _placed(match: re.Match[str], top: str | None = None) -> StatedConfidence:
    """Place the figures of a match in [0, 1]."""
    groups = match.groupdict()
    number = Decimal(groups["first"].replace(",", "."))
    lower, upper = IMPLIED_PERCENT
    implied = "100" if lower < number <= upper else "1"
    share = number / Decimal("100" if groups["percent"] else groups.get("whole") or top or implied)
    text = match[0].strip(" ()")
    if not 0 <= share <= 1:
        return StatedConfidence(math.nan, text, ("out_of_range",), *match.span())
    bare = not (groups["percent"] or groups.get("whole") or top)
    rules = (("bound", groups.get("bound")), ("implied_percent", bare and number > 1))
    return StatedConfidence(
        float(share), text, tuple(name for name, applies in rules if applies), *match.span()
    )


# In words ---------------------------------------------------------------------------------------------------------

_ROWS = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8").splitlines()

TABLE: tuple[tuple[float, str, str], ...] = tuple(
    (float(value), source, expressions) for value, source, expressions in (row.split(" | ") for row in _ROWS)
)
"""Rows of a probability, its source, and the expressions that stand for it."""

EXPRESSIONS: Mapping[str, float] = {
    expression: value for value, _, expressions in TABLE for expression in expressions.split(", ")
}

_MEANS_SURE, _MEANS_UNSURE = (
    re.compile(r"\b(?:confident|certain)\b"),
    re.compile(r"\b(?:uncertain|doubtful)\b"),
)
"""Words that mean ``sure`` and ``unsure`` where the table does not have them."""

_NOISE = re.compile(
    r"\b(?:i am|i'm|i'd say|it is|it's|my|is|a|an|level|levels|degree|of|confidence|in this|in my answer)\b|[.!,;:]"
)


def verbal_confidence(phrase: str) -> float:
    """Return the number in [0, 1] that an expression such as ``very likely`` stands for; NaN where the table has none.

    Examples
    --------
    >>> verbal_confidence("Very likely."), verbal_confidence("high confidence"), verbal_confidence("purple")
    (0.875, 0.8, nan)
    """
    words = " ".join(phrase.casefold().split())[:80]
    for text in (words.strip(" .!,;:"), " ".join(_NOISE.sub(" ", words).split())):
        for known in (text, _MEANS_UNSURE.sub("unsure", _MEANS_SURE.sub("sure", text))):
            if known in EXPRESSIONS:
                return EXPRESSIONS[known]
    return math.nan


# Without a word for it ------------------------------------------------------------------------------------------

_BEHIND = re.compile(
    rf"(?P<answer>[^\n]{{1,200}}?)(?P<figure>\s{{0,4}}(?:[,;|:(\[\n]|[.-]\s)\s{{0,4}}{_FIGURES}\s?[)\]]?)[.,!]?\s*",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:(?:my|the|final)\s){0,2}(?:answer|decision)\s?[:=]\s?", re.IGNORECASE)
_ABSTAINS = re.compile(r"\W{0,4}(?:I\s(?:will\s|must\s|choose\sto\s)?)?abstain\W{0,4}", re.IGNORECASE)
_SURE = frozenset({"option_text", "box", "latex", "wrapped", "lead_in", "leading_word", "unicode"})
"""Reading rules whose result is not ambiguous."""
_MOST_LINES = 20


def _behind_an_answer(text: str, kind: Kind, choices: tuple[str, ...]) -> Iterator[StatedConfidence]:
    """Find ``B, 90%``, ``B (90%)``, or a figure alone on the last line, below an answer; one at most in a reply."""
    lines = [line.span() for line in re.finditer(r"[^\n]*\S[^\n]*", text)]
    last_two = [(lines[-2][0], lines[-1][1])] if len(lines) > 1 else []
    found = {}
    for start, end in (*lines[:_MOST_LINES], *lines[-_MOST_LINES:], *last_two):
        match = _BEHIND.fullmatch(text, start, end)
        if match and (answer := _answer_of(match, kind, choices)):
            said, (begin, stop) = _placed(match), match.span("figure")
            stated = match["figure"].strip(" \n,;|:()[]-.")
            found[answer, said.value] = replace(said, text=stated, rules=("no_label",), start=begin, end=stop)
    if len(found) == 1:
        yield from (_own(text, said) for said in found.values() if not math.isnan(said.value))


def _answer_of(match: re.Match[str], kind: Kind, choices: tuple[str, ...]) -> str:
    """Return the answer before a figure; empty where there is none, or where the figure may be part of an answer."""
    lead = _LEAD.match(match["answer"])
    part = match["answer"][lead.end() if lead else 0 :]
    if match["bound"] or not (
        match["percent"] or match["whole"] or ("." in match["first"] and kind != "number")
    ):
        return ""
    if _ABSTAINS.fullmatch(part):
        return "abstain"
    share = _placed(match).value
    values = [number.value for number in find_numbers(" ".join((part, *choices)))]
    if any(math.isclose(float(value), same) for value in values for same in (share, 100 * share)):
        return ""
    if kind == "number":
        return str(values[0]) if len(values) == 1 and "%" not in part else ""
    read = read_answer(part, kind, choices)
    return read.text if _SURE.issuperset(read.rules) and (lead or kind != "text") else ""
