"""Seeded orders that depend on identifiers alone, so that they are the same on every machine.

A sample is a prefix of an order: the 100 questions of one seed are the first of its 200.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from confidence_tasks.study.question import LETTERS, Question

T = TypeVar("T")


def seeded_key(seed: int, *parts: object) -> bytes:
    """Sort key of an identifier under a seed: SHA-256, which no library version changes.

    Examples
    --------
    >>> seeded_key(0, "mmlu-00017").hex()[:8] == seeded_key(1, "mmlu-00017").hex()[:8]
    False
    """
    return hashlib.sha256("\x1f".join(map(str, (seed, *parts))).encode()).digest()


def ordered(questions: Sequence[Question], seed: int, balance: Sequence[str] = ()) -> list[Question]:
    """Shuffle by seed, whatever the order given, such that every prefix, the sample of its size, is balanced.

    ``balance`` names attributes of a question, the widest first. The groups of the first take turns, within each group
    those of the second, and so on; a group that has run out leaves its turns to the others.
    """
    if not balance:
        return sorted(questions, key=lambda question: seeded_key(seed, question.id))
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(getattr(question, balance[0]), []).append(question)
    turns = sorted(groups, key=lambda label: seeded_key(seed, label))
    return _take_turns([ordered(groups[label], seed, balance[1:]) for label in turns])


def _take_turns(groups: Sequence[Sequence[T]]) -> list[T]:
    rounds = max(map(len, groups), default=0)
    return [group[turn] for turn in range(rounds) for group in groups if turn < len(group)]


def shuffled_options(
    options: Sequence[str], gold: int, seed: int, identifier: str
) -> tuple[tuple[str, ...], str]:
    """Shuffle the options of one question, and say which letter the right one, at position ``gold``, has then.

    The order hangs on the seed and the question's id.
    """
    order = sorted(range(len(options)), key=lambda position: seeded_key(seed, identifier, position))
    return tuple(options[position] for position in order), LETTERS[order.index(gold)]
