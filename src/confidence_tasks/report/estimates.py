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

from confidence_tasks.report.cell_tables import CellTable, each_alone, number_questions, tabulate
from confidence_tasks.report.groups import Columns, Group, ModelGroups, TrialSubset
from confidence_tasks.statistics import Estimate, Interval
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.statistics.inference.draws import numbered, resampled_kinds
from confidence_tasks.statistics.inference.limits import PROPORTION, Bounds, InvertedTest, Method, Resampled
from confidence_tasks.statistics.inference.resampling import as_estimate, interval_of
from confidence_tasks.statistics.inference.weights import ratio
from confidence_tasks.study.measures import Informative, Measure

ALL_INFORMATIVE = Informative()

_ROUNDING = 1e-12
"""Differences of resamples, relative to the largest, that are rounding of 0."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How uncertainty is computed.

    ``n_resamples`` is the number of resamples of questions, and of exchanges of conditions; ``level`` the nominal
    coverage of intervals, in (0, 1); ``seed`` that of all draws. Some tables have the means of ``groups`` of
    models.
    """

    n_resamples: int = 10_000
    level: float = 0.95
    seed: int = 0
    groups: ModelGroups = ()

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the random numbers for a purpose: the same in every report, whatever else is in it."""
        return np.random.default_rng([self.seed, zlib.crc32("/".join(purpose).encode())])


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
        """What limits are read off; a resample that is infinite counts as undefined."""
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
            settings.generator("bootstrap", source),
            settings.generator("posterior", source),
        )
        names, _ = numbered(columns["question_id"][columns["source"] == source].astype(object))
        for cell, table in tables:
            rows = {name: column[cell.rows] for name, column in columns.items()}
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
    bootstrap: np.random.Generator,
    posterior: np.random.Generator,
) -> dict[tuple[TrialSubset, str], FloatArray]:
    """Evaluate the measures of tables of the same questions on their resamples, or draw them from their posterior.

    Each array has shape (n_resamples,).
    """
    parts: dict[tuple[TrialSubset, str], list[FloatArray]] = {}
    for bayesian, rng in ((False, bootstrap), (True, posterior)):
        chosen = [its for its in tables if any(bool(each.posterior) == bayesian for each in its[1].measures)]
        kinds = [table.kinds for _, table in chosen]
        blocks = resampled_kinds(kinds, n_resamples=n_resamples, seed=rng, bayesian=bayesian)
        for block in blocks if kinds else ():
            for (cell, table), weights in zip(chosen, block, strict=True):
                found = table.draws(weights, rng) if bayesian else table.values(weights)
                for name, values in found.items():
                    parts.setdefault((cell, name), []).append(values)
    return {key: np.concatenate(values) for key, values in parts.items()}


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
    measure: Measure, parts: Sequence[Distribution], *, skips_undefined: bool = False
) -> Distribution:
    """Return a measure of several cells: the sum of numbers of trials, of other measures the :func:`mean`."""
    whole = mean(parts, skips_undefined=skips_undefined)
    if not measure.is_count:
        return whole
    return replace(
        whole,
        value=Estimate(whole.value * len(parts), whole.value.reason),
        resamples=whole.resamples * len(parts),
    )


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
    return float(defined.var()) if len(defined) and np.ptp(defined) > _ROUNDING * abs(defined).max() else 0.0


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
    """Read off the interval of a measure; where it is a share less a constant, that of the share, less the constant.

    ``whole`` has the measures of the same trials by name.
    """
    found = whole[measure.name]
    if measure.proportion not in whole:
        return _within(measure.bounds, found.interval(settings, measure.interval, measure.bounds))
    share = whole[measure.proportion]
    less = float(share.value) - float(found.value)
    interval = share.interval(settings, "wilson")
    low, high = (Estimate(limit - less, limit.reason) for limit in (interval.low, interval.high))
    return replace(interval, estimate=found.value, low=low, high=high)


def _within(bounds: tuple[float, float], interval: Interval) -> Interval:
    """Cut an interval at the values that a measure cannot pass."""
    low, high = (
        Estimate(min(max(limit, bounds[0]), bounds[1]), limit.reason)
        for limit in (interval.low, interval.high)
    )
    return interval if math.isnan(interval.low) else replace(interval, low=low, high=high)


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
    model: str, groups: Sequence[Group], measures: Sequence[Measure], found: Distributions, settings: Settings
) -> list[Estimated]:
    """Read the table of one model off its distributions: each group, and its sources where there are several."""
    table = []
    several = len({cell.source for group in groups for cell in (*group.cells, *group.apart)}) > 1
    for group in groups:
        parts = [("", group.cells)]
        own = (*group.cells, *group.apart)
        if several:
            parts += [
                (source, tuple(cell for cell in own if cell.source == source))
                for source in dict.fromkeys(cell.source for cell in own)
            ]
        for source, cells in parts:
            n = sum(len(cell.rows) for cell in cells)
            whole = {
                measure.name: together(
                    measure,
                    [found[cell, measure.name] for cell in cells],
                    skips_undefined=group.skips_undefined,
                )
                for measure in measures
            }
            for measure in measures:
                interval = interval_of_measure(measure, whole, settings)
                table.append(Estimated(model, group.label, group.by, source, measure.name, interval, n))
    return table
