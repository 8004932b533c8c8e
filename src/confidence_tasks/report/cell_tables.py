"""Trials gathered by kind, so that thousands of resamples of a measure cost no more than a few of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from confidence_tasks.report.groups import Columns, TrialSubset
from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.inference.draws import TrialCounts, count_alike, numbered
from confidence_tasks.statistics.inference.weights import SharedWeights
from confidence_tasks.study.measures import Measure, rows_of

_PROBES = 8
"""Random weightings on which a measure of kinds must agree with that of trials."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """Trials of a cell, alike ones gathered: a row of ``columns`` a kind, and how many a question has of each."""

    columns: Columns
    kinds: TrialCounts
    measures: tuple[Measure, ...]

    def one_by_one(self) -> tuple[Columns, IntArray]:
        """Return the trials as they are again, and the number of each one's question, which is its identifier."""
        members = self.kinds.members.tocoo()
        times = members.data.astype(np.int64)
        rows, unit = np.repeat(members.row, times), np.repeat(members.col.astype(np.int64), times)
        trials = rows_of(self.columns, rows)
        return {**trials, "question_id": unit.astype(str)}, unit

    def values(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Return each measure without a posterior distribution for every row of weights of the kinds."""
        shared, its = SharedWeights.of(weights), (each for each in self.measures if not each.posterior)
        return {measure.name: np.asarray(measure.compute(self.columns, shared)) for measure in its}

    def draws(self, weights: FloatArray, rng: np.random.Generator) -> dict[str, FloatArray]:
        """Return a draw of each measure from its posterior distribution for every row of random weights.

        Measures of the same outcomes and prior are of the same draws.
        """
        weighted: dict[object, tuple[Columns, FloatArray]] = {}
        found = {}
        for measure in self.measures:
            if posterior := measure.posterior:
                of = posterior.outcomes, posterior.prepared, posterior.prior
                if of not in weighted:
                    weighted[of] = posterior.weighted(self.columns, weights, rng)
                found[measure.name] = np.asarray(posterior.compute(*weighted[of]))
        return found


def each_alone(measure: Measure, columns: Columns, n: int) -> FloatArray:
    """Return a measure of each of n trials alone."""
    blocks = np.array_split(np.arange(n), n // 256 + 1)
    return np.concatenate([measure.compute(rows_of(columns, rows), np.eye(len(rows))) for rows in blocks])


def number_questions(columns: Columns, chosen: NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Return the number of each chosen trial's question, -1 for the other trials, and how many questions there are."""
    questions, index = numbered(columns["question_id"][chosen].astype(object))
    numbers = np.full(len(chosen), -1, dtype=np.int64)
    numbers[chosen] = index
    return numbers, len(questions)


def tabulate(
    columns: Columns, cell: TrialSubset, measures: Sequence[Measure], unit: IntArray, n_units: int
) -> list[CellTable]:
    """Gather the trials of a cell for some measures: a table for the kinds and one for the trials, if these serve any.

    A kind is made of the columns that hold numbers and of the status. A measure that reads more than these, such as
    the question, differs between the kinds and the trials; it is told by random weights, and gets the trials as
    they are. Where no two trials are alike, as with continuous evidence, the kinds are the trials in another order.
    ``unit`` has the number of the question of each of the model's trials, of ``n_units`` questions.
    """
    unit = unit[cell.rows]
    rows = rows_of(columns, cell.rows)
    telling = [column for name, column in rows.items() if name not in _APART and _is_read(name, column)]
    by_trial = count_alike(telling, np.arange(len(unit)), len(unit))
    asked = csr_array((np.ones(len(unit)), unit, np.arange(len(unit) + 1)), shape=(len(unit), n_units))
    alike = TrialCounts(by_trial.example, by_trial.members @ asked)
    gathered = rows_of(rows, alike.example)
    if len(alike.example) == len(unit):
        return [CellTable(gathered, alike, tuple(measures))]
    # All of one total, because some measures work out a part of themselves for every number of trials.
    even = np.tile(np.resize(np.arange(4.0), len(unit)), (_PROBES, 1))
    probe = np.random.default_rng(0).permuted(even, axis=1)
    of_kinds = (by_trial.members @ probe.T).T
    served = [
        measure
        for measure in measures
        if np.allclose(
            measure.compute(gathered, of_kinds),
            measure.compute(rows, probe),
            rtol=1e-9,
            atol=1e-12,
            equal_nan=True,
        )
    ]
    others = [measure for measure in measures if measure not in served]
    as_they_are = count_alike([np.arange(len(unit))], unit, n_units)
    tables = CellTable(gathered, alike, tuple(served)), CellTable(rows, as_they_are, tuple(others))
    return [table for table in tables if table.measures]


_APART = frozenset({"epoch", "file"})
"""Numbers that say where a trial is written down."""


def _is_read(name: str, column: NDArray[Any]) -> bool:
    return name == "status" or column.dtype.kind in "fiub"
