"""Worked examples for small and base models, which do not follow a format that they are only told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from confidence_tasks.harness.inspect.samples import Item
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
