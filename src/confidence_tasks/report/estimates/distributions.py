"""The distribution of each measure of some groups of trials.

Questions are the unit of resampling. All groups and measures of a model share one draw of questions, so the difference
of two estimates is paired by question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.distribution import ALL_INFORMATIVE, Distribution
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.statistics import Estimate
from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray, undefined
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.statistics.inference.limits import InvertedTest
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.weights import Seed, TrialCounts, numbered, resampled_kinds
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.inference import Informative
from confidence_tasks.study.kinds import (
    DistinctTrials,
    clusters_of_mean,
    number_labels,
    number_units,
    tabulate,
    values_of_single_trials,
)
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.units import units_of

Distributions: TypeAlias = Mapping[tuple[TrialSubset, str], Distribution]


def distributions(
    columns: Columns, subsets: Iterable[TrialSubset], measures: Sequence[Measure], settings: Settings
) -> Distributions:
    """Return the distribution of each measure in each subset; the subsets of a source share one draw of questions."""
    by_subset: dict[tuple[TrialSubset, str], Distribution] = {}
    distinct = list(dict.fromkeys(subsets))
    for source in sorted({subset.source for subset in distinct}):
        of_source = [subset for subset in distinct if subset.source == source]
        by_subset |= _distributions_of_source(columns, source, of_source, measures, settings)
    return by_subset


def _distributions_of_source(
    columns: Columns,
    source: str,
    subsets: Sequence[TrialSubset],
    measures: Sequence[Measure],
    settings: Settings,
) -> Distributions:
    """Return the distribution of each measure in each subset of one source."""
    of_source = columns["source"] == source
    unit, n_units = number_units(columns, of_source)
    tables = [
        (subset, table)
        for subset in subsets
        for table in tabulate(columns, subset.rows, measures, unit, n_units)
    ]
    values = resampled(
        tables,
        settings.n_resamples,
        settings.seed_of("bootstrap", source),
        settings.generator("posterior", source),
    )
    names, _ = numbered(units_of(columns)[of_source].astype(object))
    by_subset = {}
    for subset, table in tables:
        rows = rows_of(columns, subset.rows)
        questions = frozenset(map(str, units_of(rows)))
        for measure in table.measures:
            found = _distribution(measure, rows, unit[subset.rows], values[subset, measure.name], questions)
            if measure.inference.method == "wilson" and found.value in (0.0, 1.0):
                found = replace(found, questions=frozenset(names[contributing(table, measure)]))
            by_subset[subset, measure.name] = found
    _add_clusters(by_subset, columns, tables, settings)
    return by_subset


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
    by_subset: dict[tuple[TrialSubset, str], Distribution],
    columns: Columns,
    tables: Sequence[tuple[TrialSubset, DistinctTrials]],
    settings: Settings,
) -> None:
    """Add the clusters of each measure of one source: their number, and their effect on its variance."""
    source = tables[0][0].source if tables else ""
    numbers = number_labels(columns["question_id"], columns["source"] == source)
    by_question = [
        (
            subset,
            table,
            DistinctTrials(table.columns, _by_question(columns, subset, table, *numbers), table.measures),
        )
        for subset, table in tables
        if _has_clusters(columns, subset)
    ]
    purpose = "design effect", source
    resamples = resampled(
        [(subset, each) for subset, _, each in by_question],
        settings.n_resamples,
        settings.seed_of(*purpose),
        settings.generator(*purpose),
    )
    for subset, table, each in by_question:
        for measure in table.measures:
            found = by_subset[subset, measure.name]
            clusters = clusters_of_mean(
                measure, table.columns, float(found.value), table.kinds, each.kinds
            ) or Clusters.of_resamples(
                len(found.questions),
                len(set(columns["question_id"][subset.rows])),
                found.resamples,
                resamples[subset, measure.name],
            )
            by_subset[subset, measure.name] = replace(
                found, clusters=clusters, by_question=resamples[subset, measure.name]
            )


def _has_clusters(columns: Columns, subset: TrialSubset) -> bool:
    """Return True if a unit of a subset has several questions."""
    units, questions = units_of(columns)[subset.rows], columns["question_id"][subset.rows]
    return len(set(units.tolist())) < len(set(questions.tolist()))


def _by_question(
    columns: Columns, subset: TrialSubset, table: DistinctTrials, question: IntArray, n_questions: int
) -> TrialCounts:
    """Return the kinds of a table counted by question instead of by unit."""
    return next(
        each.kinds
        for each in tabulate(columns, subset.rows, table.measures, question, n_questions)
        if len(each.kinds.counts) == len(table.kinds.counts)
    )


def resampled(
    tables: Sequence[tuple[TrialSubset, DistinctTrials]],
    n_resamples: int,
    bootstrap: Seed | tuple[int, ...],
    posterior: np.random.Generator,
) -> dict[tuple[TrialSubset, str], FloatArray]:
    """Evaluate the measures of tables of the same questions on bootstrap resamples, or draw them from their posterior.

    ``bootstrap`` is the seed of the resamples. Each array has shape (n_resamples,).
    """
    parts: dict[tuple[TrialSubset, str], list[FloatArray]] = {}
    for generator in (None, posterior):
        chosen = [(subset, table) for subset, table in tables if _has_measures(table, generator)]
        if chosen:
            seed = bootstrap if generator is None else generator
            for key, of_block in _blocks(chosen, n_resamples, seed, generator):
                parts.setdefault(key, []).append(of_block)
    return {key: np.concatenate(blocks) for key, blocks in parts.items()}


def _has_measures(table: DistinctTrials, posterior: np.random.Generator | None) -> bool:
    """Return whether a table has measures to draw from their posterior; without a generator, to resample."""
    is_drawn = posterior is not None
    return any(bool(measure.inference.posterior) == is_drawn for measure in table.measures)


def _blocks(
    tables: Sequence[tuple[TrialSubset, DistinctTrials]],
    n_resamples: int,
    seed: Seed | tuple[int, ...],
    posterior: np.random.Generator | None,
) -> Iterator[tuple[tuple[TrialSubset, str], FloatArray]]:
    """Yield the values of each measure in each block of resamples; ``posterior`` draws them instead."""
    kinds = [table.kinds for _, table in tables]
    for block in resampled_kinds(kinds, n_resamples=n_resamples, seed=seed, bayesian=posterior is not None):
        for (subset, table), weights in zip(tables, block, strict=True):
            values = table.values(weights) if posterior is None else table.draws(weights, posterior)
            for name, of_block in values.items():
                yield (subset, name), of_block


def informative(measure: Measure, trials: Columns) -> Informative:
    """Return the questions that determine a measure."""
    informative_of = measure.inference.informative
    return ALL_INFORMATIVE if informative_of is None else informative_of(trials)


def contributing(table: DistinctTrials, measure: Measure) -> BoolArray:
    """Return, for each question, whether any of its trials enters a measure: the measure of that trial is defined."""
    values = values_of_single_trials(measure, table.columns, table.kinds.members.shape[0])
    return np.asarray(table.kinds.members[~np.isnan(values)].sum(axis=0) > 0.0)
