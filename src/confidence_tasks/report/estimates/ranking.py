"""Several models on the same questions: simultaneous intervals of all pairs, ranks, and the models next to the best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy

from confidence_tasks.catalogue import study_named
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.averages import combined
from confidence_tasks.report.estimates.difference import resampled_test
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.statistics import Estimate, Interval, Reason
from confidence_tasks.statistics.core import FloatArray, IntArray, undefined
from confidence_tasks.statistics.inference import many
from confidence_tasks.statistics.inference.resampling import rounding_of
from confidence_tasks.statistics.inference.weights import count_alike
from confidence_tasks.study import paired
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.kinds import number_units, tabulate
from confidence_tasks.study.measure import Measure

FEWEST_DRAWS, BEYOND = 2_000, 100
"""Minimum number of permutations, and of those beyond the critical value, unless fewer resamples are asked for."""


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model with its rank by a measure.

    Attributes
    ----------
    model : str
        Label of the model.
    interval : Interval
        The measure of the model, with an interval for this model alone.
    first, last : int
        Simultaneous limits of its rank; 0 if it has no rank.
    reason : str
        Why it has no rank; else empty.
    """

    model: str
    interval: Interval
    first: int
    last: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """The difference of two models.

    ``difference`` is first minus second, with an interval that holds for all pairs at once; ``p_adjusted`` is corrected
    for all pairs and all rankings of the task, and at most 1 - level exactly when the interval excludes 0.
    """

    first: str
    second: str
    difference: Interval
    p_adjusted: float

    @property
    def differs(self) -> bool:
        """Whether the interval excludes 0."""
        return self.difference.low > 0.0 or self.difference.high < 0.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """Models under one condition, by one measure, on the questions that all of them were asked.

    Attributes
    ----------
    study, task, condition, measure, better : str
        What was asked and measured, and the better direction: ``higher``, ``lower`` or ``neither``.
    models : list of RankedModel
        The models, the best first; by the value, the highest first, if no direction is better.
    pairs : list of ModelPair
        All pairs of models that have a rank.
    n_questions, n_units : int
        Number of shared questions, and of clusters of questions.
    level : float
        Probability that all differences and ranks hold, of this ranking and of those of other measures and conditions
        of the task.
    """

    measure: str
    better: str
    models: list[RankedModel]
    pairs: list[ModelPair]
    n_questions: int
    n_units: int
    level: float
    study: str = ""
    task: str = ""
    condition: str = ""

    @property
    def has_values(self) -> bool:
        """Whether any model has a value of the measure."""
        return not all(math.isnan(each.interval.estimate) for each in self.models)

    @property
    def leaders(self) -> list[str]:
        """The models that are not told apart from the best; empty if no direction is better."""
        return [] if self.better == "neither" else [each.model for each in self.models if each.first == 1]


def rank_text(first: int, last: int) -> str:
    """Return the limits of a rank, such as ``2 to 4``; empty without a rank.

    Examples
    --------
    >>> rank_text(2, 4), rank_text(1, 1), rank_text(0, 0)
    ('2 to 4', '1', '')
    """
    if not first:
        return ""
    return str(first) if first == last else f"{first} to {last}"


def rank_models(
    study: str,
    measures: Sequence[str],
    settings: Settings,
    n_rankings: int,
    labels: Sequence[str],
    *models: Columns,
) -> list[Ranking]:
    """Rank models by each of several measures of a study.

    Parameters
    ----------
    study : str
        Name of the study.
    measures : sequence of str
        Names of the measures.
    settings : Settings
        Settings of intervals and tests.
    n_rankings : int
        Number of rankings that hold at once with the level of the settings, by Bonferroni's inequality.
    labels : sequence of str
        Label of each model.
    *models : mapping of str to ndarray
        The trials of each model, all on the same questions.
    """
    known = study_named(study).measures_by_name
    chosen = [known[name] for name in measures]
    return rank_by_measures(chosen, settings, n_rankings, labels, models)


def rank_by_measures(
    measures: Sequence[Measure],
    settings: Settings,
    n_rankings: int,
    labels: Sequence[str],
    models: Sequence[Columns],
) -> list[Ranking]:
    """Rank models by measures, as :func:`rank_models` does by the names of measures."""
    columns, side = _stacked(models)
    groups = [Group(str(i), "model", split_by_source(columns, side == i)) for i in range(len(models))]
    subsets = [subset for group in groups for subset in group.subsets]
    drawn = distributions(columns, subsets, measures, settings)
    refitted = _refitted(measures)
    tested = {**drawn, **distributions(columns, subsets, refitted, settings)} if refitted else drawn
    found = [combined(group.subsets, measures, drawn) for group in groups]
    varying = [combined(group.subsets, measures, tested) for group in groups]
    family = replace(settings, level=1.0 - (1.0 - settings.level) / n_rankings)
    rankings = []
    for measure in measures:
        intervals = [interval_of_measure(measure, by_name, settings) for by_name in found]
        of_models = [by_name[measure.name] for by_name in varying]
        ranking = _Ranked(measure, family, intervals, of_models, columns, side).ranking(labels)
        rankings.append(_corrected(ranking, n_rankings, settings.level))
    return rankings


