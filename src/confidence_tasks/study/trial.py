"""The trial: one question, under one condition, answered once. Every part of the package meets in it.

The question is the record to which every source is mapped, the item a question as it is asked in one condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, get_args

Kind = Literal["choice", "number", "text", "boolean"]
"""What an answer looks like: a lettered option, a number, a short text, or yes/no."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its key.

    Attributes
    ----------
    id : str
        Stable over machines and library versions, unique over sources: ``mmlu-0017``.
    source : str
        Name of the source in the table of sources.
    text : str
        The question as asked, without its options.
    kind : {"choice", "number", "text", "boolean"}
        What an answer looks like.
    gold : str or None
        The key: a letter for ``choice``, a decimal number without separators for ``number``, a text for
        ``text``, ``yes`` or ``no`` for ``boolean``; None when the source gives none.
    choices : tuple of str
        The options in the order shown; empty unless ``kind`` is ``choice``.
    aliases : tuple of str
        Other texts that are right as well.
    subject, level : str
        Subject and difficulty level where the source has them, else empty.
    image : str or None
        A data URL where the item has a picture.
    metadata : mapping
        Whatever else a study needs from this source.
    """

    id: str
    source: str
    text: str
    kind: Kind
    gold: str | None
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    subject: str = ""
    level: str = ""
    image: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """The options by letter, in the order shown."""
        return dict(zip(LETTERS, self.choices, strict=False))

    def with_metadata(self, **more: Any) -> Question:
        """Return the same question with more metadata."""
        return replace(self, metadata={**self.metadata, **more})


_KEYS = ("source", "kind", "gold", "subject", "level")
_WRITTEN = frozenset({"question_id", "question", "choices", "aliases", *_KEYS})


def question_metadata(question: Question) -> dict[str, Any]:
    """Return what scoring needs of ``question`` as flat, JSON-ready metadata."""
    return {
        "question_id": question.id,
        "question": question.text,
        "choices": list(question.choices),
        "aliases": list(question.aliases),
        **{key: getattr(question, key) for key in _KEYS},
    }


def question_of(metadata: Mapping[str, Any]) -> Question:
    """Return the question that :func:`question_metadata` wrote down; what else there is becomes its metadata.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> question_of(question_metadata(question)) == question
    True
    """
    return Question(
        id=metadata["question_id"],
        text=metadata["question"],
        choices=tuple(metadata["choices"]),
        aliases=tuple(metadata["aliases"]),
        **{key: metadata[key] for key in _KEYS},
        metadata={key: value for key, value in metadata.items() if key not in _WRITTEN},
    )


EFFORT = "effort"
"""The key of a sample's metadata, and of its trial, that says at which of several efforts it was asked."""


@dataclass(frozen=True, slots=True)
class Item:
    """One cell of a study's design, as either harness asks it.

    Attributes
    ----------
    question : Question
        What is asked.
    condition : str
        Label of the condition.
    prompt : str
        The user message.
    system : str
        The system message; empty for none.
    examples : tuple of (str, str)
        Worked examples as pairs of user and assistant turns, before the prompt.
    metadata : dict
        What else the scorer needs.
    """

    question: Question
    condition: str
    prompt: str
    system: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The sample id: ``question/condition``, or ``question/condition/effort``."""
        return "/".join((self.question.id, self.condition, *filter(None, [self.metadata.get(EFFORT)])))


def at_efforts(items: Sequence[Item], efforts: Sequence[str]) -> list[Item]:
    """Return every item at each of some efforts; as they are if there is none."""
    if not efforts:
        return list(items)
    return [replace(item, metadata={**item.metadata, EFFORT: effort}) for item in items for effort in efforts]


def with_key(questions: Sequence[Question], source: str) -> Sequence[Question]:
    """Return questions of which some have a key; ValueError if none has, since no reply could be right or wrong."""
    if all(question.gold is None for question in questions):
        raise ValueError(f"the questions of {source} have no key: no reply to them can be right or wrong")
    return questions


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
    """Literal content of a reply, before it is graded.

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


class ReadTrial(Trial):
    """The columns of trials whose reply was read by rules.

    Attributes
    ----------
    answer : str
        The answer read, empty when there is none.
    rules : str
        Names of the lenient reading rules used, joined by ``+``.
    """

    answer: str
    rules: str


def read_trial(
    question: Question,
    condition: str,
    reading: Reading,
    *,
    correct: float,
    confidence: float,
) -> ReadTrial:
    """Return the columns that such trials share, of a question under a condition and what was read of its reply."""
    return ReadTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=correct,
        confidence=confidence,
        status=reading.status,
        answer=reading.answer,
        rules="+".join(reading.rules),
    )
