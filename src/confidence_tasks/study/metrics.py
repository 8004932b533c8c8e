"""Metrics of a log: the values of measures, by condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.study.columns import columns
from confidence_tasks.study.measure import Measure


def select_measures(measures: Sequence[Measure], names: Sequence[str] | None) -> list[Measure]:
    """Return the measures that have one of the names, in the order of the names; all measures if ``names`` is None.

    A measure whose name ends in a group, such as ``coverage/p=0.9``, is selected by the part before the slash.

    Examples
    --------
    >>> from confidence_tasks.study.measures import ACCURACY, CONFIDENCE
    >>> [measure.name for measure in select_measures([ACCURACY, CONFIDENCE], ["confidence", "ece"])]
    ['confidence']
    """
    if names is None:
        return list(measures)
    position = {name: i for i, name in enumerate(names)}
    selected = [measure for measure in measures if measure.name.partition("/")[0] in position]
    return sorted(selected, key=lambda measure: position[measure.name.partition("/")[0]])


def values_of(trials: Sequence[Mapping[str, Any]], measures: Sequence[Measure]) -> dict[str, float]:
    """Return every measure, by name, of all trials together; NaN if there are no trials."""
    table = columns(trials)
    return {measure.name: float(measure.compute(table, None)) if trials else math.nan for measure in measures}


def summarise(
    trials: Sequence[Mapping[str, Any]],
    measures: Sequence[Measure],
    conditions: Sequence[str],
) -> dict[str, float]:
    """Return every measure in every condition, keyed ``measure/condition``, in the order given.

    If a condition has trials of several sources, its value is the mean over the sources, as the papers pool their data
    sets, or the sum of numbers of trials. A condition without trials has NaN.
    """
    by_condition: dict[str, dict[str, list[Mapping[str, Any]]]] = {condition: {} for condition in conditions}
    for trial in trials:
        by_condition[trial["condition"]].setdefault(trial["source"], []).append(trial)
    tables = {
        condition: [columns(of_source) for of_source in by_source.values()]
        for condition, by_source in by_condition.items()
    }
    metrics = {}
    for measure in measures:
        for condition, of_sources in tables.items():
            values = [float(measure.compute(table, None)) for table in of_sources]
            divisor = 1 if measure.inference.is_count else len(values)
            metrics[f"{measure.name}/{condition}"] = sum(values) / divisor if values else math.nan
    return metrics
