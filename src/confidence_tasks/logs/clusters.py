"""Clusters of questions, such as those about one passage, as units of intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import Columns, ModelTrials, TaskTrials
from confidence_tasks.sources.clusters import CLUSTER_KINDS
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.units import SAMPLING_UNIT, clustered_units

NO_CLUSTERS = "none"
KINDS = tuple(dict.fromkeys(CLUSTER_KINDS.values()))


def with_units(tasks: Sequence[TaskTrials], by: str = "") -> list[TaskTrials]:
    """Add the unit of each trial to the trials of every model that has questions in clusters.

    Parameters
    ----------
    tasks : sequence of TaskTrials
        The tasks.
    by : str
        ``passage``, ``pair`` or ``family`` for the sources whose questions share one; a column of the trials, such as
        ``subject``; ``none`` for no clusters. By default each source has its own clusters, if any.

    Raises
    ------
    ValueError
        If no task has the column, no question has such a cluster, or a question is in several clusters.
    """
    if by == NO_CLUSTERS:
        return list(tasks)
    _check_name(tasks, by)
    labels = {id(model): _labels(model.columns, by) for task in tasks for model in task.models}
    if by and labels and not any((each != "").any() for each in labels.values()):
        raise ValueError(f"no question has a {by}: leave out the clusters, or name a column that has values")

    def clustered(model: ModelTrials) -> ModelTrials:
        units = clustered_units(model.columns, labels[id(model)])
        return model if units is None else replace(model, columns={**model.columns, SAMPLING_UNIT: units})

    return [replace(task, models=tuple(map(clustered, task.models))) for task in tasks]


def _check_name(tasks: Sequence[TaskTrials], by: str) -> None:
    """Raise ValueError for a name that is neither a kind of cluster nor a column."""
    columns = (name for task in tasks for model in task.models for name in model.columns)
    known = list(dict.fromkeys((*KINDS, NO_CLUSTERS, *columns)))
    if by and by not in known:
        raise ValueError(
            f"there is no column {by!r} to cluster by; there are {', '.join(known)}{did_you_mean(by, known)}"
        )


def _labels(columns: Columns, by: str) -> NDArray[Any]:
    """Return the cluster of each trial, empty for none."""
    none = np.full(len(columns["question_id"]), "", dtype=object)
    if by not in ("", *KINDS):
        values = columns.get(by, none).tolist()
        return np.array(["" if value != value else str(value) for value in values], dtype=object)
    other_kind = [by not in ("", CLUSTER_KINDS.get(source, by)) for source in columns["source"].tolist()]
    return np.where(other_kind, "", columns.get("cluster", none))
