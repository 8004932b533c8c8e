"""Contrasts: differences of two groups of trials on the same questions, with an interval and a test from one pivot.

The test depends on the measure:

* A mean, and every measure whose influence function is known, gets the studentised exchange test: the difference over
  its standard error is compared with its values after exchanges of whole questions, and with Student's distribution.
* A measure that is biased upwards by chance, such as a calibration error, is compared by the intervals of the two
  groups, which allow for the bias (MOVER).
* Any other measure is compared with Student's distribution, with the standard deviation of its resamples.

The interval holds the differences that the test does not reject, so interval and p-value cannot contradict each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from confidence_tasks.catalogue import study_named
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates import (
    Distribution,
    Distributions,
    Estimated,
    Settings,
    combined,
    distributions,
    estimates,
)
from confidence_tasks.report.groups import BY_CONDITION, Group, TrialSubset, groups_of, pooled_groups
from confidence_tasks.report.study_report import study_report
from confidence_tasks.statistics import Estimate, Interval, Reason
from confidence_tasks.statistics.core import FloatArray, undefined
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.statistics.inference.limits import mover, resample_correlation
from confidence_tasks.statistics.inference.resampling import rounding_of, share_as_extreme
from confidence_tasks.statistics.inference.tests import Pivot, exchange_pivot, student_pivot
from confidence_tasks.statistics.inference.weights import SharedWeights, exchanged_kinds, is_exact
from confidence_tasks.study.definition import Study
from confidence_tasks.study.kinds import CellTable, number_labels, number_units, tabulate
from confidence_tasks.study.measures import Influence, Measure
from confidence_tasks.study.paired import PairedTables, influence_on
from confidence_tasks.study.units import SAMPLING_UNIT


@dataclass(frozen=True, slots=True)
class Contrast:
    """A condition minus the baseline.

    Attributes
    ----------
    model, group, baseline, measure : str
        What is compared.
    interval : Interval
        The difference, paired by question.
    p_value : float
        Two-sided p-value. It is at most 1 - level exactly when the interval excludes 0. NaN without an interval, and
        for measures that are fitted to the trials and too costly to refit in each resample.
    p_adjusted : float
        The p-value corrected for all comparisons of the measure.
    p_exchange : float
        p-value of the papers' test, which exchanges conditions within questions and does not studentise.
    clusters : Clusters, optional
        The units that are exchanged, if there are clusters of questions, and their effect on the variance.
    """

    model: str
    group: str
    baseline: str
    measure: str
    interval: Interval
    p_value: float
    p_adjusted: float
    p_exchange: float
    clusters: Clusters | None = None

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return self.clusters.n_questions if self.clusters else self.interval.n_units

    @property
    def significant(self) -> bool:
        """Return True if the adjusted p-value is below 0.05."""
        return self.p_adjusted < 0.05


def contrasts(
    columns: Columns,
    groups: Sequence[Group],
    baseline: str,
    measures: Sequence[Measure],
    drawn: Distributions,
    settings: Settings,
) -> list[Contrast]:
    """Compare every group with the baseline, on the sources of questions that both have.

    ``drawn`` holds the distribution of each measure in each cell, from one draw of questions. The contrasts are ordered
    by measure and not corrected yet. The list is empty if no group is labelled ``baseline``; a group that shares no
    source with the baseline has no contrast.
    """
    pairs = list(_pairs(groups, baseline))
    cells = list(dict.fromkeys(cell for pair in pairs for cell in (*pair.group, *pair.base)))
    unit, n_units = number_units(columns, np.ones(len(columns["question_id"]), dtype=bool))
    tables = {cell: tabulate(columns, cell.rows, measures, unit, n_units) for cell in cells}
    by_question = _tables_by_question(columns, cells, measures)
    by_cell = _refitted(columns, cells, measures, drawn, settings)
    by_measure: dict[str, list[Contrast]] = {measure.name: [] for measure in measures}
    for pair in pairs:
        first, second = combined(pair.group, measures, by_cell), combined(pair.base, measures, by_cell)
        found = paired_differences(
            _paired(tables, pair),
            {name: (first[name], second[name]) for name in first},
            settings,
            settings.generator("exchange", pair.label),
            by_question=_paired(by_question, pair),
        )
        for name, contrast in found.items():
            by_measure[name].append(replace(contrast, group=pair.label, baseline=baseline))
    return [contrast for contrasts in by_measure.values() for contrast in contrasts]


class _Pair(NamedTuple):
    """A group and the baseline: their cells of the sources that both have."""

    label: str
    group: list[TrialSubset]
    base: list[TrialSubset]


def _pairs(groups: Sequence[Group], baseline: str) -> Iterator[_Pair]:
    """Yield every other group with the baseline; groups on other questions would differ for that reason alone."""
    base = next((group for group in groups if group.label == baseline), None)
    if base is None:
        return
    for group in groups:
        shared = {cell.source for cell in group.cells} & {cell.source for cell in base.cells}
        if group is not base and shared:
            yield _Pair(group.label, _from_sources(group, shared), _from_sources(base, shared))


def _from_sources(group: Group, sources: Container[str]) -> list[TrialSubset]:
    return [cell for cell in group.cells if cell.source in sources]


def _refitted(
    columns: Columns,
    cells: Sequence[TrialSubset],
    measures: Sequence[Measure],
    drawn: Distributions,
    settings: Settings,
) -> Distributions:
    """Return the distributions with those of fitted measures from resamples that are fitted anew, where possible.

    A fitted measure varies with the fit, and so does its difference.
    """
    refitted = [measure.exchangeable for measure in measures if measure.fitted and measure.exchangeable]
    return {**drawn, **distributions(columns, cells, refitted, settings)} if refitted else drawn


def _tables_by_question(
    columns: Columns, cells: Sequence[TrialSubset], measures: Sequence[Measure]
) -> dict[TrialSubset, list[CellTable]]:
    """Return the trials of each cell by question; nothing if there are no clusters."""
    if SAMPLING_UNIT not in columns:
        return {}
    numbers = number_labels(columns["question_id"], np.ones(len(columns["question_id"]), dtype=bool))
    return {cell: tabulate(columns, cell.rows, measures, *numbers) for cell in cells}


def _paired(tables: Mapping[TrialSubset, Sequence[CellTable]], pair: _Pair) -> list[PairedTables]:
    """Pair the tables of two groups by source."""
    cells = [(one, other) for one, other in product(pair.group, pair.base) if one.source == other.source]
    return [
        PairedTables.of(first, second)
        for one, other in cells
        for first, second in product(tables.get(one, ()), tables.get(other, ()))
    ]


# The numbers of one model --------------------------------------------------------------------------------------------


Numbers: TypeAlias = tuple[list[Estimated], list[Contrast]]
"""Estimates and contrasts of one model, without its name: they do not depend on it, so they can be cached."""


def model_numbers(study: str, baseline: str, settings: Settings, columns: Columns) -> Numbers:
    """Compute the estimates of one model, and the contrasts of its conditions with the ``baseline``."""
    definition = study_named(study)
    groups = groups_of(definition, columns)
    drawn = _distributions_of(definition, groups, columns, settings)
    estimated = estimates(groups, definition.measures, drawn, settings)
    conditions = [_with_all_sources(group) for group in groups if group.by == BY_CONDITION]
    tested = [definition.measures_by_name[name] for name in definition.tested_measures]
    contrasted = contrasts(columns, conditions, baseline, tested, drawn, settings)
    for group in pooled_groups(definition, columns):
        pooled = distributions(columns, group.cells, definition.pooled_measures, settings)
        estimated += estimates([group], definition.pooled_measures, pooled, settings)
    return estimated, contrasted


def _distributions_of(
    study: Study, groups: Sequence[Group], columns: Columns, settings: Settings
) -> Distributions:
    """Return the distribution of every measure; some studies compute those of some measures themselves."""
    cells = [cell for group in groups for cell in group.all_cells]
    across_conditions = study_report(study).cross_condition_distributions
    own = across_conditions(columns, cells, settings) if across_conditions else {}
    own_names = {name for _, name in own}
    others = [measure for measure in study.measures if measure.name not in own_names]
    return {**distributions(columns, cells, others, settings), **own}


def _with_all_sources(group: Group) -> Group:
    return replace(group, cells=group.all_cells, apart=())


# The test of one difference ------------------------------------------------------------------------------------------


def paired_differences(
    sources: Sequence[PairedTables],
    sides: Mapping[str, tuple[Distribution, Distribution]],
    settings: Settings,
    seed: np.random.Generator,
    *,
    papers_test: bool = True,
    by_question: Sequence[PairedTables] = (),
) -> dict[str, Contrast]:
    """Compare two conditions by each measure; return the contrasts by measure, without names and not corrected.

    A measure is averaged over ``sources`` first. ``sides`` holds its distribution under either condition.
    ``papers_test`` says whether to run the papers' test as well. With clusters, ``by_question`` are the sources with
    questions as units, for design effects.
    """
    measures = {measure.name: measure for source in sources for measure in source.measures}
    known = _known_influences(sources, measures)
    drawn = _exchanges(sources, known, settings, seed, papers_test=papers_test)
    exact = bool(sources) and is_exact(sources[0].questions.members.shape[1], settings.n_resamples)
    by_measure = {}
    for name, measure in measures.items():
        first, second = sides[name]
        difference, tie = first - second, rounding_of(first.value, second.value)
        values, errors = drawn.get(name, (np.empty(0), np.empty(0)))
        if name in known:
            center = float(difference.value)
            error, freedom = _error_by_influence(sources, known[name])
            pivot = exchange_pivot(
                center, error, values, errors, freedom=freedom, level=settings.level, exact=exact, tie=tie
            )
            n_undefined = int(np.isnan(values + errors).sum())
            test = _Test("exchange", center, error, pivot, len(values), n_undefined)
        else:
            test = resampled_test(first, second, difference, tie, settings.level)
        low, high, p_value = _limits_and_p_value(measure, sources, difference, test, tie, settings.level)
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
        clusters = _clusters(difference, known.get(name), sources, by_question)
        by_measure[name] = Contrast("", "", "", name, interval, p_value, p_value, p_exchange, clusters)
    return by_measure


def _clusters(
    difference: Distribution,
    influences: Mapping[int, Influence] | None,
    sources: Sequence[PairedTables],
    by_question: Sequence[PairedTables],
) -> Clusters | None:
    """Return the clusters of a difference, with exact variances if its influences are known."""
    clusters = difference.clusters
    if clusters is None or influences is None or not by_question:
        return clusters
    variances = (_error_by_influence(each, influences)[0] ** 2 for each in (sources, by_question))
    return Clusters(clusters.n, clusters.n_questions, *variances)


class _Test(NamedTuple):
    """The test of a difference: its method, the center and the standard error of the interval, and the pivot."""

    method: Literal["exchange", "mover", "student"]
    center: float
    error: float
    pivot: Pivot
    n_resamples: int
    n_undefined: int


def _known_influences(
    sources: Sequence[PairedTables], names: Iterable[str]
) -> dict[str, dict[int, Influence]]:
    """Return the influence function of each measure, by number of source, for measures that have one in all sources."""
    influences: dict[str, dict[int, Influence | None]] = {name: {} for name in names}
    for number, source in enumerate(sources):
        for measure in source.measures:
            influences[measure.name][number] = influence_on(measure, source)
    return {
        name: {number: influence for number, influence in parts.items() if influence}
        for name, parts in influences.items()
        if all(parts.values())
    }


def resampled_test(
    first: Distribution, second: Distribution, difference: Distribution, tie: float, level: float
) -> _Test:
    """Test a difference against Student's distribution, or by MOVER if both terms have an inverted test."""
    n_resamples = len(difference.resamples)
    n_undefined = n_resamples - int(np.isfinite(difference.resamples).sum())
    method: Literal["mover", "student"] = "student"
    center, (error, freedom) = float(difference.value), difference.resampled.student_terms
    if first.inverted_test and second.inverted_test:
        correlation = resample_correlation(first.resamples, second.resamples)
        method, freedom = "mover", math.inf
        center, error = mover(first.inverted_test, second.inverted_test, correlation, level)
    pivot = student_pivot(center, error, freedom, level=level, tie=tie)
    return _Test(method, center, error, pivot, n_resamples, n_undefined)


