"""Estimates: every measure of a study in every group of trials, with an interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from confidence_tasks.report.estimates.averages import combined
from confidence_tasks.report.estimates.distributions import Distributions
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import Group, TrialSubset
from confidence_tasks.statistics import Interval
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.study.measures import Measure


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
