"""Studies drawn from known populations of replies, to see how often the package's intervals hold the truth.

A population is what a simulated subject replies to thousands of questions, through the study's own prompts and
readers. Its measures are known exactly. A study draws questions from it, with replacement; what the report would print
of that study is computed by the report's own functions. Drawing from a finite population loses nothing: it is the
distribution that studies come from, and it has ties, clusters and missing values as real trials do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from tests.items import reply_to

from confidence_tasks.harness.parameters import load_study
from confidence_tasks.report.estimates.averages import combined
from confidence_tasks.report.estimates.difference import paired_differences
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import (
    Distributions,
    contributing,
    informative,
    resampled,
)
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import Group, TrialSubset
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics import Interval
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.study.inference import Columns, Value
from confidence_tasks.study.kinds import DistinctTrials, number_units, tabulate
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.paired import PairedTables
from confidence_tasks.study.trial import Item

MANY = 1e3
"""Copies of a population that stand for infinitely many questions: padding and corrections for bias vanish."""


def replies(subject: Subject, items: Iterable[Item], seed: str = "0") -> list[str]:
    """What a subject says to each item, as either harness would put it."""
    return [
        reply_to(load_study(item.metadata["study"]), item.question, item.condition, subject, seed).text
        for item in items
    ]


def _method(measure: Measure) -> str:
    inference = measure.inference
    return "posterior" if inference.posterior else "test_inversion" if inference.test else inference.method


@dataclass(frozen=True, eq=False)
class Population:
    """Trials that studies are drawn from.

    Attributes
    ----------
    columns : mapping of str to ndarray
        Trials of one source of questions.
    groups : tuple of Group
        Groups of them that are reported.
    measures : tuple of Measure
        What is reported of each group.
    contrast : bool
        Whether instead the difference of two groups is, paired by question.
    """

    columns: Columns
    groups: tuple[Group, ...]
    measures: tuple[Measure, ...]
    contrast: bool = False

    @property
    def methods(self) -> dict[str, str]:
        """How the interval of each measure is made."""
        if self.contrast:
            return {measure.name: "one pivot with its test" for measure in self.measures}
        return {measure.name: _method(measure) for measure in self.measures}

    def tables(self) -> tuple[int, list[tuple[TrialSubset, DistinctTrials]]]:
        """The number of questions, and the trials of every cell by kind."""
        unit, n_units = number_units(self.columns, np.ones(len(self.columns["question_id"]), dtype=bool))
        cells = dict.fromkeys(cell for group in self.groups for cell in group.subsets)
        return n_units, [
            (cell, table)
            for cell in cells
            for table in tabulate(self.columns, cell.rows, self.measures, unit, n_units)
        ]

    def reported(self, found: Distributions) -> dict[tuple[str, str], Distribution]:
        """Every measure of every group, from those of the cells."""
        whole = {
            (group.label, name): its
            for group in self.groups
            for name, its in combined(
                group.subsets, self.measures, found, skips_undefined=group.skips_undefined
            ).items()
        }
        if not self.contrast:
            return whole
        first, second = (group.label for group in self.groups)
        return {
            (f"{first} minus {second}", measure.name): whole[first, measure.name]
            - whole[second, measure.name]
            for measure in self.measures
        }


def truths(population: Population) -> dict[tuple[str, str], float]:
    """The measures of infinitely many questions; NaN of what is infinite without an addition to the counts."""
    _, tables = population.tables()
    found = {}
    for cell, table in tables:
        counts = MANY * table.kinds.counts[np.newaxis]
        for measure in table.measures:
            value = np.atleast_1d(np.asarray(_unpadded(measure, table.columns, counts)))
            found[cell, measure.name] = Distribution(as_estimate(float(value[0])), value, frozenset())
    return {key: float(value.value) for key, value in population.reported(found).items()}


def _unpadded(measure: Measure, columns: Columns, weights: np.ndarray) -> Value:
    """A measure without additions of its own to the numbers of trials."""
    if measure.inference.posterior is None:
        return measure.compute(columns, weights)
    return measure.inference.posterior.compute(measure.inference.posterior.prepare(columns), weights)


def studies(
    population: Population, n: int, n_studies: int, settings: Settings, seed: int = 0
) -> Iterable[dict[tuple[str, str], Any]]:
    """Every measure of every group of each simulated study of ``n`` questions, with its resamples.

    Of a contrast, the intervals of the differences instead.
    """
    n_units, tables = population.tables()
    rng = np.random.default_rng(seed)
    for _ in range(n_studies):
        drawn = rng.integers(n_units, size=n)
        study = [
            (cell, replace(table, kinds=replace(table.kinds, members=table.kinds.members[:, drawn])))
            for cell, table in tables
        ]
        values = resampled(study, settings.n_resamples, rng, rng)
        found: dict[tuple[TrialSubset, str], Distribution] = {}
        for cell, table in study:
            counts = table.kinds.counts
            trials, numbers = table.expanded()
            asked = np.asarray(table.kinds.members.sum(axis=0) > 0.0)
            for measure in table.measures:
                value = as_estimate(float(np.asarray(measure.compute(table.columns, counts[np.newaxis]))[0]))
                extreme = measure.inference.method == "wilson" and value in (0.0, 1.0)
                questions = np.flatnonzero(contributing(table, measure) if extreme else asked)
                found[cell, measure.name] = Distribution(
                    value,
                    values[cell, measure.name],
                    frozenset(map(str, questions)),
                    informative(measure, trials),
                    measure.inference.is_average,
                    inverted_test=measure.inference.test(trials, numbers) if measure.inference.test else None,
                )
        yield (
            _differences(population, study, found, settings, rng)
            if population.contrast
            else population.reported(found)
        )


def _differences(
    population: Population,
    study: Iterable[tuple[TrialSubset, DistinctTrials]],
    found: Distributions,
    settings: Settings,
    rng: np.random.Generator,
) -> dict[tuple[str, str], Interval]:
    """The difference of the two groups in each measure, as the report prints it."""
    (first,), (second,) = (group.subsets for group in population.groups)
    of_cell: dict[TrialSubset, list[DistinctTrials]] = {}
    for cell, table in study:
        of_cell.setdefault(cell, []).append(table)
    pairs = [PairedTables.of(*pair) for pair in product(of_cell[first], of_cell[second])]
    sides = {
        measure.name: (found[first, measure.name], found[second, measure.name])
        for measure in population.measures
    }
    # The exchanges that a report adds where p is below 0.1 would make these p-values finer, and nothing else.
    settings = replace(settings, exchange_factor=1)
    tested = paired_differences(pairs, sides, settings, rng, papers_test=False)
    label = " minus ".join(group.label for group in population.groups)
    return {(label, name): difference.interval for name, difference in tested.items()}


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often intervals held the truth.

    Attributes
    ----------
    truth : float
        What they should hold.
    n_defined : int
        Studies that printed an interval.
    withheld : float
        Share of those with a value that did not.
    above, below : float
        Share of these whose interval lies wholly above, or below, the truth.
    width : float
        Their median width.
    """

    truth: float
    n_defined: int
    withheld: float
    above: float
    below: float
    width: float

    @property
    def covered(self) -> float:
        """Share of the intervals that hold the truth."""
        return 1.0 - self.above - self.below


