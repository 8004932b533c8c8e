"""Reading the replies of the confidence-scale study.

A reply to the letter of the format that was asked for is ``ok``. Any other is read by a few rules once `cleaning` has
cleared away what surrounds it. The confidence is what the last line that begins with ``Confidence`` states, or what
that word introduces behind an answer on its line. The answer stands behind ``Answer:``, else behind ``the answer is``,
else in a box, else alone before the confidence. The reading names the rules that it took. Nothing is ever filled in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from confidence_tasks.reading.answers import Answer, is_refusal, read_answer, stated_sentence, takes_back
from confidence_tasks.reading.cleaning import (
    Rules,
    apply_rules,
    bounded,
    clean,
    clean_value,
    is_placeholder,
    last_box,
    read_first_turn,
)
from confidence_tasks.reading.json_reader import read_json_fields
from confidence_tasks.reading.stated_probability import status_of
from confidence_tasks.studies.scales.prompts import TOP_K, Elicitation, Scale
from confidence_tasks.study.question import Kind
from confidence_tasks.study.reading import Reading

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


# The format asked for -------------------------------------------------------------------------------------------

FIRST, LAST = 0, -1
"""Which of several answers counts."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format to be kept to the letter.

    Attributes
    ----------
    labels : tuple of str
        How its last lines begin, an answer's and a confidence's by turns.
    free : str
        How the free text before them begins; empty where there is none.
    counts : int
        Which of several answers counts: `FIRST` or `LAST`.
    """

    labels: tuple[str, ...]
    free: str = ""
    counts: int = LAST


ANSWER_AND_CONFIDENCE = Format(("Answer:", "Confidence:"))
"""Two lines and nothing else."""
_REASONED = Format(("Answer:", "Confidence:"), "Reasoning:")
_SOLVED = Format(("Final Answer:", "Confidence:"), "Solution:")
_GUESSED = Format(
    tuple(f"{label} {i}:" for i in range(1, TOP_K + 1) for label in ("Answer", "Confidence")), counts=FIRST
)

FORMATS: dict[tuple[bool, Elicitation], Format] = {
    (False, "verbal"): ANSWER_AND_CONFIDENCE,
    (False, "cot"): _REASONED,
    (False, "top_k"): _GUESSED,
    (True, "verbal"): _SOLVED,
    (True, "cot"): _SOLVED,
    (True, "top_k"): _GUESSED,
}
"""The format that `scale_prompt` asks for, by whether the answer is a number and by elicitation."""


def _strict_values(text: str, asked: Format) -> list[str] | None:
    """Return what follows each label of a format, None where the text departs from it."""
    if not text.lstrip().startswith(asked.free or asked.labels[0]):
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    size = len(asked.labels)
    free, lines = lines[:-size], lines[-size:]
    kept = len(lines) == size and all(
        line.startswith(label) for line, label in zip(lines, asked.labels, strict=True)
    )
    if not kept or bool(free) != bool(asked.free):
        return None
    if any(line.startswith(asked.labels) for line in free):
        return None
    return [line.removeprefix(label).strip() for line, label in zip(lines, asked.labels, strict=True)]


def _read_strictly(
    text: str, scale: Scale, kind: Kind, choices: Sequence[str], asked: Format
) -> Reading | None:
    """Read a reply to the letter of the format; None for any other."""
    values = _strict_values(text, asked)
    if values is None:
        return None
    answers = [read_answer(value, kind, choices) for value in values[::2]]
    reports = [read_confidence(value, scale) for value in values[1::2]]
    if any(answer.rules or not answer.text for answer in answers) or any(report.rules for report in reports):
        return None
    inside = all(scale.lower <= report.raw <= scale.upper for report in reports)
    return Reading(answers[0].text, reports[0].raw, "ok") if inside else None


# Any other reply ------------------------------------------------------------------------------------------------

_LINE_START = r"^[^\w\n\"'(\[{<~]{0,8}"
_ENDS = r"(?:[ ]?\#?\d{1,2})?(?:[ ]?\([^()\n]{0,40}\))?"
_ANSWER = rf"(?:(?:my|your|the|final|correct|best)[ ]){{0,3}}answer{_ENDS}"
_CONFIDENCE = (
    rf"(?:(?:my|your|the)[ ])?confidence(?:[ ](?:level|score|rating|in[ ](?:my|this|the)[ ]answer))?{_ENDS}"
)
_COLON = r"(?:[ ]is)?[ ]{0,3}[:=]"
_ANSWER_LABEL = re.compile(rf"{_LINE_START}{_ANSWER}{_COLON}", re.IGNORECASE | re.MULTILINE)
_ANSWER_CUE = re.compile(
    r"\b(?:the|my)[ ](?:(?:final|correct|best)[ ])?(?:answer|option)[ ]is[ ]", re.IGNORECASE
)
_CONFIDENCE_LABEL = re.compile(
    rf"{_LINE_START}{_CONFIDENCE}(?:{_COLON}|[ ]is[ ])", re.IGNORECASE | re.MULTILINE
)
_CONFIDENCE_AFTER_ANSWER = re.compile(rf"(?<=[\s,;|(]){_CONFIDENCE}(?:{_COLON}|[ ]is[ ])", re.IGNORECASE)
_HEADING = re.compile(
    rf"({_LINE_START}(?:{_ANSWER}|{_CONFIDENCE}))[ :]{{0,3}}\n\s{{0,20}}(?=\S)", re.IGNORECASE | re.MULTILINE
)
_TAG = re.compile(r"<(/?)(answer|confidence)>", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|,?\s(?=(?:and|with)\b)", re.IGNORECASE)
_SAYS_SOMETHING = re.compile(r"[^\s!-/:-@\[-`{-~]")

LONGEST_LINE = 1_000
"""So many characters behind a label are looked at."""

MAX_LINES = 40
"""Only so many lines without a label are looked at for an answer."""


def _untag(text: str) -> str:
    return _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2]}: ", text)


def _without_json(text: str) -> str:
    if not text.startswith("{"):
        return text
    found = read_json_fields(text, ("Final Answer", "Answer", "Confidence")).fields
    return "\n".join(f"{key}: {value}" for key, value in found.items()) or text


def _join_headings(text: str) -> str:
    return _HEADING.sub(r"\1: ", text)


LAYOUTS: Rules = {"json": _without_json, "tags": _untag, "next_line": _join_headings}
"""Ways to arrange labels and values other than in lines; each is rewritten as lines."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a reply states from ``start`` to ``end``, its label included."""

    value: str
    start: int
    end: int

    @property
    def empty(self) -> bool:
        """Whether there is nothing but signs, or the template's own words."""
        return not any(map(str.isalnum, self.value)) or is_placeholder(self.value)


