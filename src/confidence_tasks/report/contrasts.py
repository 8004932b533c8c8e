"""Differences of two groups of trials on the same questions: intervals and tests from one pivot.

A measure whose trials' influence is known, and every mean, is tested by the studentised exchange: the difference over
its standard error, against the same after exchanges of whole questions, and against Student's distribution. What is too
high by chance, as calibration errors are, is compared by the intervals of the two groups, which allow for that (MOVER).
Everything else is compared with Student's distribution, by the spread of its resamples. The interval is what the test
does not reject, so that the two cannot contradict each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from confidence_tasks.report.estimates import (
    CellTable,
    Distribution,
    Distributions,
    Settings,
    combined,
    distributions,
    number_questions,
    tabulate,
    values_of_single_trials,
)
from confidence_tasks.report.task_trials import Columns, Group, TrialSubset
from confidence_tasks.statistics import Estimate, Interval, Reason
from confidence_tasks.statistics.core import FloatArray, undefined
from confidence_tasks.statistics.inference.limits import mover
from confidence_tasks.statistics.inference.resampling import rounding_of, share_as_extreme
from confidence_tasks.statistics.inference.tests import Pivot, exchange_pivot, student_pivot
from confidence_tasks.statistics.inference.weights import (
    SharedWeights,
    TrialCounts,
    alike_units,
    exchanged_kinds,
    is_exact,
    ratio,
)
from confidence_tasks.study.measures import Influence, Measure

Sides: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""For each exchange: the weights of the stacked trials on either side, and how many questions of each kind moved."""

_PROBES = 8
"""Random weightings on which what looks like a mean must be one."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A condition minus the baseline.

    ``interval`` holds the difference, paired by question. ``p_value`` is at most one less the level of the interval
    exactly when that leaves out 0; it is NaN where there is no interval, and of what is fitted to the trials and
    cannot be fitted anew as often as a test takes. ``p_adjusted`` is the same after the correction for all
    comparisons of the measure. ``p_exchange`` is of the papers' test, which exchanges the conditions within
    questions and does not studentise.
    """

    model: str
    group: str
    baseline: str
    measure: str
    interval: Interval
    p_value: float
    p_adjusted: float
    p_exchange: float

    @property
    def significant(self) -> bool:
        """Whether the adjusted p-value is below 0.05."""
        return self.p_adjusted < 0.05


def contrasts(
    columns: Columns,
    groups: Sequence[Group],
    baseline: str,
    measures: Sequence[Measure],
    drawn: Distributions,
    settings: Settings,
) -> list[Contrast]:
    """Compare every group with the one labelled as the baseline, on the sources of questions that both have.

    ``drawn`` has the distributions by cell of a group and measure, from one draw of questions. The contrasts come
    measure by measure, not corrected yet; there is none without a baseline, and none of a group that shares no
    source with it.
    """
    base = next((group for group in groups if group.label == baseline), None)
    if base is None:
        return []
    pairs: list[tuple[str, list[TrialSubset], list[TrialSubset]]] = []
    for group in groups:
        # Other questions would make a difference of their own.
        shared = {cell.source for cell in group.cells} & {cell.source for cell in base.cells}
        if group is not base and shared:
            one, other = ([cell for cell in its.cells if cell.source in shared] for its in (group, base))
            pairs.append((group.label, one, other))
    cells = list(dict.fromkeys(cell for _, one, other in pairs for cell in one + other))
    unit, n_units = number_questions(columns, np.ones(len(columns["question_id"]), dtype=bool))
    tables = {cell: tabulate(columns, cell, measures, unit, n_units) for cell in cells}
    # What is fitted varies with the fit: a difference takes resamples with a fit of their own, where there can be such.
    refitted = [measure.exchangeable for measure in measures if measure.fitted and measure.exchangeable]
    its_draws = {**drawn, **distributions(columns, cells, refitted, settings)} if refitted else drawn
    found: dict[str, list[Contrast]] = {measure.name: [] for measure in measures}
    for label, of_group, of_base in pairs:
        sources = [
            PairedTables.of(*of_both)
            for one, other in product(of_group, of_base)
            if one.source == other.source
            for of_both in product(tables[one], tables[other])
        ]
        first, second = (combined(its, measures, its_draws) for its in (of_group, of_base))
        sides = {name: (first[name], second[name]) for name in first}
        exchanges = settings.generator("exchange", label)
        for name, contrast in paired_differences(sources, sides, settings, exchanges).items():
            found[name].append(replace(contrast, group=label, baseline=baseline))
    return [contrast for of_measure in found.values() for contrast in of_measure]


