"""A question in a sample's metadata and back, so that a log holds all that scoring and rescoring need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confidence_tasks.study.question import Question

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
