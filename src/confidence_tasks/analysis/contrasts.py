"""Conditions against the baseline: paired differences with intervals, and tests by exchange within questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from confidence_tasks.analysis.cell_tables import CellTable, number_questions, tabulate
from confidence_tasks.analysis.estimates import (
    Distribution,
    Distributions,
    Settings,
    interval_of_difference,
    together,
)
from confidence_tasks.analysis.groups import Cell, Columns, Group
from confidence_tasks.scorers._measures import Measure
from confidence_tasks.statistics import Interval, bonferroni
from confidence_tasks.statistics._core import FloatArray
from confidence_tasks.statistics._resampling import share_as_extreme
from confidence_tasks.statistics.question_draws import exchanged_kinds, is_exact


@dataclass(frozen=True, slots=True)
class Contrast:
    """A condition minus the baseline.

    Attributes
    ----------
    model : str
        Label of the model.
    group, baseline : str
        The two conditions.
    measure : str
        Name of the measure.
    interval : Interval
        The difference with its interval, paired by question.
    p_value : float
        Of the permutation test; NaN where the difference is undefined, and of a measure that cannot be tested so.
    p_adjusted : float
        The same after Bonferroni's correction for the conditions compared with the baseline.
    """

    model: str
    group: str
    baseline: str
    measure: str
    interval: Interval
    p_value: float
    p_adjusted: float

    @property
    def significant(self) -> bool:
        """Whether the adjusted p-value is below 0.05."""
        return self.p_adjusted < 0.05


def contrasts(
    model: str,
    columns: Columns,
    groups: Sequence[Group],
    baseline: str,
    measures: Sequence[Measure],
    drawn: Distributions,
    settings: Settings,
) -> list[Contrast]:
    """Compare every group with the baseline, on the sources of questions that both have.

    Parameters
    ----------
    model : str
        Label of the model.
    columns : mapping of str to ndarray
        Its trials.
    groups : sequence of Group
        The conditions, the baseline among them; without it there is nothing to compare.
    baseline : str
        Label of the baseline.
    measures : sequence of Measure
        What to compare.
    drawn : mapping of (Cell, str) to Distribution
        By cell of a group and measure, from one draw of questions.
    settings : Settings
        Number of resamples, level and seed.

    Returns
    -------
    list of Contrast
        Measure by measure; none of a group that shares no source with the baseline.
    """
    base = next((group for group in groups if group.label == baseline), None)
    if base is None:
        return []
    pairs = [_on_shared_sources(group, base) for group in groups if group is not base]
    pairs = [(group, its_base) for group, its_base in pairs if group.cells]
    if not pairs:
        return []
    exact = is_exact(len(set(columns["question_id"])), settings.n_resamples)
    exchangeable = [tested for measure in measures if (tested := measure.exchangeable)]
    tables = _tabulated(columns, pairs, exchangeable)
    exchanged = [_exchanges(group, its_base, tables, exchangeable, settings) for group, its_base in pairs]
    found = []
    for measure in measures:
        differences = [
            _mean_of(group, measure, drawn) - _mean_of(its_base, measure, drawn) for group, its_base in pairs
        ]
        p_values = [
            float(share_as_extreme(difference.value, values[measure.name], "two-sided", exact))
            if measure.name in values
            else math.nan
            for difference, values in zip(differences, exchanged, strict=True)
        ]
        adjusted = adjusted_for_all(p_values, bonferroni)
        found += [
            Contrast(
                model,
                group.label,
                baseline,
                measure.name,
                interval_of_difference(measure, difference, settings),
                p,
                p_adjusted,
            )
            for (group, _), difference, p, p_adjusted in zip(
                pairs, differences, p_values, adjusted, strict=True
            )
        ]
    return found


def _on_shared_sources(group: Group, base: Group) -> tuple[Group, Group]:
    """Keep the cells of the sources that both have: other questions would make a difference of their own."""
    shared = {cell.source for cell in group.cells} & {cell.source for cell in base.cells}
    first, second = (
        replace(each, cells=tuple(cell for cell in each.cells if cell.source in shared))
        for each in (group, base)
    )
    return first, second


def _mean_of(group: Group, measure: Measure, drawn: Distributions) -> Distribution:
    return together(measure, [drawn[cell, measure.name] for cell in group.cells])


def adjusted_for_all(p_values: Sequence[float], adjust: Callable[[FloatArray], FloatArray]) -> list[float]:
    """Correct p-values for all comparisons, those without one among them."""
    p = np.array(p_values)
    adjusted = adjust(np.nan_to_num(p, nan=1.0))
    return [float(value) for value in np.where(np.isnan(p), np.nan, adjusted)]


@dataclass(frozen=True, slots=True)
class _Pair:
    """The trials of one source under two conditions, stacked, and what can be computed of both."""

    first: CellTable
    second: CellTable

    @property
    def measures(self) -> list[Measure]:
        return [measure for measure in self.first.measures if measure in self.second.measures]

    def stacked(self) -> Columns:
        first, second = self.first.columns, self.second.columns
        return {name: np.concatenate([column, second[name]]) for name, column in first.items()}


def _tabulated(
    columns: Columns, pairs: Sequence[tuple[Group, Group]], measures: Sequence[Measure]
) -> dict[Cell, list[CellTable]]:
    """Return the tables of every cell, once for all the contrasts that it is part of."""
    unit, n_units = number_questions(columns, np.ones(len(columns["question_id"]), dtype=bool))
    cells = dict.fromkeys(cell for pair in pairs for group in pair for cell in group.cells)
    return {cell: tabulate(columns, cell, measures, unit, n_units) for cell in cells}


def _exchanges(
    group: Group,
    base: Group,
    tables: Mapping[Cell, Sequence[CellTable]],
    measures: Sequence[Measure],
    settings: Settings,
) -> dict[str, FloatArray]:
    """Return each measure's contrast for every exchange: the mean over the sources, which both groups have.

    What a measure fits to the trials is fitted for every exchange, as it was to each group; a measure that cannot be
    fitted so often has no entry.
    """
    if not measures:
        return {}
    pairs = [
        _Pair(first, second)
        for one, other in product(group.cells, base.cells)
        if one.source == other.source
        for first, second in product(tables[one], tables[other])
    ]
    stacked = [pair.stacked() for pair in pairs]
    values: dict[str, list[FloatArray]] = {measure.name: [] for measure in measures}
    for block in exchanged_kinds(
        [(pair.first.kinds, pair.second.kinds) for pair in pairs],
        n_resamples=settings.n_resamples,
        seed=settings.generator("exchange", group.label),
    ):
        totals: dict[str, FloatArray] = {}
        for pair, rows, (as_first, as_second) in zip(pairs, stacked, block, strict=True):
            for measure in pair.measures:
                with np.errstate(invalid="ignore"):  # both infinite: no difference, NaN
                    contrast = np.asarray(measure.compute(rows, as_first) - measure.compute(rows, as_second))
                totals[measure.name] = totals.get(measure.name, 0.0) + contrast / len(group.cells)
        for name, total in totals.items():
            values[name].append(total)
    return {name: np.concatenate(parts) for name, parts in values.items()}