def adjusted_for_all(p_values: Sequence[float], adjust: Callable[[FloatArray], FloatArray]) -> list[float]:
    """Correct p-values for all comparisons, those without one among them."""
    p = np.array(p_values)
    adjusted = adjust(np.nan_to_num(p, nan=1.0))
    return [float(value) for value in np.where(np.isnan(p), np.nan, adjusted)]


# The test of one difference ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairedTables:
    """The trials of one source under two conditions, of the same questions.

    ``alike`` gathers the questions that have the same trials under both. ``of_first`` and ``of_second``, of shapes
    (J, K1) and (J, K2), say how many trials of each kind a question of each of its J kinds has.
    """

    first: CellTable
    second: CellTable
    alike: TrialCounts
    of_first: csr_array
    of_second: csr_array

    @classmethod
    def of(cls, first: CellTable, second: CellTable) -> Self:
        """Pair two tables of the same questions."""
        alike = alike_units([first.kinds, second.kinds])
        members = [kinds.members[:, alike.example].T.tocsr() for kinds in (first.kinds, second.kinds)]
        return cls(first, second, alike, *members)

    @property
    def measures(self) -> list[Measure]:
        """Measures that both tables have."""
        return [measure for measure in self.first.measures if measure in self.second.measures]

    def stacked(self) -> Columns:
        """Return the trials of both, those of the first before those of the second."""
        first, second = self.first.columns, self.second.columns
        return {name: np.concatenate([column, second[name]]) for name, column in first.items()}

    def as_they_are(self) -> Sides:
        """Return the weights of the stacked trials on either side, and of the questions exchanged, where none is."""
        first, second = self.first.kinds.counts, self.second.kinds.counts
        left = np.concatenate([first, np.zeros(len(second))])[np.newaxis]
        right = np.concatenate([np.zeros(len(first)), second])[np.newaxis]
        return left, right, np.zeros((1, len(self.alike.example)))

    def variance(self, influence: Influence, rows: Columns, sides: Sides) -> FloatArray:
        """Return the variance of the difference for each row of weights: the sum of squares over the questions."""
        as_first, as_second, exchanged = sides
        left, added_left = influence(rows, as_first)
        right, added_right = influence(rows, as_second)
        n_first = self.of_first.shape[1]
        # In place: these are the largest arrays of a report.
        stays = (self.of_first @ left[:, :n_first].T).T
        stays -= (self.of_second @ right[:, n_first:].T).T
        np.square(stays, out=stays)
        moves = (self.of_second @ left[:, n_first:].T).T
        moves -= (self.of_first @ right[:, :n_first].T).T
        np.square(moves, out=moves)
        moves -= stays
        moves *= exchanged
        return np.asarray(stays @ self.alike.counts + moves.sum(axis=1) + added_left + added_right)


def paired_differences(
    sources: Sequence[PairedTables],
    sides: Mapping[str, tuple[Distribution, Distribution]],
    settings: Settings,
    seed: np.random.Generator,
    *,
    papers_test: bool = True,
) -> dict[str, Contrast]:
    """Test the differences of measures between two conditions; return them by measure, without names and correction.

    What differs is the mean over ``sources``. ``sides`` has the value of each measure under either condition, with
    the resamples if it is tested by these. ``papers_test`` says whether the papers' test is made too.
    """
    measures = {measure.name: measure for source in sources for measure in source.measures}
    known = _known_influences(sources, measures)
    drawn = _exchanges(sources, known, settings, seed, papers_test=papers_test)
    exact = bool(sources) and is_exact(sources[0].alike.members.shape[1], settings.n_resamples)
    found = {}
    for name, measure in measures.items():
        first, second = sides[name]
        difference, tie = first - second, rounding_of(first.value, second.value)
        values, errors = drawn.get(name, (np.empty(0), np.empty(0)))
        if name in known:
            apart = float(difference.value)
            error, freedom = _by_influence(sources, known[name])
            pivot = exchange_pivot(
                apart, error, values, errors, freedom=freedom, level=settings.level, exact=exact, tie=tie
            )
            n_undefined = int(np.isnan(values + errors).sum())
            test = _Test("exchange", apart, error, pivot, len(values), n_undefined)
        else:
            test = _by_distribution(first, second, difference, tie, settings.level)
        low, high, p_value = _read(measure, sources, difference, test, tie, settings.level)
        interval = Interval(
            estimate=Estimate(0.0) if abs(difference.value) <= tie else difference.value,
            low=low,
            high=high,
            level=settings.level,
            standard_error=test.error,
            n_units=len(difference.questions),
            n_resamples=test.n_resamples,
            n_undefined=test.n_undefined,
            method=test.method,
            seed=settings.seed,
        )
        p_exchange = math.nan
        if len(values):
            p_exchange = float(share_as_extreme(difference.value, values, "two-sided", exact, tie))
        found[name] = Contrast("", "", "", name, interval, p_value, p_value, p_exchange)
    return found


