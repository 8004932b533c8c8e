"""The explanation that the log viewer shows beside a trial: a short table in words, with model text made harmless."""

from __future__ import annotations

import math
from collections.abc import Iterable

from confidence_tasks.study.trial import Status

MEANING: dict[Status, str] = {
    "ok": "The reply keeps to the letter of the format.",
    "repaired": "The reply strays from the format, but can be read.",
    "out_of_range": "The confidence lies outside the bounds that were asked for; it is left out of every measure "
    "but the violation rate.",
    "missing_confidence": "No confidence can be read; the answer still counts for accuracy.",
    "missing_answer": "No answer can be read; the trial counts for the parse rate only.",
    "unreadable": "Neither an answer nor a confidence can be read.",
    "refused": "The model declines to answer.",
}

_SHOWN = 200
_MARKUP = str.maketrans({char: "\\" + char for char in "\\`*_{}[]()<>#+-.!|$~"})


def plain(text: str) -> str:
    r"""Return untrusted text as one short line of markdown that shows it literally.

    Examples
    --------
    >>> plain("<b>17|20</b>")
    '\\<b\\>17\\|20\\</b\\>'
    """
    line = " ".join(text.split())
    return (line[:_SHOWN] + "…" if len(line) > _SHOWN else line).translate(_MARKUP)


def verdict(correct: float) -> str:
    """Say in words what ``correct`` says in numbers."""
    if math.isnan(correct):
        return "not judged"
    return {1.0: "right", 0.0: "wrong"}.get(correct, f"right with probability {correct:.3f}")


def reading(status: Status, meaning: str = "") -> str:
    """Say how a reply was read, in the words of the status or in others.

    Examples
    --------
    >>> reading("refused")
    'refused: The model declines to answer.'
    """
    return f"{status.replace('_', ' ')}: {meaning or MEANING[status]}"


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a two-column markdown table; the values are markdown already."""
    return "\n".join(["| | |", "| --- | --- |", *(f"| **{name}** | {value} |" for name, value in rows)])