@dataclass(frozen=True, slots=True)
class Statements:
    """What the labels of a turn introduce, in order."""

    text: str
    answers: list[Statement]
    cued: list[Statement]
    confidences: list[Statement]


def _statements(text: str) -> Statements:
    """Find what stands behind each label, up to the end of the line; an answer ends at a confidence on its line.

    Such a confidence counts only where no other line begins with one.
    """
    confidences = [
        _behind(text, label, _line_end(text, label.end())) for label in _CONFIDENCE_LABEL.finditer(text)
    ]
    inner: dict[int, Statement] = {}
    answers: list[Statement] = []
    cued: list[Statement] = []
    for pattern, found in ((_ANSWER_LABEL, answers), (_ANSWER_CUE, cued)):
        for label in pattern.finditer(text):
            end = _line_end(text, label.end())
            if second := _CONFIDENCE_AFTER_ANSWER.search(text, label.end(), end):
                inner[second.start()] = _behind(text, second, end)
                end = second.start()
            found.append(_behind(text, label, end))
    stated = [confidence for confidence in confidences if not confidence.empty]
    stated = stated or [inner[start] for start in sorted(inner) if not inner[start].empty]
    return Statements(text, answers, cued, stated)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start, start + LONGEST_LINE)
    return end if end >= 0 else min(len(text), start + LONGEST_LINE)


