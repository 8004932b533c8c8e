"""The results of a task: estimates, and contrasts with the baseline, for every model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from confidence_tasks.harness.workers import Advance, Job, LostJob, Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.computed import computed
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials, in_order
from confidence_tasks.logs.trial_files import Skipped
from confidence_tasks.report.acceptance import AcceptedAnswers, accepted_answers
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.estimates.model_numbers import Numbers, model_numbers
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import Group, TrialSubset, groups_of, pooled_groups, split_by_source
from confidence_tasks.report.stopped import with_sequences
from confidence_tasks.report.study_report import study_report
from confidence_tasks.statistics.inference import bonferroni
from confidence_tasks.statistics.inference.tests import adjusted_for_all
from confidence_tasks.study.measure import Measure

WORTH_WORKERS, AT_ANY_NUMBER = 110_000, 3_500
"""Number of models times resamples above which worker processes save more time than their start takes.

What a model costs at any number of resamples counts as so many more of them.
"""


@dataclass(frozen=True)
class TaskResults:
    """The numbers of a report about one task.

    Attributes
    ----------
    task_trials : TaskTrials
        The trials.
    groups : dict
        For each model, the groups of trials that are columns of its tables.
    estimates : list of Estimated
        Every measure of every model in every group.
    contrasts : list of Contrast
        The tested measures of every condition against the baseline.
    settings : Settings
        How intervals and tests were computed.
    related : tuple of TaskTrials
        All tasks of the report, including this one; some tables compare tasks.
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
        """The analysis that the study's own tables and figures share, computed at first use."""
        analyse = study_report(self.task_trials.study).analysis
        return analyse and analyse(self.task_trials, self.settings)

    @cached_property
    def accepted(self) -> list[AcceptedAnswers]:
        """The thresholds of models and conditions with enough questions, computed at first use."""
        return list(accepted_answers(self.task_trials, self.settings))

    @cached_property
    def variants_by_model(self) -> dict[str, list[ModelTrials]]:
        """The variants of each model that was run with several settings, by the name of the model."""
        by_name: dict[str, list[ModelTrials]] = {}
        for model in self.models:
            by_name.setdefault(model.name, []).append(model)
        return {name: variants for name, variants in by_name.items() if len(variants) > 1}

    @cached_property
    def headline(self) -> list[Measure]:
        """The measures of the main table that any model has a value of; all of them if there is no such measure."""
        study = self.task_trials.study
        valued = {entry.measure for entry in self.estimates if not math.isnan(entry.interval.estimate)}
        every = [study.measures_by_name[name] for name in study.headline_measures]
        return [measure for measure in every if measure.name in valued] or every

    @property
    def reference(self) -> str:
        """The group that models are compared on: the design's reference, else its baseline, else the first group.

        In a study without tasks it is the first condition of the study that there is.
        """
        labels = [group.label for groups in self.groups.values() for group in groups]
        design, study = self.task_trials.design, self.task_trials.study
        preferred = (design.reference_group, design.baseline, *(() if study.designs else study.conditions))
        return next((label for label in preferred if label in labels), labels[0])

    @cached_property
    def conditions(self) -> list[str]:
        """Labels of the conditions of all models, in order."""
        return in_order(str(label) for model in self.models for label in set(model.columns["condition"]))

    @cached_property
    def subsets(self) -> dict[str, dict[str, tuple[TrialSubset, ...]]]:
        """Trials of each condition, one subset a source, by model and condition."""
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
        """Names of the groupings, such as ``"condition"``, in the order of the tables."""
        return list(dict.fromkeys(group.by for groups in self.groups.values() for group in groups))

    @cached_property
    def sources(self) -> list[str]:
        """Names of the sources of questions."""
        return sorted({str(name) for model in self.models for name in set(model.columns["source"])})

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str, str], Estimated]:
        return {(entry.model, entry.group, entry.source, entry.measure): entry for entry in self.estimates}

    def estimate(self, model: str, group: str, measure: str, source: str = "") -> Estimated | None:
        """Return an estimate; None if the model has no trials there.

        The estimates of a model with one source are found with and without the name of the source.
        """
        is_only_source = self._sources.get(model) == {source}
        return self._by_key.get((model, group, "" if is_only_source else source, measure))

    @cached_property
    def _sources(self) -> dict[str, set[str]]:
        return {model.label: set(map(str, model.columns["source"])) for model in self.models}

    @cached_property
    def _contrast_by_key(self) -> dict[tuple[str, str, str], Contrast]:
        return {(contrast.model, contrast.group, contrast.measure): contrast for contrast in self.contrasts}

    def contrast(self, model: str, group: str, measure: str) -> Contrast | None:
        """Return the contrast of a condition with the baseline; None for the baseline and for untested measures."""
        return self._contrast_by_key.get((model, group, measure))


