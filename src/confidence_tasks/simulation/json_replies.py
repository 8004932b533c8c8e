"""How a simulated subject strays from a reply in JSON."""

from __future__ import annotations

import re
from collections.abc import Callable

from confidence_tasks.simulation.draws import pick, uniform
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.simulation.true_values import sloppily

_LAST_NUMBER = re.compile(r"\d+\.\d+(?!.*\d+\.\d+)", re.DOTALL)

SLOPPY_FORMS: tuple[Callable[[str], str], ...] = (
    lambda reply: f"```json\n{reply}\n```",
    lambda reply: f"Here is my response:\n\n{reply}\n\nI hope this helps!",
    lambda reply: reply.replace('"', "'"),
    lambda reply: reply.replace("\n}", ",\n}"),
    lambda reply: reply.replace('": ', '": /* so */ ', 1),
    lambda reply: f"{reply}\n{reply}",
    lambda reply: _LAST_NUMBER.sub(lambda number: f'"{float(number[0]):.0%}"', reply),
    lambda reply: _LAST_NUMBER.sub('"high"', reply),
    lambda reply: reply[: len(reply) // 2],
    lambda reply: "I'm sorry, but I cannot help with that.",
)
"""Ways to stray; the last three leave out what was asked for."""


def said(reply: str, subject: Subject, *key: object) -> str:
    """Return a reply in format, or as a sloppy subject says it."""
    if uniform(*key, "sloppy") >= subject.sloppiness:
        return reply
    return SLOPPY_FORMS[pick(len(SLOPPY_FORMS), *key, "form")](reply)


def ways_to_say(reply: str, subject: Subject) -> list[tuple[str, float]]:
    """Return everything that :func:`said` may return, with its probability."""
    return sloppily(reply, [form(reply) for form in SLOPPY_FORMS], subject)