class _Test(NamedTuple):
    """A tested difference: by exchanges, from two inverted tests, or from the spread of resamples."""

    method: Literal["exchange", "mover", "student"]
    difference: float
    error: float
    pivot: Pivot
    n_resamples: int
    n_undefined: int


def _known_influences(
    sources: Sequence[PairedTables], names: Iterable[str]
) -> dict[str, dict[int, Influence]]:
    """Return the influence on each measure, by number of source, for the measures that have one in every source."""
    influences: dict[str, dict[int, Influence | None]] = {name: {} for name in names}
    for number, source in enumerate(sources):
        for measure in source.measures:
            influences[measure.name][number] = influence_on(measure, source)
    return {
        name: {number: influence for number, influence in parts.items() if influence}
        for name, parts in influences.items()
        if all(parts.values())
    }


def _by_distribution(
    first: Distribution, second: Distribution, difference: Distribution, tie: float, level: float
) -> _Test:
    """Test a difference against Student's distribution, or the normal one where both terms have an inverted test."""
    n_resamples = len(difference.resamples)
    n_undefined = n_resamples - int(np.isfinite(difference.resamples).sum())
    method: Literal["mover", "student"] = "student"
    apart, (error, freedom) = float(difference.value), difference.resampled.student_terms
    if first.inverted_test and second.inverted_test:
        correlation = _correlation(first.resamples, second.resamples)
        method, freedom = "mover", math.inf
        apart, error = mover(first.inverted_test, second.inverted_test, correlation, level)
    pivot = student_pivot(apart, error, freedom, level=level, tie=tie)
    return _Test(method, apart, error, pivot, n_resamples, n_undefined)


def _read(
    measure: Measure,
    sources: Sequence[PairedTables],
    difference: Distribution,
    test: _Test,
    tie: float,
    level: float,
) -> tuple[Estimate, Estimate, float]:
    """Return the limits and the p-value of a difference; where one is withheld, so is the other."""
    value, pivot = float(difference.value), test.pivot
    reason = difference.resampled.reason or _incomparable(measure, sources)
    if not reason and math.isnan(pivot.p_value):
        reason = Reason.NOT_IDENTIFIED
    if not reason and (
        math.isinf(pivot.reach) or (pivot.reach == 0.0 < abs(value) and pivot.p_value > 1.0 - level)
    ):
        reason = Reason.TOO_FEW  # exchanges
    if reason:
        return undefined(reason), undefined(reason), 1.0 if abs(value) <= tie else math.nan
    most = measure.largest_difference
    low, high = max(test.difference - pivot.reach, -most), min(test.difference + pivot.reach, most)
    # What is fitted, and cannot be fitted anew, varies more than its interval says: enough to tell how much it may be.
    return Estimate(low), Estimate(high), math.nan if measure.exchangeable is None else pivot.p_value


def _correlation(one: FloatArray, other: FloatArray) -> float:
    """Return the correlation of paired resamples; 0 where one of them does not vary, and 1 where they are alike."""
    defined = np.isfinite(one) & np.isfinite(other)
    a, b = one[defined], other[defined]
    if np.array_equal(a, b):
        return 1.0
    spread = a.std() * b.std()
    return float(np.mean((a - a.mean()) * (b - b.mean())) / spread) if spread > 0.0 else 0.0


