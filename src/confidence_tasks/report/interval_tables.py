"""Estimates and contrasts as tables: how they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import pyarrow as pa

from confidence_tasks.report.cache import columns_of, table_of
from confidence_tasks.report.contrasts import Contrast
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.statistics import Estimate, Interval, Reason

Entry = TypeVar("Entry", Estimated, Contrast)

_LIMITS = ("estimate", "low", "high")
_PLAIN = tuple(each.name for each in fields(Interval) if each.name not in (*_LIMITS, "seed"))


def tables_of_numbers(found: Sequence[Estimated], compared: Sequence[Contrast]) -> dict[str, pa.Table]:
    """Return what was computed of a model as tables."""
    return {"estimates": _table(Estimated, found), "contrasts": _table(Contrast, compared)}


def numbers_of_tables(tables: Mapping[str, pa.Table]) -> tuple[list[Estimated], list[Contrast]]:
    """Return what :func:`tables_of_numbers` was given."""
    return _entries(Estimated, tables["estimates"]), _entries(Contrast, tables["contrasts"])


def _own(kind: Callable[..., Any]) -> list[str]:
    return [each.name for each in fields(kind) if each.name != "interval"]  # type: ignore[arg-type]


def _table(kind: Callable[..., Entry], entries: Sequence[Entry]) -> pa.Table:
    intervals = [entry.interval for entry in entries]
    limits = {name: [getattr(interval, name) for interval in intervals] for name in _LIMITS}
    columns = {
        **{name: [getattr(entry, name) for entry in entries] for name in _own(kind)},
        **{f"interval.{name}": [getattr(interval, name) for interval in intervals] for name in _PLAIN},
        "interval.seed": ["" if interval.seed is None else str(interval.seed) for interval in intervals],
        **{f"interval.{name}": [float(limit) for limit in its] for name, its in limits.items()},
        **{
            f"interval.{name}.reason": [str(limit.reason or "") for limit in its]
            for name, its in limits.items()
        },
    }
    return table_of(columns)


def _entries(kind: Callable[..., Entry], table: pa.Table) -> list[Entry]:
    columns = {name: column.tolist() for name, column in columns_of(table).items()}
    intervals: dict[str, list[Any]] = {
        name: [
            Estimate(value, Reason(reason) if reason else None)
            for value, reason in zip(
                columns[f"interval.{name}"], columns[f"interval.{name}.reason"], strict=True
            )
        ]
        for name in _LIMITS
    }
    intervals |= {name: columns[f"interval.{name}"] for name in _PLAIN}
    intervals["seed"] = [int(seed) if seed else None for seed in columns["interval.seed"]]
    own = _own(kind)
    return [
        kind(
            **{name: columns[name][row] for name in own},
            interval=Interval(**{name: its[row] for name, its in intervals.items()}),
        )
        for row in range(len(table))
    ]
