"""Reader of the confidence that a free reply states in figures or in words, as a number in [0, 1].

A number is read whole or not at all, and only if its scale is known: from a percent sign, from the number that it is
out of, from a label that names the scale, or from its size. A number between 1 and 10 without any of these has no known
scale. A number is not a confidence in the answer if its clause is about something else, such as being wrong or the
confidence that an answer requires.

Expressions of likelihood have the middle of their range in Intelligence Community Directive 203 (Office of the Director
of National Intelligence, 2015, section D.6.e.2.a). Levels of confidence have the chance of being correct, or the middle
of its range, in the Guidance Notes for Lead Authors of the IPCC Fourth Assessment Report (2005, table 3). ``certain``
and ``impossible`` are 1 and 0 by their meaning. No standard defines expressions of being sure; they have the value of
the nearest level of confidence or likelihood, which the table names.
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
from confidence_tasks.reading.sentences import (
    NUMBER,
    OF_BEING_RIGHT,
    OUT_OF,
    PERCENT,
    confidences_before_a_word,
    is_about_the_answer,
    revises_confidence,
    share_of,
)
from confidence_tasks.study.trial import Kind

ROUNDING = 0.005
"""Largest difference between two numbers that state the same confidence."""

_START = (
    r"(?:I(?:'m|\sam)\s)?(?:(?:about|around|approximately|roughly|only|just|~)\s?)?"
    rf"(?P<bound>[<>]=?\s?)?(?P<first>[-+]?{NUMBER}){PERCENT}?"
)
_STOP = r"(?!\s?(?:-|to|or|/|:|±)\s?\d)"
_FIGURES = rf"{_START}(?:\s?(?:/|out\sof)\s?(?P<whole>100?|1)(?![\d.]))?{_STOP}"
_LABELLED_FIGURES = rf"{_START}(?:{OUT_OF})?{_STOP}"
"""Numbers. After a label, they may be out of any number; elsewhere ``3/4`` may be the answer."""
_VALUE = re.compile(
    rf"{_LABELLED_FIGURES}(?=\s{{0,4}}(?:[.,;:!()\[\]|}}\"'\n]|-\s|(?:so|and|but)\b|\Z))", re.IGNORECASE
)
_LABEL = re.compile(
    rf"\b(?:(?:my|the|your|estimated|overall|(?P<revised>final|revised|updated)|initial)\s){{0,3}}"
    rf"\b(?:confidence|certainty|{OF_BEING_RIGHT})(?:\s(?:level|score|rating|estimate))?"
    r"(?:\s?\((?:0%?\s?(?:-|to)\s?(?P<top>100|1)%?|[^()\d\n]{0,60})\))?"
    r"(?:\s(?:that|in|for)\s[^:=|\n.;%]{1,80}(?=\s?(?:[:=|]|\bis\b)))?"
    r"(?:\s?(?P<mark>[:=|]|->)\s{0,4}|[ ](?:is|of|at)[ ]|[ ](?=[\d.~<>]))",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\bI(?:'m|\sam)\s(?P<sure>(?:[a-z]{1,20}\s){0,3}?(?:sure|confident|certain|unsure|uncertain)(?:\sat\sall)?)"
    r"(?=\s{0,4}(?:[.,;:!)]|$)|\s(?:that\s)?(?:it|this)\b|\s(?:that|in|of|about)\s(?:the|my|this)\s(?:final\s)?answer\b)"
    r"|\bwith\s(?P<level>(?:(?:very|extremely|quite|fairly)\s)?(?:high|low|medium|moderate))\s(?:level\sof\s)?confidence\b",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = re.compile(r"[^.,;:()\n|]{0,100}")
_BESIDE_WORDS = re.compile(rf"\s?(?:(?P<bracket>\()|[,:;-])\s?{_FIGURES}(?(bracket)\s?\))", re.IGNORECASE)
"""A number in brackets after words, or after a comma if it has a percent sign or is out of another number."""


@dataclass(frozen=True, slots=True)
class StatedConfidence:
    """A statement of confidence in a reply.

    Attributes
    ----------
    value : float
        Confidence in [0, 1]; NaN if the scale of the number is unknown.
    text : str
        The confidence as written; empty if there is none.
    rules : tuple of str
        Lenient rules used, or ``out_of_range`` for a number whose scale is unknown.
    start, end : int
        Position of the statement in the text, including its label.
    revised : bool
        Whether the label says that the statement replaces earlier ones.
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
    r"""Find the confidence of a cleaned reply, and the positions of all statements of confidence, in order.

    Four kinds of statement are tried in turn: a confidence with a label, a number before a word (``85% sure``), words
    alone (``I am fairly sure``), and a number after an answer (``B, 90%``). Different numbers of one kind are ambiguous
    unless the label of the last one says that it is final.

    Examples
    --------
    >>> for text in ("Confidence: 85%", "I am fairly sure.", "Confidence: 7", "90% sure that this is wrong", "B, 90%"):
    ...     stated, spans = find_confidences(text, "choice", ("Paris", "London"))
    ...     print(stated.value, stated.text, stated.rules, spans)
    0.85 85% () [(0, 15)]
    0.675 fairly sure ('in_words',) [(0, 16)]
    nan 7 ('out_of_range',) [(0, 13)]
    nan  () [(0, 8)]
    0.9 90% ('no_label',) [(1, 6)]
    """
    statements_by_kind = [
        list(_find_labelled(text)),
        list(_find_before_word(text)),
        list(_find_in_words(text)),
        list(_find_after_answer(text, kind, tuple(choices))),
    ]
    spans = sorted((each.start, each.end) for statements in statements_by_kind for each in statements)
    for statements in statements_by_kind:
        valid = [each for each in statements if each.text]
        numbers = [each for each in valid if "in_words" not in each.rules]
        agree = all(abs(each.value - numbers[0].value) <= ROUNDING for each in numbers[1:])
        if not agree and not numbers[-1].revised:
            return StatedConfidence(rules=("two_confidences",)), spans
        if valid:
            return _unless_revised((numbers or valid)[-1], text), spans
    return UNSTATED, spans


