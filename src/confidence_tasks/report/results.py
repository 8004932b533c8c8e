"""What the trials of a task say: estimates, and contrasts with the baseline, for every model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from confidence_tasks.report.contrasts import Contrast, adjusted_for_all, contrasts
from confidence_tasks.report.estimates import Distributions, Estimated, Settings, distributions, estimates
from confidence_tasks.report.groups import BY_CONDITION, Group, TrialSubset, in_order, split_by_source
from confidence_tasks.report.task_trials import ModelTrials, TaskTrials
from confidence_tasks.statistics.inference import bonferroni
from confidence_tasks.study.measures import Measure

ALL_TRIALS = "all trials"
"""Label of the group of the measures that take a model's trials together."""


class Resampler(Protocol):
    """All models of a task, resampled together by a study that knows a cheaper way than measure by measure."""

    def distributions(self, model: ModelTrials, cells: Iterable[TrialSubset]) -> Distributions:
        """Return every measure of some cells of a model, over the resamples of their questions."""


Advance = Callable[[str], None]
"""Told what was just computed."""


@dataclass(frozen=True)
class TaskResults:
    """The numbers of a report about one task.

    Attributes
    ----------
    task_trials : TaskTrials
        The task and its trials.
    groups : mapping of str to list of Group
        By model, the groups of trials that its tables have.
    estimates : list of Estimated
        Every measure of every model and group.
    contrasts : list of Contrast
        The tested measures of every model and condition against the baseline.
    settings : Settings
        How uncertainty was computed.
    related : tuple of TaskTrials
        All tasks of the report, this one among them: some tables set one task beside another.
    resampler : Resampler, optional
        What a study that resamples all models at once keeps of it for its own tables and figures.
    """

    task_trials: TaskTrials
    groups: dict[str, list[Group]]
    estimates: list[Estimated]
    contrasts: list[Contrast]
    settings: Settings
    related: tuple[TaskTrials, ...]
    resampler: Resampler | None = None

    @property
    def models(self) -> tuple[ModelTrials, ...]:
        """The models, in order."""
        return self.task_trials.models

    @cached_property
    def asked_in_several_ways(self) -> dict[str, list[ModelTrials]]:
        """By name, the models that were asked in several ways: the trials of each way."""
        by_name: dict[str, list[ModelTrials]] = {}
        for model in self.models:
            by_name.setdefault(model.name, []).append(model)
        return {name: its for name, its in by_name.items() if len(its) > 1}

    @cached_property
    def headline(self) -> list[Measure]:
        """The measures of the main table, but for those that no model has a value of, if others are left."""
        study = self.task_trials.study
        valued = {entry.measure for entry in self.estimates if not math.isnan(entry.interval.estimate)}
        every = [study.measure[name] for name in study.headline]
        return [measure for measure in every if measure.name in valued] or every

    @property
    def reference(self) -> str:
        """The group to compare models on: the design's, else its baseline, else the first one."""
        labels = [group.label for groups in self.groups.values() for group in groups]
        design = self.task_trials.design
        return next((label for label in (design.reference, design.baseline) if label in labels), labels[0])

    @cached_property
    def conditions(self) -> list[str]:
        """Labels of all conditions that any model was asked under, in order."""
        return in_order(str(label) for model in self.models for label in set(model.columns["condition"]))

    def labels(self, by: str) -> list[str]:
        """Labels of the groups of a grouping, in order."""
        return in_order(group.label for groups in self.groups.values() for group in groups if group.by == by)

    @cached_property
    def groupings(self) -> list[str]:
        """What trials are grouped by, conditions first."""
        return list(dict.fromkeys(group.by for groups in self.groups.values() for group in groups))

    @cached_property
    def sources(self) -> list[str]:
        """Names of the question sources."""
        return sorted({str(name) for model in self.models for name in set(model.columns["source"])})

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str, str], Estimated]:
        return {(entry.model, entry.group, entry.source, entry.measure): entry for entry in self.estimates}

    def estimate(self, model: str, group: str, measure: str, source: str = "") -> Estimated | None:
        """Return an entry of the tables; None where a model was not asked."""
        return self._by_key.get((model, group, source, measure))

    @cached_property
    def _contrast_by_key(self) -> dict[tuple[str, str, str], Contrast]:
        return {(contrast.model, contrast.group, contrast.measure): contrast for contrast in self.contrasts}

    def contrast(self, model: str, group: str, measure: str) -> Contrast | None:
        """Return a condition's contrast with the baseline; None for the baseline and for measures not tested."""
        return self._contrast_by_key.get((model, group, measure))


def compute_results(
    group_by_task: Iterable[TaskTrials], settings: Settings | None = None, advance: Advance | None = None
) -> Iterator[TaskResults]:
    """Compute the numbers of a report, task by task.

    Parameters
    ----------
    tasks : iterable of TaskTrials
        Tasks with their trials.
    settings : Settings, optional
        Number of resamples, level and seed.
    advance : callable, optional
        Called after each model.
    """
    every = tuple(group_by_task)
    results = [
        _findings(task_trials, every, settings or Settings(), advance or (lambda what: None))
        for task_trials in every
    ]
    yield from corrected_by_study(results)


def corrected_by_study(results: Sequence[TaskResults]) -> Iterator[TaskResults]:
    """Correct the p-values of each measure for all that a model's study compares: its tasks are one experiment."""
    p_values: dict[tuple[str, str, str], list[float]] = {}
    for task in results:
        for contrast in task.contrasts:
            p_values.setdefault(_family(task, contrast), []).append(contrast.p_value)
    adjusted = {key: iter(adjusted_for_all(its, bonferroni)) for key, its in p_values.items()}
    for task in results:
        corrected = [
            replace(contrast, p_adjusted=next(adjusted[_family(task, contrast)]))
            for contrast in task.contrasts
        ]
        yield replace(task, contrasts=corrected)


def _family(task: TaskResults, contrast: Contrast) -> tuple[str, str, str]:
    return task.task_trials.study.name, contrast.model, contrast.measure


def _findings(
    task_trials: TaskTrials, related: tuple[TaskTrials, ...], settings: Settings, advance: Advance
) -> TaskResults:
    study = task_trials.study
    all_groups: dict[str, list[Group]] = {}
    found: list[Estimated] = []
    compared: list[Contrast] = []
    tested = [study.measure[name] for name in study.tested]
    resampler = study.resampler(task_trials, settings) if study.resampler else None
    for model in task_trials.models:
        groups = study.grouping(model.columns)
        cells = [cell for group in groups for cell in (*group.cells, *group.apart)]
        drawn = (
            resampler.distributions(model, cells)
            if resampler
            else distributions(model.columns, cells, study.measures, settings)
        )
        found += estimates(model.label, groups, study.measures, drawn, settings)
        conditions = [
            replace(group, cells=(*group.cells, *group.apart), apart=())
            for group in groups
            if group.by == BY_CONDITION
        ]
        compared += contrasts(
            model.label, model.columns, conditions, task_trials.design.baseline, tested, drawn, settings
        )
        if study.pooled:
            every = Group(
                ALL_TRIALS, ALL_TRIALS, split_by_source(model.columns, np.ones(len(model), dtype=bool))
            )
            drawn = distributions(model.columns, every.cells, study.pooled, settings)
            found += estimates(model.label, [every], study.pooled, drawn, settings)
            groups = [*groups, every]
        all_groups[model.label] = groups
        advance(f"{task_trials.design.title}: {model.label}")
    return TaskResults(task_trials, all_groups, found, compared, settings, related, resampler)
