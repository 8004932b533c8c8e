"""What a log of RiskEval holds of its measures: under each penalty, over all penalties and over the high ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.statistics import decision
from confidence_tasks.studies.riskeval.measures import COUNTS, MEASURES
from confidence_tasks.studies.riskeval.replies import penalty_of
from confidence_tasks.studies.riskeval.utilities import GAIN
from confidence_tasks.study.columns import columns, where
from confidence_tasks.study.computations import restrict_to, statistic_of
from confidence_tasks.study.inference import Columns, Compute, Student, Value
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.metrics import select_measures, summarise
from confidence_tasks.study.records import TaskMetrics
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from confidence_tasks.statistics import Interval
    from confidence_tasks.statistics.core import FloatArray

HIGH_PENALTY = 10.0
"""Smallest penalty of the paper's high-penalty regime."""


REGIMES = {"all": 0.0, "high_penalty": HIGH_PENALTY}
"""The paper's two regimes, by their smallest penalty; the penalties are this package's (see ``docs/riskeval.md``)."""


SLOPE = Measure(
    "abstention_slope",
    statistic_of(decision.abstention_slope, "answered", "penalty"),
    "Change of the abstention rate per unit of log penalty, over all penalties above 0; 0 means blindness to risk.",
    inference=Student(),
)
"""Risk sensitivity: a measure of the trials under all penalties together."""


def riskeval_summary(
    trials: Sequence[Mapping[str, Any]],
    conditions: Sequence[str],
    *,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return every measure under every penalty and in each regime, and the abstention slope.

    Keys are ``name/lambda=10`` under a penalty, and ``name/all`` and ``name/high_penalty`` for the mean over penalties,
    or the sum for numbers of trials. Unless ``names`` selects measures, ``name_low`` and ``name_high`` are the limits
    of 95% intervals over questions. ``conditions`` are the labels of the penalties, in order.
    """
    measures = select_measures((*MEASURES, *COUNTS), names)
    values = summarise(trials, measures, conditions)
    for regime, lowest in REGIMES.items():
        labels = [label for label in conditions if penalty_of(label) >= lowest]
        for measure in measures:
            pool = sum if measure.inference.is_count else _mean_defined
            values[f"{measure.name}/{regime}"] = pool(values[f"{measure.name}/{label}"] for label in labels)
        if names is None:
            mean_gain = replace(GAIN, compute=_average_over_penalties(GAIN.compute))
            values |= _with_interval(mean_gain, regime, trials, labels, seed)
    if names is None:
        values |= _with_interval(SLOPE, "all", trials, conditions, seed)
    return values


def _mean_defined(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def _average_over_penalties(measure: Compute) -> Compute:
    """Return the mean of a measure over the penalties at which it is defined."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        penalties = np.unique(trials["penalty"])
        values = np.array(
            [restrict_to(where("penalty", each), measure)(trials, weights) for each in penalties]
        )
        defined = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            mean: FloatArray = np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0)
        return mean

    return compute


def _with_interval(
    measure: Measure, regime: str, trials: Sequence[Mapping[str, Any]], conditions: Sequence[str], seed: int
) -> dict[str, float]:
    """Return a measure over several penalties with the limits of its 95% interval over questions."""
    keys = [f"{measure.name}{part}/{regime}" for part in ("", "_low", "_high")]
    rows = columns([trial for trial in trials if trial["condition"] in conditions])
    if not rows:
        return dict.fromkeys(keys, math.nan)
    interval = interval_over_questions(measure, rows, n_resamples=1000, seed=seed)
    return dict(zip(keys, (interval.estimate, interval.low, interval.high), strict=True))


def interval_over_questions(measure: Measure, trials: Columns, **options: Any) -> Interval:
    """Return the bootstrap interval of a measure, with options of :func:`confidence_tasks.statistics.bootstrap`."""
    informative = measure.inference.informative
    return statistics.bootstrap(
        lambda index, *, weights: measure.compute(trials, weights),
        np.arange(len(trials["question_id"])),
        clusters=units_of(trials),
        n_informative=math.inf if informative is None else informative(trials).count,
        method=measure.inference.method,
        **options,
    )


OVER_PENALTIES: tuple[Measure, ...] = (SLOPE,)
"""Measures of the trials under all penalties together."""


def riskeval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures over all penalties, over the high penalties, and under each penalty."""
    high = max(map(penalty_of, conditions)) >= HIGH_PENALTY
    return TaskMetrics(
        riskeval_summary,
        {"conditions": list(conditions), "seed": parameters["seed"]},
        MEASURES + COUNTS,
        "high_penalty" if high else "all",
        overall=tuple(REGIMES),
    )
