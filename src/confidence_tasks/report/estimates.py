"""Estimates: every measure of a study in every group of trials, with an interval.

Questions are the unit of resampling. All groups and measures of a model share one draw of questions, so the difference
of two estimates is paired by question.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.logs.about_models import AboutModels
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.groups import Group, ModelGroups, TrialSubset
from confidence_tasks.statistics import Estimate, Interval
from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray, undefined
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.statistics.inference.limits import PROPORTION, Bounds, InvertedTest, Method, Resampled
from confidence_tasks.statistics.inference.resampling import as_estimate, interval_of
from confidence_tasks.statistics.inference.weights import Seed, TrialCounts, numbered, ratio, resampled_kinds
from confidence_tasks.study.kinds import (
    CellTable,
    clusters_of_mean,
    number_labels,
    number_units,
    tabulate,
    values_of_single_trials,
)
from confidence_tasks.study.measures import Informative, Measure, rows_of
from confidence_tasks.study.units import units_of

ALL_INFORMATIVE = Informative()


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of intervals and tests.

    Attributes
    ----------
    n_resamples : int
        Number of resamples of questions, and of exchanges of conditions in tests.
    level : float
        Nominal coverage of intervals, in (0, 1).
    seed : int
        Seed of all draws.
    groups : tuple
        Named groups of models; some tables show the mean of each.
    about : tuple
        What the user's file says of models; some tables of papers show it.
    cluster : str
        What questions of a cluster share, as in :func:`confidence_tasks.report.clusters.with_units`.
    """

    n_resamples: int = 10_000
    level: float = 0.95
    seed: int = 0
    groups: ModelGroups = ()
    cluster: str = ""
    about: AboutModels = ()

    def seed_of(self, *purpose: str) -> tuple[int, int]:
        """Return the seed of the draws for one purpose: the same in every report, whatever else is in it."""
        return self.seed, zlib.crc32("/".join(purpose).encode())

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the generator of the draws for one purpose."""
        return np.random.default_rng(self.seed_of(*purpose))


@dataclass(frozen=True, slots=True)
class Distribution:
    """The value of a measure on some trials, and its distribution over resamples of the questions.

    Attributes
    ----------
    value : Estimate
        The measure of the trials as they are.
    resamples : ndarray, shape (R,)
        The measure of each resample, or draws from its posterior distribution.
    questions : frozenset of str
        Identifiers of the questions. For a proportion of 0 or 1, only the questions that enter it.
    informative : Informative
        The questions that determine the measure, such as the wrong answers for an AUROC.
    is_mean : bool
        True if the measure is a mean over trials.
    freedom : float, optional
        Degrees of freedom of the standard error. By default infinite for a mean, which is limited by the number of
        questions only, and otherwise the number of informative questions less one.
    inverted_test : InvertedTest, optional
        Test whose inversion gives the interval; without one, the resamples do.
    clusters : Clusters, optional
        The units, if there are clusters of questions; ``questions`` then holds the names of the units.
    by_question : ndarray, shape (R,), optional
        With clusters, the measure of each resample of single questions, for the design effect.
    """

    value: Estimate
    resamples: FloatArray
    questions: frozenset[str]
    informative: Informative = ALL_INFORMATIVE
    is_mean: bool = False
    freedom: float | None = None
    inverted_test: InvertedTest | None = None
    clusters: Clusters | None = None
    by_question: FloatArray | None = None

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the standard error."""
        if self.freedom is not None:
            return self.freedom
        return math.inf if self.is_mean else self.informative.count - 1.0

    def __sub__(self, other: Distribution) -> Distribution:
        """Return the difference, which is paired by question if both share a draw."""
        reason = self.value.reason or other.value.reason
        questions = self.questions | other.questions
        asked = [side.clusters.n_questions for side in (self, other) if side.clusters]
        difference = Estimate(self.value - other.value, reason)
        with np.errstate(invalid="ignore"):  # both infinite: no difference, NaN
            resamples = self.resamples - other.resamples
            by_question = self.of_questions - other.of_questions
        return Distribution(
            difference,
            resamples,
            questions,
            informative=min(self.informative, other.informative, key=lambda side: side.count),
            freedom=_freedom([self, other]),
            clusters=Clusters.of_resamples(len(questions), max(asked), resamples, by_question)
            if asked
            else None,
        )

    @property
    def of_questions(self) -> FloatArray:
        """The resamples of questions; without clusters, these are the units of all resamples."""
        return self.resamples if self.by_question is None else self.by_question

    @property
    def resampled(self) -> Resampled:
        """The resamples that limits are computed from; infinite ones count as undefined."""
        return Resampled(
            self.value,
            self.resamples,
            len(self.questions),
            n_informative=self.informative.count,
            freedom=self.degrees,
        )

    def interval(
        self, settings: Settings, method: Method = "percentile", bounds: Bounds = PROPORTION
    ) -> Interval:
        """Return the interval."""
        found = self.resampled
        if self.clusters and method in ("wilson", "student"):
            # As Inspect's ci(cluster=...). Wilson's interval remains for proportions without a standard error.
            if self.clusters.error > 0.0:
                found = replace(found, exact_error=self.clusters.error, n_units=self.clusters.n)
            if method == "wilson" and not found.reason and found.standard_error > 0.0:
                low, high = found.limits(settings.level, "student")
                interval = interval_of(found, settings.level, method, settings.seed)
                within = (Estimate(min(max(limit, 0.0), 1.0)) for limit in (low, high))
                return replace(interval, method="student", low=next(within), high=next(within))
        interval = interval_of(found, settings.level, method, settings.seed, bounds)
        if self.inverted_test is None or len(self.questions) < 2:
            return interval
        low, high = self.inverted_test.limits(settings.level)
        return replace(interval, low=low, high=high, method="test_inversion")


