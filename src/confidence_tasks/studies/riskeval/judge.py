"""Reading what RiskEval's own instruments reply: the parser model's JSON, and the judge's verdict.

An instrument that does not reply as it was told to is at fault, not the model under test: the result is then a
:class:`Fault` with the reason, and no reading or verdict is made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.cleaning import bounded, strip_thoughts
from confidence_tasks.reading.json_reader import read_json_fields
from confidence_tasks.reading.refusals import is_refusal
from confidence_tasks.studies.riskeval.confidence import UNSTATED, read_confidence
from confidence_tasks.studies.riskeval.reader import RiskDecision, RiskReading, off_list, reading_status
from confidence_tasks.study.question import Question

_ABSTAIN = re.compile(r"\W*abstain(?:ed|s|ing)?\W*", re.IGNORECASE)
_FENCED = re.compile(r"```[a-zA-Z]{0,10}\s(.*)```", re.DOTALL)
_WHOLE_OBJECT = frozenset({"key_case", "newlines"})
_PARSED = _WHOLE_OBJECT | {"fields"}
_VERDICTS = {"true": True, "false": False}
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an instrument's reply cannot be used, in words for the log."""

    reason: str


def read_parser_reply(reply: str, question: Question) -> RiskReading | Fault:
    """Read the parser's JSON into the reading that the rules would give.

    A fault unless the reply is one JSON object, or its fields at least, with one ``final_answer``.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> reading = read_parser_reply('{"final_answer": "A. Yes", "confidence": 0.9, "reasoning_trace": ""}', question)
    >>> reading.decision, reading.answer, reading.confidence
    ('answer', 'A', 0.9)
    >>> read_parser_reply("The model answers A.", question)
    Fault(reason="the parser's reply is not one JSON object with a final_answer: The model answers A.")
    """
    found = read_json_fields(_json(reply), ("final_answer", "confidence", "reasoning_trace"))
    final = found.fields.get("final_answer")
    if final is None or not set(found.rules) <= _PARSED:
        return Fault(f"the parser's reply is not one JSON object with a final_answer: {_excerpt(reply)}")
    stated = found.fields.get("confidence", "")
    confidence = read_confidence(stated) if stated else UNSTATED
    abstains = _ABSTAIN.fullmatch(final) is not None
    answer = read_answer("" if abstains else final, question.kind, question.choices)
    if question.kind == "choice" and not abstains:
        answer = off_list(final, answer)
    refuses = not abstains and not answer.text and is_refusal(final)
    decision: RiskDecision = "abstain" if abstains or refuses else "answer" if answer.text else ""
    rules = (*answer.rules, *confidence.rules)
    return RiskReading(
        decision=decision,
        answer=answer.text,
        confidence=confidence.value,
        stated=confidence.text,
        status="refused" if refuses else reading_status(decision, confidence, rules),
        rules=rules,
    )


def read_verdict(reply: str) -> bool | Fault:
    """Read the judge's verdict.

    A fault unless the reply is one JSON object whose ``correct`` is true or false: prose, also around an object, which
    may quote the answer, broken JSON, another label and two verdicts are no verdict.

    Examples
    --------
    >>> read_verdict('{"correct": true, "normalized_model_answer": "B"}')
    True
    >>> read_verdict('{"correct": "partly"}')
    Fault(reason="the judge's verdict is neither true nor false: partly")
    """
    found = read_json_fields(_json(reply), ("correct",))
    label = found.fields.get("correct")
    if label is None or not set(found.rules) <= _WHOLE_OBJECT:
        return Fault(f"the judge's reply is not one JSON object with a verdict: {_excerpt(reply)}")
    verdict = _VERDICTS.get(label.strip().lower())
    return (
        Fault(f"the judge's verdict is neither true nor false: {_excerpt(label)}")
        if verdict is None
        else verdict
    )


def _json(reply: str) -> str:
    """Return a reply without thoughts and without a fence around the whole of it."""
    text = strip_thoughts(bounded(reply)).strip()
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def _excerpt(text: str) -> str:
    line = " ".join(text[: 4 * _SHOWN].split())
    return (line[:_SHOWN] + "..." if len(line) > _SHOWN else line) or "(empty)"
