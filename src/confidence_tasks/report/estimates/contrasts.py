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
from confidence_tasks.study.kinds import CellTable, number_labels, number_units, tabulate
from confidence_tasks.study.measures import Measure
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
            by_measure[name].append(contrast.between(("", pair.label), ("", baseline)))
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
