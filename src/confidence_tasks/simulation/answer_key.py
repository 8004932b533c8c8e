"""The answer key: what simulated subjects know of the questions, told to them by the tasks of this process."""

from __future__ import annotations

from collections.abc import Iterable

from confidence_tasks.study.question import Question

_KEY: dict[str, Question] = {}


def register(items: Iterable[tuple[str, Question]]) -> None:
    """Add pairs of a user prompt and the question that it asks."""
    _KEY.update(items)


def look_up(prompt: str) -> Question | None:
    """Return the question that ``prompt`` asks, or None when no task of this process asks it.

    A prompt may follow other text (worked examples, a chat template): the longest registered ending counts.
    """
    if prompt in _KEY:
        return _KEY[prompt]
    start = prompt.find("\n")
    while start != -1:
        if (question := _KEY.get(prompt[start + 1 :].strip())) is not None:
            return question
        start = prompt.find("\n", start + 1)
    return None
