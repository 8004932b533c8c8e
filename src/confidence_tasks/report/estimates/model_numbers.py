"""All estimates and contrasts of one model, which a process computes and the cache keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from confidence_tasks.catalogue import study_named
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.contrasts import contrasts
from confidence_tasks.report.estimates.distributions import Distributions, distributions
from confidence_tasks.report.estimates.estimated import Estimated, estimates
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import BY_CONDITION, Group, groups_of, pooled_groups
from confidence_tasks.report.study_report import study_report
from confidence_tasks.study.definition import Study

# The numbers of one model --------------------------------------------------------------------------------------------


Numbers: TypeAlias = tuple[list[Estimated], list[Contrast]]
"""Estimates and contrasts of one model, without its name: they do not depend on it, so they can be cached."""


def model_numbers(study: str, baseline: str, settings: Settings, columns: Columns) -> Numbers:
    """Compute the estimates of one model, and the contrasts of its conditions with the ``baseline``."""
    definition = study_named(study)
    groups = groups_of(definition, columns)
    drawn = _distributions_of(definition, groups, columns, settings)
    estimated = estimates(groups, definition.measures, drawn, settings)
    conditions = [_with_all_sources(group) for group in groups if group.by == BY_CONDITION]
    tested = [definition.measures_by_name[name] for name in definition.tested_measures]
    contrasted = contrasts(columns, conditions, baseline, tested, drawn, settings)
    for group in pooled_groups(definition, columns):
        pooled = distributions(columns, group.subsets, definition.pooled_measures, settings)
        estimated += estimates([group], definition.pooled_measures, pooled, settings)
    return estimated, contrasted


def _distributions_of(
    study: Study, groups: Sequence[Group], columns: Columns, settings: Settings
) -> Distributions:
    """Return the distribution of every measure; some studies compute those of some measures themselves."""
    subsets = [subset for group in groups for subset in group.all_subsets]
    across_conditions = study_report(study).cross_condition_distributions
    own = across_conditions(columns, subsets, settings) if across_conditions else {}
    own_names = {name for _, name in own}
    others = [measure for measure in study.measures if measure.name not in own_names]
    return {**distributions(columns, subsets, others, settings), **own}


def _with_all_sources(group: Group) -> Group:
    return replace(group, subsets=group.all_subsets, not_averaged=())
