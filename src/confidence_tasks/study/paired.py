"""Trials under two conditions, paired by question, and the influence of each trial on a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.weights import TrialCounts, alike_units, ratio
from confidence_tasks.study.inference import Columns, Influence
from confidence_tasks.study.kinds import DistinctTrials, values_of_single_trials
from confidence_tasks.study.measure import Measure

Sides: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""For each exchange: the weights of the stacked trials on either side, and the number of moved questions by kind."""

_PROBES = 8
"""Number of random weightings on which a measure is compared with a mean, to find out whether it is one."""


@dataclass(frozen=True, slots=True)
class PairedTables:
    """The trials of one source under two conditions, on the same questions.

    ``questions`` counts the questions by kind: questions of one kind have equal trials under both conditions.
    ``of_first`` (J, K1) and ``of_second`` (J, K2) hold, for each of the J kinds of questions, the number of trials of
    each kind under the first and the second condition. With clusters of questions, these take the place of questions.
    ``correction`` is the factor n / (n - 1) of a variance over n questions, relative to that over single trials.
    """

    first: DistinctTrials
    second: DistinctTrials
    questions: TrialCounts
    of_first: csr_array
    of_second: csr_array
    correction: float

    @classmethod
    def of(cls, first: DistinctTrials, second: DistinctTrials) -> Self:
        """Pair two tables of the same questions."""
        questions = alike_units([first.kinds, second.kinds])
        of_first, of_second = (
            kinds.members[:, questions.example].T.tocsr() for kinds in (first.kinds, second.kinds)
        )
        correction = max(map(correction_of_units, (first.kinds, second.kinds)))
        return cls(first, second, questions, of_first, of_second, correction)

    @property
    def measures(self) -> list[Measure]:
        """The measures that both tables have."""
        return [measure for measure in self.first.measures if measure in self.second.measures]

    def stacked(self) -> Columns:
        """Return the trials of the first condition, followed by those of the second."""
        first, second = self.first.columns, self.second.columns
        return {name: np.concatenate([column, second[name]]) for name, column in first.items()}

    def without_exchange(self) -> Sides:
        """Return the sides for the exchange that moves no question."""
        first, second = self.first.kinds.counts, self.second.kinds.counts
        left = np.concatenate([first, np.zeros(len(second))])[np.newaxis]
        right = np.concatenate([np.zeros(len(first)), second])[np.newaxis]
        return left, right, np.zeros((1, len(self.questions.example)))

    def variance(self, influence: Influence, rows: Columns, sides: Sides) -> FloatArray:
        """Return the variance of the difference for each exchange: the sum of squared influences of the questions."""
        as_first, as_second, exchanged = sides
        left, added_left = influence(rows, as_first)
        right, added_right = influence(rows, as_second)
        n_first = self.of_first.shape[1]
        # Computed in place, as these are the largest arrays of a report.
        stays = (self.of_first @ left[:, :n_first].T).T
        stays -= (self.of_second @ right[:, n_first:].T).T
        np.square(stays, out=stays)
        moves = (self.of_second @ left[:, n_first:].T).T
        moves -= (self.of_first @ right[:, :n_first].T).T
        np.square(moves, out=moves)
        moves -= stays
        moves *= exchanged
        squares = self.correction * (stays @ self.questions.counts + moves.sum(axis=1))
        return np.asarray(squares + added_left + added_right)


def correction_of_units(kinds: TrialCounts) -> float:
    """Return n / (n - 1) for n questions, divided by that for the trials: influences have that of the trials."""
    trials = float(kinds.counts.sum())
    questions = int(np.count_nonzero(kinds.members.sum(axis=0)))
    if questions in (0, 1, trials):
        return 1.0
    return questions / (questions - 1.0) * (trials - 1.0) / trials


def influence_on(measure: Measure, source: PairedTables) -> Influence | None:
    """Return the influence function of a measure on the stacked trials of two conditions, if it is known."""
    return influence_of_trials(
        measure, source.stacked(), source.of_first.shape[1] + source.of_second.shape[1]
    )


def influence_of_trials(measure: Measure, rows: Columns, n: int) -> Influence | None:
    """Return the influence function of a measure on weighted trials, given as columns of length n, if it is known.

    That of a mean follows from the values of single trials.
    """
    inference = measure.inference
    if inference.influence is not None:
        return inference.influence
    if measure.fitted or not (inference.is_average or inference.posterior or inference.proportion):
        return None
    values = values_of_single_trials(measure, rows, n)
    counted = ~np.isnan(values)
    value = np.where(counted, values, 0.0)

    def mean(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = weights @ counted.astype(np.float64)
        return ratio(weights @ value, size), size

    def influence(rows: Columns, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        average, size = mean(weights)
        scale = ratio(np.ones(len(size)), np.sqrt(np.maximum(size * (size - 1.0), 0.0)))
        deviations = np.subtract.outer(value, average)
        deviations *= scale
        deviations[~counted] = 0.0
        return deviations.T, np.zeros(len(average))

    probe = np.random.default_rng(0).integers(0, 4, (_PROBES, n)).astype(np.float64)
    computed = np.asarray(measure.compute(rows, probe))
    return influence if np.allclose(mean(probe)[0], computed, rtol=1e-9, atol=1e-12, equal_nan=True) else None
