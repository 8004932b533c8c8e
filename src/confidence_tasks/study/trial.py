"""The trial: one question, under one condition, answered once. Every part of the package meets in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

Status = Literal[
    "ok",
    "repaired",
    "out_of_range",
    "missing_confidence",
    "missing_answer",
    "unreadable",
    "refused",
]
"""How the reply was read: to the letter of the format, by a lenient rule, or what was wrong with it."""

STATUSES: tuple[Status, ...] = get_args(Status)

READABLE: frozenset[Status] = frozenset({"ok", "repaired"})
"""Statuses that count as read: both the answer and the confidence are there and on the scale."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply literally said, before anybody decides whether it is right.

    ``answer`` is in canonical form (letter, number or text), and empty when absent; ``confidence_raw`` in the units
    that were asked for, and NaN when absent. ``status`` is ``ok`` for a reply to the letter of the format, ``repaired``
    when a lenient rule was needed, else the fault; ``rules`` names those rules in order.
    """

    answer: str
    confidence_raw: float
    status: Status
    rules: tuple[str, ...] = ()


class Trial(TypedDict):
    """The columns that the trials of every study share.

    Every key is present on every trial; a missing number is NaN, a missing text is the empty string.

    Attributes
    ----------
    question_id : str
        Stable identifier of the question, such as ``mmlu-0017``.
    source : str
        Name of the question source.
    condition : str
        Label of the design cell, such as ``0-20`` or ``lambda=10``.
    correct : float
        1, 0 or a probability in [0, 1]; NaN when nothing can be judged.
    confidence : float
        Stated or derived confidence in [0, 1]; NaN when absent.
    status : Status
        How the reply was read.
    """

    question_id: str
    source: str
    condition: str
    correct: float
    confidence: float
    status: Status
