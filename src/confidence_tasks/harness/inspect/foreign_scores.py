"""Scores of tasks that this package does not ask: whether an answer is right, and the confidence signals beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from inspect_ai.scorer import CORRECT as CORRECT_GRADE
from inspect_ai.scorer import INCORRECT, NOANSWER, PARTIAL, Score, value_to_float

from confidence_tasks.harness.correctness import BY_DEFAULT, SCORE, Correctness, is_partial
from confidence_tasks.study.definition import short_repr
from confidence_tasks.study.parameter import did_you_mean

CORRECT = "correct"
"""Key of a score's value that holds whether the answer is right; the other keys are signals."""

STATED = "stated"
"""Signal of a confidence that the reply itself states."""

ASKING_SCORER = "stated_confidence"
"""Name of the scorer that asks for a confidence."""


def own_scorers(scores: Mapping[str, Score]) -> list[str]:
    """Return the names of a task's own scorers."""
    return [key for key in scores if not key.startswith(ASKING_SCORER)]


def correctness(scores: Mapping[str, Score], chosen: Correctness = BY_DEFAULT) -> tuple[float, str]:
    """Return 1 for a right answer and 0 for a wrong one; or partial credit or NaN, with the reason.

    Letters, booleans and numbers are converted by Inspect's :func:`~inspect_ai.scorer.value_to_float`.

    Parameters
    ----------
    scores : mapping of str to Score
        Scores of the task by scorer.
    chosen : Correctness, optional
        Scorer and value that say whether an answer is right; by default those of the first scorer.

    Examples
    --------
    >>> correctness({"match": Score(value="C")}), correctness({"match": Score(value=0.4)})[0]
    ((1.0, ''), 0.4)
    >>> correctness({"match": Score(value=0.4)}, Correctness.parse("score>=0.3"))
    (1.0, '')
    """
    others = {key: scores[key] for key in own_scorers(scores)}
    if not others:
        return math.nan, "no scorer of the task says whether the answer is right"
    if chosen.scorer and chosen.scorer not in others:
        hint = did_you_mean(chosen.scorer, others)
        return math.nan, f"there is no scorer {chosen.scorer!r}{hint}: --scorer {' or '.join(others)}"
    scorer = chosen.scorer or next(iter(others))
    value, reason = _value_of(others[scorer].value, scorer, chosen.name)
    if reason:
        return math.nan, reason
    correct = chosen.of(value_to_float()(value) if _is_grade(value) else math.nan)
    if correct in (0.0, 1.0):
        return correct, ""
    reason = f"the score {short_repr(value)} of {scorer!r} is neither right nor wrong"
    return correct, reason + _bound(correct, chosen)


def _bound(correct: float, chosen: Correctness) -> str:
    """Return what makes partial credit right or wrong; empty for a score that is no credit at all."""
    if not is_partial(correct):
        return ""
    bound = f"{chosen.name or SCORE}>={0.5 if correct < 1.0 else correct:g}"
    return f"; --correct '{bound}', or another bound, counts scores from there on as right"


_GRADES = frozenset({CORRECT_GRADE, INCORRECT, PARTIAL, NOANSWER, "yes", "no", "true", "false"})


def _is_grade(value: Any) -> bool:
    """Return whether Inspect can convert a value to a number; it takes any other text for 0."""
    if not isinstance(value, str):
        return value is not None
    with suppress(ValueError):
        float(value)
        return True
    return value in _GRADES or value.lower() in _GRADES


def _value_of(value: Any, scorer: str, name: str) -> tuple[Any, str]:
    """Return the value of a score that the user names, and why there is none."""
    if not isinstance(value, Mapping):
        is_other = name not in ("", SCORE, scorer) or isinstance(value, list)
        return value, f"the score of {scorer!r} has no value {name!r} by name" if is_other else ""
    if name in value:
        return value[name], ""
    return None, f"the score of {scorer!r} has several values: --correct {' or '.join(map(str, value))}"
