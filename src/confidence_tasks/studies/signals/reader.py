"""Readers of the signal study's replies, and rules of equal meaning.

A reply states an answer, a percentage, an expression, guesses, or True or False. The grader, a judge, or a model of
entailment decides whether two answers mean the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from confidence_tasks.reading.answer_on_scale import read_answer_on_scale
from confidence_tasks.reading.answers import known_answers, read_answer
from confidence_tasks.reading.cleaning import apply_rules, clean, trim_span, truncate_reply
from confidence_tasks.reading.cut_off import ends_in_format
from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.reading.reply_format import ANSWER_AND_CONFIDENCE
from confidence_tasks.reading.stated_on_scale import read_stated_confidence
from confidence_tasks.reading.sureness import SPAN
from confidence_tasks.study import ModelReply, Question, Reading
from confidence_tasks.study.structured import answer_schema, is_structured, on_one_line, read_object


@dataclass(frozen=True, slots=True)
class AnswerReply(Reading):
    """An answer with the confidence stated beside it; ``reply[begin:end]`` is the answer as written, or empty."""

    begin: int = 0
    end: int = 0


def read_answer_reply(reply: str, question: Question) -> AnswerReply:
    r"""Read an answer and a confidence; it never raises.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen")
    >>> read_answer_reply("Answer: Jane Austen\nConfidence: 85", question)
    AnswerReply(answer='Jane Austen', confidence_raw=85.0, status='ok', rules=(), begin=8, end=19)
    """
    if is_structured(question):
        return _read_object(reply, question)
    reading = _read_text(reply, question)
    begin, end = answer_span(reply, reading.answer, question.options.get(reading.answer, ""))
    return AnswerReply(**asdict(reading), begin=begin, end=end)


def _read_text(reply: str, question: Question) -> Reading:
    return read_answer_on_scale(reply, PERCENT, kind=question.kind, choices=known_answers(question))


def answer_schemas(question: Question) -> dict[str, Mapping[str, Any]]:
    """Return the schema of each value of a JSON object with an answer and a confidence."""
    return {"answer": answer_schema(question), "confidence": {"type": "integer"}}


_ANSWER_KEY = re.compile(r'"answer"\s*:\s*')


def _read_object(reply: str, question: Question) -> AnswerReply:
    """Read a JSON object with an answer and a confidence; the span is that of the answer as the object writes it."""
    values = read_object(reply, answer_schemas(question)) or {"answer": "", "confidence": ""}
    lines = ANSWER_AND_CONFIDENCE.fill("", [on_one_line(values[key]) for key in ("answer", "confidence")])
    reading = _read_text(lines if values["confidence"] != "" else "", question)
    key = _ANSWER_KEY.search(reply)
    if key is None or not reading.answer:
        return AnswerReply(**asdict(reading))
    _, end = json.JSONDecoder().raw_decode(reply, key.end())
    marks = int(reply[key.end()] == '"')
    return AnswerReply(**asdict(reading), begin=key.end() + marks, end=end - marks)


def ends_in_answer(question: Question, condition: str, reply: str) -> bool:
    """Return whether a reply that was cut off ends in an answer and its confidence."""
    return ends_in_format(reply, lambda text: read_answer_reply(text, question).status == "ok")


_ANSWER_LINE = re.compile(
    r"^[^\w\n]{0,8}(?:final )?answer[^\w\n]{0,4}[:=][ \t]*", re.IGNORECASE | re.MULTILINE
)
_AROUND = " \t\r\"'`*_“”‘’«»"


def answer_span(reply: str, answer: str, option: str = "") -> tuple[int, int]:
    r"""Return the span of the answer in a reply: after the last label, or the last mention of the option or answer.

    ``answer`` is the answer as read, and ``option`` is the text of the option if the answer is a letter.

    Examples
    --------
    >>> answer_span("Answer: **1,000**\nConfidence: 9", "1000"), answer_span("It is Paris.", "Paris")
    ((10, 15), (6, 11))
    """
    if not answer:
        return 0, 0
    text = truncate_reply(reply)
    for label in reversed(list(_ANSWER_LINE.finditer(text))):
        end = text.find("\n", label.end())
        begin, end = trim_span(text, label.end(), len(text) if end < 0 else end, _AROUND, _AROUND)
        if begin < end:
            return begin, end
    for stated in filter(None, (option, answer)):
        if mentions := list(re.finditer(rf"(?<!\w){re.escape(stated)}(?!\w)", text, re.IGNORECASE)):
            return mentions[-1].span()
    return 0, 0


def read_percent(reply: str) -> float:
    """Read a percentage as a probability; NaN if the reply is no percentage from 0 to 100.

    Examples
    --------
    >>> [read_percent(text) for text in ("85%", "Confidence: 40", "I am 85% sure.", "17 out of 20", "120", "very")]
    [0.85, 0.4, 0.85, 0.85, nan, nan]
    """
    value = read_stated_confidence(reply, PERCENT)
    return value / 100 if 0 <= value <= 100 else math.nan


def problem_of_percent(reply: ModelReply) -> str:
    """Return why a reply cannot be read as a percentage; empty if it can."""
    is_missing = math.isnan(read_percent(reply.text))
    return "the reply states no number from 0 to 100" if is_missing else ""


_GUESS = re.compile(
    r"^[^\w\n]{0,8}(answer|guess|confidence|probability)\s?\#?(\d{1,2})[^\w\n]{0,4}[:=][ \t]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def read_guesses(reply: str, question: Question) -> list[tuple[str, float]]:
    r"""Read numbered guesses with their probabilities, in the order of their numbers.

    A guess that cannot be read or has no probability is left out. If a number occurs twice, the first guess counts.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen")
    >>> read_guesses("Answer 1: Jane Austen\nConfidence 1: 80\nAnswer 2: Emily Brontë\nConfidence 2: 10%", question)
    [('Jane Austen', 0.8), ('Emily Brontë', 0.1)]
    """
    answers: dict[int, str] = {}
    probabilities: dict[int, float] = {}
    text, _ = apply_rules(LAYOUTS, clean(truncate_reply(reply))[0][: 2 * SPAN])
    for label, number, value in _GUESS.findall(text):
        if label.casefold() in ("answer", "guess"):
            answers.setdefault(int(number), read_answer(value, question.kind, known_answers(question)).text)
        else:
            probabilities.setdefault(int(number), read_percent(value))
    guesses = [(answers[number], probabilities.get(number, math.nan)) for number in sorted(answers)]
    return [
        (answer, probability) for answer, probability in guesses if answer and not math.isnan(probability)
    ]


_LINE = re.compile(
    r"^[^\w\n]{0,8}(?:option\s)?(\w{1,3})[^\w\n]{0,4}[:=][ \t]*(.*)$", re.IGNORECASE | re.MULTILINE
)


def options_of(question: Question) -> tuple[str, ...]:
    """Return the answers that a question allows: letters, or yes and no; empty for numbers and texts."""
    return ("yes", "no") if question.kind == "boolean" else tuple(question.options)


def read_distribution(reply: str, options: Sequence[str]) -> dict[str, float]:
    r"""Read the number stated for each option, one a line, as a hundredth; options without a number are absent.

    The numbers are percentages, or shares of 1: what counts is their share of the sum. If an option occurs twice, the
    last line counts.

    Examples
    --------
    >>> read_distribution("A: 70\n**B**: 25%\nC: 0.5\nD: much", ("A", "B", "C", "D"))
    {'A': 0.7, 'B': 0.25, 'C': 0.005}
    """
    names = {option.casefold(): option for option in options}
    text, _ = apply_rules(LAYOUTS, clean(truncate_reply(reply))[0][: 2 * SPAN])
    stated = {names.get(name.casefold()): _hundredths(value) for name, value in _LINE.findall(text)}
    return {option: value for option, value in stated.items() if option is not None and not math.isnan(value)}


_PLAIN_NUMBER = re.compile(
    r"[\s*\"'(~]{0,4}(\d{1,3}(?:\.\d{1,20})?(?:e-\d{1,3})?|\.\d{1,20})[\s%*]{0,4}\.?", re.IGNORECASE
)


def _hundredths(text: str) -> float:
    """Read a number from 0 to 100, divided by 100; it may be a percentage, or a share of 1."""
    number = _PLAIN_NUMBER.fullmatch(text.strip())
    value = float(number[1]) / 100 if number else read_percent(text)
    return value if value <= 1.0 else math.nan


_VERDICT = re.compile(r"\W{0,8}(?:true|false)\b", re.IGNORECASE)


def begins_with_verdict(question: Question, condition: str, reply: str) -> bool:
    """Return whether a reply that was cut off begins with True or False, of which only the first token is read."""
    return _VERDICT.match(reply) is not None