def _incomparable(measure: Measure, sources: Sequence[PairedTables]) -> Reason | None:
    """Say why the trials do not bear a difference of the measure, if so."""
    if measure.incomparable is None:
        return None
    known = (source for source in sources if measure in source.measures)
    tables = (table for source in known for table in (source.first, source.second))
    reasons = (measure.incomparable(table.columns, table.kinds.counts) for table in tables)
    return next(filter(None, reasons), None)


def influence_on(measure: Measure, source: PairedTables) -> Influence | None:
    """Return how trials move a measure, if that is known: they do of every mean, by what they are alone."""
    if measure.influence is not None:
        return measure.influence
    if measure.fitted or not (measure.is_average or measure.posterior or measure.proportion):
        return None
    rows = source.stacked()
    n = source.of_first.shape[1] + source.of_second.shape[1]
    alone = values_of_single_trials(measure, rows, n)
    counted = ~np.isnan(alone)
    value = np.where(counted, alone, 0.0)

    def mean(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = weights @ counted.astype(np.float64)
        return ratio(weights @ value, size), size

    def influence(rows: Columns, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        average, size = mean(weights)
        scale = ratio(np.ones(len(size)), np.sqrt(np.maximum(size * (size - 1.0), 0.0)))
        moved = np.subtract.outer(value, average)
        moved *= scale
        moved[~counted] = 0.0
        return moved.T, np.zeros(len(average))

    probe = np.random.default_rng(0).integers(0, 4, (_PROBES, n)).astype(np.float64)
    computed = np.asarray(measure.compute(rows, probe))
    return influence if np.allclose(mean(probe)[0], computed, rtol=1e-9, atol=1e-12, equal_nan=True) else None


def _by_influence(
    sources: Sequence[PairedTables], influences: Mapping[int, Influence]
) -> tuple[float, float]:
    """Return the standard error of the mean over the sources, and its degrees of freedom (Satterthwaite's)."""
    its = [(sources[number], influence) for number, influence in influences.items()]
    variances = np.array([each.variance(moves, each.stacked(), each.as_they_are())[0] for each, moves in its])
    freedom = np.array([max(each.alike.counts.sum() - 1.0, 1.0) for each, _ in its])
    whole = float(variances.sum())
    apart = float((np.square(variances) / freedom).sum())
    return math.sqrt(whole) / len(influences), whole**2 / apart if apart > 0.0 else float(freedom.sum())


def _exchanges(
    sources: Sequence[PairedTables],
    influences: Mapping[str, Mapping[int, Influence]],
    settings: Settings,
    seed: np.random.Generator,
    *,
    papers_test: bool,
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return each measure's difference for every exchange, and its standard error where influence is known.

    What a measure fits to the trials is fitted for every exchange, as it was to each group; a measure that cannot be
    fitted so often has no entry.
    """
    asked = {
        measure.name: tested
        for source in sources
        for measure in source.measures
        if (measure.name in influences or papers_test) and (tested := measure.exchangeable)
    }
    if not asked:
        return {}
    n_sources = Counter(measure.name for source in sources for measure in source.measures)
    stacked = [source.stacked() for source in sources]
    parts: dict[str, list[tuple[FloatArray, FloatArray]]] = {name: [] for name in asked}
    for block in exchanged_kinds(
        [(source.first.kinds, source.second.kinds, source.alike) for source in sources],
        n_resamples=settings.n_resamples,
        seed=seed,
    ):
        size = len(block[0][0])
        totals = {name: np.zeros(size) for name in asked}
        variances = {name: np.zeros(size) for name in asked}
        for number, (source, rows, drawn) in enumerate(zip(sources, stacked, block, strict=True)):
            sides = SharedWeights.of(drawn[0]), SharedWeights.of(drawn[1]), drawn[2]
            for name in asked.keys() & {measure.name for measure in source.measures}:
                compute, n = asked[name].compute, n_sources[name]
                with np.errstate(invalid="ignore"):  # both infinite: no difference, NaN
                    totals[name] += np.asarray(compute(rows, sides[0]) - compute(rows, sides[1])) / n
                if name in influences:
                    variances[name] += source.variance(influences[name][number], rows, sides) / n**2
        for name, total in totals.items():
            parts[name].append((total, np.sqrt(variances[name])))
    return {
        name: (np.concatenate([d for d, _ in blocks]), np.concatenate([e for _, e in blocks]))
        for name, blocks in parts.items()
    }
