"""Right and wrong answers to a question, as a simulated subject gives them."""

from __future__ import annotations

from decimal import Decimal

from confidence_tasks.simulation.draws import pick
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
