"""Labels of people for some of the answers that a judge graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.reading.verdict import read_verdict, verdict_words
from confidence_tasks.sources.any_table import Rows, read_any_table
from confidence_tasks.study.parameter import did_you_mean

LABEL = "label"
"""Column of the trials with a person's label: 1 or 0, NaN without one."""

NAMES = ("question_id", "sample_id")
KEYS = (*NAMES, "model", "condition", "source", "epoch")
"""Columns of a file that say which trial a label is for, as far as the file has them."""

Key: TypeAlias = tuple[str, ...]


def with_labels(tasks: Sequence[TaskTrials], path: Path) -> tuple[list[TaskTrials], int]:
    """Add the labels in a file to the trials; return the number of labels that fit no trial, too.

    Parameters
    ----------
    tasks : sequence of TaskTrials
        The trials.
    path : Path
        A table with the column ``question_id`` or ``sample_id``, the column ``correct`` with verdicts such as 1 and 0,
        and, where these tell trials apart, ``model``, ``condition``, ``source`` and ``epoch``.

    Raises
    ------
    ValueError
        If a column is missing, a verdict is none, two labels of one trial differ, a label fits several trials, or no
        label fits any.
    """
    rows = read_any_table(path)
    keys = _keys(rows, path)
    labels = _labels(rows, keys, path)
    n_found = _check_fit(tasks, keys, labels, path)
    labelled = []
    for task in tasks:
        models = tuple(_labelled(model, keys, labels) for model in task.models)
        labelled.append(replace(task, models=models))
    return labelled, len(labels) - n_found


def _check_fit(
    tasks: Sequence[TaskTrials], keys: Sequence[str], labels: Mapping[Key, float], path: Path
) -> int:
    """Return the number of labels that fit a trial; ValueError if one fits several, or none fits any."""
    found = Counter[Key]()
    for task in tasks:
        for model in task.models:
            found.update(key for key in _keys_of(model, keys) if key in labels)
    if not found:
        example = ", ".join(next(iter(labels)))
        raise ValueError(f"{path}: no label fits a trial; the first is for {example} ({', '.join(keys)})")
    key, count = found.most_common(1)[0]
    if count > 1:
        more = ", ".join(name for name in KEYS if name not in (*NAMES, *keys))
        raise ValueError(
            f"{path}: the label of {', '.join(key)} fits {count} trials: add columns that tell these apart ({more})"
        )
    return len(found)


def _keys(rows: Rows, path: Path) -> list[str]:
    """Return the columns of a file that name a trial."""
    known = list(rows[0])
    if "correct" not in known or not set(NAMES) & set(known):
        hint = did_you_mean("correct", known) if "correct" not in known else ""
        raise ValueError(
            f"{path} has the columns {', '.join(known)}: labels need correct{hint}, and question_id or sample_id"
        )
    return [name for name in KEYS if all(name in row for row in rows)]


def _labels(rows: Rows, keys: Sequence[str], path: Path) -> dict[Key, float]:
    """Return the label of each trial by its key; answers that a person left open are left out."""
    given = [row for row in rows if "correct" in row]
    words = verdict_words([row["correct"] for row in given])
    if words is None or not given:
        raise ValueError(f"{path}: the column correct has values that are no verdicts: write 1 or 0")
    labels: dict[Key, float] = {}
    for row in given:
        key = tuple(_text(row[name]) for name in keys)
        label, left_open = read_verdict(row["correct"], words)
        if not left_open and labels.setdefault(key, label) != label:
            raise ValueError(f"{path}: two labels of {', '.join(key)} differ")
    return labels


def _text(value: Any) -> str:
    """Return a cell as text; a whole number has no decimals."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def _keys_of(model: ModelTrials, keys: Sequence[str]) -> Iterator[Key]:
    """Yield the key of each trial; a model has the name that it is given in the logs."""
    names = np.full(len(model), model.name, dtype=object)
    columns: Mapping[str, Any] = {**model.columns, "model": names}
    for values in zip(*(columns[name].tolist() for name in keys), strict=True):
        yield tuple(map(_text, values))


def _labelled(model: ModelTrials, keys: Sequence[str], labels: Mapping[Key, float]) -> ModelTrials:
    label = np.array([labels.get(key, np.nan) for key in _keys_of(model, keys)])
    return replace(model, columns={**model.columns, LABEL: label})
