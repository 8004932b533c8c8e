"""Stated intervals of anybody, in plain columns, as trials of the study ``intervals``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.own_replies.columns import NAMES, plain_name, usual_column
from confidence_tasks.own_replies.trials import source_of
from confidence_tasks.sources.any_table import Rows
from confidence_tasks.sources.source import SourceError
from confidence_tasks.study.parameter import did_you_mean

ENDS = ("truth", "low", "high")
LEVEL = "level"
"""Column with the nominal coverage of each interval, in (0, 1)."""

INTERVAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "low": ("low", "lower", "lower_bound", "lower_end", "lo", "ci_low", "ci_lower", "interval_low"),
    "high": ("high", "upper", "upper_bound", "upper_end", "hi", "ci_high", "ci_upper", "interval_high"),
    "truth": ("truth", "true_value", *NAMES["gold"]),
    LEVEL: (LEVEL, "nominal", "nominal_coverage", "coverage_level", "confidence_level", "confidence"),
}
"""Usual names of the columns of intervals, the most usual first."""


def interval_columns(available: Sequence[str]) -> dict[str, str]:
    """Return the columns of the ends, the truth and the level, as far as a table has them.

    Raises
    ------
    SourceError
        If two columns could be the same one.

    Examples
    --------
    >>> interval_columns(["id", "Lower", "upper_bound", "true_value"])
    {'low': 'Lower', 'high': 'upper_bound', 'truth': 'true_value'}
    """
    found = {role: usual_column(role, names, available) for role, names in INTERVAL_NAMES.items()}
    return {role: name for role, name in found.items() if name}


def has_intervals(available: Sequence[str]) -> bool:
    """Return whether a table has the ends of intervals and a truth.

    Examples
    --------
    >>> has_intervals(["lower", "upper", "truth"]), has_intervals(["lower", "truth"])
    (True, False)
    """
    with suppress(SourceError):  # what could be two columns is told when intervals are asked for
        return {*ENDS} <= interval_columns(available).keys()
    return False


def has_only_intervals(available: Sequence[str]) -> bool:
    """Return whether a table has intervals, and nothing else to score: no reply, answer or verdict.

    Examples
    --------
    >>> has_only_intervals(["lower", "upper", "truth"]), has_only_intervals(["lower", "upper", "truth", "response"])
    (True, False)
    """
    others = (_called(role, available) for role in ("reply", "answer", "correct"))
    return has_intervals(available) and not any(others)


def _called(role: str, available: Sequence[str]) -> bool:
    return bool({*NAMES[role]} & {*map(plain_name, available)})


def own_interval_trials(
    path: Path,
    rows: Rows,
    *,
    model: str = "",
    task: str = "",
    fields: Mapping[str, Any] | None = None,
    cluster: str | None = None,
) -> list[dict[str, Any]]:
    """Return the intervals in a file as rows of a table of trials, which reports read.

    Parameters
    ----------
    path : Path
        The file; its name is that of the model and of the task, unless these are given.
    rows : list of dict
        The rows of the file.
    model, task : str
        Model of rows that name none, and name of the task.
    fields : mapping, optional
        Values of columns that rows lack, such as the level.
    cluster : str, optional
        Column of what several questions share; by default the column with a usual name, and none if empty.

    Raises
    ------
    SourceError
        If a column could be two things, or there is no column of this name.
    ValueError
        As :func:`interval_trials`.
    """
    table = _table(rows, fields or {})
    column = {
        role: usual_column(role, NAMES[role], list(map(str, table))) for role in ("id", "question", "model")
    }
    name = task or source_of(path)
    trials = interval_trials(table, column["id"] or column["question"] or None)
    models = table.get(column["model"], pd.Series(pd.NA, index=table.index))
    trials = trials.assign(study="intervals", task=name, source=name)
    shared = _cluster_column(cluster, list(map(str, table)))
    if shared:
        trials["cluster"] = table[shared].fillna("").map(str)
    trials["model"] = models.fillna(model or source_of(path)).map(str)
    trials["epoch"] = trials.groupby(["model", "question_id", "condition"]).cumcount() + 1
    return [{str(key): cell for key, cell in row.items()} for row in trials.to_dict("records")]


def _cluster_column(given: str | None, available: Sequence[str]) -> str:
    """Return the column of clusters; empty if there is none, or if the user wants none."""
    if given is None:
        return usual_column("cluster", NAMES["cluster"], available, "--cluster")
    if given and given not in available:
        raise SourceError(
            f"there is no column {given!r}; there are {', '.join(available)}{did_you_mean(given, available)}"
        )
    return given


def _table(rows: Rows, fields: Mapping[str, Any]) -> pd.DataFrame:
    """Return rows as a table, with values of columns that rows lack."""
    table = pd.DataFrame(list(rows))
    for name, value in fields.items():
        table[name] = table[name].fillna(value) if name in table else value
    return table


def interval_trials(table: pd.DataFrame, questions: str | None = None) -> pd.DataFrame:
    """Return the intervals in a table as trials, one a row; rows without an end, truth or level are left out.

    Parameters
    ----------
    table : DataFrame
        Columns ``low``, ``high``, ``truth`` and ``level``, or others of :data:`INTERVAL_NAMES`.
    questions : str, optional
        Column with the question of each interval; by default ``question_id``, or else each is a question of its own.

    Returns
    -------
    DataFrame
        Columns of the study ``intervals``, with the index of the table. The condition is the level, such as ``p=0.9``.

    Raises
    ------
    ValueError
        If a column is missing or has no numbers, ends are in the wrong order or infinite, or a level is not in (0, 1).

    Examples
    --------
    >>> table = pd.DataFrame({"low": [1, 5], "high": [3, 6], "truth": [2, 9], "level": 0.9})
    >>> interval_trials(table)[["condition", "correct", "lower", "upper"]].values.tolist()
    [['p=0.9', 1.0, 1.0, 3.0], ['p=0.9', 0.0, 5.0, 6.0]]
    """
    names = interval_columns([str(name) for name in table])
    numbers = {role: _numbers(table, role, names) for role in (*ENDS, LEVEL)}
    _check(numbers)
    truth, low, high, level = numbers.values()
    unit = questions or ("question_id" if "question_id" in table else "")
    trials = pd.DataFrame(
        {
            "question_id": table[unit].map(str) if unit else [f"{i:09d}" for i in range(len(table))],
            "source": table["source"].map(str) if "source" in table else "",
            "condition": [condition_of(each) for each in level],
            "correct": ((low <= truth) & (truth <= high)).astype(np.float64),
            "confidence": level,
            "status": "ok",
            "lower": low,
            "upper": high,
            "truth": truth,
            LEVEL: level,
        },
        index=table.index,
    )
    return trials.dropna(subset=["truth", "lower", "upper", LEVEL])


def condition_of(level: float) -> str:
    """Return the condition of a level, such as ``p=0.9``."""
    return f"p={level:.12g}"


def level_of(condition: str) -> float:
    """Return the level of a condition."""
    return float(condition.removeprefix("p="))


def _numbers(table: pd.DataFrame, role: str, names: Mapping[str, str]) -> NDArray[np.float64]:
    if role not in names:
        others = [str(name) for name in table]
        fix = "; give it with --field level=0.9, or data.assign(level=0.9)" if role == LEVEL else ""
        raise ValueError(
            f"{role} is not a column; there are {', '.join(others[:12])}{fix}{did_you_mean(role, others)}"
        )
    name = names[role]
    try:
        return np.asarray([_number(cell) for cell in table[name]], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the column {name} holds a value that is not a number: {error}") from None


def _number(cell: Any) -> float:
    """Return a number, with a percent sign divided by 100; NaN for an empty cell."""
    if cell is None or cell is pd.NA or cell == "":
        return math.nan
    text = _DECIMAL_COMMA.sub(".", str(cell).strip())
    return float(text.removesuffix("%")) / 100.0 if text.endswith("%") else float(text)


_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=(?:\d{1,2}|\d{4,})%?\Z)")
"""A comma before the decimals of a number; before three digits it may separate thousands."""


def _check(numbers: Mapping[str, NDArray[np.float64]]) -> None:
    low, high, level = numbers["low"], numbers["high"], numbers[LEVEL]
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        raise ValueError(
            f"low is above high in {len(crossed)} rows, first in row {crossed[0]}: exchange the columns"
        )
    if np.isinf([low, high, numbers["truth"]]).any():
        raise ValueError("an end or a truth is infinite, which has no width: leave such rows out")
    if ((level <= 0.0) | (level >= 1.0)).any():
        raise ValueError("level is the nominal coverage and must lie in (0, 1): 90% is 0.9")
