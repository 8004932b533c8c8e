"""Trials that a user gives as arrays, as a table or as logs: one table with the columns that the engine reads."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.report.collection import Collection, Path, collect
from confidence_tasks.report.groups import in_order
from confidence_tasks.report.task_trials import TaskTrials, group_by_task
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.study.parameter import meant

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Data: TypeAlias = pd.DataFrame | Path | Iterable[Path]
"""A table of trials, or paths of logs, sample files of lm-eval, files of trials, or folders of these."""


def _numbers(values: ArrayLike, name: str, example: str) -> FloatArray:
    """Return a column of numbers in [0, 1], NaN where one is missing; ValueError that names the fix otherwise."""
    array = values.to_numpy() if isinstance(values, pd.Series) else np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: give one number a trial")
    if array.dtype.kind in "OUST":
        wrong = [value for value in array.tolist() if isinstance(value, str | bytes)]
        if wrong:
            raise ValueError(f"{name} holds {wrong[0]!r}, which is a text: {example}")
    try:
        found = pd.to_numeric(pd.Series(array), errors="raise").to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds what is no number: {example}") from error
    with np.errstate(invalid="ignore"):
        outside = np.flatnonzero((found < 0.0) | (found > 1.0))
    if len(outside):
        at = outside[0]
        hint = "divide percentages by 100" if 1.0 < found[at] <= 100.0 else example
        raise ValueError(f"{name} must lie in [0, 1], and trial {at} has {found[at]:g}: {hint}")
    return found


_CORRECT = "give 1 for right, 0 for wrong and NaN for neither, such as `answers == key`"
_CONFIDENCE = "give numbers in [0, 1], and NaN where none was stated"


def _texts(values: Any, name: str, n: int) -> NDArray[Any]:
    """Return labels as texts, one a trial."""
    labels = pd.Series(np.asarray(values).ravel() if not isinstance(values, pd.Series) else values.to_numpy())
    if len(labels) != n:
        raise ValueError(f"{name} has {len(labels)} values for {n} trials: give one a trial")
    if labels.isna().any():
        raise ValueError(f"{name} lacks a value at trial {int(np.flatnonzero(labels.isna())[0])}")
    return labels.map(str).to_numpy(dtype=object)


def _trials(
    correct: ArrayLike, confidence: ArrayLike, labels: Mapping[str, Any], questions: Any, source: Any = None
) -> pd.DataFrame:
    """Return trials as a table with the columns of ``labels`` and the four that the engine reads."""
    right = _numbers(correct, "correct", _CORRECT)
    stated = _numbers(confidence, "confidence", _CONFIDENCE)
    n = len(right)
    if len(stated) != n:
        raise ValueError(
            f"correct has {n} values and confidence {len(stated)}: give one of each a trial, NaN where it is missing"
        )
    # Numbers of one length, so that the questions are in the order of the rows.
    asked = [f"{i:09d}" for i in range(n)] if questions is None else _texts(questions, "questions", n)
    return pd.DataFrame(
        {
            **{name: _texts(values, name, n) for name, values in labels.items()},
            "question_id": np.array(asked, dtype=object),
            "source": np.full(n, "", dtype=object) if source is None else _texts(source, "source", n),
            "correct": right,
            "confidence": stated,
        }
    )


def _column(table: pd.DataFrame, name: str, what: str) -> pd.Series[Any]:
    if name not in table:
        names = list(map(str, table.columns))
        raise ValueError(
            f"the table has no column {name!r}{meant(name, names)}: name the one that holds {what}, such as"
            f" {what}={names[0]!r}"
            if names
            else f"the table has no column {name!r}"
        )
    return table[name]


def trials_of_table(
    table: pd.DataFrame, correct: Any, confidence: Any, by: Any, questions: Any
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the trials of a table, and the names of what groups them."""
    names = tuple([by] if isinstance(by, str) else by or ())
    asked = "question_id" if questions is None and "question_id" in table else questions
    return _trials(
        _column(table, correct or "correct", "correct"),
        _column(table, confidence or "confidence", "confidence"),
        {name: _column(table, name, "by") for name in names},
        None if asked is None else _column(table, asked, "questions"),
        table.get("source"),
    ), names


def trials_of_arrays(
    correct: Any, confidence: Any, by: Any, questions: Any
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the trials of arrays, and the names of what groups them."""
    if confidence is None:
        raise ValueError(
            "give confidence beside correct, a table with the columns correct and confidence, or the path of a log"
        )
    labels = {} if by is None else dict(by) if isinstance(by, Mapping) else {_name_of(by): by}
    return _trials(correct, confidence, labels, questions), tuple(labels)


def _name_of(by: Any) -> str:
    return str(by.name) if isinstance(by, pd.Series) and by.name is not None else "group"


def is_path(value: Any) -> bool:
    """Return whether a value is a path or several."""
    if isinstance(value, str | PathLike):
        return True
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(is_path, value))


def collected(paths: Path | Iterable[Path]) -> list[TaskTrials]:
    """Read logs; warn of what was skipped, and raise FileNotFoundError or ValueError where nothing is left."""
    found: Collection = collect(paths)
    if not found.files:
        said = "; ".join(f"{skipped.path}: {skipped.reason}" for skipped in found.skipped)
        raise ValueError(f"no trials were found: {said}")
    for skipped in found.skipped:
        warnings.warn(f"skipped {skipped.path}: {skipped.reason}", stacklevel=3)
    return group_by_task(found.files)


def trials_of_logs(tasks: Sequence[TaskTrials], by: Any) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the trials of logs, by default grouped by task, model and condition."""
    table = pd.concat(
        [
            pd.DataFrame(model.columns).assign(task=task.task, model=model.label)
            for task in tasks
            for model in task.models
        ],
        ignore_index=True,
    )
    return trials_of_table(table, None, None, _OF_LOGS if by is None else by, None)


_OF_LOGS = ("task", "model", "condition")


def grouped(trials: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[str, ...], NDArray[np.int64]]]:
    """Yield the labels of each group and the positions of its trials, in the order of the numbers in the labels."""
    if not by:
        yield (), np.arange(len(trials))
        return
    keys = list(zip(*(trials[name] for name in by), strict=True))
    order = [{label: i for i, label in enumerate(in_order(trials[name]))} for name in by]
    rows: dict[tuple[str, ...], list[int]] = {}
    for position, key in enumerate(keys):
        rows.setdefault(key, []).append(position)
    for key in sorted(
        rows, key=lambda labels: [place[label] for place, label in zip(order, labels, strict=True)]
    ):
        yield key, np.array(rows[key])
