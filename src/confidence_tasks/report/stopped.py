"""Estimates of runs that stopped early."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from confidence_tasks.logs.sequences import of_stopped_run
from confidence_tasks.logs.task_trials import STOPPED_EARLY, ModelTrials, TaskTrials, is_marked
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.groups import BY_CONDITION
from confidence_tasks.report.labels import why_missing
from confidence_tasks.statistics import Estimate, Interval

NOT_NOMINAL = f"{STOPPED_EARLY}: nominal coverage does not hold"
"""What tables say of an ordinary interval of a run that stopped early."""


def remark_on(interval: Interval, *models: str) -> str:
    """Return why a value or its interval is missing, or that one of some models stopped early; empty if neither.

    ``models`` are the labels of the models whose trials the interval is of.
    """
    is_ordinary = not math.isnan(interval.low) and interval.method != "confidence_sequence"
    return why_missing(interval) or (NOT_NOMINAL if is_ordinary and any(map(is_marked, models)) else "")


def with_sequences(
    task: TaskTrials, model: ModelTrials, estimated: Iterable[Estimated]
) -> Iterator[Estimated]:
    """Yield estimates of a model; those of the gated measure of a run that stopped early get a valid interval."""
    found = {(each.gate.measure, each.condition): each.limits for each in of_stopped_run(task, model)}
    for entry in estimated:
        limits = found.get((entry.measure, entry.group))
        if limits is None or entry.by != BY_CONDITION or entry.source or not len(limits.low):
            yield entry
            continue
        low, high = Estimate(limits.low[-1]), Estimate(limits.high[-1])
        valid = replace(entry.interval, low=low, high=high, level=limits.level, method="confidence_sequence")
        yield replace(entry, interval=valid)