def _refitted(measures: Sequence[Measure]) -> list[Measure]:
    """Return the fitted measures as they are refitted to every resample, where that is possible."""
    return [variant for measure in measures if measure.fitted and (variant := measure.exchangeable)]


def _stacked(models: Sequence[Columns]) -> tuple[Columns, IntArray]:
    """Stack the trials of all models, in the columns that all have; return them with the number of each one's model."""
    shared = [name for name in models[0] if all(name in model for model in models)]
    columns = {name: np.concatenate([model[name] for model in models]) for name in shared}
    return columns, np.repeat(np.arange(len(models)), [len(model["question_id"]) for model in models])


def _corrected(ranking: Ranking, n_rankings: int, level: float) -> Ranking:
    """Return a ranking with p-values corrected for the number of rankings, and the level of all of them."""
    pairs = [replace(pair, p_adjusted=min(1.0, n_rankings * pair.p_adjusted)) for pair in ranking.pairs]
    return replace(ranking, pairs=pairs, level=level)


@dataclass(frozen=True)
class _Ranked:
    """One measure of several models: the interval and the distribution of each, and the trials of all."""

    measure: Measure
    settings: Settings
    intervals: Sequence[Interval]
    distributions: Sequence[Distribution]
    columns: Columns
    side: IntArray

    def ranking(self, labels: Sequence[str]) -> Ranking:
        """Return the ranking."""
        reasons = [self._reason(i) for i in range(len(labels))]
        ranked = [i for i in self._order() if reasons[i] is None]
        first, last = np.zeros((2, len(labels)), dtype=np.int64)
        pairs: list[ModelPair] = []
        if len(ranked) > 1:
            compared = self._all_pairs(ranked)
            first[ranked], last[ranked] = compared.ranks(lowest_first=self.measure.better == "lower")
            pairs = self._pairs(compared, labels, ranked)
        models = [
            RankedModel(labels[i], self.intervals[i], int(first[i]), int(last[i]), reasons[i] or "")
            for i in self._order()
        ]
        questions = set(zip(self.columns["source"], self.columns["question_id"], strict=True))
        n_units = max(len(each.questions) for each in self.distributions)
        level = self.settings.level
        return Ranking(self.measure.name, self.measure.better, models, pairs, len(questions), n_units, level)

    def _pairs(
        self, compared: many.AllPairs, labels: Sequence[str], ranked: Sequence[int]
    ) -> list[ModelPair]:
        """Return the differences of all pairs of the ranked models."""
        places = combinations(range(len(ranked)), 2)
        return [self._pair(compared, at, labels, [ranked[i] for i in at]) for at in places]

    def _order(self) -> list[int]:
        """Return the positions of the models, the best first and those without a value last."""
        sign = 1.0 if self.measure.better == "lower" else -1.0
        values = sign * np.array([float(each.estimate) for each in self.intervals])
        return [int(i) for i in np.argsort(values, kind="stable")]

    def _reason(self, i: int) -> Reason | None:
        """Return the reason why a model has no rank."""
        if self.measure.exchangeable is None:
            return Reason.NOT_RESAMPLED
        if reason := self.distributions[i].resampled.reason:
            return reason
        incomparable = self.measure.inference.incomparable
        trials = rows_of(self.columns, np.flatnonzero(self.side == i))
        return incomparable(trials, np.ones(len(trials["question_id"]))) if incomparable else None

    def _all_pairs(self, ranked: Sequence[int]) -> many.AllPairs:
        """Return the differences of all pairs of the ranked models with simultaneous limits."""
        sources = list(self._sources(ranked))
        found = [self.distributions[i] for i in ranked]
        values = np.array([float(each.value) for each in found])
        tie = rounding_of(*values)
        level = self.settings.level
        n_draws = min(self.settings.n_resamples, max(FEWEST_DRAWS, round(BEYOND / (1.0 - level))))
        rng = self.settings.generator("all pairs")
        if None in sources:
            covariance, freedom = _resampled_covariance(found)
            maxima = [many.student_maxima(covariance, freedom, n_draws=n_draws, seed=rng)]
            centers, errors = _by_resamples(
                found, _single_level(many.critical_value(maxima[0], level), level)
            )
            return many.all_pairs(centers, errors, maxima, level=level, tie=tie)
        known = [source for source in sources if source]
        _, covariance = many.model_moments(known)
        freedom = max(min(trials.n_units for trials, *_ in known) - 1.0, 1.0)
        maxima = [
            many.permuted_maxima(known, n_draws=n_draws, seed=rng),
            many.student_maxima(covariance, freedom, n_draws=n_draws, seed=rng),
        ]
        errors = np.sqrt(many.pair_variances(covariance))
        return many.all_pairs(np.subtract.outer(values, values), errors, maxima, level=level, tie=tie)

    def _sources(self, ranked: Sequence[int]) -> Iterator[many.Source | None]:
        """Yield the trials of the ranked models by source; None for a source in which the influences are unknown."""
        measure, number = self.measure.exchangeable or self.measure, np.full(self.side.max() + 1, -1)
        number[list(ranked)] = np.arange(len(ranked))
        for name in sorted(set(self.columns["source"].tolist())):
            rows = np.flatnonzero((self.columns["source"] == name) & (number[self.side] >= 0))
            yield _source(measure, rows_of(self.columns, rows), number[self.side[rows]])

    def _pair(
        self, compared: many.AllPairs, at: tuple[int, int], labels: Sequence[str], models: Sequence[int]
    ) -> ModelPair:
        """Return the difference of two models, which are ``at`` a place among the ranked ones."""
        low, high = float(compared.low[at]), float(compared.high[at])
        one, other = (self.distributions[i] for i in models)
        most = self.measure.inference.largest_difference
        missing = math.isnan(low)
        interval = Interval(
            estimate=(one - other).value,
            low=undefined(Reason.TOO_FEW) if missing else Estimate(max(low, -most)),
            high=undefined(Reason.TOO_FEW) if missing else Estimate(min(high, most)),
            level=self.settings.level,
            standard_error=float(compared.error[at]),
            n_units=len(one.questions | other.questions),
            n_resamples=self.settings.n_resamples,
            n_undefined=0,
            method="exchange",
            seed=self.settings.seed,
        )
        first, second = (labels[i] for i in models)
        return ModelPair(first, second, interval, float(compared.p_value[at]))