def _limits_and_p_value(
    measure: Measure,
    sources: Sequence[PairedTables],
    difference: Distribution,
    test: _Test,
    tie: float,
    level: float,
) -> tuple[Estimate, Estimate, float]:
    """Return the limits and the p-value of a difference; either both or none are withheld."""
    value, pivot = float(difference.value), test.pivot
    reason = difference.resampled.reason or _incomparable(measure, sources) or _untested(pivot, value, level)
    if reason:
        return undefined(reason), undefined(reason), 1.0 if abs(value) <= tie else math.nan
    most = measure.inference.largest_difference
    low, high = max(test.center - pivot.reach, -most), min(test.center + pivot.reach, most)
    # A fitted measure that cannot be refitted varies more than its interval says: it gets no p-value.
    return Estimate(low), Estimate(high), math.nan if measure.exchangeable is None else pivot.p_value


def _untested(pivot: Pivot, value: float, level: float) -> Reason | None:
    """Return the reason why a pivot has no interval, if there is one."""
    if math.isnan(pivot.p_value):
        return Reason.NOT_IDENTIFIED
    if math.isinf(pivot.reach):
        return Reason.TOO_FEW  # there are too few exchanges for this level
    if pivot.reach == 0.0 < abs(value) and pivot.p_value > 1.0 - level:
        return Reason.TOO_FEW
    return None


