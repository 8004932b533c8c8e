"""What the trials of a task say: estimates, and contrasts with the baseline, for every model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.catalogue import studies
from confidence_tasks.report.cache import Cache, computed
from confidence_tasks.report.contrasts import Contrast, adjusted_for_all, contrasts
from confidence_tasks.report.estimates import Estimated, Settings, distributions, estimates
from confidence_tasks.report.labels import why_missing
from confidence_tasks.report.task_trials import (
    BY_CONDITION,
    Columns,
    Group,
    ModelTrials,
    TaskTrials,
    TrialSubset,
    in_order,
    split_by_source,
)
from confidence_tasks.report.trial_files import Skipped
from confidence_tasks.report.workers import Advance, Job, Lost, Workers
from confidence_tasks.statistics.inference import bonferroni
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure

ALL_TRIALS = "all trials"
"""Label of the group of the measures that take a model's trials together."""


Numbers: TypeAlias = tuple[list[Estimated], list[Contrast]]
"""Results of one model, without its name: they are the same whatever the model is called."""

WORTH_WORKERS = 300_000
"""Number of models times resamples above which worker processes, which take 3 s each to start, save time."""


@dataclass(frozen=True)
class TaskResults:
    """The numbers of a report about one task.

    By model, ``groups`` has the groups of trials that its tables have; ``contrasts`` are the tested measures of
    every condition against the baseline. ``related`` are all tasks of the report, this one among them, as some
    tables set one beside another.
    """

    task_trials: TaskTrials
    groups: dict[str, list[Group]]
    estimates: list[Estimated]
    contrasts: list[Contrast]
    settings: Settings
    related: tuple[TaskTrials, ...]

    @property
    def models(self) -> tuple[ModelTrials, ...]:
        """The models, in order."""
        return self.task_trials.models

    @cached_property
    def analysis(self) -> Any:
        """Analysis that the study's own tables and figures share."""
        analyse = self.task_trials.study.analysis
        return analyse and analyse(self.task_trials, self.settings)

    @cached_property
    def asked_in_several_ways(self) -> dict[str, list[ModelTrials]]:
        """Trials of models that were asked in several ways, by the name of the model."""
        by_name: dict[str, list[ModelTrials]] = {}
        for model in self.models:
            by_name.setdefault(model.name, []).append(model)
        return {name: its for name, its in by_name.items() if len(its) > 1}

    @cached_property
    def headline(self) -> list[Measure]:
        """The measures of the main table, but for those that no model has a value of, if others are left."""
        study = self.task_trials.study
        valued = {entry.measure for entry in self.estimates if not math.isnan(entry.interval.estimate)}
        every = [study.measures_by_name[name] for name in study.headline_measures]
        return [measure for measure in every if measure.name in valued] or every

    @property
    def reference(self) -> str:
        """The group to compare models on: the design's, else its baseline, else the first one."""
        labels = [group.label for groups in self.groups.values() for group in groups]
        design = self.task_trials.design
        return next(
            (label for label in (design.reference_group, design.baseline) if label in labels), labels[0]
        )

    @cached_property
    def conditions(self) -> list[str]:
        """Labels of all conditions that any model was asked under, in order."""
        return in_order(str(label) for model in self.models for label in set(model.columns["condition"]))

    @cached_property
    def cells(self) -> dict[str, dict[str, tuple[TrialSubset, ...]]]:
        """Trials of each condition, one cell a source, by model and condition."""
        return {
            model.label: {
                condition: split_by_source(model.columns, model.columns["condition"] == condition)
                for condition in self.conditions
            }
            for model in self.models
        }

    def labels(self, by: str) -> list[str]:
        """Labels of the groups of a grouping, in order."""
        return in_order(group.label for groups in self.groups.values() for group in groups if group.by == by)

    @cached_property
    def groupings(self) -> list[str]:
        """Groupings of trials, conditions first."""
        return list(dict.fromkeys(group.by for groups in self.groups.values() for group in groups))

    @cached_property
    def sources(self) -> list[str]:
        """Names of the question sources."""
        return sorted({str(name) for model in self.models for name in set(model.columns["source"])})

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str, str], Estimated]:
        return {(entry.model, entry.group, entry.source, entry.measure): entry for entry in self.estimates}

    def estimate(self, model: str, group: str, measure: str, source: str = "") -> Estimated | None:
        """Return an entry of the tables; None where a model was not asked.

        A model that was asked of one source has its entries under that name, too.
        """
        alone = self._sources.get(model) == {source}
        return self._by_key.get((model, group, "" if alone else source, measure))

    @cached_property
    def _sources(self) -> dict[str, set[str]]:
        return {model.label: set(map(str, model.columns["source"])) for model in self.models}

    @cached_property
    def _contrast_by_key(self) -> dict[tuple[str, str, str], Contrast]:
        return {(contrast.model, contrast.group, contrast.measure): contrast for contrast in self.contrasts}

    def contrast(self, model: str, group: str, measure: str) -> Contrast | None:
        """Return a condition's contrast with the baseline; None for the baseline and for measures not tested."""
        return self._contrast_by_key.get((model, group, measure))


def compute_results(
    group_by_task: Iterable[TaskTrials], settings: Settings | None = None
) -> Iterator[TaskResults]:
    """Compute the numbers of a report in this process, task by task."""
    yield from results_and_lost(group_by_task, settings or Settings())[0]


