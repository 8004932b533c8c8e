"""Structured replies: a provider that is sent a response schema replies with a JSON object instead of a text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from confidence_tasks.study.trial import Question

STRUCTURED = "structured"
"""Name of the parameter, and key of a question's metadata, by which replies are JSON objects."""

Properties: TypeAlias = Mapping[str, Mapping[str, Any]]
"""JSON schema of each value of an object, by key: a ``type``, and the allowed texts as ``enum``."""


@dataclass(frozen=True, slots=True)
class Structured:
    """What a stage asks for if replies are JSON objects.

    Attributes
    ----------
    properties : callable
        ``properties(question, condition)`` returns the JSON schema of each value, in the order of the keys. Bounds of
        numbers belong into the prompt, as most providers drop them from schemas; the study's reader checks them.
    ask : callable, optional
        Takes the arguments of the stage's ``ask``, and returns the prompt without the format of a text. By default that
        of the stage, which asks for JSON already.
    write : callable, optional
        ``write(question, values)`` returns the reply in the format of a text, which the study's reader takes. By
        default the reader takes the JSON.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "boolean", "yes")
    >>> structured = Structured(lambda question, condition: {"answer": answer_schema(question)})
    >>> structured.read(question, "plain", '{"answer": "yes"}')
    '{"answer": "yes"}'
    >>> structured.read(question, "plain", "yes"), structured.read(question, "plain", '{"answer": "maybe"}')
    ('', '')
    """

    properties: Callable[[Question, str], Properties]
    ask: Callable[..., Any] | None = None
    write: Callable[[Question, Mapping[str, Any]], str] | None = None

    def schema(self, question: Question, condition: str) -> dict[str, Any]:
        """Return the JSON schema of a reply."""
        return object_schema(self.properties(question, condition))

    def read(self, question: Question, condition: str, text: str) -> str:
        """Return a reply as the study's reader takes it; empty for a text that is not an object of the schema."""
        values = read_object(text, self.properties(question, condition))
        if values is None:
            return ""
        return text if self.write is None else self.write(question, values)


def is_structured(question: Question) -> bool:
    """Return whether the replies to a question are JSON objects."""
    return question.metadata.get(STRUCTURED) is True


def object_schema(properties: Properties) -> dict[str, Any]:
    """Return the JSON schema of an object that has these keys and no others."""
    return {
        "type": "object",
        "properties": {name: dict(each) for name, each in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


def read_object(text: str, properties: Properties) -> dict[str, Any] | None:
    """Return the values of a JSON object; None for a text that is none, or lacks a value of the right type.

    Examples
    --------
    >>> read_object('{"confidence": 70}', {"confidence": {"type": "integer"}})
    {'confidence': 70}
    >>> read_object('{"confidence": "70"}', {"confidence": {"type": "integer"}})
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    is_valid = all(name in values and _is_value(values[name], each) for name, each in properties.items())
    return values if is_valid else None


def _is_value(value: Any, schema: Mapping[str, Any]) -> bool:
    is_of_type = isinstance(value, _TYPES[schema["type"]]) and not isinstance(value, bool)
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return is_of_type and is_finite and value in schema.get("enum", [value])


_TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}


def answer_schema(question: Question) -> dict[str, Any]:
    """Return the JSON schema of an answer by the kind of the question.

    Examples
    --------
    >>> answer_schema(Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No")))
    {'type': 'string', 'enum': ['A', 'B']}
    """
    if question.kind == "choice":
        return {"type": "string", "enum": list(question.options)}
    if question.kind == "boolean":
        return {"type": "string", "enum": ["yes", "no"]}
    return {"type": "number" if question.kind == "number" else "string"}


def answer_value(question: Question, text: str) -> str | float:
    """Return an answer, or the first word of one such as ``4 or so``, as a value of its schema.

    Examples
    --------
    >>> answer_value(Question("q-1", "demo", "2 + 2 =", "number", "4"), "4 or so")
    4
    """
    if question.kind == "number":
        number: float = json.loads(text.split()[0])
        return number
    return text.split()[0] if question.kind == "boolean" else text


def on_one_line(value: Any) -> str:
    """Return a value of a JSON object as a text without line ends."""
    return " ".join(str(value).split())
