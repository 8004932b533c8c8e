"""The two subjects of a power analysis: their answers to many questions, and the parameter in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # loads its parts at first use: scipy.stats takes half a second
from numpy.typing import NDArray
from scipy.sparse import csr_array

from confidence_tasks.simulation.draws import Draws, paired_draws
from confidence_tasks.simulation.power_design import EffectParameter, PowerDesign
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.inference.weights import TrialCounts
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.inference import Columns
from confidence_tasks.study.kinds import DistinctTrials
from confidence_tasks.study.measure import Measure

LOG2_POPULATION = 15
"""Binary logarithm of the number of questions that both subjects answer, from which studies are drawn."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two subjects that differ by an effect: their values of a parameter, and of the measure over all questions."""

    parameter: str
    first: float
    second: float
    first_measure: float
    second_measure: float


@dataclass(frozen=True, slots=True)
class Answers:
    """Replies of a subject to every question of the population.

    Questions with equal replies are of one kind. ``kind`` is the kind of each question, ``trials`` are the trials of
    each kind, ``n_replies`` per kind, and ``counts`` are the numbers of questions of each kind.
    """

    kind: NDArray[np.intp]
    trials: Columns
    n_replies: int
    counts: FloatArray

    def table(self, questions: IntArray, measure: Measure) -> DistinctTrials:
        """Return the trials of some questions of the population."""
        occurring, kind = np.unique(self.kind[questions], return_inverse=True)
        rows = (self.n_replies * occurring[:, np.newaxis] + np.arange(self.n_replies)).ravel()
        row_of_trial = (self.n_replies * kind[:, np.newaxis] + np.arange(self.n_replies)).ravel()
        unit = np.repeat(np.arange(len(questions)), self.n_replies)
        shape = len(rows), len(questions)
        members = csr_array((np.ones(len(row_of_trial)), (row_of_trial, unit)), shape=shape)
        columns = rows_of(self.trials, rows)
        return DistinctTrials(columns, TrialCounts(np.arange(len(rows)), members), (measure,))

    def value(self, measure: Measure) -> float:
        """Return the measure over the population."""
        weights = np.repeat(self.counts, self.n_replies)[np.newaxis]
        return float(np.asarray(measure.compute(self.trials, weights))[0])


def _answers(design: PowerDesign, subject: Subject, draws: Sequence[Draws], condition: str) -> Answers:
    replies = design.replies(subject, draws, condition)
    code = np.zeros(len(next(iter(replies.values()))), dtype=np.int64)
    for column in replies.values():
        distinct, index = np.unique(column, return_inverse=True)
        # Renumber after each column, so that the product cannot overflow.
        code = np.unique(code * len(distinct) + index, return_inverse=True)[1]
    _, example, kind, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
    trials = design.trials(rows_of(replies, example), condition)
    return Answers(kind, trials, design.n_replies, counts.astype(np.float64))


def equal_subjects(
    design: PowerDesign, subject: Subject, condition: str, correlation: float, seed: int
) -> tuple[Answers, Answers]:
    """Return the answers of two subjects with the same parameters to the same questions."""
    rng = np.random.default_rng([seed, 0])
    first, second = paired_draws(LOG2_POPULATION, correlation, rng, design.n_replies)
    return _answers(design, subject, first, condition), _answers(design, subject, second, condition)


def pair_of_subjects(
    design: PowerDesign,
    name: str,
    subject: Subject,
    condition: str,
    effect: float,
    correlation: float,
    seed: int,
) -> tuple[Answers, Answers, Pair]:
    """Return the answers of the subject and of another one whose measure is lower by ``effect``."""
    measure, parameter = design.measures[name], design.effects[name]
    rng = np.random.default_rng([seed, 0])
    first_draws, second_draws = paired_draws(LOG2_POPULATION, correlation, rng, design.n_replies)
    first = _answers(design, subject, first_draws, condition)
    first_measure = first.value(measure)

    def second_at(value: float) -> Answers:
        change: dict[str, Any] = {parameter.parameter: value}
        return _answers(design, replace(subject, **change), second_draws, condition)

    def difference(value: float) -> float:
        return first_measure - second_at(value).value(measure)

    start = float(getattr(subject, parameter.parameter))
    value = _solve(difference, parameter, start, effect, name, first_measure)
    second = second_at(value)
    return first, second, Pair(parameter.parameter, start, value, first_measure, second.value(measure))


def _solve(
    difference: Callable[[float], float],
    parameter: EffectParameter,
    start: float,
    effect: float,
    measure: str,
    first_measure: float,
) -> float:
    """Return the value of a parameter nearest to ``start`` at which the difference is ``effect``."""
    grid = np.union1d(np.linspace(parameter.low, parameter.high, 17), [start])
    differences = np.array([difference(float(value)) for value in grid])
    sign = np.sign(differences - effect)
    crossings = np.flatnonzero(sign[:-1] * sign[1:] <= 0)
    if not len(crossings):
        lowest, highest = np.nanmin(differences), np.nanmax(differences)
        raise ValueError(
            f"no {parameter.parameter} from {parameter.low:g} to {parameter.high:g} makes {measure} differ by"
            f" {effect:+g}: A has {first_measure:.3f}, and A minus B ranges from {lowest:+.3f} to {highest:+.3f}."
            " Choose an effect in this range, or another subject A"
        )
    crossings = crossings[::-1]  # of two equally near crossings, the higher
    nearest = crossings[np.argmin(np.abs(grid[crossings] - start) + np.abs(grid[crossings + 1] - start))]
    low, high = float(grid[nearest]), float(grid[nearest + 1])
    return float(scipy.optimize.brentq(lambda value: difference(value) - effect, low, high, xtol=1e-4))
