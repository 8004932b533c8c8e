"""Trials of several models on the questions that all of them were asked."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import Columns, ModelTrials, in_order, question_keys
from confidence_tasks.report.question_checks import conflicting_ids
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.units import with_shared_units

FIRST, SECOND = "first", "second"


def paired_trials(first: Columns, second: Columns, conditions: Sequence[str]) -> tuple[Columns, NDArray[Any]]:
    """Stack the trials of both models on the questions that both were asked; return them with the side of each trial.

    Questions with one identifier and different texts are left out.
    """
    return stacked_trials(*shared_trials((first, second), conditions))


def shared_trials(models: Sequence[Columns], conditions: Sequence[str]) -> tuple[Columns, ...]:
    """Return the trials of each model on the questions that all were asked under some conditions.

    Questions with one identifier and different texts are left out.
    """
    chosen = [_rows_in(columns, columns["condition"].tolist(), frozenset(conditions)) for columns in models]
    subsets = [question_keys(columns) for columns in chosen]
    common = set.intersection(*map(set, subsets)) - conflicting_ids(chosen)
    return with_shared_units(
        *(_rows_in(columns, keys, common) for columns, keys in zip(chosen, subsets, strict=True))
    )


def stacked_trials(first: Columns, second: Columns) -> tuple[Columns, NDArray[Any]]:
    """Stack the trials of both models; return them with the side of each trial."""
    stacked = {name: np.concatenate([column, second[name]]) for name, column in first.items()}
    side = np.repeat([FIRST, SECOND], [len(columns["question_id"]) for columns in (first, second)])
    return stacked, side


def _rows_in(columns: Columns, keys: Iterable[Any], allowed: Container[Any]) -> Columns:
    """Return the trials whose key is allowed."""
    return rows_of(columns, np.flatnonzero([key in allowed for key in keys]))


def shared_conditions(first: ModelTrials, second: ModelTrials) -> list[str]:
    """Return the conditions under which both models were asked, in order."""
    return in_order({*first.columns["condition"]} & {*second.columns["condition"]})