Distributions: TypeAlias = Mapping[tuple[TrialSubset, str], Distribution]


def distributions(
    columns: Columns, cells: Iterable[TrialSubset], measures: Sequence[Measure], settings: Settings
) -> Distributions:
    """Return the distribution of each measure in each cell; the cells of a source share one draw of questions."""
    by_cell: dict[tuple[TrialSubset, str], Distribution] = {}
    distinct = list(dict.fromkeys(cells))
    for source in sorted({cell.source for cell in distinct}):
        of_source = [cell for cell in distinct if cell.source == source]
        by_cell |= _distributions_of_source(columns, source, of_source, measures, settings)
    return by_cell


def _distributions_of_source(
    columns: Columns,
    source: str,
    cells: Sequence[TrialSubset],
    measures: Sequence[Measure],
    settings: Settings,
) -> Distributions:
    """Return the distribution of each measure in each cell of one source."""
    of_source = columns["source"] == source
    unit, n_units = number_units(columns, of_source)
    tables = [
        (cell, table) for cell in cells for table in tabulate(columns, cell.rows, measures, unit, n_units)
    ]
    values = resampled(
        tables,
        settings.n_resamples,
        settings.seed_of("bootstrap", source),
        settings.generator("posterior", source),
    )
    names, _ = numbered(units_of(columns)[of_source].astype(object))
    by_cell = {}
    for cell, table in tables:
        rows = rows_of(columns, cell.rows)
        questions = frozenset(map(str, units_of(rows)))
        for measure in table.measures:
            found = _distribution(measure, rows, unit[cell.rows], values[cell, measure.name], questions)
            if measure.inference.method == "wilson" and found.value in (0.0, 1.0):
                found = replace(found, questions=frozenset(names[contributing(table, measure)]))
            by_cell[cell, measure.name] = found
    _add_clusters(by_cell, columns, tables, settings)
    return by_cell


def _distribution(
    measure: Measure, rows: Columns, unit: IntArray, resamples: FloatArray, questions: frozenset[str]
) -> Distribution:
    """Return the distribution of a measure on some trials; ``unit`` is the number of the unit of each."""
    inference = measure.inference
    test = inference.test(rows, unit) if inference.test else None
    return Distribution(
        _unless_unknown(as_estimate(measure.compute(rows, None)), test),
        resamples,
        questions,
        informative(measure, rows),
        inference.is_average,
        inverted_test=test,
    )


def _unless_unknown(value: Estimate, test: InvertedTest | None) -> Estimate:
    """Return the value, or NaN with the reason if its test says that nothing is known about it."""
    reason = test.unknown if test else None
    return value if reason is None or np.isnan(value) else undefined(reason)


