"""The explanation that the log viewer shows beside a trial: a short table in words, with model text made harmless."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.reading.token_probabilities import why_unknown
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import Token
from confidence_tasks.study.trial import Question, Status

MEANING: Mapping[Status, str] = {
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


def number(value: float, form: str = "g") -> str:
    """Return a number as the explanation shows it; a missing one is ``none``.

    Examples
    --------
    >>> number(0.85), number(0.85, ".3f"), number(math.nan)
    ('0.85', '0.850', 'none')
    """
    return "none" if math.isnan(value) else f"{value:{form}}"


def answer_and_key(trial: Mapping[str, Any], question: Question) -> dict[str, str]:
    """Return the rows of the answer, with the verdict, and of the key."""
    said = plain(trial.get("answer", "")) or "none"
    return {"Answer": f"{said}: **{verdict(trial['correct'])}**", "Key": plain(question.gold or "none")}


def token_probability(trial: Mapping[str, Any], tokens: Sequence[Token]) -> dict[str, str]:
    """Return the row of the token probability of what was said, or of why there is none; no row without tokens."""
    problem = why_unknown(tokens) if tokens else ""
    if math.isnan(trial["token_confidence"]):
        return {"Token probability": f"none: {plain(problem)}"} if problem else {}
    judged = f": **{verdict(trial['token_correct'])}**" if "token_correct" in trial else ""
    return {"Token probability": f"{trial['token_confidence']:.4f}{judged}"}


def explanation(
    study: Study, trial: Mapping[str, Any], question: Question, tokens: Sequence[Token] = ()
) -> str:
    """Return the table of what a study says of a trial, how the reply was read, and by which rules."""
    status = trial["status"]
    rows = dict((study.explain or _rows)(trial, question, tokens))
    meaning = rows.pop("Reading", "") or {**MEANING, **study.status_descriptions}[status]
    rows["Reading"] = f"{status.replace('_', ' ')}: {meaning}"
    if trial.get("rules"):
        rows["Rules"] = plain(trial["rules"].replace("+", ", "))
    return "\n".join(
        ["| | |", "| --- | --- |", *(f"| **{name}** | {value} |" for name, value in rows.items())]
    )


def _rows(trial: Mapping[str, Any], question: Question, tokens: Sequence[Token]) -> dict[str, str]:
    """Say what was read and what became of it."""
    return {**answer_and_key(trial, question), "Confidence": number(trial["confidence"], ".3f")}
