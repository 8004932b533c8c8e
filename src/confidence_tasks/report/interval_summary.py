"""Summaries of intervals that answers state, from the columns ``low``, ``high``, ``truth`` and ``level``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.labels import why_missing
from confidence_tasks.report.summary_tables import Summary, grouped
from confidence_tasks.statistics.core import FloatArray, Reason
from confidence_tasks.statistics.inference import bootstrap
from confidence_tasks.statistics.inference.limits import Method
from confidence_tasks.statistics.intervals import conformal, scores
from confidence_tasks.study.given import label_column, named_column

ENDS = ("truth", "low", "high")
LEVEL = "level"
"""Column with the nominal coverage of each interval, in (0, 1)."""


class _Statistic(NamedTuple):
    """A statistic of intervals, and how its own interval is read off resamples."""

    of: Callable[..., Any]
    method: Method


def _gap(truth: FloatArray, low: FloatArray, high: FloatArray, nominal: float, **weights: Any) -> Any:
    return scores.coverage(truth, low, high, **weights) - nominal


def _coverage(truth: FloatArray, low: FloatArray, high: FloatArray, nominal: float, **weights: Any) -> Any:
    return scores.coverage(truth, low, high, **weights)


def _width(truth: FloatArray, low: FloatArray, high: FloatArray, nominal: float, **weights: Any) -> Any:
    return scores.mean_width(low, high, **weights)


_STATISTICS = {
    "coverage": _Statistic(_coverage, "wilson"),
    "coverage_gap": _Statistic(_gap, "student"),
    "width": _Statistic(_width, "student"),
    "winkler": _Statistic(scores.winkler_score, "student"),
}
CONFORMAL = ("conformal_width", "conformal_winkler")
"""Statistics after a conformal adjustment by the other intervals; its coverage would be no estimate."""

INTERVAL_MEASURES = (*_STATISTICS, *CONFORMAL)


def summarise_intervals(
    table: pd.DataFrame, by: Sequence[str], questions: str | None, measures: Sequence[str], settings: Settings
) -> Summary:
    """Summarise the intervals in a table, for each nominal level and group.

    Raises
    ------
    ValueError
        If a column is missing or has no numbers, ends are in the wrong order, or a level is not in (0, 1).
    """
    columns = {name: _numbers(table, name) for name in (*ENDS, LEVEL)}
    _check(columns)
    labels = {name: label_column(named_column(table, name, "by"), name, len(table)) for name in by}
    unit = questions or ("question_id" if "question_id" in table else None)
    frame = pd.DataFrame({**labels, **columns, "unit": table[unit] if unit else np.arange(len(table))})
    frame = frame.dropna(subset=[*ENDS, LEVEL])
    frame = frame.reset_index(drop=True)
    frame = frame.assign(nominal=frame[LEVEL], **{LEVEL: frame[LEVEL].map("{:g}".format).astype(object)})
    names = (*by, LEVEL)
    rows = [
        {**dict(zip(names, key, strict=True)), **row}
        for key, positions in grouped(frame, names)
        for row in _rows(frame.iloc[positions], measures, settings)
    ]
    shown = pd.DataFrame(rows, columns=[*names, "measure", "value", "low", "high", "n", "reason"])
    return Summary(shown, names, settings.level, frame)


def _numbers(table: pd.DataFrame, name: str) -> FloatArray:
    values = named_column(table, name, name)
    try:
        return np.asarray(pd.to_numeric(values, errors="raise"), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the column {name} holds a value that is not a number: {error}") from None


def _check(columns: dict[str, FloatArray]) -> None:
    crossed = np.flatnonzero(columns["low"] > columns["high"])
    if len(crossed):
        raise ValueError(
            f"low is above high in {len(crossed)} rows, first in row {crossed[0]}: exchange the columns"
        )
    level = columns[LEVEL][~np.isnan(columns[LEVEL])]
    if ((level <= 0.0) | (level >= 1.0)).any():
        raise ValueError("level is the nominal coverage and must lie in (0, 1): 90% is 0.9")


def _rows(part: pd.DataFrame, measures: Sequence[str], settings: Settings) -> list[dict[str, Any]]:
    truth, low, high, level = (part[name].to_numpy() for name in (*ENDS, "nominal"))
    nominal, unit = float(level[0]), part["unit"].to_numpy()
    adjusted = conformal.jackknife_conformal(truth, low, high, nominal, questions=unit)
    return [
        {
            "measure": name,
            "n": len(part),
            **_estimate(
                name, (truth, *(adjusted if name in CONFORMAL else (low, high))), nominal, unit, settings
            ),
        }
        for name in measures
    ]


def _estimate(
    name: str, intervals: tuple[FloatArray, ...], nominal: float, unit: NDArray[Any], settings: Settings
) -> dict[str, Any]:
    """Return a statistic with its interval over questions; NaN with a reason if an end is infinite."""
    missing = dict.fromkeys(("value", "low", "high"), np.nan)
    if not np.isfinite(intervals).all():
        return {**missing, "reason": f"no value: {Reason.TOO_FEW if name in CONFORMAL else Reason.INFINITE}"}
    of, method = _STATISTICS[name.removeprefix("conformal_")]
    found = bootstrap(
        partial(of, nominal=nominal),
        *intervals,
        clusters=unit,
        n_resamples=settings.n_resamples,
        level=settings.level,
        method=method,
        seed=settings.seed,
    )
    limits = {"value": float(found.estimate), "low": float(found.low), "high": float(found.high)}
    return {**limits, "reason": why_missing(found)}