def _add_clusters(
    by_cell: dict[tuple[TrialSubset, str], Distribution],
    columns: Columns,
    tables: Sequence[tuple[TrialSubset, CellTable]],
    settings: Settings,
) -> None:
    """Add the clusters of each measure of one source: their number, and their effect on its variance."""
    source = tables[0][0].source if tables else ""
    numbers = number_labels(columns["question_id"], columns["source"] == source)
    by_question = [
        (cell, table, CellTable(table.columns, _by_question(columns, cell, table, *numbers), table.measures))
        for cell, table in tables
        if _has_clusters(columns, cell)
    ]
    purpose = "design effect", source
    resamples = resampled(
        [(cell, each) for cell, _, each in by_question],
        settings.n_resamples,
        settings.seed_of(*purpose),
        settings.generator(*purpose),
    )
    for cell, table, each in by_question:
        for measure in table.measures:
            found = by_cell[cell, measure.name]
            clusters = clusters_of_mean(
                measure, table.columns, float(found.value), table.kinds, each.kinds
            ) or Clusters.of_resamples(
                len(found.questions),
                len(set(columns["question_id"][cell.rows])),
                found.resamples,
                resamples[cell, measure.name],
            )
            by_cell[cell, measure.name] = replace(
                found, clusters=clusters, by_question=resamples[cell, measure.name]
            )


def _has_clusters(columns: Columns, cell: TrialSubset) -> bool:
    """Return True if a unit of a cell has several questions."""
    units, questions = units_of(columns)[cell.rows], columns["question_id"][cell.rows]
    return len(set(units.tolist())) < len(set(questions.tolist()))


def _by_question(
    columns: Columns, cell: TrialSubset, table: CellTable, question: IntArray, n_questions: int
) -> TrialCounts:
    """Return the kinds of a table counted by question instead of by unit."""
    return next(
        each.kinds
        for each in tabulate(columns, cell.rows, table.measures, question, n_questions)
        if len(each.kinds.counts) == len(table.kinds.counts)
    )


def resampled(
    tables: Sequence[tuple[TrialSubset, CellTable]],
    n_resamples: int,
    bootstrap: Seed | tuple[int, ...],
    posterior: np.random.Generator,
) -> dict[tuple[TrialSubset, str], FloatArray]:
    """Evaluate the measures of tables of the same questions on bootstrap resamples, or draw them from their posterior.

    ``bootstrap`` is the seed of the resamples. Each array has shape (n_resamples,).
    """
    parts: dict[tuple[TrialSubset, str], list[FloatArray]] = {}
    for generator in (None, posterior):
        chosen = [(cell, table) for cell, table in tables if _has_measures(table, generator)]
        if chosen:
            seed = bootstrap if generator is None else generator
            for key, of_block in _blocks(chosen, n_resamples, seed, generator):
                parts.setdefault(key, []).append(of_block)
    return {key: np.concatenate(blocks) for key, blocks in parts.items()}


def _has_measures(table: CellTable, posterior: np.random.Generator | None) -> bool:
    """Return whether a table has measures to draw from their posterior; without a generator, to resample."""
    is_drawn = posterior is not None
    return any(bool(measure.inference.posterior) == is_drawn for measure in table.measures)


def _blocks(
    tables: Sequence[tuple[TrialSubset, CellTable]],
    n_resamples: int,
    seed: Seed | tuple[int, ...],
    posterior: np.random.Generator | None,
) -> Iterator[tuple[tuple[TrialSubset, str], FloatArray]]:
    """Yield the values of each measure in each block of resamples; ``posterior`` draws them instead."""
    kinds = [table.kinds for _, table in tables]
    for block in resampled_kinds(kinds, n_resamples=n_resamples, seed=seed, bayesian=posterior is not None):
        for (cell, table), weights in zip(tables, block, strict=True):
            values = table.values(weights) if posterior is None else table.draws(weights, posterior)
            for name, of_block in values.items():
                yield (cell, name), of_block


def informative(measure: Measure, trials: Columns) -> Informative:
    """Return the questions that determine a measure."""
    informative_of = measure.inference.informative
    return ALL_INFORMATIVE if informative_of is None else informative_of(trials)


def contributing(table: CellTable, measure: Measure) -> BoolArray:
    """Return, for each question, whether any of its trials enters a measure: the measure of that trial is defined."""
    values = values_of_single_trials(measure, table.columns, table.kinds.members.shape[0])
    return np.asarray(table.kinds.members[~np.isnan(values)].sum(axis=0) > 0.0)


