"""Contrasts: every group of trials of a model against the baseline, on the same questions."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.averages import combined
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.difference import paired_differences
from confidence_tasks.report.estimates.distributions import Distributions, distributions
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import Group, TrialSubset
from confidence_tasks.study.kinds import DistinctTrials, number_labels, number_units, tabulate
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.paired import PairedTables
from confidence_tasks.study.units import SAMPLING_UNIT


def contrasts(
    columns: Columns,
    groups: Sequence[Group],
    baseline: str,
    measures: Sequence[Measure],
    drawn: Distributions,
    settings: Settings,
) -> list[Contrast]:
    """Compare every group with the baseline, on the sources of questions that both have.

    ``drawn`` holds the distribution of each measure in each subset, from one draw of questions. The contrasts are
    ordered by measure and not corrected yet. The list is empty if no group is labelled ``baseline``; a group that
    shares no source with the baseline has no contrast.
    """
    pairs = list(_pairs(groups, baseline))
    subsets = list(dict.fromkeys(subset for pair in pairs for subset in (*pair.group, *pair.base)))
    unit, n_units = number_units(columns, np.ones(len(columns["question_id"]), dtype=bool))
    tables = {subset: tabulate(columns, subset.rows, measures, unit, n_units) for subset in subsets}
    by_question = _tables_by_question(columns, subsets, measures)
    by_subset = _refitted(columns, subsets, measures, drawn, settings)
    by_measure: dict[str, list[Contrast]] = {measure.name: [] for measure in measures}
    for pair in pairs:
        first, second = combined(pair.group, measures, by_subset), combined(pair.base, measures, by_subset)
        found = paired_differences(
            _paired(tables, pair),
            {name: (first[name], second[name]) for name in first},
            settings,
            settings.generator("exchange", pair.label),
            by_question=_paired(by_question, pair),
        )
        for name, contrast in found.items():
            by_measure[name].append(contrast.between(("", pair.label), ("", baseline)))
    return [contrast for contrasts in by_measure.values() for contrast in contrasts]


class _Pair(NamedTuple):
    """A group and the baseline: their subsets of the sources that both have."""

    label: str
    group: list[TrialSubset]
    base: list[TrialSubset]


def _pairs(groups: Sequence[Group], baseline: str) -> Iterator[_Pair]:
    """Yield every other group with the baseline; groups on other questions would differ for that reason alone."""
    base = next((group for group in groups if group.label == baseline), None)
    if base is None:
        return
    for group in groups:
        shared = {subset.source for subset in group.subsets} & {subset.source for subset in base.subsets}
        if group is not base and shared:
            yield _Pair(group.label, _from_sources(group, shared), _from_sources(base, shared))


def _from_sources(group: Group, sources: Container[str]) -> list[TrialSubset]:
    return [subset for subset in group.subsets if subset.source in sources]


def _refitted(
    columns: Columns,
    subsets: Sequence[TrialSubset],
    measures: Sequence[Measure],
    drawn: Distributions,
    settings: Settings,
) -> Distributions:
    """Return the distributions with those of fitted measures from resamples that are fitted anew, where possible.

    A fitted measure varies with the fit, and so does its difference.
    """
    refitted = [measure.exchangeable for measure in measures if measure.fitted and measure.exchangeable]
    return {**drawn, **distributions(columns, subsets, refitted, settings)} if refitted else drawn


def _tables_by_question(
    columns: Columns, subsets: Sequence[TrialSubset], measures: Sequence[Measure]
) -> dict[TrialSubset, list[DistinctTrials]]:
    """Return the trials of each subset by question; nothing if there are no clusters."""
    if SAMPLING_UNIT not in columns:
        return {}
    numbers = number_labels(columns["question_id"], np.ones(len(columns["question_id"]), dtype=bool))
    return {subset: tabulate(columns, subset.rows, measures, *numbers) for subset in subsets}


def _paired(tables: Mapping[TrialSubset, Sequence[DistinctTrials]], pair: _Pair) -> list[PairedTables]:
    """Pair the tables of two groups by source."""
    subsets = [(one, other) for one, other in product(pair.group, pair.base) if one.source == other.source]
    return [
        PairedTables.of(first, second)
        for one, other in subsets
        for first, second in product(tables.get(one, ()), tables.get(other, ()))
    ]