def results_and_lost(
    group_by_task: Iterable[TaskTrials],
    settings: Settings,
    advance: Advance | None = None,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> tuple[list[TaskResults], list[Skipped]]:
    """Compute the numbers of a report model by model, in ``workers``: the numbers are the same to the bit wherever.

    The ``cache`` has what is known of the same trials, and keeps what is computed. The second value returned are the
    files of models whose process died: these are in none of the results.
    """
    every = tuple(group_by_task)
    own = replace(settings, groups=())
    jobs: list[Job] = [
        (f"{its.design.title}: {model.label}", (its.study.name, its.design.baseline, own, {**model.columns}))
        for its in every
        for model in its.models
    ]
    enough = WORTH_WORKERS / settings.n_resamples
    found = iter(
        computed(model_numbers, jobs, "numbers", Numbers, workers, cache, enough=enough, advance=advance)
    )
    known: list[tuple[TaskTrials, list[Numbers]]] = []
    skipped: list[Skipped] = []
    for task_trials in every:
        numbers = [(model, next(found)) for model in task_trials.models]
        left = [(model, its) for model, its in numbers if not isinstance(its, Lost)]
        if left:
            models = tuple(model for model, _ in left)
            known.append((replace(task_trials, models=models), [its for _, its in left]))
        skipped += [
            Skipped(file.path, f"{model.label}: {its.reason}")
            for model, its in numbers
            if isinstance(its, Lost)
            for file in model.files
        ]
    related = tuple(task_trials for task_trials, _ in known)
    results = []
    for task_trials, its in known:
        study = task_trials.study
        task = TaskResults(task_trials, {}, [], [], settings, related)
        for model, (found_of_model, compared) in zip(task_trials.models, its, strict=True):
            task.groups[model.label] = [*study.grouping(model.columns), *_whole(study, model.columns)]
            task.estimates.extend(replace(entry, model=model.label) for entry in found_of_model)
            task.contrasts.extend(replace(contrast, model=model.label) for contrast in compared)
        results.append(task)
    return list(corrected_by_study(results)), skipped


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


def model_numbers(study: str, baseline: str, settings: Settings, columns: Columns) -> Numbers:
    """Compute what is told of one model from its trials; others are compared with the condition ``baseline``."""
    (its,) = (each for each in studies() if each.name == study)
    groups = its.grouping(columns)
    cells = [cell for group in groups for cell in (*group.cells, *group.apart)]
    own = (
        its.cross_condition_distributions(columns, cells, settings)
        if its.cross_condition_distributions
        else {}
    )
    named = {name for _, name in own}
    others = [measure for measure in its.measures if measure.name not in named]
    drawn = {**distributions(columns, cells, others, settings), **own}
    found = estimates(groups, its.measures, drawn, settings)
    conditions = [
        replace(group, cells=(*group.cells, *group.apart), apart=())
        for group in groups
        if group.by == BY_CONDITION
    ]
    tested = [its.measures_by_name[name] for name in its.tested_measures]
    compared = contrasts(columns, conditions, baseline, tested, drawn, settings)
    for every in _whole(its, columns):
        pooled = distributions(columns, every.cells, its.pooled_measures, settings)
        found += estimates([every], its.pooled_measures, pooled, settings)
    return found, compared


def _whole(study: Study, columns: Columns) -> list[Group]:
    """Return the group of all trials, if the study has measures of it."""
    chosen = np.ones(len(columns["question_id"]), dtype=bool)
    return [Group(ALL_TRIALS, ALL_TRIALS, split_by_source(columns, chosen))] if study.pooled_measures else []


# As tables ----------------------------------------------------------------------------------------------------------


def estimates_frame(results: Iterable[TaskResults]) -> pd.DataFrame:
    """Return every estimate of a report as a table, one row each.

    Columns are ``study``, ``task``, ``model``, ``by``, ``group``, ``source`` (empty for the mean over sources),
    ``measure``, ``value``, ``low``, ``high``, ``level``, ``n`` (trials), ``n_questions``, ``n_resamples``,
    ``n_undefined`` and ``reason`` (why a value or an interval is missing).
    """
    rows = [
        {
            **_row(task, entry, ("model", "by", "group", "source", "measure")),
            "n": entry.n,
            "n_questions": entry.interval.n_units,
            "n_resamples": entry.interval.n_resamples,
            "n_undefined": entry.interval.n_undefined,
            "reason": why_missing(entry.interval),
        }
        for task in results
        for entry in task.estimates
    ]
    return pd.DataFrame(rows)


def contrasts_frame(results: Iterable[TaskResults]) -> pd.DataFrame:
    """Return every contrast with a baseline as a table, one row each.

    Columns are ``study``, ``task``, ``model``, ``condition``, ``baseline``, ``measure``, ``value`` (the
    difference), ``low``, ``high``, ``level``, ``p_value`` (from the same pivot as the interval), ``p_adjusted``
    (Bonferroni, over all comparisons of the measure in the study's tasks), ``p_exchange`` (of the papers' exchange
    test, not corrected), ``method`` (the pivot), ``n_questions`` and ``reason`` (why the difference or its interval
    is missing).
    """
    rows = [
        {
            **_row(task, contrast, ("model", "group", "baseline", "measure")),
            "p_value": contrast.p_value,
            "p_adjusted": contrast.p_adjusted,
            "p_exchange": contrast.p_exchange,
            "method": contrast.interval.method,
            "n_questions": contrast.interval.n_units,
            "reason": why_missing(contrast.interval),
        }
        for task in results
        for contrast in task.contrasts
    ]
    return pd.DataFrame(rows).rename(columns={"group": "condition"})


def _row(task: TaskResults, entry: Estimated | Contrast, names: Sequence[str]) -> dict[str, Any]:
    """Return what an entry is of, and its value and interval."""
    interval = entry.interval
    return {
        "study": task.task_trials.study.name,
        "task": task.task_trials.task,
        **{name: getattr(entry, name) for name in names},
        "value": float(interval.estimate),
        "low": float(interval.low),
        "high": float(interval.high),
        "level": interval.level,
    }