def _unless_revised(statement: StatedConfidence, text: str) -> StatedConfidence:
    """Return a statement, or none if a later sentence replaces it."""
    revised = revises_confidence(text[statement.end :], statement.value)
    return StatedConfidence(rules=("revised",)) if revised else statement


def read_stated(value: str) -> StatedConfidence:
    """Read a text that is nothing but a confidence, such as the field of a parser's reply.

    Examples
    --------
    >>> read_stated("0.85").value, read_stated("very likely").value, read_stated("null").text
    (0.85, 0.875, '')
    """
    return _read_value(value, 0, None)


def _find_labelled(text: str) -> Iterator[StatedConfidence]:
    """Find ``confidence: 0.8``, ``confidence is high``, ``confidence 80%``."""
    for label in _LABEL.finditer(text):
        value = _read_value(text, label.end(), label["top"])
        statement = replace(value, start=label.start(), revised=bool(label["revised"]))
        if statement.text:
            yield _check_clause(text, statement, label[0])
        elif label["mark"]:
            yield replace(statement, end=label.end() + len(text[label.end() :].partition("\n")[0]))


def _read_value(text: str, position: int, top: str | None) -> StatedConfidence:
    """Read the value at a position: a number, words with a number beside them, or words; ``top`` is the scale's end."""
    while text[position : position + 1] in {'"', "'", "*"}:
        position += 1
    if number := _VALUE.match(text, position):
        return _read_number(number, top)
    words = _WORDS.match(text, position)
    value = verbal_confidence(words[0]) if words else math.nan
    if words is None or math.isnan(value):
        return UNSTATED
    number = _BESIDE_WORDS.match(text, words.end())
    if number and (number["bracket"] or number["percent"] or number["whole"]):
        return _read_number(number, top)
    return StatedConfidence(value, words[0].strip(), ("in_words",), position, words.end())


def _find_before_word(text: str) -> Iterator[StatedConfidence]:
    """Find ``85% confident``, ``0.7 probability of being right``."""
    for match in confidences_before_a_word(text):
        written = text[match.start("first") : match.end()]
        number = _read_number(match)
        yield _check_clause(text, replace(number, text=written if number.text else ""))


def _find_in_words(text: str) -> Iterator[StatedConfidence]:
    """Find ``I am fairly sure`` and ``with high confidence``."""
    for match in _IN_WORDS.finditer(text):
        phrase = match["sure"] or match["level"]
        value = verbal_confidence(phrase)
        if not math.isnan(value):
            yield _check_clause(text, StatedConfidence(value, phrase, ("in_words",), *match.span()))


def _check_clause(text: str, statement: StatedConfidence, label: str = "") -> StatedConfidence:
    """Return a statement, without its value if the words of its clause say that it is not about the answer."""
    if is_about_the_answer(text, statement.start, statement.end, label):
        return statement
    return StatedConfidence(start=statement.start, end=statement.end)


