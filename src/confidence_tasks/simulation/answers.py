"""Right and wrong answers to a question, as a simulated subject gives them, and how it strays from a reply in JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from confidence_tasks.simulation.subject import Subject, pick, uniform
from confidence_tasks.simulation.true_values import sloppily
from confidence_tasks.study.question import Question

_OPPOSITE = {"yes": "no", "no": "yes"}


def answer(question: Question, *, correct: bool, seed: object) -> str:
    """Return the key of ``question``, or a wrong answer of the same kind.

    A question without a key gets a text that claims nothing.
    """
    if question.gold is None:
        return "I do not know"
    return question.gold if correct else _wrong(question, question.gold, seed)


def _wrong(question: Question, gold: str, seed: object) -> str:
    if question.kind == "choice":
        others = [letter for letter in question.options if letter != gold]
        return others[pick(len(others), seed, question.id, "wrong")]
    if question.kind == "number":
        return str(Decimal(gold) + 1 + pick(9, seed, question.id, "wrong"))
    return _OPPOSITE.get(gold, "not " + gold)


def ranked_guesses(
    question: Question, best: str, confidence: int, *, lower: int, size: int
) -> list[tuple[str, int]]:
    """Return ``best`` and further guesses, each with half the confidence above ``lower`` of the one before.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No", "Never"))
    >>> ranked_guesses(question, "B", 16, lower=0, size=3)
    [('B', 16), ('A', 8), ('C', 4)]
    """
    others = [letter for letter in question.options if letter != best] or [f"{best} or so"] * size
    answers = [best, *others][:size]
    return [(text, lower + (confidence - lower) // 2**rank) for rank, text in enumerate(answers)]


_LAST_NUMBER = re.compile(r"\d+\.\d+(?!.*\d+\.\d+)", re.DOTALL)

SLOPPY_FORMS: tuple[Callable[[str], str], ...] = (
    lambda reply: f"```json\n{reply}\n```",
    lambda reply: f"Here is my response:\n\n{reply}\n\nI hope this helps!",
    lambda reply: reply.replace('"', "'"),
    lambda reply: reply.replace("\n}", ",\n}"),
    lambda reply: reply.replace('": ', '": /* so */ ', 1),
    lambda reply: f"{reply}\n{reply}",
    lambda reply: _LAST_NUMBER.sub(lambda number: f'"{float(number[0]):.0%}"', reply),
    lambda reply: _LAST_NUMBER.sub('"high"', reply),
    lambda reply: reply[: len(reply) // 2],
    lambda reply: "I'm sorry, but I cannot help with that.",
)
"""Ways to stray; the last three leave out what was asked for."""


def said(reply: str, subject: Subject, *key: object) -> str:
    """Return a reply in format, or as a sloppy subject says it."""
    if uniform(*key, "sloppy") >= subject.sloppiness:
        return reply
    return SLOPPY_FORMS[pick(len(SLOPPY_FORMS), *key, "form")](reply)


def ways_to_say(reply: str, subject: Subject) -> list[tuple[str, float]]:
    """Return everything that :func:`said` may return, with its probability."""
    return sloppily(reply, [form(reply) for form in SLOPPY_FORMS], subject)
