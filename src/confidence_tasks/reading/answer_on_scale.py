"""Reading the answer, and the confidence on a scale, from a reply.

A reply that follows the requested format exactly is ``ok``. Any other reply is cleaned first and then read by lenient
rules. The confidence follows the last label ``Confidence`` at the start of a line; if there is none, it follows that
word on the line of an answer, within the last line, or stands in a sentence. Of several, the last counts, and none if a
later sentence revises it. The answer is searched for in this order: after ``Answer:``, after ``the answer is``, in
a box, alone on a line before the confidence. The reading lists the rules that were used. A value that the reply does
not state is left missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.answers import Answer, read_answer, stated_sentence, takes_back
from confidence_tasks.reading.cleaning import apply_rules, clean, last_box, read_first_turn, truncate_reply
from confidence_tasks.reading.fields import status_of
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.reading.reply_format import ANSWER_AND_CONFIDENCE, Format
from confidence_tasks.reading.sentences import revises_confidence
from confidence_tasks.reading.stated_on_scale import read_on_scale
from confidence_tasks.reading.statements import Statement, find_statements
from confidence_tasks.study.trial import Kind, Reading

# Replies in the requested format --------------------------------------------------------------------------------


def _strict_values(text: str, expected: Format) -> list[str] | None:
    """Return the text after each label of a format, or None if the reply departs from the format."""
    n_labels = len(expected.labels)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasoning, lines = lines[:-n_labels], lines[-n_labels:]
    matches = (
        text.lstrip().startswith(expected.reasoning_label or expected.labels[0])
        and len(lines) == n_labels
        and all(map(str.startswith, lines, expected.labels))
        and bool(reasoning) == bool(expected.reasoning_label)
        and not any(line.startswith(expected.labels) for line in reasoning)
    )
    return [*map(str.strip, map(str.removeprefix, lines, expected.labels))] if matches else None


@dataclass(frozen=True, slots=True)
class ExpectedReply:
    """Scale, kind of answer, options and format that the prompt asks for."""

    scale: Scale
    kind: Kind
    choices: Sequence[str]
    format: Format

    def read_answer(self, value: str) -> Answer:
        """Read a text as an answer to the question."""
        return read_answer(value, self.kind, self.choices)


def _read_strictly(text: str, expected: ExpectedReply) -> Reading | None:
    """Read a reply that follows the format exactly; return None for any other reply."""
    values = _strict_values(text, expected.format)
    if values is None:
        return None
    answers = [expected.read_answer(value) for value in values[::2]]
    reports = [read_on_scale(value, expected.scale) for value in values[1::2]]
    if any(answer.rules or not answer.text for answer in answers) or any(rules for _, rules in reports):
        return None
    inside = all(expected.scale.lower <= raw <= expected.scale.upper for raw, _ in reports)
    return Reading(answers[0].text, reports[0][0], "ok") if inside else None


# Other replies --------------------------------------------------------------------------------------------------

_LINE = re.compile(r"^.*\S", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|,?\s(?=(?:and|with)\b)", re.IGNORECASE)
_NOT_PUNCTUATION = re.compile(r"[^\s!-/:-@\[-`{-~]")
MAX_LINES = 40
"""Maximum number of lines without a label that are searched for an answer."""


def _find_answer(
    text: str,
    answers: Sequence[Statement],
    cued: Sequence[Statement],
    confidence_start: int,
    expected: ExpectedReply,
) -> Statement | None:
    """Return the statement of the answer; the order of the search is that of the module's docstring.

    ``confidence_start`` is the position of the confidence, -1 if there is none.
    """
    if labelled := [answer for answer in answers if not answer.empty]:
        return labelled[expected.format.answer_index]
    for cue in cued[-1:]:
        sentence = stated_sentence(cue.value, _SENTENCE_END, expected.kind, expected.choices)
        if expected.read_answer(sentence).found:
            end = text.find(sentence, cue.start) + len(sentence)
            return Statement(sentence, cue.start, end, "cue")
    if box := last_box(text):
        start = text.rfind(box)
        return Statement(box, start, start + len(box), "box")
    bare = [] if answers else _bare_answers(text, confidence_start, expected)
    agree = len({expected.read_answer(answer.value).text for answer in bare}) == 1
    return bare[-1] if agree else None


def _bare_answers(text: str, confidence_start: int, expected: ExpectedReply) -> list[Statement]:
    """Return the answers without a label before the confidence, or in the whole reply if it states no confidence.

    Of several lines, a line counts if it consists of an option, or of yes or no. A numerical answer is read from the
    last line before the confidence, or from a reply of one line.
    """
    matches = _LINE.finditer(text if confidence_start < 0 else text[:confidence_start])
    lines = [Statement(line[0].strip(), line.start(), line.end(), "bare_answer") for line in matches]
    alone, numerical = len(lines) == 1, expected.kind == "number"
    if numerical and confidence_start >= 0:
        lines = lines[-1:]
    elif expected.kind in {"number", "text"} and not alone:
        return []
    lenient = confidence_start >= 0 and (alone or numerical)
    readings = [(line, expected.read_answer(line.value)) for line in lines[:MAX_LINES]]
    return [line for line, reading in readings if reading.found and (lenient or not reading.rules)]


def _departures(text: str, answer: Statement, report: Statement, reasoning_label: str) -> Iterator[str]:
    """Yield the rules by which answer and confidence depart from the order and the lines of the format."""
    first, second = sorted((answer, report), key=lambda statement: statement.start)
    if first is not answer:
        yield "order"
    if "\n" not in text[first.end : second.start]:
        yield "one_line"
    before, rest = text[: first.start], text[first.end : second.start] + text[second.end :]
    has_reasoning = reasoning_label and before.startswith(reasoning_label)
    if _NOT_PUNCTUATION.search(rest if has_reasoning else before + rest):
        yield "extra_text"


def _is_unpaired(
    answers: Sequence[Statement], answer: Statement, report: Statement, expected: ExpectedReply
) -> bool:
    """Return True if the last answer replaces an earlier one without a new confidence."""
    earlier = [each for each in answers if each.start < report.start and not each.empty]
    if expected.format.answer_index == 0 or not earlier or answer.start <= report.start:
        return False
    return expected.read_answer(earlier[-1].value).text != expected.read_answer(answer.value).text


def _read_leniently(text: str, expected: ExpectedReply) -> Reading:
    cleaned, cleaning_rules = clean(text)
    reading, cut = read_first_turn(
        cleaned,
        lambda turn: _read_turn(turn, expected),
        lambda reading: reading.answer or not math.isnan(reading.confidence_raw),
    )
    rules = tuple(dict.fromkeys((*cleaning_rules, *(("next_turn",) if cut else ()), *reading.rules)))
    return replace(reading, rules=rules or (("label",) if reading.status == "repaired" else ()))


def _read_turn(text: str, expected: ExpectedReply) -> Reading:
    scale = expected.scale
    text, layout_rules = apply_rules(LAYOUTS, text)
    answers, cued, confidences = find_statements(text)
    confidence = confidences[expected.format.answer_index] if confidences else None
    raw, number_rules = read_on_scale(confidence.value.rstrip(".") if confidence else "", scale)
    answer = _find_answer(text, answers, cued, confidence.start if confidence else -1, expected)
    reading = expected.read_answer(answer.value) if answer else Answer("")
    place_rules = [found.rule for found in (answer, confidence) if found and found.rule]
    rules = [*layout_rules, *place_rules, *reading.rules, *number_rules]
    answer_text = reading.text
    if answer and expected.kind != "text" and takes_back(text[answer.end :]):
        answer_text = ""
        rules.append("taken_back")
    elif answer and confidence and _is_unpaired(answers, answer, confidence, expected):
        raw = math.nan
        rules.append("unpaired")
    if confidence and revises_confidence(confidence.value + text[confidence.end :], raw, scale.upper):
        raw = math.nan
        rules.append("revised")
    if answer and confidence:
        rules.extend(_departures(text, answer, confidence, expected.format.reasoning_label))
    refused = not answer_text and ("refusal" in rules or is_refusal(text))
    if refused:
        rules.append("refusal")
    status = status_of(
        answered=bool(answer_text),
        stated=not math.isnan(raw),
        inside=not scale.violates(raw),
        refused=refused,
        rules=("lenient",),
    )
    if status == "repaired" and not scale.lower <= raw <= scale.upper:
        rules.append("clipped")
    return Reading(answer_text, raw, status, tuple(rules))


def read_answer_on_scale(
    text: str,
    scale: Scale,
    *,
    kind: Kind,
    choices: Sequence[str] = (),
    expected_format: Format = ANSWER_AND_CONFIDENCE,
) -> Reading:
    r"""Read the answer and the confidence that a reply states.

    The function accepts any text and takes time linear in its length. It does not grade the answer.

    Parameters
    ----------
    text : str
        The reply.
    scale : Scale
        The scale of the prompt.
    kind : {"choice", "number", "text", "boolean"}
        Kind of the answer.
    choices : sequence of str
        The options in the order shown; required for ``choice``.
    expected_format : Format, optional
        Format that the prompt asks for; by default an answer and a confidence, in two lines.

    Returns
    -------
    Reading
        The answer in canonical form, the confidence as stated, the names of the lenient rules, and the status:

        * ``ok``: the reply follows the format exactly, and the confidence is an integer within the bounds;
        * ``repaired``: lenient rules were needed; the confidence exceeds a bound by at most 5% of the scale's width;
        * ``out_of_range``: the confidence exceeds a bound by more, and is kept as stated;
        * ``missing_confidence``, ``missing_answer``, or ``unreadable`` if both are missing;
        * ``refused``: the model declines to answer.

    Examples
    --------
    >>> asked = {"kind": "choice", "choices": ("Paris", "London", "Rome", "Berlin")}
    >>> read_answer_on_scale("Answer: B\nConfidence: 17", Scale(0, 20), **asked)
    Reading(answer='B', confidence_raw=17.0, status='ok', rules=())
    >>> read_answer_on_scale("**Answer:** London\n**Confidence:** 17/20", Scale(0, 20), **asked)
    Reading(answer='B', confidence_raw=17.0, status='repaired', rules=('markdown', 'of_upper'))
    >>> read_answer_on_scale("Final Answer: $1,234.50\nConfidence: 85%", Scale(0, 20), kind="number")
    Reading(answer='1234.5', confidence_raw=85.0, status='out_of_range', rules=('percent',))
    """
    text = truncate_reply(text)
    expected = ExpectedReply(scale, kind, choices, expected_format)
    return _read_strictly(text, expected) or _read_leniently(text, expected)
