"""The explanation that the log viewer shows beside a trial: a short table in markdown, with model text escaped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.reading.token_probabilities import candidates, missing_reason
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import Token
from confidence_tasks.study.trial import Question, Status

STATUS_DESCRIPTIONS: Mapping[Status, str] = {
    "ok": "The reply keeps to the letter of the format.",
    "repaired": "The reply strays from the format, but can be read.",
    "out_of_range": "The confidence lies outside the bounds that were asked for; it is left out of every measure "
    "but the violation rate.",
    "missing_confidence": "No confidence can be read; the answer still counts for accuracy.",
    "missing_answer": "No answer can be read; the trial counts for the parse rate only.",
    "unreadable": "Neither an answer nor a confidence can be read.",
    "refused": "The model declines to answer.",
    "truncated": "The reply was cut off at the token limit before its end, and is not read: raise the limit.",
    "filtered": "The provider's content filter stopped the reply, which is neither an answer nor an abstention.",
    "reasoning_only": "The model reasoned and gave no visible reply.",
}

_SHOWN = 200
_MARKUP = str.maketrans({char: "\\" + char for char in "\\`*_{}[]()<>#+-.!|$~"})


def escape_markdown(text: str) -> str:
    r"""Return untrusted text as one short line of markdown that shows it literally.

    Examples
    --------
    >>> escape_markdown("<b>17|20</b>")
    '\\<b\\>17\\|20\\</b\\>'
    """
    line = " ".join(text.split())
    return (line[:_SHOWN] + "…" if len(line) > _SHOWN else line).translate(_MARKUP)


def verdict(correct: float) -> str:
    """Describe the value of ``correct`` in words."""
    if math.isnan(correct):
        return "not judged"
    return {1.0: "right", 0.0: "wrong"}.get(correct, f"right with probability {correct:.3f}")


def format_number(value: float, form: str = "g") -> str:
    """Format a number for the explanation; a missing number is ``none``.

    Examples
    --------
    >>> format_number(0.85), format_number(0.85, ".3f"), format_number(math.nan)
    ('0.85', '0.850', 'none')
    """
    return "none" if math.isnan(value) else f"{value:{form}}"


def answer_and_key(trial: Mapping[str, Any], question: Question) -> dict[str, str]:
    """Return the rows for the answer, with the verdict, and for the key."""
    answer = escape_markdown(trial.get("answer", "")) or "none"
    return {
        "Answer": f"{answer}: **{verdict(trial['correct'])}**",
        "Key": escape_markdown(question.gold or "none"),
    }


def token_probability(trial: Mapping[str, Any], tokens: Sequence[Token]) -> dict[str, str]:
    """Return the row for the token probability of the answer, or for the reason why it is missing."""
    problem = missing_reason(tokens) if tokens else ""
    if tokens and "token_correct" in trial and not any(len(candidates(token)) > 1 for token in tokens):
        problem = problem or "the provider returned no alternatives to the tokens"
    if math.isnan(trial["token_confidence"]):
        return {"Token probability": f"none: {escape_markdown(problem)}"} if problem else {}
    judged = f": **{verdict(trial['token_correct'])}**" if "token_correct" in trial else ""
    return {"Token probability": f"{trial['token_confidence']:.4f}{judged}"}


def explanation(
    study: Study, trial: Mapping[str, Any], question: Question, tokens: Sequence[Token] = ()
) -> str:
    """Return the table: the rows of the study, the status of the reading, and the rules that were needed."""
    status = trial["status"]
    rows = dict((study.viewer.explain or _default_rows)(trial, question, tokens))
    meaning = rows.pop("Reading", "") or {**STATUS_DESCRIPTIONS, **study.viewer.status_descriptions}[status]
    rows["Reading"] = f"{status.replace('_', ' ')}: {meaning}"
    if trial.get("rules"):
        rows["Rules"] = escape_markdown(trial["rules"].replace("+", ", "))
    return "\n".join(
        ["| | |", "| --- | --- |", *(f"| **{name}** | {value} |" for name, value in rows.items())]
    )


def _default_rows(trial: Mapping[str, Any], question: Question, tokens: Sequence[Token]) -> dict[str, str]:
    return {**answer_and_key(trial, question), "Confidence": format_number(trial["confidence"], ".3f")}
