"""Trials as columns, and sets of them that measures use or compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.study.inference import Columns, Informative, InformativeOf
from confidence_tasks.study.trial import UNFINISHED

GRADED = ("correct", "confidence")
"""The two columns that most statistics take."""


def columns(trials: Sequence[Mapping[str, Any]]) -> Columns:
    """Return one NumPy array per column of the first trial: float64 for numbers, object for texts.

    Other trials may lack a text, such as the rules of a reply; it is then empty.

    Examples
    --------
    >>> columns([{"correct": 1.0, "status": "ok"}])["correct"]
    array([1.])
    """
    if not trials:
        return {}
    return {
        key: np.array([trial.get(key, "") for trial in trials], dtype=object)
        if isinstance(value, str)
        else np.asarray([trial[key] for trial in trials], dtype=np.float64)
        for key, value in trials[0].items()
    }


def rows_of(trials: Columns, rows: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of some trials, which are given by their positions or by a mask."""
    return {key: column[rows] for key, column in trials.items()}


def where(column: str, value: float, *present: str) -> Callable[[Columns], NDArray[Any]]:
    """Make the function that selects the trials with a value in a column, and any number in the columns ``present``."""

    def members(trials: Columns) -> NDArray[Any]:
        not_missing = [~np.isnan(trials[key]) for key in present]
        return np.asarray(np.logical_and.reduce([trials[column] == value, *not_missing]))

    return members


def right_and_wrong(
    correct: str = "correct", confidence: str = "confidence"
) -> tuple[Callable[[Columns], NDArray[Any]], Callable[[Columns], NDArray[Any]]]:
    """Make the functions that select the right and the wrong answers with a confidence."""
    return where(correct, 1.0, confidence), where(correct, 0.0, confidence)


def has_status(*statuses: str) -> Callable[[Columns], NDArray[Any]]:
    """Make the function that selects the trials with one of the statuses."""

    def members(trials: Columns) -> NDArray[Any]:
        return np.asarray([status in statuses for status in trials["status"]], dtype=np.bool_)

    return members


unfinished: Callable[[Columns], NDArray[Any]] = has_status(*UNFINISHED)
"""Function that returns which trials have a reply that the model did not finish."""


def smallest_of(*sets: Callable[[Columns], NDArray[Any]], enough: int = 5) -> InformativeOf:
    """Make ``informative`` of a measure that compares sets of trials: the questions of the smallest set.

    A set is a function from columns to the mask of its trials, see :func:`where`. The measure has an interval if the
    smallest set has ``enough`` questions.

    Examples
    --------
    >>> import numpy as np
    >>> trials = {"correct": np.array([1.0, 0.0, 0.0]), "question_id": np.array(["a", "b", "b"])}
    >>> smallest_of(where("correct", 1.0), where("correct", 0.0))(trials).count
    1.0
    """

    def informative(trials: Columns) -> Informative:
        return Informative.smallest(trials, [members(trials) for members in sets], 5.0 / enough)

    return informative
