"""The replies of RiskEval's parser and judge, which are JSON objects."""

from __future__ import annotations

import re
from dataclasses import dataclass

from confidence_tasks.reading.answers import known_answers, read_answer
from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.fields import read_json_fields
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.studies.riskeval.confidence import UNSTATED, read_stated
from confidence_tasks.studies.riskeval.reader import RiskReading, _make_reading, off_list
from confidence_tasks.study import Question

_ABSTAIN = re.compile(r"\W*abstain(?:ed|s|ing)?\W*", re.IGNORECASE)


_FENCED = re.compile(r"```[a-zA-Z]{0,10}\s(.*)```", re.DOTALL)


_JUDGE_RULES = frozenset({"key_case", "newlines"})
"""Lenient rules of reading JSON that are allowed in a reply of the judge."""


_PARSER_RULES = _JUDGE_RULES | {"fields"}


_EXCERPT_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a reply of the parser or the judge cannot be used, in words for the log."""

    reason: str


def read_parser_reply(reply: str, question: Question) -> RiskReading | Fault:
    """Read the parser's JSON as a reading of the reply that it parsed.

    The result is a fault unless the reply is one JSON object, or at least its fields, with one ``final_answer``.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> reading = read_parser_reply('{"final_answer": "A. Yes", "confidence": 0.9, "reasoning_trace": ""}', question)
    >>> reading.decision, reading.answer, reading.confidence_raw
    ('answer', 'A', 0.9)
    >>> read_parser_reply("The model answers A.", question)
    Fault(reason="the parser's reply is not one JSON object with a final_answer: The model answers A.")
    """
    parsed = read_json_fields(_extract_json(reply), ("final_answer", "confidence", "reasoning_trace"))
    final = parsed.fields.get("final_answer")
    if final is None or not set(parsed.rules) <= _PARSER_RULES:
        return Fault(f"the parser's reply is not one JSON object with a final_answer: {_excerpt(reply)}")
    stated = parsed.fields.get("confidence", "")
    confidence = read_stated(stated) if stated else UNSTATED
    abstains = _ABSTAIN.fullmatch(final) is not None
    answer = read_answer("" if abstains else final, question.kind, known_answers(question))
    if question.kind == "choice" and not abstains:
        answer = off_list(final, answer)
    return _make_reading(answer, confidence, final, abstains=abstains)


def read_verdict(reply: str) -> bool | Fault:
    """Read the judge's verdict.

    The result is a fault unless the reply is one JSON object whose ``correct`` is true or false. Prose around an object
    is a fault because it may quote the answer; so are broken JSON and two verdicts.

    Examples
    --------
    >>> read_verdict('{"correct": true, "normalized_model_answer": "B"}')
    True
    >>> read_verdict('{"correct": "partly"}')
    Fault(reason="the judge's verdict is neither true nor false: partly")
    """
    parsed = read_json_fields(_extract_json(reply), ("correct",))
    label = parsed.fields.get("correct")
    if label is None or not set(parsed.rules) <= _JUDGE_RULES:
        return Fault(f"the judge's reply is not one JSON object with a verdict: {_excerpt(reply)}")
    verdict = label.strip().lower()
    if verdict in ("true", "false"):
        return verdict == "true"
    return Fault(f"the judge's verdict is neither true nor false: {_excerpt(label)}")


def _extract_json(reply: str) -> str:
    """Return a reply without thoughts and without a code fence around the whole reply."""
    text = strip_thoughts(truncate_reply(reply)).strip()
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def _excerpt(text: str) -> str:
    line = " ".join(text[: 4 * _EXCERPT_LENGTH].split())
    return (line[:_EXCERPT_LENGTH] + "..." if len(line) > _EXCERPT_LENGTH else line) or "(empty)"
