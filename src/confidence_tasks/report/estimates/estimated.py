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
from confidence_tasks.study.measure import Measure


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
    groups: Sequence[Group], measures: Sequence[Measure], by_subset: Distributions, settings: Settings
) -> list[Estimated]:
    """Return the estimates of one model in each group, and in each source of a group if there are several.

    The name of the model is left empty.
    """
    table = []
    has_sources = len({subset.source for group in groups for subset in group.all_subsets}) > 1
    for group in groups:
        for source, subsets in _parts_of(group, has_sources):
            n = sum(len(subset.rows) for subset in subsets)
            by_name = combined(subsets, measures, by_subset, skips_undefined=group.skips_undefined)
            for measure in measures:
                interval = interval_of_measure(measure, by_name, settings)
                clusters = by_name[measure.name].clusters
                table.append(
                    Estimated("", group.label, group.by, source, measure.name, interval, n, clusters)
                )
    return table


def _parts_of(group: Group, has_sources: bool) -> Iterator[tuple[str, tuple[TrialSubset, ...]]]:
    """Yield the subsets of the mean of a group, and with several sources the subsets of each."""
    yield "", group.subsets
    if has_sources:
        for source in dict.fromkeys(subset.source for subset in group.all_subsets):
            yield source, tuple(subset for subset in group.all_subsets if subset.source == source)
