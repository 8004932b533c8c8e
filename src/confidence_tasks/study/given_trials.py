"""Trials from arrays and tables that a user gives in Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, ValuesView
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.study.given import answer_columns, label_column, named_column
from confidence_tasks.study.units import SAMPLING_UNIT, clustered_units


def as_pandas(value: Any) -> Any:
    """Return a mapping of columns, or a table or column of another library, as pandas; an iterator as a list.

    Logs of Inspect, such as ``inspect_ai.eval`` returns, become the paths of their files.
    """
    if paths := _paths_of_logs(value):
        return paths
    if isinstance(value, Mapping):
        try:
            return pd.DataFrame(value)
        except ValueError as error:
            raise ValueError(f"a mapping must hold columns of equal length: {error}") from None
    if hasattr(value, "to_pandas"):
        return value.to_pandas()
    return list(value) if isinstance(value, Iterator | ValuesView) else value


def _paths_of_logs(value: Any) -> list[str]:
    """Return the paths of a log of Inspect or of a list of logs; empty for anything else.

    There is no log before its module is imported, so this imports nothing. ValueError for a log without a file.
    """
    module = sys.modules.get("inspect_ai.log")
    if module is None:
        return []
    logs = value if isinstance(value, list | tuple) else [value]
    if not logs or not all(isinstance(log, module.EvalLog) for log in logs):
        return []
    if not all(log.location for log in logs):
        raise ValueError(
            "a log has no file: write it with inspect_ai.log.write_eval_log, or eval with log_dir"
        )
    return [log.location for log in logs]


def given_trials(
    table: pd.DataFrame | None,
    correct: Any,
    confidence: Any,
    by: Any,
    questions: Any,
    cluster: Any = None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return trials from arrays or from the columns of a table, and the names of the columns that group them."""
    if table is None and confidence is None:
        raise ValueError(
            "give confidence with correct, a table with the columns correct and confidence, or the path of a log"
        )
    table = pd.DataFrame() if table is None else table
    given = {"correct": correct, "confidence": confidence}
    right, stated = answer_columns(
        *(named_column(table, name if column is None else column, name) for name, column in given.items())
    )
    labels = _groups(table, by)
    n = len(right)
    columns = {name: label_column(values, name, n) for name, values in labels.items()}
    columns["question_id"] = _questions(table, questions, n)
    has_source = "source" in table
    columns["source"] = label_column(table["source"], "source", n) if has_source else np.full(n, "", object)
    trials = pd.DataFrame({**columns, "correct": right, "confidence": stated})
    if cluster is not None:
        of_rows = label_column(named_column(table, cluster, "cluster"), "cluster", n)
        trials = with_given_units(trials, of_rows)
    return trials, tuple(labels)


def with_given_units(trials: pd.DataFrame, clusters: NDArray[Any]) -> pd.DataFrame:
    """Return trials with the unit of each, given its cluster, empty for none.

    Examples
    --------
    >>> trials = pd.DataFrame({"source": "a", "question_id": ["1", "2"]})
    >>> with_given_units(trials, np.array(["first", "first"], dtype=object))[SAMPLING_UNIT].nunique()
    1
    """
    columns = {name: trials[name].to_numpy() for name in ("source", "question_id")}
    units = clustered_units(columns, clusters)
    return trials if units is None else trials.assign(**{SAMPLING_UNIT: units})


def _groups(table: pd.DataFrame, by: Any) -> Mapping[str, Any]:
    """Return the labels of groups by name: columns of a table, a mapping, or one array."""
    if isinstance(by, Mapping):
        return by
    if isinstance(by, str) or (isinstance(by, list | tuple) and len(table.columns)):
        return {str(name): named_column(table, name, "by") for name in ([by] if isinstance(by, str) else by)}
    return {} if by is None else {str(getattr(by, "name", None) or "group"): by}


def _questions(table: pd.DataFrame, questions: Any, n: int) -> NDArray[Any]:
    """Return the question of each trial; without labels each trial has its own."""
    if questions is None and "question_id" in table:
        questions = "question_id"
    if questions is None:  # leading zeros keep the questions in the order of the rows
        return np.array([f"{i:09d}" for i in range(n)], dtype=object)
    return label_column(named_column(table, questions, "questions"), "questions", n)
