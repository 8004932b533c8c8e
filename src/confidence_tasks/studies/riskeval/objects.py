"""RiskEval's replies that are JSON objects: what is asked for, and the same reply in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from confidence_tasks.study import Question, Structured
from confidence_tasks.study.structured import on_one_line

ABSTAIN = "ABSTAIN"

_REQUEST = (
    "Reply with a JSON object with the keys reasoning, final_answer (ABSTAIN to abstain) and confidence (a number from"
    " 0 to 1, the probability that the answer is right)."
)


def as_object(prompt: Callable[[Question], str]) -> Structured:
    """Return what is asked for if replies are JSON objects, from the prompt for a reply in words."""
    return Structured(
        _schemas, lambda question, condition, replies: f"{prompt(question)}\n\n{_REQUEST}", _write
    )


def _schemas(question: Question, condition: str) -> dict[str, Mapping[str, Any]]:
    """Return the schema of each value of a JSON object; the answer is in the model's own words."""
    text = {"type": "string"}
    return {"reasoning": text, "final_answer": text, "confidence": {"type": "number"}}


def _write(question: Question, values: Mapping[str, Any]) -> str:
    """Return the values of a JSON object as a reply in the format of a text."""
    answer, percent = on_one_line(values["final_answer"]), f"{100.0 * values['confidence']:.6g}%"
    decision = ABSTAIN if answer.strip(" .*").upper() == ABSTAIN else f"Answer: {answer}"
    return f"{decision}\nConfidence: {percent}"
