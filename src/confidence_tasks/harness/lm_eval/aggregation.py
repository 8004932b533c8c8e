"""From the trials of an lm-eval task to its metrics and their standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confidence_tasks.harness.compat import with_logged
from confidence_tasks.study.measures import Measure, columns

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.study.measures import Value

TRIAL = "trial"
"""The key under which a sample's log holds its trial; in the results, the number of trials."""

REVISIONS = "revisions"
"""The key of a task's metadata under which a run's results have the pinned revision of each source."""

RESAMPLES = 1_000
SEED = 0


@dataclass(frozen=True, slots=True)
class Part:
    """One sample's part in a metric: its trial, which the log shows once, under its own key.

    lm-eval hands an aggregation nothing but the values that the samples gave for that metric, so each metric needs
    the whole trial.
    """

    trial: Mapping[str, Any]

    def __str__(self) -> str:
        return f"see {TRIAL}"


def sample_metrics(trial: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return what a sample gives for the metrics called ``names``, and the trial in full, which is no metric."""
    return with_logged({name: Part(trial) for name in names if name != TRIAL}, {TRIAL: trial})


def aggregations(measures: Sequence[Measure]) -> dict[str, Callable[[Sequence[Any]], float]]:
    """Return how each metric is computed: the measures, then their standard errors, then the number of trials.

    lm-eval knows no standard error for a metric of ours and writes ``N/A`` under ``<metric>_stderr``; a metric of
    that name which comes later takes its place.
    """
    return {
        **{measure.name: _value(measure) for measure in measures},
        **{f"{measure.name}_stderr": _standard_error(measure) for measure in measures},
        TRIAL: len,
    }


def _value(measure: Measure) -> Callable[[Sequence[Part]], float]:
    def value(parts: Sequence[Part]) -> float:
        return float(measure.compute(columns([part.trial for part in parts]), None))

    return value


def _standard_error(measure: Measure) -> Callable[[Sequence[Part]], float]:
    """Bootstrap over questions, which some tasks ask more than once."""

    def standard_error(parts: Sequence[Part]) -> float:
        from confidence_tasks.statistics import bootstrap

        table = columns([part.trial for part in parts])

        def resampled(_: FloatArray, *, weights: FloatArray) -> Value:
            return measure.compute(table, weights)

        rows = range(len(parts))
        found = bootstrap(resampled, rows, clusters=table["question_id"], n_resamples=RESAMPLES, seed=SEED)
        return found.standard_error

    return standard_error
