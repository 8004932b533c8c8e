"""A file of trials as read: what it holds, where it comes from, and why another could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.analysis.study import Study
from confidence_tasks.trial import STATUSES


@dataclass(frozen=True, slots=True)
class TrialFile:
    """Trials of one study by one model, from one file.

    Attributes
    ----------
    path : str
        Where they were read.
    study, design : str
        Name of the study, and of the task that asked.
    model : str
        Name of the model as the file gives it.
    columns : mapping of str to ndarray
        The study's trial record, and ``sample_id`` and ``epoch``, one value a trial.
    created : str
        When the run started, in ISO 8601; empty if unknown.
    lost : int
        Samples without a trial: those that failed, were not finished, or were never asked.
    versions : mapping of str to str
        Versions of the packages and of the task that the run used.
    setup : mapping of str to str
        How the model was asked: parameters of the task, of the model and of generation.
    is_log : bool
        Whether Inspect's viewer can open the file.
    run : str
        What a run shares with those that resume it; empty if unknown.
    """

    path: str
    study: str
    design: str
    model: str
    columns: Mapping[str, NDArray[Any]]
    created: str = ""
    lost: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    setup: Mapping[str, str] = field(default_factory=dict)
    is_log: bool = False
    run: str = ""

    def __len__(self) -> int:
        return len(self.columns["question_id"])


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: str


class NotTrialsError(ValueError):
    """A file holds no trials of a known study; the message says what it holds instead."""


def trial_columns(
    study: Study, trials: Sequence[Mapping[str, Any]], sample_ids: Iterable[Any], epochs: Iterable[int]
) -> dict[str, NDArray[Any]]:
    """Return trials as columns of the study's record; what an older record lacks is NaN or the empty string.

    What the condition settles, such as the penalty, is what the condition says.

    Raises
    ------
    NotTrialsError
        If a value is not of the type that the record says, or not within its bounds, or a condition is none of the
        study's.
    """
    columns: dict[str, NDArray[Any]] = {}
    bounds = {**_BOUNDS, **study.bounds}
    for key, kind in study.record.items():
        missing: Any = np.nan if kind is float else ""
        values = [trial.get(key, missing) for trial in trials]
        try:
            columns[key] = _numbers(values, bounds.get(key)) if kind is float else _texts(values)
        except (TypeError, ValueError, OverflowError) as error:
            raise NotTrialsError(f"{key} of the {study.name} study holds something else: {error}") from error
    _check(study, columns)
    for condition in dict.fromkeys(columns["condition"]):
        try:
            for key, value in study.condition_numbers(condition).items():
                columns[key][columns["condition"] == condition] = value
        except ValueError as error:
            raise NotTrialsError(
                f"{condition[:80]!r} is no condition of the {study.name} study: {error}"
            ) from error
    if missing := [key for key in study.required if np.isnan(columns[key]).any()]:
        raise NotTrialsError(f"the {study.name} study needs numbers in {', '.join(missing)}")
    columns["sample_id"] = _texts(sample_ids)
    columns["epoch"] = np.array(list(epochs), dtype=np.int64)
    return columns


def _check(study: Study, columns: Mapping[str, NDArray[Any]]) -> None:
    """Raise NotTrialsError for texts that say nothing, and for numbers that the study's measures cannot take."""
    if not all(columns["question_id"]):
        raise NotTrialsError(f"the {study.name} study needs a question_id on every trial")
    for status in dict.fromkeys(columns["status"]):
        if status not in STATUSES:
            raise NotTrialsError(
                f"status of the {study.name} study holds {status[:80]!r}, which is none of {', '.join(STATUSES)}"
            )
    for key in study.binary:
        other = columns[key][~np.isin(columns[key], (0.0, 1.0)) & ~np.isnan(columns[key])]
        if len(other):
            raise NotTrialsError(
                f"{key} of the {study.name} study holds {other[0]:g}, which is neither 0 nor 1"
            )
    for first, second in study.ordered:
        low, high = columns[first], columns[second]
        wrong = np.flatnonzero((low > high) | (np.isnan(low) != np.isnan(high)))
        if len(wrong):
            pair = f"{low[wrong[0]]:g} and {high[wrong[0]]:g}"
            raise NotTrialsError(f"{first} and {second} of the {study.name} study are no interval: {pair}")


def _numbers(values: Sequence[Any], bounds: tuple[float, float] | None) -> NDArray[Any]:
    found = np.array(values, dtype=np.float64)
    low, high = bounds or (-np.inf, np.inf)
    outside = found[(found < low) | (found > high)]
    if len(outside):
        raise ValueError(f"{outside[0]:g} is not within [{low:g}, {high:g}]")
    return found


_BOUNDS: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(
        ("correct", "confidence", "token_correct", "token_confidence", "level", "mas"), (0.0, 1.0)
    ),
    "penalty": (0.0, np.inf),
}
"""What every measure takes for granted."""


def _texts(values: Iterable[Any]) -> NDArray[Any]:
    """Return texts that any file and array can hold: JSON can spell NULs and halves of surrogate pairs.

    What is missing is the empty string.
    """
    given = ("" if value is None or value != value else str(value) for value in values)
    return np.array(
        [value.encode(errors="replace").decode().replace("\0", "\ufffd") for value in given], dtype=object
    )
