"""The metrics of lm-eval tasks: every measure of a document's trials, and its standard error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from confidence_tasks.harness.compat import with_logged
from confidence_tasks.harness.parameters import task_metrics
from confidence_tasks.study.columns import columns
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.metrics import select_measures
from confidence_tasks.study.parameter import METRICS

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.study.inference import Value


TRIAL = "trial"
"""Key of the trial in a sample's log, and of the number of trials in the results."""


RESAMPLES = 1_000


SEED = 0


@dataclass(frozen=True, slots=True)
class MetricTrial:
    """One sample's value of a metric: the whole trial, because an aggregation gets only the values of its metric.

    In the log it reads ``see trial``, so that the trial appears only once. ``cluster`` is that of the question.
    """

    trial: Mapping[str, Any]
    cluster: str = ""

    def __str__(self) -> str:
        return f"see {TRIAL}"


def sample_metrics(trial: Mapping[str, Any], names: Sequence[str], cluster: str = "") -> dict[str, Any]:
    """Return a sample's values of the metrics ``names``, and the trial itself, which is logged but not aggregated."""
    return with_logged({name: MetricTrial(trial, cluster) for name in names if name != TRIAL}, {TRIAL: trial})


def logged_measures(
    study: Study, parameters: Mapping[str, Any], metadata: Mapping[str, Any]
) -> list[Measure]:
    """Return the measures that the results have: the headline measures by default, otherwise all of them.

    Raises ValueError for a value of ``metrics`` that there is not.
    """
    which = metadata.get(METRICS.name, METRICS.default)
    METRICS.check(which)
    logged = task_metrics(study, parameters, [str(metadata["condition"])])
    headline = logged.default_measures or study.headline_measures
    measures = select_measures(logged.measures, headline if which == METRICS.default else None)
    # In lm-eval, the name of a metric ends at a comma.
    return [replace(each, name=each.name.replace(",", "/")) for each in measures]


def aggregations(measures: Sequence[Measure]) -> dict[str, Callable[[Sequence[Any]], float]]:
    """Return the aggregation of each metric: the measures, then their standard errors, then the number of trials.

    lm-eval cannot compute a standard error for these metrics and writes ``N/A`` under ``<metric>_stderr``. A later
    metric of that name replaces the entry.
    """
    return {
        **{measure.name: _value(measure) for measure in measures},
        **{f"{measure.name}_stderr": _standard_error(measure) for measure in measures},
        TRIAL: len,
    }


def _value(measure: Measure) -> Callable[[Sequence[MetricTrial]], float]:
    def value(trials: Sequence[MetricTrial]) -> float:
        return float(measure.compute(columns([each.trial for each in trials]), None))

    return value


def _standard_error(measure: Measure) -> Callable[[Sequence[MetricTrial]], float]:
    """Return the bootstrap standard error over the units of the report: clusters of questions, or questions."""

    def standard_error(trials: Sequence[MetricTrial]) -> float:
        import numpy as np

        from confidence_tasks.statistics import bootstrap
        from confidence_tasks.study.units import clustered_units

        table = columns([each.trial for each in trials])
        if math.isnan(float(measure.compute(table, None))):
            return math.nan

        def statistic(_: FloatArray, *, weights: FloatArray) -> Value:
            return measure.compute(table, weights)

        units = clustered_units(table, np.array([each.cluster for each in trials], dtype=object))
        result = bootstrap(
            statistic,
            range(len(trials)),
            clusters=table["question_id"] if units is None else units,
            n_resamples=RESAMPLES,
            seed=SEED,
        )
        return result.standard_error

    return standard_error