def mean(parts: Sequence[Distribution], *, skips_undefined: bool = False) -> Distribution:
    """Return the mean of distributions, which may share a draw.

    The mean is undefined where any part is; with ``skips_undefined``, only where all parts are.
    """
    if len(parts) == 1 and not math.isnan(parts[0].value):  # an undefined part loses its inverted test below
        return parts[0]
    average = partial(_average, skips_undefined=skips_undefined)
    has_clusters = any(part.clusters for part in parts)
    return Distribution(
        _mean_value(parts, float(average([[part.value] for part in parts])[0])),
        average([part.resamples for part in parts]),
        frozenset[str]().union(*(part.questions for part in parts)),
        _informative_mean(parts),
        all(part.is_mean for part in parts),
        _freedom(parts),
        _joined_tests(parts),
        _joined_clusters(parts),
        average([part.of_questions for part in parts]) if has_clusters else None,
    )


def _mean_value(parts: Sequence[Distribution], mean: float) -> Estimate:
    """Return the mean; a missing one has the reason of the first missing part."""
    reasons = (part.value.reason for part in parts if part.value.reason)
    return Estimate(mean, next(reasons, None) if np.isnan(mean) else None)


def _average(values: ArrayLike, *, skips_undefined: bool) -> FloatArray:
    """Return the mean of several parts, (parts, R); with ``skips_undefined``, of those that are defined."""
    array = np.array(values)
    return _mean_defined(array) if skips_undefined else np.asarray(array.mean(axis=0))


def combined(
    cells: Sequence[TrialSubset],
    measures: Iterable[Measure],
    by_cell: Distributions,
    *,
    skips_undefined: bool = False,
) -> dict[str, Distribution]:
    """Combine each measure over several cells: counts are added up, other measures averaged (:func:`mean`)."""
    by_name = {}
    for measure in measures:
        over_cells = mean([by_cell[cell, measure.name] for cell in cells], skips_undefined=skips_undefined)
        if measure.inference.is_count:
            value = Estimate(over_cells.value * len(cells), over_cells.value.reason)
            over_cells = replace(
                over_cells,
                value=value,
                resamples=over_cells.resamples * len(cells),
                by_question=over_cells.of_questions * len(cells) if over_cells.clusters else None,
            )
        by_name[measure.name] = over_cells
    return by_name


def _joined_tests(parts: Sequence[Distribution]) -> InvertedTest | None:
    """Return the test of the mean of the defined parts; None unless each of them has a test.

    The variance of the sum of the parts, divided by the sum of their variances, tells how much the parts depend on each
    other. It is estimated from the resamples.
    """
    defined = [part for part in parts if not np.isnan(part.value)]
    tests = [part.inverted_test for part in defined if part.inverted_test]
    if len(tests) < max(len(defined), 1):
        return None
    independent = sum(_variance(part.resamples) for part in defined)
    if independent > 0.0:
        dependence = _variance(np.array([part.resamples for part in defined]).sum(axis=0)) / independent
    else:  # the resamples do not vary: assume that answers to the same question are perfectly dependent
        questions = [part.questions for part in defined]
        dependence = sum(map(len, questions)) / len(frozenset[str]().union(*questions))
    return tests[0].mean(tests, dependence)


def _joined_clusters(parts: Sequence[Distribution]) -> Clusters | None:
    """Return the clusters of the mean of parts; None unless a part has clusters."""
    if not any(part.clusters for part in parts):
        return None
    return Clusters.joined(
        [
            part.clusters
            or Clusters(len(part.questions), len(part.questions), *(_variance(part.resamples),) * 2)
            for part in parts
        ]
    )


def _freedom(parts: Sequence[Distribution]) -> float:
    """Return the degrees of freedom of a sum: the harmonic mean over the parts, weighted by their variances.

    Satterthwaite's formula (doi:10.2307/3002019) assumes independent parts and gives more degrees of freedom. Parts on
    the same questions, such as conditions with different penalties, are not independent.
    """
    variances = [_variance(part.resamples) for part in parts]
    if not sum(variances) > 0.0:
        return min(part.degrees for part in parts)
    inverse = sum(
        v / part.degrees if part.degrees > 0.0 else math.inf for v, part in zip(variances, parts, strict=True)
    )
    return sum(variances) / inverse if inverse > 0.0 else math.inf


