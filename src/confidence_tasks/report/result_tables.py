"""The estimates and contrasts of a report as tables, one row each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.stopped import remark_on

# As tables ----------------------------------------------------------------------------------------------------------


def estimates_frame(results: Iterable[TaskResults]) -> pd.DataFrame:
    """Return the estimates of a report as a table, one row each.

    Columns are ``study``, ``task``, ``model``, ``by``, ``group``, ``source`` (empty for the mean over sources),
    ``measure``, ``value``, ``low``, ``high``, ``level``, ``n`` (trials), ``n_questions``, ``n_clusters`` and
    ``design_effect`` (NaN without clusters), ``n_resamples``, ``n_undefined`` and ``reason`` (why a value or an
    interval is missing, or that its nominal coverage does not hold, as the run stopped early).
    """
    rows = [
        {
            **_row(task, entry, ("model", "by", "group", "source", "measure")),
            "n": entry.n,
            "n_questions": entry.n_questions,
            "n_clusters": entry.clusters.n if entry.clusters else math.nan,
            "design_effect": entry.clusters.design_effect if entry.clusters else math.nan,
            "n_resamples": entry.interval.n_resamples,
            "n_undefined": entry.interval.n_undefined,
            "reason": remark_on(entry.interval, entry.model),
        }
        for task in results
        for entry in task.estimates
    ]
    return pd.DataFrame(rows)


def contrasts_frame(results: Iterable[TaskResults]) -> pd.DataFrame:
    """Return the contrasts of a report as a table, one row each.

    Columns are ``study``, ``task``, ``model``, ``condition``, ``baseline``, ``measure``, ``value`` (the
    difference), ``low``, ``high``, ``level``, ``p_value`` (from the same pivot as the interval), ``p_adjusted``
    (Bonferroni, over all comparisons of the measure in the study's tasks), ``p_exchange`` (the papers' exchange test,
    not corrected), ``method`` (the pivot), ``n_questions``, ``n_clusters`` and ``design_effect`` (NaN without
    clusters) and ``reason`` (as in :func:`estimates_frame`).
    """
    rows = [
        {
            **_row(task, contrast, ("model", "group", "baseline", "measure")),
            "p_value": contrast.p_value,
            "p_adjusted": contrast.p_adjusted,
            "p_exchange": contrast.p_exchange,
            "method": contrast.interval.method,
            "n_questions": contrast.n_questions,
            "n_clusters": contrast.clusters.n if contrast.clusters else math.nan,
            "design_effect": contrast.clusters.design_effect if contrast.clusters else math.nan,
            "reason": remark_on(contrast.interval, contrast.model),
        }
        for task in results
        for contrast in task.contrasts
    ]
    return pd.DataFrame(rows).rename(columns={"group": "condition"})


def _row(task: TaskResults, entry: Estimated | Contrast, names: Sequence[str]) -> dict[str, Any]:
    """Return the columns that estimates and contrasts share."""
    interval = entry.interval
    return {
        "study": task.task_trials.study.name,
        "task": task.task_trials.task,
        **{name: getattr(entry, name) for name in names},
        "value": float(interval.estimate),
        "low": float(interval.low),
        "high": float(interval.high),
        "level": interval.level,
    }
