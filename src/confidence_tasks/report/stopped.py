"""Estimates of runs that stopped early."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from confidence_tasks.logs.sequences import of_stopped_run
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.groups import BY_CONDITION
from confidence_tasks.statistics import Estimate


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
