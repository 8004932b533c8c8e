"""Scores of tasks that this package does not ask: whether an answer is right, and the confidence signals beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Score, value_to_float

CORRECT = "correct"
"""Key of a score's value that holds whether the answer is right; the other keys are signals."""

STATED = "stated"
"""Signal of a confidence that the reply itself states."""

ASKING_SCORER = "stated_confidence"
"""Name of the scorer that asks for a confidence."""


def trials_of_score(value: Mapping[str, Any], sample: str = "", source: str = "") -> list[dict[str, Any]]:
    """Return the trial of each signal in the value of a score of :func:`stated_confidence`.

    Parameters
    ----------
    value : mapping
        Confidence by signal, NaN where it is missing, and ``correct``.
    sample, source : str, optional
        Identifier of the sample, and name of the task.
    """
    correct = _number(value.get(CORRECT))
    return [
        {
            "question_id": sample,
            "source": source,
            "condition": str(signal),
            "correct": correct,
            "confidence": _number(confidence),
            "status": "missing_confidence" if math.isnan(_number(confidence)) else "ok",
            "answer": "",
            "task": source,
            "value": _number(confidence),
            "probability": _number(confidence),
            "option_mass": math.nan,
            "n_options": math.nan,
            "equal_options": math.nan,
        }
        for signal, confidence in value.items()
        if signal != CORRECT
    ]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def correctness(scores: Mapping[str, Score], name: str = "") -> tuple[float, str]:
    """Return 1 for a right answer, 0 for a wrong one, and NaN with the reason for anything else.

    Letters, booleans and numbers are converted by Inspect's :func:`~inspect_ai.scorer.value_to_float`.

    Parameters
    ----------
    scores : mapping of str to Score
        Scores of the task by scorer.
    name : str, optional
        Scorer to use; by default the first.

    Examples
    --------
    >>> correctness({"match": Score(value="C")}), correctness({"match": Score(value=0.4)})
    ((1.0, ''), (nan, "the score 0.4 of 'match' is neither right nor wrong"))
    """
    others = {key: each for key, each in scores.items() if not key.startswith(ASKING_SCORER)}
    if not others:
        return math.nan, "no scorer of the task says whether the answer is right"
    if name and name not in others:
        return math.nan, f"the task has no scorer {name!r}; it has {', '.join(others)}"
    key = name or next(iter(others))
    value = others[key].value
    if isinstance(value, dict | list):
        return math.nan, f"the score of {key!r} has several values"
    number = value_to_float()(value)
    if number not in (0.0, 1.0):
        return math.nan, f"the score {value} of {key!r} is neither right nor wrong"
    return number, ""