def compute_results(
    group_by_task: Iterable[TaskTrials], settings: Settings | None = None
) -> Iterator[TaskResults]:
    """Compute the numbers of a report in this process, task by task."""
    yield from results_and_lost(group_by_task, settings or Settings())[0]


def results_without_numbers(group_by_task: Iterable[TaskTrials]) -> Iterator[TaskResults]:
    """Return results without estimates and contrasts, for checks of the trials alone."""
    tasks = tuple(group_by_task)
    for task in tasks:
        yield TaskResults(task, _groups(task), [], [], Settings(), tasks)


def results_and_lost(
    group_by_task: Iterable[TaskTrials],
    settings: Settings,
    advance: Advance | None = None,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> tuple[list[TaskResults], list[Skipped]]:
    """Compute the numbers of a report, model by model.

    The numbers are equal to the bit whichever ``workers`` compute them and whether they come from the ``cache``. The
    second value holds the files of the models whose process died; these models are in none of the results.
    """
    tasks = tuple(group_by_task)
    jobs = [_job(task, model, settings) for task in tasks for model in task.models]
    enough = WORTH_WORKERS / (settings.n_resamples + AT_ANY_NUMBER)
    outcomes = iter(
        computed(model_numbers, jobs, "numbers", Numbers, workers, cache, enough=enough, advance=advance)
    )
    if workers:
        workers.restart()  # what follows needs none of what they hold
    done: list[tuple[TaskTrials, list[Numbers]]] = []
    skipped: list[Skipped] = []
    for task in tasks:
        completed, lost = _split(task, list(islice(outcomes, len(task.models))))
        skipped += lost
        if completed:
            models = tuple(model for model, _ in completed)
            done.append((replace(task, models=models), [numbers for _, numbers in completed]))
    related = tuple(task for task, _ in done)
    results = [_results(task, numbers, settings, related) for task, numbers in done]
    return list(corrected_by_study(results)), skipped


def _job(task: TaskTrials, model: ModelTrials, settings: Settings) -> Job:
    """Return the arguments of :func:`model_numbers` for a model, with a name to show."""
    arguments = (
        task.study.name,
        task.design.baseline,
        replace(settings, groups=(), about=()),
        {**model.columns},
    )
    return f"{task.title}: {model.label}", arguments


def _split(
    task: TaskTrials, outcomes: Sequence[Numbers | LostJob]
) -> tuple[list[tuple[ModelTrials, Numbers]], list[Skipped]]:
    """Return the models of a task that have numbers, and the files of those whose process died."""
    completed: list[tuple[ModelTrials, Numbers]] = []
    skipped: list[Skipped] = []
    for model, outcome in zip(task.models, outcomes, strict=True):
        if isinstance(outcome, LostJob):
            skipped += [Skipped(file.path, f"{model.label}: {outcome.reason}") for file in model.files]
        else:
            completed.append((model, outcome))
    return completed, skipped


def _results(
    task: TaskTrials, numbers: Sequence[Numbers], settings: Settings, related: tuple[TaskTrials, ...]
) -> TaskResults:
    """Return the results of a task from the numbers of its models."""
    results = TaskResults(task, _groups(task), [], [], settings, related)
    for model, (estimated, contrasted) in zip(task.models, numbers, strict=True):
        named = (replace(entry, model=model.label) for entry in estimated)
        results.estimates.extend(with_sequences(task, model, named))
        results.contrasts.extend(
            each.between((model.label, each.group), (model.label, each.baseline)) for each in contrasted
        )
    return results


def _groups(task: TaskTrials) -> dict[str, list[Group]]:
    """Return the groups of trials of each model."""
    return {
        model.label: [*groups_of(task.study, model.columns), *pooled_groups(task.study, model.columns)]
        for model in task.models
    }


def corrected_by_study(results: Sequence[TaskResults]) -> Iterator[TaskResults]:
    """Correct the p-values of each measure for all comparisons of a model in a study: its tasks are one experiment."""
    p_values: dict[tuple[str, str, str], list[float]] = {}
    for task in results:
        for contrast in task.contrasts:
            p_values.setdefault(_family(task, contrast), []).append(contrast.p_value)
    adjusted = {family: iter(adjusted_for_all(values, bonferroni)) for family, values in p_values.items()}
    for task in results:
        corrected = [
            replace(contrast, p_adjusted=next(adjusted[_family(task, contrast)]))
            for contrast in task.contrasts
        ]
        yield replace(task, contrasts=corrected)


def _family(task: TaskResults, contrast: Contrast) -> tuple[str, str, str]:
    return task.task_trials.study.name, contrast.model, contrast.measure