def _incomparable(measure: Measure, sources: Sequence[PairedTables]) -> Reason | None:
    """Return the reason why the two conditions cannot be compared by a measure, if there is one."""
    incomparable = measure.inference.incomparable
    if incomparable is None:
        return None
    known = (source for source in sources if measure in source.measures)
    tables = (table for source in known for table in (source.first, source.second))
    reasons = (incomparable(table.columns, table.kinds.counts) for table in tables)
    return next(filter(None, reasons), None)


def _error_by_influence(
    sources: Sequence[PairedTables], influences: Mapping[int, Influence]
) -> tuple[float, float]:
    """Return the standard error of the mean over sources, and its degrees of freedom by Satterthwaite's formula."""
    pairs = [(sources[number], influence) for number, influence in influences.items()]
    variances = np.array(
        [
            source.variance(influence, source.stacked(), source.without_exchange())[0]
            for source, influence in pairs
        ]
    )
    freedom = np.array([max(source.questions.counts.sum() - 1.0, 1.0) for source, _ in pairs])
    total = float(variances.sum())
    spread = float((np.square(variances) / freedom).sum())
    return math.sqrt(total) / len(influences), total**2 / spread if spread > 0.0 else float(freedom.sum())


def _exchanges(
    sources: Sequence[PairedTables],
    influences: Mapping[str, Mapping[int, Influence]],
    settings: Settings,
    seed: np.random.Generator,
    *,
    papers_test: bool,
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the difference of each measure after every exchange, and its standard error if the influence is known.

    A fitted measure is fitted anew for every exchange; one that is too costly to refit has no entry.
    """
    exchangeable = _exchangeable(sources)
    if not papers_test:
        exchangeable = {name: exchangeable[name] for name in exchangeable.keys() & influences.keys()}
    if not exchangeable:
        return {}
    stacked = [(source, source.stacked()) for source in sources]
    parts: dict[str, list[tuple[FloatArray, FloatArray]]] = {name: [] for name in exchangeable}
    for block in exchanged_kinds(
        [(source.first.kinds, source.second.kinds, source.questions) for source in sources],
        n_resamples=settings.n_resamples,
        seed=seed,
    ):
        for name, of_block in _differences_of_block(stacked, block, exchangeable, influences).items():
            parts[name].append(of_block)
    return {name: _concatenated(blocks) for name, blocks in parts.items()}


def _exchangeable(sources: Sequence[PairedTables]) -> dict[str, Measure]:
    """Return what to compute of each measure after an exchange, for measures that can be computed then."""
    variants = {}
    for source in sources:
        for measure in source.measures:
            if measure.exchangeable:
                variants[measure.name] = measure.exchangeable
    return variants


def _concatenated(blocks: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    differences, errors = zip(*blocks, strict=True)
    return np.concatenate(differences), np.concatenate(errors)


def _differences_of_block(
    stacked: Sequence[tuple[PairedTables, Columns]],
    block: Sequence[Any],
    exchangeable: Mapping[str, Measure],
    influences: Mapping[str, Mapping[int, Influence]],
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the difference of each measure and its standard error, in a block of exchanges of each source."""
    n_sources = Counter(measure.name for source, _ in stacked for measure in source.measures)
    size = len(block[0][0])
    differences = {name: np.zeros(size) for name in exchangeable}
    variances = {name: np.zeros(size) for name in exchangeable}
    for number, ((source, rows), drawn) in enumerate(zip(stacked, block, strict=True)):
        sides = SharedWeights.of(drawn[0]), SharedWeights.of(drawn[1]), drawn[2]
        for name in exchangeable.keys() & {measure.name for measure in source.measures}:
            compute, n = exchangeable[name].compute, n_sources[name]
            with np.errstate(invalid="ignore"):  # the difference of two infinite values is NaN
                differences[name] += np.asarray(compute(rows, sides[0]) - compute(rows, sides[1])) / n
            if name in influences:
                variances[name] += source.variance(influences[name][number], rows, sides) / n**2
    return {name: (values, np.sqrt(variances[name])) for name, values in differences.items()}
