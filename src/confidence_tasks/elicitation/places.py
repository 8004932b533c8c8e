"""Where in a reply an answer and a confidence may stand: two tables, in the order in which they are looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from confidence_tasks.elicitation.answers import stated_sentence
from confidence_tasks.elicitation.cleaning import Rule, is_placeholder, last_box
from confidence_tasks.elicitation.labels import Part, Place, trim
from confidence_tasks.elicitation.refusals import is_refusal
from confidence_tasks.elicitation.verbal_confidence import is_denied
from confidence_tasks.questions.question import Kind

SHORT = 120
"""A sentence without a label is taken for an answer only up to this length."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A cleaned reply, what was asked for, what its labels say, and where its confidence was found."""

    text: str
    kind: Kind
    choices: Sequence[str]
    parts: dict[Part, list[Place]]
    confidence: Place | None = None


_SENTENCE_END = re.compile(
    r"[.!?](?=\s|$)|,?\s(?=with\s(?:a\s|\d|conf)|and\s(?:my|i)\b|my\sconf)", re.IGNORECASE
)
_ANSWER_CUE = re.compile(
    r"\b(?:(?:the|my)\s(?:(?:final|correct|right|best|most\slikely)\s)?(?:answer|option|choice)"
    r"(?:\sto\s(?:the|this)\squestion)?\s(?:is|was|would\sbe|should\sbe|must\sbe)|i(?:'d|'ll|\swould|\swill)?\s(?:choose|pick|select|go\swith|opt\sfor))"
    r"\s?:?[ ](?P<value>[^\n]{1,200})",
    re.IGNORECASE,
)
_REPORT = r"\d{1,6}(?:\.\d{1,6})?(?:[ ]?%|[ ]percent\b)?(?:[ ]?/[ ]?\d{1,6}|[ ]out[ ]of[ ]\d{1,6})?"
_CONFIDENCE_CUE = re.compile(
    r"\b(?:confidence|certainty)(?:[ ](?:level|score|rating|in[ ](?:my|this|the)[ ]answer))?"
    rf"(?:[ ](?:is|of|at|as|would[ ]be|about|around|approximately)){{0,3}}[ ]~?(?P<after>{_REPORT})(?!\d|[ ]?:)"
    rf"|(?<![\w.])(?P<before>{_REPORT})[ ](?:confident|sure|certain|confidence|certainty)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(r"not\b|neither\b", re.IGNORECASE)
_LISTED = re.compile(r"\(?[A-Z][).][ ]")
_FIGURES = re.compile(r"\d+(?:\.\d+)?")
_BARE_REPORT = re.compile(rf"{_REPORT}\.?")
_PAIR = re.compile(
    rf"(?P<answer>[^\n]{{1,60}}?)(?:[ ]?[,;:|-][ ]|[ ]?[(\[]|[ ])(?P<confidence>{_REPORT})[)\]]?\.?"
)


def _labelled_answers(reply: Reply) -> Iterable[Place]:
    return reply.parts["answer"]


def _cued_answers(reply: Reply) -> Iterable[Place]:
    for cue in _ANSWER_CUE.finditer(reply.text):
        sentence = stated_sentence(cue["value"], _SENTENCE_END, reply.kind, reply.choices)
        value = cue["value"] if _DENIAL.match(sentence) else sentence
        yield Place(trim(value), cue.start(), cue.start("value") + len(value))


def _boxed_answers(reply: Reply) -> Iterable[Place]:
    boxed = last_box(reply.text)
    if boxed:
        start = reply.text.rfind(boxed)
        yield Place(boxed, start, start + len(boxed))


def _paired_answers(reply: Reply) -> Iterable[Place]:
    pair = _paired(reply)
    if pair:
        yield Place(trim(pair["answer"]), *pair.span("answer"))


def _bare_answers(reply: Reply) -> Iterable[Place]:
    if _labels_an_answer(reply):
        return
    lines = _bare_lines(reply)
    listed = {line.start for line in lines if _LISTED.match(line.value)}
    if len(listed) > 1:  # the options, repeated
        lines = [line for line in lines if line.start not in listed]
    if reply.kind in {"choice", "boolean"} or len(lines) == 1:
        yield from lines


def _bare_sentences(reply: Reply) -> Iterable[Place]:
    if reply.kind in {"choice", "boolean"} and not _ANSWER_CUE.search(reply.text):
        yield from (
            line for line in _bare_answers(reply) if len(line.value) <= SHORT and not is_refusal(line.value)
        )


def _closing_number(reply: Reply) -> Iterable[Place]:
    if reply.kind != "number" or reply.confidence is None or _labels_an_answer(reply):
        return
    end = len(reply.text[: reply.confidence.start].rstrip())
    start = reply.text.rfind("\n", 0, end) + 1
    yield Place(reply.text[start:end], start, end)


def _labelled_confidences(reply: Reply) -> Iterable[Place]:
    return reply.parts["confidence"]


def _cued_confidences(reply: Reply) -> Iterable[Place]:
    for cue in _CONFIDENCE_CUE.finditer(reply.text):
        if not is_denied(reply.text, cue.start()):
            yield Place(cue["after"] or cue["before"], *cue.span())


def _paired_confidences(reply: Reply) -> Iterable[Place]:
    pair = _paired(reply)
    if pair:
        yield Place(pair["confidence"], *pair.span("confidence"))


def _bare_confidences(reply: Reply) -> Iterable[Place]:
    lines = _bare_lines(reply)
    if not lines or not _BARE_REPORT.fullmatch(lines[-1].value):
        return
    beside_label = _labels_an_answer(reply) and lines[-1].start > reply.parts["answer"][-1].start
    two_lines = len(lines) == 2 and (reply.kind != "number" or _BARE_REPORT.fullmatch(lines[0].value))
    if beside_label or two_lines:
        yield lines[-1]


def _labels_an_answer(reply: Reply) -> bool:
    """Whether a label holds an answer of any sort, so that a line without a label is not one."""
    return any(place.value and not is_placeholder(place.value) for place in reply.parts["answer"])


def _paired(reply: Reply) -> re.Match[str] | None:
    """Match a reply of one line that is an answer and a number, and not an option with a number in it."""
    if reply.kind not in {"choice", "boolean"} or any(reply.parts.values()):
        return None
    pair = _PAIR.fullmatch(reply.text)
    number = _FIGURES.search(pair["confidence"]) if pair else None
    if number is None or any(number[0] in _FIGURES.findall(choice) for choice in reply.choices):
        return None
    return pair


def _bare_lines(reply: Reply) -> list[Place]:
    """Return the lines that say something and hold neither a label's part nor the confidence."""
    places = [place for part in reply.parts.values() for place in part]
    spans = sorted((place.start, place.end) for place in (*places, *filter(None, [reply.confidence])))
    lines: list[Place] = []
    start = index = 0
    for line in reply.text.split("\n"):
        end = start + len(line)
        while index < len(spans) and spans[index][1] < start:
            index += 1
        if line.strip() and not (index < len(spans) and spans[index][0] <= end):
            lines.append(Place(trim(line.strip(" :")), start, end))
        start = end + 1
    return lines


@dataclass(frozen=True, slots=True)
class PlaceRule(Rule[Callable[[Reply], Iterable[Place]]]):
    """A sort of place.

    Attributes
    ----------
    plain : bool
        Only a reading that needs no interpretation counts here.
    agree : bool
        Readings count here only if all of them agree; elsewhere the last one counts.
    """

    plain: bool = False
    agree: bool = False


ANSWER_PLACES = (
    PlaceRule("label", _labelled_answers, "After a label of an answer.", "My answer: B\nConfidence: 17"),
    PlaceRule("cue", _cued_answers, "After words that announce an answer.", "I choose B.\nConfidence: 17"),
    PlaceRule("box", _boxed_answers, "In a LaTeX box.", "So it is $\\boxed{B}$.\nConfidence: 17"),
    PlaceRule("pair", _paired_answers, "Before a number on the only line.", "B, 17"),
    PlaceRule("bare_answer", _bare_answers, "Alone on a line.", "B\nConfidence: 17", plain=True),
    PlaceRule(
        "bare_sentence", _bare_sentences, "In a short line.", "So, London.\nConfidence: 17", agree=True
    ),
    PlaceRule("closing_number", _closing_number, "Before the confidence.", "So 9 * 2 = 18.\nConfidence: 17"),
)
CONFIDENCE_PLACES = (
    PlaceRule(
        "label", _labelled_confidences, "After a label of a confidence.", "Answer: B\nConfidence (0-20): 17"
    ),
    PlaceRule("cue", _cued_confidences, "Beside words that announce one.", "Answer: B\nI am 17/20 sure."),
    PlaceRule("pair", _paired_confidences, "After an answer on the only line.", "B, 17"),
    PlaceRule("bare_number", _bare_confidences, "The last line, nothing but a number.", "Answer: B\n17"),
)
"""Where to look, in order; the first sort of place where something can be read decides."""
