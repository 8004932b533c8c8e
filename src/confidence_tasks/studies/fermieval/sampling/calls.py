"""The single model call of a sample, and what it asks for if replies are JSON objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from confidence_tasks.studies.fermieval.replies import (
    ENDS,
    EXPONENT_SYSTEM,
    exponent_prompt,
    interval_prompt,
    interval_system,
)
from confidence_tasks.studies.fermieval.sampling.trials import read_cell
from confidence_tasks.study import Question, Replies, Stage, Structured

EXPONENT = "exponent"
REASONING = "reasoning"

_REQUESTS = {
    "direct": "Reply with a JSON object with the key exponent: the integer exponent x.",
    "reasoned": "Reply with a JSON object with the keys reasoning (brief, step by step) and exponent: the integer "
    "exponent x.",
}
_SCHEMAS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "interval": ENDS,
    "direct": {EXPONENT: {"type": "integer"}},
    "reasoned": {REASONING: {"type": "string"}, EXPONENT: {"type": "integer"}},
}


def _schemas(question: Question, condition: str) -> Mapping[str, Mapping[str, Any]]:
    ask, *_ = read_cell(condition)
    return _SCHEMAS[ask]


def _prompt(question: Question, condition: str, replies: Replies) -> str:
    ask, _, level = read_cell(condition)
    return exponent_prompt(question.text, ask) if level is None else interval_prompt(question.text, level)


def _object_prompt(question: Question, condition: str, replies: Replies) -> str:
    """Return the prompt without the format of a text; that for an interval asks for JSON already."""
    ask, _, level = read_cell(condition)
    if level is not None:
        return interval_prompt(question.text, level)
    return f"Question: {question.text}\n\n{_REQUESTS[ask]}"


def _write(question: Question, values: Mapping[str, Any]) -> str:
    return str(values[EXPONENT]) if EXPONENT in values else json.dumps(values)


def _system(question: Question, condition: str) -> str:
    _, _, level = read_cell(condition)
    return EXPONENT_SYSTEM if level is None else interval_system(level)


def sampling_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the single model call of a trial, at the temperature of its condition."""
    return [
        Stage(
            "sample",
            _prompt,
            system=_system,
            temperature=lambda condition: read_cell(condition)[1],
            structured=Structured(_schemas, _object_prompt, _write),
        )
    ]


def exponent_object(value: int, reasoning: str = "") -> str:
    """Return an exponent as a JSON object, as simulated subjects give it.

    Examples
    --------
    >>> exponent_object(12), exponent_object(12, "Some trillions.")
    ('{"exponent": 12}', '{"reasoning": "Some trillions.", "exponent": 12}')
    """
    before = {REASONING: reasoning} if reasoning else {}
    return json.dumps({**before, EXPONENT: value})