def printed(
    population: Population, study: Mapping[tuple[str, str], Any], settings: Settings
) -> dict[tuple[str, str], Interval]:
    """The intervals that the report prints of a study."""
    if population.contrast:
        return dict(study)
    intervals = {}
    for group in dict.fromkeys(group for group, _ in study):
        whole = {measure.name: study[group, measure.name] for measure in population.measures}
        for measure in population.measures:
            intervals[group, measure.name] = interval_of_measure(measure, whole, settings)
    return intervals


def coverages(
    population: Population, n: int, n_studies: int, settings: Settings, seed: int = 0
) -> dict[tuple[str, str], Coverage]:
    """The coverage of every interval that a report of such studies prints, by group and measure."""
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for study in studies(population, n, n_studies, settings, seed):
        for key, interval in printed(population, study, settings).items():
            numbers = float(interval.estimate), float(interval.low), float(interval.high)
            found.setdefault(key, []).append(numbers)
    true = truths(population)
    return {
        key: _coverage(true[key], np.array(numbers))
        for key, numbers in found.items()
        if not np.isnan(true[key])
    }


def _coverage(truth: float, numbers: np.ndarray) -> Coverage:
    value = ~np.isnan(numbers[:, 0])
    shown = ~np.isnan(numbers).any(axis=1)
    withheld = 1.0 - float(shown.sum()) / max(float(value.sum()), 1.0)
    _, low, high = numbers[shown].T
    if not len(low):
        return Coverage(truth, 0, withheld, float("nan"), float("nan"), float("nan"))
    slack = 1e-9 * max(1.0, abs(truth))  # rounding
    return Coverage(
        truth,
        len(low),
        withheld,
        float(np.mean(low > truth + slack)),
        float(np.mean(high < truth - slack)),
        float(np.median(high - low)),
    )
