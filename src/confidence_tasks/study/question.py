"""The question record: what every source, whatever its shape, is mapped to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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
