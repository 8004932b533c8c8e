"""Trials counted by kind, so that measures are computed for every kind once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.statistics.inference.weights import SharedWeights, TrialCounts, count_alike, numbered
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.inference import Columns
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.shared_columns import SharedColumns
from confidence_tasks.study.units import SAMPLING_UNIT, units_of

_PROBES = 8
"""Number of random weightings on which a measure of kinds must agree with the measure of trials."""


@dataclass(frozen=True, slots=True)
class DistinctTrials:
    """The distinct trials of a subset, each with its number.

    Trials of one kind are equal in all that the measures read. ``columns`` has one row for each kind.
    ``kinds`` counts the trials of each kind that each unit has.
    """

    columns: Columns
    kinds: TrialCounts
    measures: tuple[Measure, ...]
    _shared: SharedColumns = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Share the columns between measures and blocks of resamples."""
        object.__setattr__(self, "_shared", SharedColumns(self.columns))

    def expanded(self) -> tuple[Columns, IntArray]:
        """Return one row for each trial, and the number of its unit, which is also its ``question_id``."""
        members = self.kinds.members.tocoo()
        counts = members.data.astype(np.int64)
        rows, unit = np.repeat(members.row, counts), np.repeat(members.col.astype(np.int64), counts)
        trials = rows_of(self.columns, rows)
        return {**trials, "question_id": unit.astype(str), SAMPLING_UNIT: unit.astype(str)}, unit

    def values(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Return the measures that have no posterior distribution, for each row of weights of the kinds."""
        shared = SharedWeights.of(weights)
        return {
            measure.name: np.asarray(measure.compute(self._shared, shared))
            for measure in self.measures
            if not measure.inference.posterior
        }

    def draws(self, weights: FloatArray, rng: np.random.Generator) -> dict[str, FloatArray]:
        """Draw each measure from its posterior distribution, once for each row of random weights.

        Measures with the same outcomes and the same prior share their draws.
        """
        weighted: dict[object, tuple[Columns, FloatArray]] = {}
        values = {}
        for measure in self.measures:
            if posterior := measure.inference.posterior:
                key = posterior.outcomes, posterior.prepare, posterior.prior
                if key not in weighted:
                    weighted[key] = posterior.add_outcomes(self.columns, weights, rng)
                values[measure.name] = np.asarray(posterior.compute(*weighted[key]))
        return values


def clusters_of_mean(
    measure: Measure, columns: Columns, value: float, clusters: TrialCounts, questions: TrialCounts
) -> Clusters | None:
    """Return the clusters of a measure of trials that are counted by kind; None if it is not their mean."""
    if measure.fitted or not (measure.inference.is_average or measure.inference.proportion):
        return None
    values = values_of_single_trials(measure, columns, len(clusters.counts))
    counts = np.where(np.isnan(values), 0.0, clusters.counts)
    mean = float(np.nansum(values * counts) / counts.sum()) if counts.any() else math.nan
    is_mean = math.isclose(mean, value, rel_tol=1e-9, abs_tol=1e-12)
    return Clusters.of_mean(values, clusters, questions) if is_mean else None


def design_effect(measure: Measure, trials: Columns, labels: NDArray[Any]) -> float:
    """Return the design effect of labels of questions on a mean over trials; NaN if it is undefined."""
    everywhere = np.ones(len(labels), dtype=np.bool_)
    by_label, by_question = (
        count_alike([np.arange(len(labels))], *number_labels(each, everywhere))
        for each in (labels, trials["question_id"])
    )
    rows, value = rows_of(trials, by_label.example), float(measure.compute(trials, None))
    found = clusters_of_mean(measure, rows, value, by_label, by_question)
    return found.design_effect if found else math.nan


def values_of_single_trials(measure: Measure, columns: Columns, n: int) -> FloatArray:
    """Compute a measure on each of n trials alone."""
    blocks = np.array_split(np.arange(n), n // 256 + 1)
    return np.concatenate([measure.compute(rows_of(columns, rows), np.eye(len(rows))) for rows in blocks])


def number_units(columns: Columns, chosen: NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Number the units of the chosen trials; return each trial's number, -1 if not chosen, and the count."""
    return number_labels(units_of(columns), chosen)


def number_labels(labels: NDArray[Any], chosen: NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Number the labels of the chosen trials, as :func:`number_units` does."""
    distinct, index = numbered(labels[chosen].astype(object))
    numbers = np.full(len(chosen), -1, dtype=np.int64)
    numbers[chosen] = index
    return numbers, len(distinct)


def _compared(rows: Columns) -> list[NDArray[Any]]:
    """Return the columns in which trials of one kind are equal."""
    # Epoch and file say where a trial is written down.
    numeric = [name for name in rows if rows[name].dtype.kind in "fiub" and name not in ("epoch", "file")]
    return [column for name, column in rows.items() if name == "status" or name in numeric]


def _agree(one: Any, other: Any) -> bool:
    return np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)


def tabulate(
    columns: Columns, chosen: IntArray, measures: Sequence[Measure], unit: IntArray, n_units: int
) -> list[DistinctTrials]:
    """Count the trials of a subset by kind, for the measures that allow it; the others get a table of single trials.

    Trials of one kind are equal in the status and in every column of numbers. A measure that reads anything else, such
    as the identifier of the question, has other values on kinds than on trials; random weights reveal it. Where all
    trials differ, as with continuous evidence, each trial is its own kind.

    ``unit`` holds the number of each trial's unit, for all trials of the model, and ``n_units`` is the number of units.
    """
    unit = unit[chosen]
    rows = rows_of(columns, chosen)
    by_trial = count_alike(_compared(rows), np.arange(len(unit)), len(unit))
    questions = csr_array((np.ones(len(unit)), unit, np.arange(len(unit) + 1)), shape=(len(unit), n_units))
    kinds = TrialCounts(by_trial.example, by_trial.members @ questions)
    examples = rows_of(rows, kinds.example)
    if len(kinds.example) == len(unit):
        return [DistinctTrials(examples, kinds, tuple(measures))]
    # Every row has the same total: some measures precompute a term for each total.
    totals = np.tile(np.resize(np.arange(4.0), len(unit)), (_PROBES, 1))
    trial_weights = SharedWeights.of(np.random.default_rng(0).permuted(totals, axis=1))
    kind_weights = SharedWeights.of((by_trial.members @ trial_weights.T).T)
    countable = [
        measure
        for measure in measures
        if _agree(measure.compute(examples, kind_weights), measure.compute(rows, trial_weights))
    ]
    others = [measure for measure in measures if measure not in countable]
    trials = count_alike([np.arange(len(unit))], unit, n_units)
    tables = DistinctTrials(examples, kinds, tuple(countable)), DistinctTrials(rows, trials, tuple(others))
    return [table for table in tables if table.measures]
