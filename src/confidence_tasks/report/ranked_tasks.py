"""Which trials of several models are ranked: those on the questions that all of them were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from confidence_tasks.harness.workers import LostJob, Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.computed import computed
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials, in_order, question_keys
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.checks import checks_of
from confidence_tasks.report.estimates.paired_trials import shared_trials
from confidence_tasks.report.estimates.ranking import Ranking, rank_models
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import chosen_measures
from confidence_tasks.report.groups import ALL_TRIALS
from confidence_tasks.report.notices import Notice, in_order_of_severity, notice_if_any, notices
from confidence_tasks.report.question_checks import different_questions
from confidence_tasks.report.results import results_without_numbers


def rank_tasks(
    tasks: Sequence[TaskTrials],
    measures: Sequence[str] | None = None,
    settings: Settings | None = None,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> list[Ranking]:
    """Rank the models of each task, by each measure and under each condition that all models have.

    Parameters
    ----------
    tasks : sequence of TaskTrials
        The tasks; those with one model are left out.
    measures : sequence of str, optional
        Names of measures, by default the headline measures of each study.
    settings : Settings, optional
        Settings of intervals and tests. All rankings of a task hold at once with their level.
    workers, cache : optional
        Where rankings are computed and kept.

    Raises
    ------
    ValueError
        If a study has no measure of a given name.
    """
    named: list[NamedJob] = []
    for task in tasks:
        if len(task.models) > 1:
            named += _jobs(task, measures, settings or Settings())
    rankings = _computed(named, workers, cache)
    return rankings if measures else [each for each in rankings if each.has_values]


NamedJob: TypeAlias = tuple[dict[str, Any], tuple[Any, ...]]
"""Names of a ranking, and the arguments of :func:`rank_models`."""


def _computed(named: Sequence[NamedJob], workers: Workers | None, cache: Cache | None) -> list[Ranking]:
    jobs = [(f"{names['task']}, {names['condition']}", arguments) for names, arguments in named]
    outcomes = computed(rank_models, jobs, "rankings", list[Ranking], workers, cache, enough=WORTH_WORKERS)
    rankings = []
    for (names, arguments), outcome in zip(named, outcomes, strict=True):
        found = rank_models(*arguments) if isinstance(outcome, LostJob) else outcome
        rankings += [replace(ranking, **names) for ranking in found]
    return rankings


WORTH_WORKERS = 8
"""Number of conditions from which worker processes save time."""


def _jobs(task: TaskTrials, measures: Sequence[str] | None, settings: Settings) -> Iterator[NamedJob]:
    """Yield what is to be computed for each condition."""
    parts = _parts(task, measures)
    n_rankings = sum(len(chosen) for _, _, chosen in parts)
    columns = [model.columns for model in task.models]
    labels = tuple(model.label for model in task.models)
    for condition, included, chosen in parts:
        shared = shared_trials(columns, included)
        if len(shared[0]["question_id"]):
            yield (
                {"study": task.study.name, "task": task.task, "condition": condition},
                (task.study.name, chosen, settings, n_rankings, labels, *map(dict, shared)),
            )


def _parts(task: TaskTrials, measures: Sequence[str] | None) -> list[tuple[str, list[str], tuple[str, ...]]]:
    """Return what is ranked: the label, its conditions and the measures.

    Each shared condition has a ranking by each measure; pooled measures are over all shared conditions.
    """
    names = chosen_measures(task.study, measures or task.study.headline_measures)
    pooled = {measure.name for measure in task.study.pooled_measures}
    conditions = _shared_conditions(task)
    single = tuple(name for name in names if name not in pooled)
    over_all = tuple(name for name in names if name in pooled)
    parts = [(label, [label], single) for label in conditions] if single else []
    return [*parts, (ALL_TRIALS, conditions, over_all)] if over_all else parts


def _shared_conditions(task: TaskTrials) -> list[str]:
    return in_order(set.intersection(*(set(model.columns["condition"].tolist()) for model in task.models)))


def rank_on_conditions(
    task: TaskTrials,
    measure: str,
    conditions: Sequence[str],
    settings: Settings,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> Ranking | None:
    """Rank the models of a task by one measure on some conditions; None if they share no question."""
    shared = shared_trials([model.columns for model in task.models], conditions)
    if not len(shared[0]["question_id"]):
        return None
    labels = tuple(model.label for model in task.models)
    arguments = (task.study.name, (measure,), settings, 1, labels, *map(dict, shared))
    (ranking,) = _computed([({"task": task.task, "condition": ""}, arguments)], workers, cache)
    return ranking


def joined_tasks(by_path: Mapping[str, Sequence[TaskTrials]]) -> list[TaskTrials]:
    """Return the tasks of several paths with the models of all; a label that several paths have names its path.

    Models of different paths are never pooled, even if they have one name and the same settings.
    """
    parts: dict[tuple[str, str], list[tuple[str, TaskTrials]]] = {}
    for path, tasks in by_path.items():
        for task in tasks:
            parts.setdefault((task.study.name, task.task), []).append((path, task))
    return [replace(of_task[0][1], models=tuple(_models(of_task))) for of_task in parts.values()]


def _models(of_task: Sequence[tuple[str, TaskTrials]]) -> Iterator[ModelTrials]:
    counts = Counter(model.label for _, task in of_task for model in task.models)
    for path, task in of_task:
        for model in task.models:
            repeated = counts[model.label] > 1
            yield replace(model, label=printable(f"{model.label} [{path}]")) if repeated else model


def cautions_of_many(task: TaskTrials) -> list[Notice]:
    """Return the notices about the comparison of all models of a task, serious ones first."""
    (results,) = results_without_numbers([task])
    checks = [check for check in checks_of(task.study) if check is not different_questions]
    return in_order_of_severity([*left_out(task), *notices(results, checks)])


def left_out(task: TaskTrials) -> Iterator[Notice]:
    """Yield the notice of the questions that are not compared, as some model was not asked them."""
    asked = [set(question_keys(model.columns)) for model in task.models]
    common = set.intersection(*asked)
    counts = Counter(key for of_model in asked for key in of_model)
    where = [
        f"{model.label}: asked {len(of_model):,}, of which {len(of_model - common):,} are left out"
        for model, of_model in zip(task.models, asked, strict=True)
    ]
    yield from notice_if_any(
        "warning",
        f"{len(common):,} of {len(counts):,} questions and conditions were asked of every model",
        "The ranks are about these only. A model that was asked few questions limits the comparison of all.",
        where if len(common) < len(counts) else (),
    )