def _read_number(match: re.Match[str], top: str | None = None) -> StatedConfidence:
    """Convert the number of a match to [0, 1]."""
    groups = match.groupdict()
    number = Decimal(groups["first"].replace(",", "."))
    implied = "100" if 10 < number <= 100 else "1"
    value = float(number / Decimal("100" if groups["percent"] else top or implied))
    if groups.get("whole"):
        value = share_of(float(number), groups["whole"], groups.get("joint") or "/")
    text = match[0].strip(" ()")
    if math.isnan(value):
        return StatedConfidence(start=match.start(), end=match.end())
    if not 0 <= value <= 1:
        return StatedConfidence(math.nan, text, ("out_of_range",), *match.span())
    bare = not (groups["percent"] or groups.get("whole") or top)
    rules = (("bound", groups.get("bound")), ("implied_percent", bare and number > 1))
    return StatedConfidence(value, text, tuple(name for name, applies in rules if applies), *match.span())


# Verbal expressions -----------------------------------------------------------------------------------------------

_ROWS = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8").splitlines()

TABLE: tuple[tuple[float, str, str], ...] = tuple(
    (float(value), source, expressions) for value, source, expressions in (row.split(" | ") for row in _ROWS)
)
"""Rows of a probability, its source, and the expressions with that probability."""

EXPRESSIONS: Mapping[str, float] = {
    expression: value for value, _, expressions in TABLE for expression in expressions.split(", ")
}

_MEANS_SURE, _MEANS_UNSURE = (
    re.compile(r"\b(?:confident|certain)\b"),
    re.compile(r"\b(?:uncertain|doubtful)\b"),
)
"""Words replaced by ``sure`` and ``unsure`` if the table does not have the expression."""

_NOISE = re.compile(
    r"\b(?:i am|i'm|i'd say|it is|it's|my|is|a|an|level|levels|degree|of|confidence|in this|in my answer)\b|[.!,;:]"
)


def verbal_confidence(phrase: str) -> float:
    """Return the probability of an expression such as ``very likely``; NaN if it is not in the table.

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


# Numbers after an answer ----------------------------------------------------------------------------------------

_AFTER_ANSWER = re.compile(
    rf"(?P<answer>[^\n]{{1,200}}?)(?P<figure>\s{{0,4}}(?:[,;|:(\[\n]|[.-]\s)\s{{0,4}}{_FIGURES}\s?[)\]]?)[.,!]?\s*",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:(?:my|the|final)\s){0,2}(?:answer|decision)\s?[:=]\s?", re.IGNORECASE)
_ABSTAINS = re.compile(r"\W{0,4}(?:I\s(?:will\s|must\s|choose\sto\s)?)?abstain\W{0,4}", re.IGNORECASE)
_UNAMBIGUOUS = frozenset({"option_text", "box", "latex", "wrapped", "lead_in", "leading_word", "unicode"})
"""Reading rules whose result is not ambiguous."""
_MAX_LINES = 20


def _find_after_answer(text: str, kind: Kind, choices: tuple[str, ...]) -> Iterator[StatedConfidence]:
    """Find ``B, 90%``, ``B (90%)``, or a number alone on the line after an answer; at most one in a reply."""
    # A pattern for lines that are not blank would take quadratic time.
    lines = [line.span() for line in re.finditer(r"[^\n]+", text) if not line[0].isspace()]
    last_two = [(lines[-2][0], lines[-1][1])] if len(lines) > 1 else []
    statements = {}
    for line_start, line_end in (*lines[:_MAX_LINES], *lines[-_MAX_LINES:], *last_two):
        match = _AFTER_ANSWER.fullmatch(text, line_start, line_end)
        if match and (answer := _answer_before(match, kind, choices)):
            (start, end), value = match.span("figure"), _read_number(match).value
            written = match["figure"].strip(" \n,;|:()[]-.")
            statements[answer, value] = StatedConfidence(value, written, ("no_label",), start, end)
    if len(statements) == 1:
        yield from (_check_clause(text, each) for each in statements.values() if not math.isnan(each.value))


def _answer_before(match: re.Match[str], kind: Kind, choices: tuple[str, ...]) -> str:
    """Return the answer before a number; empty if there is none, or if the number may be part of an answer."""
    lead = _LEAD.match(match["answer"])
    part = match["answer"][lead.end() if lead else 0 :]
    if match["bound"] or not (
        match["percent"] or match["whole"] or ("." in match["first"] and kind != "number")
    ):
        return ""
    if _ABSTAINS.fullmatch(part):
        return "abstain"
    confidence = _read_number(match).value
    numbers = [number.value for number in find_numbers(" ".join((part, *choices)))]
    if any(math.isclose(float(each), same) for each in numbers for same in (confidence, 100 * confidence)):
        return ""
    if kind == "number":
        return str(numbers[0]) if len(numbers) == 1 and "%" not in part else ""
    answer = read_answer(part, kind, choices)
    return answer.text if _UNAMBIGUOUS.issuperset(answer.rules) and (lead or kind != "text") else ""