def _behind(text: str, label: re.Match[str], end: int) -> Statement:
    return Statement(text[label.end() : end].strip(" \t,;|("), label.start(), end)


@dataclass(frozen=True, slots=True)
class Found:
    """An answer as read, where it stands, and what was special about the place."""

    statement: Statement
    reading: Answer
    rules: tuple[str, ...] = ()


def _find_answer(
    said: Statements, report: Statement | None, kind: Kind, choices: Sequence[str], counts: int
) -> Found | None:
    """Return what stands at the first sort of place where an answer may stand, however it reads."""
    labelled = [answer for answer in said.answers if not answer.empty]
    if labelled:
        return Found(labelled[counts], read_answer(labelled[counts].value, kind, choices))
    for cue in said.cued[-1:]:
        sentence = stated_sentence(cue.value, _SENTENCE_END, kind, choices)
        reading = read_answer(sentence, kind, choices)
        if reading.found:
            end = said.text.find(sentence, cue.start) + len(sentence)
            return Found(Statement(sentence, cue.start, end), reading, ("cue",))
    if box := last_box(said.text):
        start = said.text.rfind(box)
        statement = Statement(box, start, start + len(box))
        return Found(statement, read_answer(box, kind, choices), ("box",))
    bare = [] if said.answers else _bare_answers(said.text, report, kind, choices)
    agree = len({found.reading.text for found in bare}) == 1
    return bare[-1] if agree else None


def _bare_answers(text: str, report: Statement | None, kind: Kind, choices: Sequence[str]) -> list[Found]:
    """Return what stands alone before the confidence, or is the whole reply.

    Beside other lines, those count that are an option or a word and nothing else; a number may end the last line.
    """
    lines = _lines(text[: report.start] if report else text)
    alone = len(lines) == 1
    if kind == "number" and report:
        lines = lines[-1:]
    elif kind in {"number", "text"} and not alone:
        return []
    found = [
        Found(line, read_answer(line.value, kind, choices), ("bare_answer",)) for line in lines[:MAX_LINES]
    ]
    leniently = report and (alone or kind == "number")
    return [one for one in found if one.reading.found and (leniently or not one.reading.rules)]


def _lines(text: str) -> list[Statement]:
    """Return the lines that say something."""
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append(Statement(line.strip(), start, start + len(line)))
        start += len(line) + 1
    return [line for line in lines if line.value]


def _departures(text: str, answer: Statement, report: Statement, asked: Format) -> Iterator[str]:
    """Name how the two parts depart from the order and the lines of the format."""
    first, second = sorted((answer, report), key=lambda statement: statement.start)
    if first is not answer:
        yield "order"
    if "\n" not in text[first.end : second.start]:
        yield "one_line"
    before, rest = text[: first.start], text[first.end : second.start] + text[second.end :]
    if _SAYS_SOMETHING.search(rest if asked.free and before.startswith(asked.free) else before + rest):
        yield "extra_text"


def _unpaired(said: Statements, answer: Found, report: Statement, kind: Kind, choices: Sequence[str]) -> bool:
    """Return whether the last answer replaces an earlier one without a new confidence."""
    before = [one for one in said.answers if one.start < report.start and not one.empty]
    return (
        bool(before)
        and answer.statement.start > report.start
        and read_answer(before[-1].value, kind, choices).text != answer.reading.text
    )


def _read_leniently(text: str, scale: Scale, kind: Kind, choices: Sequence[str], asked: Format) -> Reading:
    """Read any reply by the rules."""
    cleaned, used = clean(text)
    cleaned, layouts = apply_rules(LAYOUTS, cleaned)
    reading, cut = read_first_turn(
        cleaned,
        lambda turn: _read_turn(turn, scale, kind, choices, asked),
        lambda reading: reading.answer or not math.isnan(reading.confidence_raw),
    )
    rules = tuple(dict.fromkeys((*used, *layouts, *(("next_turn",) if cut else ()), *reading.rules)))
    return replace(reading, rules=rules or (("label",) if reading.status == "repaired" else ()))