def _source(measure: Measure, trials: Columns, model: IntArray) -> many.Source | None:
    """Return the trials of one source with a measure as a function of weights; None without influences."""
    n = len(model)
    every = np.ones(n, dtype=np.bool_)
    (table, *_) = tabulate(trials, np.arange(n), [measure], np.arange(n), n)
    influence = paired.influence_of_trials(measure, table.columns, len(table.kinds.example))
    if influence is None:
        return None
    unit, n_units = number_units(trials, every)
    k = int(model.max()) + 1
    corrections = [
        paired.correction_of_units(count_alike([np.arange(n)[model == i]], unit[model == i], n_units))
        for i in range(k)
    ]
    kind = table.kinds.members.tocsc().indices.astype(np.int64)
    shared = many.CountedTrials(unit, model, kind, n_units, k, len(table.kinds.example), max(corrections))

    def statistic(weights: FloatArray) -> FloatArray:
        return np.asarray(measure.compute(table.columns, weights))

    def influences(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        return influence(table.columns, weights)

    return shared, statistic, influences


def _resampled_covariance(found: Sequence[Distribution]) -> tuple[FloatArray, float]:
    """Return the covariance of the models' measures over resamples, and the degrees of freedom of their differences."""
    resamples = np.array([each.resamples for each in found])
    defined = resamples[:, np.isfinite(resamples).all(axis=0)]
    freedom = math.inf
    if not all(each.inverted_test for each in found):
        freedom = min((one - other).resampled.student_terms[1] for one, other in combinations(found, 2))
    return np.cov(defined), max(freedom, 1.0)


def _single_level(critical: float, level: float) -> float:
    """Return the level of single intervals that reach as far as simultaneous ones with a critical value.

    A critical value that is 0 (no pair differs), infinite or so large that the level rounds to 1 gives no interval
    that a test can be inverted at; then it is the level of the simultaneous intervals.
    """
    single = float(2.0 * scipy.special.ndtr(critical) - 1.0)
    return single if 0.0 < single < 1.0 else level


def _by_resamples(found: Sequence[Distribution], level: float) -> tuple[FloatArray, FloatArray]:
    """Return the center and the standard error of the difference of each pair, for single intervals of a level."""
    centers, errors = np.zeros((2, len(found), len(found)))
    for i, j in combinations(range(len(found)), 2):
        difference = found[i] - found[j]
        test = resampled_test(
            found[i], found[j], difference, rounding_of(found[i].value, found[j].value), level
        )
        centers[i, j], centers[j, i] = test.center, -test.center
        errors[i, j] = errors[j, i] = test.error
    return centers, errors