def _variance(values: FloatArray) -> float:
    """Return the variance of the finite values; exactly 0 if they differ by rounding only."""
    defined = values[np.isfinite(values)]
    return float(defined.var()) if len(defined) and np.ptp(defined) > 1e-12 * abs(defined).max() else 0.0


def _informative_mean(parts: Sequence[Distribution]) -> Informative:
    """Return the informative questions of a mean: those of all parts if these are means, otherwise the fewest.

    Measures that are no means have a bias of their own in each part, which averaging does not reduce.
    """
    if not all(part.is_mean for part in parts):
        return min((part.informative for part in parts), key=lambda each: each.count)
    asked = [part.informative.questions for part in parts if part.informative.questions is not None]
    if len(asked) < len(parts):
        return ALL_INFORMATIVE
    return replace(parts[0].informative, questions=frozenset[str]().union(*asked))


def _mean_defined(values: FloatArray) -> FloatArray:
    defined = ~np.isnan(values)
    count = defined.sum(axis=0, dtype=np.float64)
    return ratio(np.where(defined, values, 0.0).sum(axis=0), count)


def interval_of_measure(
    measure: Measure, by_name: Mapping[str, Distribution], settings: Settings
) -> Interval:
    """Return the interval of a measure, clipped to the bounds of the measure.

    A measure that differs from a proportion by a constant has the interval of that proportion, shifted by the constant.
    ``by_name`` holds the measures of the same trials.
    """
    inference = measure.inference
    distribution, proportion = by_name[measure.name], by_name.get(inference.proportion)
    if proportion is None:
        interval = distribution.interval(settings, inference.method, inference.bounds)
        if math.isnan(interval.low):
            return interval
        lowest, highest, shift = *inference.bounds, 0.0
        if inference.posterior and inference.posterior.includes_estimate:
            interval = _with_estimate(interval, float(distribution.value))
    else:
        interval = proportion.interval(settings, "wilson")
        lowest, highest = -math.inf, math.inf
        shift = float(proportion.value) - float(distribution.value)
    low, high = (
        Estimate(min(max(limit - shift, lowest), highest), limit.reason)
        for limit in (interval.low, interval.high)
    )
    return replace(interval, estimate=distribution.value, low=low, high=high)


def _with_estimate(interval: Interval, value: float) -> Interval:
    """Return the quantiles of a posterior distribution, extended to the value if its prior moved them past it.

    Jeffreys' interval of a proportion ends at 1 for the same reason if every trial is a success (Brown, Cai & DasGupta
    2001, doi:10.1214/ss/1009213286).
    """
    low, high = min(interval.low, value), max(interval.high, value)
    return replace(
        interval, low=Estimate(low, interval.low.reason), high=Estimate(high, interval.high.reason)
    )


@dataclass(frozen=True, slots=True)
class Estimated:
    """One entry of a table: a measure of ``n`` trials of a model, with its interval.

    ``by`` is the grouping, such as ``"condition"``, and ``group`` the label of the group. ``source`` is empty for the
    mean over all sources of questions.
    """

    model: str
    group: str
    by: str
    source: str
    measure: str
    interval: Interval
    n: int
    clusters: Clusters | None = None

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return self.clusters.n_questions if self.clusters else self.interval.n_units


def estimates(
    groups: Sequence[Group], measures: Sequence[Measure], by_cell: Distributions, settings: Settings
) -> list[Estimated]:
    """Return the estimates of one model in each group, and in each source of a group if there are several.

    The name of the model is left empty.
    """
    table = []
    has_sources = len({cell.source for group in groups for cell in group.all_cells}) > 1
    for group in groups:
        for source, cells in _parts_of(group, has_sources):
            n = sum(len(cell.rows) for cell in cells)
            by_name = combined(cells, measures, by_cell, skips_undefined=group.skips_undefined)
            for measure in measures:
                interval = interval_of_measure(measure, by_name, settings)
                clusters = by_name[measure.name].clusters
                table.append(
                    Estimated("", group.label, group.by, source, measure.name, interval, n, clusters)
                )
    return table


def _parts_of(group: Group, has_sources: bool) -> Iterator[tuple[str, tuple[TrialSubset, ...]]]:
    """Yield the cells of the mean of a group, and with several sources the cells of each."""
    yield "", group.cells
    if has_sources:
        for source in dict.fromkeys(cell.source for cell in group.all_cells):
            yield source, tuple(cell for cell in group.all_cells if cell.source == source)