def _read_turn(text: str, scale: Scale, kind: Kind, choices: Sequence[str], asked: Format) -> Reading:
    """Read what one speaker says."""
    said = _statements(text)
    stated = said.confidences[asked.counts] if said.confidences else None
    report = read_confidence(stated.value.rstrip(".") if stated else "", scale)
    answer = _find_answer(said, stated, kind, choices, asked.counts)
    rules = [*(answer.rules + answer.reading.rules if answer else ()), *report.rules]
    said_answer, raw = answer.reading.text if answer else "", report.raw
    if answer and kind != "text" and takes_back(text[answer.statement.end :]):
        said_answer = ""
        rules.append("taken_back")
    elif answer and stated and asked.counts == LAST and _unpaired(said, answer, stated, kind, choices):
        raw = math.nan
        rules.append("unpaired")
    if answer and stated:
        rules.extend(_departures(text, answer.statement, stated, asked))
    refused = not said_answer and ("refusal" in rules or is_refusal(text))
    if refused:
        rules.append("refusal")
    status = status_of(
        answered=bool(said_answer),
        stated=not math.isnan(raw),
        inside=not scale.violates(raw),
        refused=refused,
        rules=("lenient",),
    )
    if status == "repaired" and not scale.lower <= raw <= scale.upper:
        rules.append("clipped")
    return Reading(said_answer, raw, status, tuple(rules))


def read_scale_reply(
    text: str,
    scale: Scale,
    *,
    kind: Kind,
    choices: Sequence[str] = (),
    elicitation: Elicitation = "verbal",
    asked: Format | None = None,
) -> Reading:
    r"""Read the answer and the confidence that a reply states.

    A total function: any text in, a reading out, in time linear in its length. It says what the reply claims, never
    whether that is right.

    Parameters
    ----------
    text : str
        The reply.
    scale : Scale
        The scale that was asked for.
    kind : {"choice", "number", "text", "boolean"}
        What an answer looks like.
    choices : sequence of str
        The options in the order shown; needed for ``choice``.
    elicitation : {"verbal", "cot", "top_k"}
        How the confidence was asked for; of the guesses of ``top_k`` the first is read, which is the best.
    asked : Format, optional
        The format that was asked for; by default that of the kind and the elicitation.

    Returns
    -------
    Reading
        The answer in canonical form (a letter; a decimal number; ``yes`` or ``no``; a text), the confidence as stated,
        the status, and the names of the rules used. The status is

        * ``ok`` for a reply to the letter of the format, its confidence an integer within the bounds;
        * ``repaired`` where lenient rules were needed, also for a confidence off the scale by at most 5% of its width;
        * ``out_of_range`` for one further off, which is kept as stated;
        * ``missing_confidence``, ``missing_answer``, or ``unreadable`` where neither was found;
        * ``refused`` where there is no answer because the model declines to give one.

    Examples
    --------
    >>> cities = ("Paris", "London", "Rome", "Berlin")
    >>> read_scale_reply("Answer: B\nConfidence: 17", Scale(0, 20), kind="choice", choices=cities)
    Reading(answer='B', confidence_raw=17.0, status='ok', rules=())
    >>> read_scale_reply("**Answer:** London\n**Confidence:** 17/20", Scale(0, 20), kind="choice", choices=cities)
    Reading(answer='B', confidence_raw=17.0, status='repaired', rules=('markdown', 'of_upper'))
    >>> read_scale_reply("Final Answer: $1,234.50\nConfidence: 85%", Scale(0, 20), kind="number")
    Reading(answer='1234.5', confidence_raw=85.0, status='out_of_range', rules=('percent',))
    """
    text, asked = bounded(text), asked or FORMATS[kind == "number", elicitation]
    return _read_strictly(text, scale, kind, choices, asked) or _read_leniently(
        text, scale, kind, choices, asked
    )
