"""Questions, items and trials: the records that the parts of the package exchange.

A question is a record of a question source. An item is a question as it is asked under one condition. A trial is one
question, under one condition, answered once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, get_args

Kind = Literal["choice", "number", "text", "boolean"]
"""Kind of an answer: a lettered option, a number, a short text, or yes or no."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its key.

    Attributes
    ----------
    id : str
        Identifier, such as ``mmlu-0017``: the same on every machine and with every library version, and unique over
        all sources.
    source : str
        Name of the question source.
    text : str
        The question as asked, without its options.
    kind : {"choice", "number", "text", "boolean"}
        Kind of the answer.
    gold : str or None
        The key: a letter for ``choice``, a decimal number without separators for ``number``, a text for
        ``text``, ``yes`` or ``no`` for ``boolean``; None if the source has no key.
    choices : tuple of str
        The options in the order shown; empty unless ``kind`` is ``choice``.
    aliases : tuple of str
        Other correct answers.
    subject, level : str
        Subject and difficulty level; empty if the source has none.
    image : str or None
        Data URL of the picture that belongs to the question.
    metadata : mapping
        Anything else that a study needs from the source.
    cluster : str
        What the question shares with others, such as a passage; empty for an independent question. Questions of one
        cluster are one unit of intervals and tests.
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
    cluster: str = ""

    @property
    def options(self) -> dict[str, str]:
        """The options by letter, in the order shown."""
        return dict(zip(LETTERS, self.choices, strict=False))

    def with_metadata(self, **more: Any) -> Question:
        """Return the same question with more metadata."""
        return replace(self, metadata={**self.metadata, **more})


_KEYS = ("source", "kind", "gold", "subject", "level")
_METADATA_KEYS = frozenset({"question_id", "question", "choices", "aliases", "cluster", *_KEYS})


def question_metadata(question: Question) -> dict[str, Any]:
    """Return the fields of ``question`` that scoring needs, as metadata that JSON can hold."""
    return {
        "question_id": question.id,
        "question": question.text,
        "choices": list(question.choices),
        "aliases": list(question.aliases),
        **{key: getattr(question, key) for key in _KEYS},
        **({"cluster": question.cluster} if question.cluster else {}),
    }


def question_from_metadata(metadata: Mapping[str, Any]) -> Question:
    """Return the question of which :func:`question_metadata` returned the metadata; other keys become its metadata.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> question_from_metadata(question_metadata(question)) == question
    True
    """
    return Question(
        id=metadata["question_id"],
        text=metadata["question"],
        choices=tuple(metadata["choices"]),
        aliases=tuple(metadata["aliases"]),
        cluster=metadata.get("cluster", ""),
        **{key: metadata[key] for key in _KEYS},
        metadata={key: value for key, value in metadata.items() if key not in _METADATA_KEYS},
    )


EFFORT = "effort"
"""Key of a sample's metadata, and column of its trial, that holds the reasoning effort, if there are several."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question as it is asked under one condition.

    Attributes
    ----------
    question : Question
        The question.
    condition : str
        Label of the condition.
    prompt : str
        The user message.
    system : str
        The system message; empty for none.
    examples : tuple of (str, str)
        Worked examples before the prompt: pairs of a user and an assistant message.
    metadata : dict
        Anything else that the scorer needs.
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
    """Return a copy of every item for each effort; the items themselves if there are no efforts."""
    if not efforts:
        return list(items)
    return [replace(item, metadata={**item.metadata, EFFORT: effort}) for item in items for effort in efforts]


def require_keys(questions: Sequence[Question], source: str) -> Sequence[Question]:
    """Return the questions. Raise ValueError if no question has a key."""
    if all(question.gold is None for question in questions):
        raise ValueError(f"the questions of {source} have no key to grade by: choose a source with keys")
    return questions


Status = Literal[
    "ok",
    "repaired",
    "out_of_range",
    "missing_confidence",
    "missing_answer",
    "unreadable",
    "refused",
    "truncated",
    "filtered",
    "reasoning_only",
]
"""Outcome of reading a reply: in the exact format, repaired by a lenient rule, or a fault.

The last three are replies that the model did not finish: cut off at a token limit, stopped by the provider's content
filter, or with reasoning and no visible reply. They are neither answers nor abstentions.
"""

STATUSES: tuple[Status, ...] = get_args(Status)

UNFINISHED: tuple[Status, ...] = STATUSES[-3:]
"""Statuses of replies that the model did not finish."""

READABLE: frozenset[Status] = frozenset({"ok", "repaired"})
"""Statuses of replies that have an answer, and a confidence on the scale."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Content of a reply, before it is graded.

    Attributes
    ----------
    answer : str
        The answer in canonical form: a letter, a number or a text; empty if there is none.
    confidence_raw : float
        The confidence in the units that were asked for; NaN if there is none.
    status : Status
        ``ok`` for a reply in the exact format, ``repaired`` if a lenient rule was needed, else the fault.
    rules : tuple of str
        Names of the lenient rules that were needed, in order.
    """

    answer: str
    confidence_raw: float
    status: Status
    rules: tuple[str, ...] = ()


class Trial(TypedDict):
    """The columns that the trials of every study have.

    Every trial has every column. A missing number is NaN, a missing text is the empty string.

    Attributes
    ----------
    question_id : str
        Stable identifier of the question, such as ``mmlu-0017``.
    source : str
        Name of the question source.
    condition : str
        Label of the condition, such as ``0-20`` or ``lambda=10``.
    correct : float
        1 for a right answer, 0 for a wrong one, or a probability of being right; NaN if the answer cannot be judged.
    confidence : float
        Confidence in [0, 1], as stated or as derived from the reply; NaN if there is none.
    status : Status
        Outcome of reading the reply.
    """

    question_id: str
    source: str
    condition: str
    correct: float
    confidence: float
    status: Status


RULES = "rules"
"""Column with the names of the rules that a reply needed, joined by ``+``.

The trial of a study that does not declare it has it only if its reply had a thought or unknown control tokens.
"""


class ReadTrial(Trial):
    """Further columns of trials whose reply was read into a :class:`Reading`.

    Attributes
    ----------
    answer : str
        The answer that was read; empty if there is none.
    rules : str
        Names of the lenient rules that were needed, joined by ``+``.
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
    """Return the columns of a trial from its question, its condition and the reading of its reply."""
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
