"""Every measure of a study in every group of trials, with bootstrap intervals over questions.

One draw of questions serves all groups and measures of a model, so that the difference of two entries of a table is
paired by question.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from confidence_tasks.report.task_trials import Columns, Group, ModelGroups, TrialSubset
from confidence_tasks.statistics import Estimate, Interval
from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray
from confidence_tasks.statistics.inference.limits import PROPORTION, Bounds, InvertedTest, Method, Resampled
from confidence_tasks.statistics.inference.resampling import as_estimate, interval_of
from confidence_tasks.statistics.inference.weights import (
    Seed,
    SharedWeights,
    TrialCounts,
    count_alike,
    numbered,
    ratio,
    resampled_kinds,
)
from confidence_tasks.study.measures import Informative, Measure, rows_of

ALL_INFORMATIVE = Informative()


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of intervals and tests.

    ``n_resamples`` is the number of resamples of questions, and of exchanges of conditions; ``level`` the nominal
    coverage of intervals, in (0, 1); ``seed`` that of all draws. Some tables have the means of ``groups`` of
    models.
    """

    n_resamples: int = 10_000
    level: float = 0.95
    seed: int = 0
    groups: ModelGroups = ()

    def seed_of(self, *purpose: str) -> tuple[int, int]:
        """Return the seed of the draws for one purpose: the same in every report, whatever else is in it."""
        return self.seed, zlib.crc32("/".join(purpose).encode())

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the generator of the draws for one purpose."""
        return np.random.default_rng(self.seed_of(*purpose))


@dataclass(frozen=True, slots=True)
class Distribution:
    """A measure of some trials, and over the resamples of their questions.

    ``resamples``, of shape (R,), are the measure of each resample, or draws from its posterior distribution.
    ``questions`` are all of them; of a share that is 0 or 1, those that count. ``informative`` has those that
    decide the measure, and ``is_mean`` says whether it is a mean over trials. ``freedom`` are the degrees of
    freedom of its standard error: by default of a mean as many as questions, of other measures as many as decide it
    less one. Where there is an ``inverted_test``, the interval is made of its bins instead of the resamples.
    """

    value: Estimate
    resamples: FloatArray
    questions: frozenset[str]
    informative: Informative = ALL_INFORMATIVE
    is_mean: bool = False
    freedom: float | None = None
    inverted_test: InvertedTest | None = None

    @property
    def degrees(self) -> float:
        """Degrees of freedom of its standard error; of a mean those of all questions."""
        if self.freedom is not None:
            return self.freedom
        return math.inf if self.is_mean else self.informative.count - 1.0

    def __sub__(self, other: Distribution) -> Distribution:
        """Return the difference, paired by question where both were drawn together."""
        reason = self.value.reason or other.value.reason
        difference = Estimate(self.value - other.value, reason)
        with np.errstate(invalid="ignore"):  # both infinite: no difference, NaN
            resamples = self.resamples - other.resamples
        return Distribution(
            difference,
            resamples,
            self.questions | other.questions,
            informative=min(self.informative, other.informative, key=lambda side: side.count),
            freedom=_freedom([self, other]),
        )

    @property
    def resampled(self) -> Resampled:
        """The resamples that limits are computed from; an infinite one counts as undefined."""
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
        """Read off the interval."""
        interval = interval_of(self.resampled, settings.level, method, settings.seed, bounds)
        if self.inverted_test is None or len(self.questions) < 2:
            return interval
        low, high = self.inverted_test.limits(settings.level)
        return replace(interval, low=low, high=high, method="test_inversion")


Distributions: TypeAlias = Mapping[tuple[TrialSubset, str], Distribution]


def distributions(
    columns: Columns, cells: Iterable[TrialSubset], measures: Sequence[Measure], settings: Settings
) -> Distributions:
    """Evaluate measures of cells on the resamples of their questions; one draw of a source serves all its cells."""
    found: dict[tuple[TrialSubset, str], Distribution] = {}
    distinct = list(dict.fromkeys(cells))
    for source in sorted({cell.source for cell in distinct}):
        unit, n_units = number_questions(columns, columns["source"] == source)
        tables = [
            (cell, table)
            for cell in distinct
            if cell.source == source
            for table in tabulate(columns, cell, measures, unit, n_units)
        ]
        values = resampled(
            tables,
            settings.n_resamples,
            settings.seed_of("bootstrap", source),
            settings.generator("posterior", source),
        )
        names, _ = numbered(columns["question_id"][columns["source"] == source].astype(object))
        for cell, table in tables:
            rows = rows_of(columns, cell.rows)
            asked = frozenset(map(str, rows["question_id"]))
            for measure in table.measures:
                value = as_estimate(measure.compute(rows, None))
                extreme = measure.interval == "wilson" and value in (0.0, 1.0)
                questions = frozenset(names[counting(table, measure)]) if extreme else asked
                found[cell, measure.name] = Distribution(
                    value,
                    values[cell, measure.name],
                    questions,
                    informative(measure, rows),
                    measure.is_average,
                    inverted_test=measure.test_inversion(rows, unit[cell.rows])
                    if measure.test_inversion
                    else None,
                )
    return found


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
    for bayesian in (False, True):
        chosen = [
            (cell, table)
            for cell, table in tables
            if any(bool(measure.posterior) == bayesian for measure in table.measures)
        ]
        if not chosen:
            continue
        for block in resampled_kinds(
            [table.kinds for _, table in chosen],
            n_resamples=n_resamples,
            seed=posterior if bayesian else bootstrap,
            bayesian=bayesian,
        ):
            for (cell, table), weights in zip(chosen, block, strict=True):
                values = table.draws(weights, posterior) if bayesian else table.values(weights)
                for name, of_block in values.items():
                    parts.setdefault((cell, name), []).append(of_block)
    return {key: np.concatenate(blocks) for key, blocks in parts.items()}


def informative(measure: Measure, trials: Columns) -> Informative:
    """Return the questions that decide a measure."""
    return ALL_INFORMATIVE if measure.informative is None else measure.informative(trials)


def counting(table: CellTable, measure: Measure) -> BoolArray:
    """Return whether each question has a trial that a measure is made of: of one left out alone, it is undefined."""
    alone = each_alone(measure, table.columns, table.kinds.members.shape[0])
    return np.asarray(table.kinds.members[~np.isnan(alone)].sum(axis=0) > 0.0)


def mean(parts: Sequence[Distribution], *, skips_undefined: bool = False) -> Distribution:
    """Return the mean over parts, drawn together or not; undefined where one is, or where all are.

    With ``skips_undefined``, undefined parts are left out.
    """
    if len(parts) == 1 and not math.isnan(parts[0].value):  # one that is undefined loses its bins below
        return parts[0]
    average = _mean_defined if skips_undefined else lambda values: np.asarray(values.mean(axis=0))
    value = float(average(np.array([[part.value] for part in parts]))[0])
    reason = next((part.value.reason for part in parts if part.value.reason), None)
    return Distribution(
        Estimate(value, reason if np.isnan(value) else None),
        average(np.array([part.resamples for part in parts])),
        frozenset[str]().union(*(part.questions for part in parts)),
        _informative_mean(parts),
        all(part.is_mean for part in parts),
        _freedom(parts),
        _joined_tests(parts),
    )


def together(
    cells: Sequence[TrialSubset],
    measures: Iterable[Measure],
    found: Distributions,
    *,
    skips_undefined: bool = False,
) -> dict[str, Distribution]:
    """Return each measure of several cells: the sum of numbers of trials, of other measures the :func:`mean`."""
    whole = {}
    for measure in measures:
        its = mean([found[cell, measure.name] for cell in cells], skips_undefined=skips_undefined)
        if measure.is_count:
            value = Estimate(its.value * len(cells), its.value.reason)
            its = replace(its, value=value, resamples=its.resamples * len(cells))
        whole[measure.name] = its
    return whole


def _joined_tests(parts: Sequence[Distribution]) -> InvertedTest | None:
    """Return the bins of the parts that are defined, with how much these vary together in the resamples."""
    defined = [part for part in parts if not np.isnan(part.value)]
    inverted_test = [part.inverted_test for part in defined if part.inverted_test]
    if len(inverted_test) < max(len(defined), 1):
        return None
    apart = sum(_variance(part.resamples) for part in defined)
    if apart > 0.0:
        dependence = _variance(np.array([part.resamples for part in defined]).sum(axis=0)) / apart
    else:  # no resample says how answers to the same questions vary together
        questions = [part.questions for part in defined]
        dependence = sum(map(len, questions)) / len(frozenset[str]().union(*questions))
    return inverted_test[0].mean(inverted_test, dependence)


def _freedom(parts: Sequence[Distribution]) -> float:
    """Degrees of freedom of a sum: harmonic mean over the parts, weighted by their shares of the variance.

    They are no more than Satterthwaite's (doi:10.2307/3002019), which are of parts that vary independently: of the same
    questions under several penalties they do not.
    """
    variances = [_variance(part.resamples) for part in parts]
    if not sum(variances) > 0.0:
        return min(part.degrees for part in parts)
    inverse = sum(
        v / part.degrees if part.degrees > 0.0 else math.inf for v, part in zip(variances, parts, strict=True)
    )
    return sum(variances) / inverse if inverse > 0.0 else math.inf


def _variance(values: FloatArray) -> float:
    """Return the variance of the defined values; 0, not its rounding, where all of them are alike."""
    defined = values[np.isfinite(values)]
    return float(defined.var()) if len(defined) and np.ptp(defined) > 1e-12 * abs(defined).max() else 0.0


def _informative_mean(parts: Sequence[Distribution]) -> Informative:
    """All that decide a mean of means; of other measures the fewest, as each part has its own bias."""
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


def interval_of_measure(measure: Measure, whole: Mapping[str, Distribution], settings: Settings) -> Interval:
    """Read off the interval of a measure, within its bounds; of a share less a constant, that of the share, less it.

    ``whole`` has the measures of the same trials by name.
    """
    found, share = whole[measure.name], whole.get(measure.proportion)
    if share is None:
        interval = found.interval(settings, measure.interval, measure.bounds)
        if math.isnan(interval.low):
            return interval
        lowest, highest, less = *measure.bounds, 0.0
    else:
        interval = share.interval(settings, "wilson")
        lowest, highest, less = -math.inf, math.inf, float(share.value) - float(found.value)
    low, high = (
        Estimate(min(max(limit - less, lowest), highest), limit.reason)
        for limit in (interval.low, interval.high)
    )
    return replace(interval, estimate=found.value, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Estimated:
    """One entry of a table: a measure of ``n`` trials of a model, with its interval.

    ``group`` is the label of the trials and ``by`` what they are grouped by. ``source`` is empty for the mean over
    all sources of questions.
    """

    model: str
    group: str
    by: str
    source: str
    measure: str
    interval: Interval
    n: int


def estimates(
    groups: Sequence[Group], measures: Sequence[Measure], found: Distributions, settings: Settings
) -> list[Estimated]:
    """Read the table of one model, which is not named, off its distributions: each group, and each of its sources."""
    table = []
    several = len({cell.source for group in groups for cell in (*group.cells, *group.apart)}) > 1
    for group in groups:
        own = (*group.cells, *group.apart)
        sources = dict.fromkeys(cell.source for cell in own) if several else ()
        by_source = [(source, tuple(cell for cell in own if cell.source == source)) for source in sources]
        for source, cells in [("", group.cells), *by_source]:
            n = sum(len(cell.rows) for cell in cells)
            whole = together(cells, measures, found, skips_undefined=group.skips_undefined)
            for measure in measures:
                interval = interval_of_measure(measure, whole, settings)
                table.append(Estimated("", group.label, group.by, source, measure.name, interval, n))
    return table


# Trials gathered by kind ---------------------------------------------------------------------------------------------


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
                of = posterior.outcomes, posterior.prepare, posterior.prior
                if of not in weighted:
                    weighted[of] = posterior.add_outcomes(self.columns, weights, rng)
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
    # Epoch and file say where a trial is written down.
    numbers = [name for name in rows if rows[name].dtype.kind in "fiub" and name not in ("epoch", "file")]
    telling = [column for name, column in rows.items() if name == "status" or name in numbers]
    by_trial = count_alike(telling, np.arange(len(unit)), len(unit))
    asked = csr_array((np.ones(len(unit)), unit, np.arange(len(unit) + 1)), shape=(len(unit), n_units))
    alike = TrialCounts(by_trial.example, by_trial.members @ asked)
    gathered = rows_of(rows, alike.example)
    if len(alike.example) == len(unit):
        return [CellTable(gathered, alike, tuple(measures))]
    # All of one total, because some measures work out a part of themselves for every number of trials.
    even = np.tile(np.resize(np.arange(4.0), len(unit)), (_PROBES, 1))
    probe = SharedWeights.of(np.random.default_rng(0).permuted(even, axis=1))
    of_kinds = SharedWeights.of((by_trial.members @ probe.T).T)
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
