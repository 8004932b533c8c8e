"""Worked examples for small and base models, which do not follow a format that they are only told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.simulation.profiles import make_subject
from confidence_tasks.simulation.respond import respond
from confidence_tasks.simulation.subject import Subject

T = TypeVar("T")


def held_out(questions: Sequence[T], fewshot: int) -> tuple[Sequence[T], Sequence[T]]:
    """Split questions into those asked and the last ``fewshot``, which serve as examples.

    Raises
    ------
    ValueError
        If nothing would be left to ask.
    """
    if fewshot < 0 or fewshot >= len(questions):
        raise ValueError(
            f"fewshot={fewshot} must be 0 or more and leave some of the {len(questions)} questions"
        )
    asked = len(questions) - fewshot
    return questions[:asked], questions[asked:]


def ideal_reply(subject: Subject, item: Item) -> str:
    """Return what a subject replies to an item, as its study's responders say."""
    return respond(subject, item.question, f"{item.system}\n\n{item.prompt}", seed="fewshot").text


def with_replies_shown(items: Sequence[Item], fewshot: int) -> list[Item]:
    """Return the items but for those of the last ``fewshot`` questions, which stand before each with a reply.

    The replies are an ideal subject's, under the condition of the item that they stand before.

    Parameters
    ----------
    items : sequence of Item
        Of any study; a question may be asked more than once.
    fewshot : int
        Number of worked examples, 1 or more.

    Raises
    ------
    ValueError
        If nothing would be left to ask.
    """
    asked, shown = held_out(list(dict.fromkeys(item.question.id for item in items)), fewshot)
    subject = make_subject("ideal")
    examples: dict[str, dict[str, tuple[str, str]]] = {}
    for item in items:
        if item.question.id in shown:
            shown_reply = ideal_reply(subject, item)
            examples.setdefault(item.condition, {})[item.question.id] = item.prompt, shown_reply
    kept = set(asked)
    return [
        replace(item, examples=tuple(examples[item.condition].values()))
        for item in items
        if item.question.id in kept
    ]
