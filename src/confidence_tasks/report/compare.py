"""Two models, or two runs, paired by question: differences with intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.catalogue import studies
from confidence_tasks.report.cache import Cache, computed
from confidence_tasks.report.checks import (
    Notice,
    conflicting_ids,
    different_questions,
    id_conflict_notice,
    id_conflicts,
    in_order_of_severity,
    notice_if_any,
    notices,
)
from confidence_tasks.report.contrasts import adjusted_for_all, contrasts
from confidence_tasks.report.estimates import Settings, combined, distributions, interval_of_measure
from confidence_tasks.report.labels import printable
from confidence_tasks.report.results import ALL_TRIALS, results_and_lost
from confidence_tasks.report.task_trials import (
    Columns,
    Group,
    ModelTrials,
    TaskTrials,
    asked,
    in_order,
    split_by_source,
)
from confidence_tasks.report.trial_files import PROMPT
from confidence_tasks.report.workers import Lost, Workers
from confidence_tasks.statistics import Interval, holm
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure, rows_of
from confidence_tasks.study.reference import loaded

FIRST, SECOND = "first", "second"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A measure of two models under one condition, on the questions that both were asked.

    ``difference`` is the first minus the second, paired by question, and ``p_value`` from the same pivot; NaN where
    there is no interval. ``p_adjusted`` is the same after Holm's correction for the conditions. ``p_exchange`` is
    of the papers' test, which exchanges the models within questions and does not studentise. ``first`` and ``second``
    are the labels of the models.
    """

    measure: str
    first_interval: Interval
    second_interval: Interval
    difference: Interval
    p_value: float
    p_adjusted: float
    p_exchange: float
    n_questions: int
    study: str = ""
    task: str = ""
    condition: str = ""
    first: str = ""
    second: str = ""


def compare(
    first: ModelTrials,
    second: ModelTrials,
    task_trials: TaskTrials,
    measures: Sequence[str] | None = None,
    settings: Settings | None = None,
    by: str = "",
    *,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> list[Comparison]:
    """Compare two models on the questions that both were asked, condition by condition and measure by measure.

    Each measure leaves out the replies that lack what it needs, as in the report. Measures over all conditions are
    compared on the questions and conditions that both were asked. The default ``measures`` are the study's
    headline, tested and pooled ones, but those that neither model has a value of. With ``by``, a column of texts
    such as ``domain``, every condition is compared for each of its values by itself, and named by both.

    ValueError if the study has no measure of a given name, or no such column, or that has very many values.
    """
    study, settings = task_trials.study, settings or Settings()
    pooled = [measure.name for measure in study.pooled_measures]
    names = list(measures or dict.fromkeys((*study.headline_measures, *study.tested_measures, *pooled)))
    if unknown := [name for name in names if name not in study.measures_by_name]:
        raise ValueError(
            f"{study.name} has no measure {', '.join(unknown)}; it has {', '.join(study.measures_by_name)}"
        )
    conditions = _shared_conditions(first, second)
    whole = {"study": study.name, "task": task_trials.task, "first": first.label, "second": second.label}
    single = tuple(name for name in names if name not in pooled)
    over_all = tuple(name for name in names if name in pooled)
    jobs = [
        (
            {**whole, "condition": f"{condition}, {value}" if by else condition},
            (study.name, its_names, among, settings, dict(one.columns), dict(other.columns)),
        )
        for value, one, other in _split(first, second, study, by)
        for condition, among, its_names in (
            *((condition, [condition], single) for condition in conditions),
            (ALL_TRIALS, conditions, over_all),
        )
        if its_names
    ]
    by_measure: dict[str, list[Comparison]] = {name: [] for name in names}
    for found in chain.from_iterable(comparisons(jobs, workers, cache)):
        by_measure[found.measure].append(found)
    shown = []
    for its in by_measure.values():
        values = [of.estimate for each in its for of in (each.first_interval, each.second_interval)]
        if measures or not all(map(math.isnan, values)):
            shown += holm_corrected(its)
    return shown


def model_pairs(
    ours: Sequence[TaskTrials],
    theirs: Sequence[TaskTrials],
    wanted: tuple[str | None, str | None] = (None, None),
    options: tuple[str, str] = ("--model-a", "--model-b"),
) -> tuple[list[tuple[TaskTrials, ModelTrials, ModelTrials]], dict[str, str]]:
    """Return the models to compare, task by task, and why there are none in the other tasks.

    ``wanted`` has the name or label of the model of A and of B, None for the only one; messages name them by
    ``options``.

    ValueError if a model that is wanted is in no task, or none is wanted of several.
    """
    for side, name, option in zip((ours, theirs), wanted, options, strict=True):
        labels = dict.fromkeys(model.label for task_trials in side for model in task_trials.models)
        names = {model.name for task_trials in side for model in task_trials.models}
        if name is not None and side and name not in names.union(labels):
            raise ValueError(f"{option}: there is no {name}; choose one of {', '.join(labels)}")
    by_task = [
        {(task_trials.study.name, task_trials.task): task_trials for task_trials in side}
        for side in (ours, theirs)
    ]
    pairs, unpaired = [], {}
    for key in dict.fromkeys([*by_task[0], *by_task[1]]):
        here = [side.get(key) for side in by_task]
        if None in here:
            unpaired[key[1]] = f"only {'A' if here[0] else 'B'} has trials of this task"
            continue
        one, other = (task_trials for task_trials in here if task_trials)
        chosen = [_model(*each) for each in zip((one, other), wanted, options, strict=True)]
        if reasons := [each for each in chosen if isinstance(each, str)]:
            unpaired[key[1]] = "; ".join(dict.fromkeys(reasons))
            continue
        a, b = (each for each in chosen if isinstance(each, ModelTrials))
        pairs.append((one, a, b))
    return pairs, unpaired


def _model(task_trials: TaskTrials, wanted: str | None, option: str) -> ModelTrials | str:
    """Return the model asked for by its label or name, or the only one; otherwise why there is none."""
    labels = ", ".join(model.label for model in task_trials.models)
    if wanted is None:
        if len(task_trials.models) == 1:
            return task_trials.models[0]
        raise ValueError(f"{task_trials.task}: choose one of its models with {option}: {labels}")
    for named in ({model.label: [model] for model in task_trials.models}.get(wanted), task_trials.models):
        found = [model for model in named or () if wanted in (model.label, model.name)]
        if len(found) == 1:
            return found[0]
    if found:
        return f"{wanted} was asked in several ways: name one with {option}: {labels}"
    return f"it has no {wanted} ({option}), but {labels}"


MOST_VALUES = 30
"""Maximum number of values of a column by which models are compared: a column with more does not name groups."""


def _split(
    first: ModelTrials, second: ModelTrials, study: Study, by: str
) -> Iterator[tuple[str, ModelTrials, ModelTrials]]:
    """Yield the models' trials for each value of a column that both have; all of them without a column."""
    if not by:
        yield "", first, second
        return
    if study.column_types.get(by) is not str:
        texts = [name for name, kind in study.column_types.items() if kind is str]
        raise ValueError(f"{study.name} has no column of texts {by!r}; it has {', '.join(texts)}")
    values = sorted({*map(str, first.columns[by])} & {*map(str, second.columns[by])})
    if len(values) > MOST_VALUES:
        raise ValueError(f"{by} has {len(values)} values, and at most {MOST_VALUES} can be compared by")
    for value in values:
        one, other = (
            replace(model, columns=rows_of(model.columns, model.columns[by].astype(str) == value))
            for model in (first, second)
        )
        yield printable(value), one, other


def compared_models(
    study: str,
    measures: Sequence[str],
    conditions: Sequence[str],
    settings: Settings,
    first: Columns,
    second: Columns,
) -> list[Comparison]:
    """Compare measures of two models on the questions that both were asked under some conditions.

    A comparison says neither what the models are called nor what is compared.
    """
    (its,) = (each for each in studies() if each.name == study)
    columns, side = paired_trials(first, second, conditions)
    chosen = [its.measures_by_name[name] for name in measures]
    return list(compared_measures(columns, side, chosen, settings)) if len(side) else []


def comparisons(
    jobs: Sequence[NamedComparison], workers: Workers | None = None, cache: Cache | None = None
) -> list[list[Comparison]]:
    """Return what :func:`compared_models` gives for the arguments of each job, named as the job says."""
    work = sum(
        len(its["question_id"]) * settings.n_resamples for _, (*_, settings, a, b) in jobs for its in (a, b)
    )
    found = computed(
        compared_models,
        [(f"{named['first']} and {named['second']}", arguments) for named, arguments in jobs],
        "comparisons",
        list[Comparison],
        workers,
        cache,
        enough=WORTH_WORKERS * len(jobs) / max(work, 1),
    )
    return [
        [replace(each, **named) for each in (compared_models(*arguments) if isinstance(its, Lost) else its)]
        for (named, arguments), its in zip(jobs, found, strict=True)
    ]


NamedComparison: TypeAlias = tuple[Mapping[str, Any], tuple[Any, ...]]
"""The fields of a comparison that say what is compared, and the arguments of :func:`compared_models`."""

WORTH_WORKERS = 500_000_000
"""Number of trials times resamples above which worker processes save time."""


def compared_measures(
    columns: Columns, side: NDArray[Any], measures: Sequence[Measure], settings: Settings
) -> Iterator[Comparison]:
    """Compare measures of two sets of trials, paired by what questions both have.

    ``side``, of shape (n,), says whose each trial is: ``FIRST`` or ``SECOND``.
    """
    groups = [Group(name, "model", split_by_source(columns, side == name)) for name in (FIRST, SECOND)]
    drawn = distributions(columns, [cell for group in groups for cell in group.cells], measures, settings)
    first, second = (combined(group.cells, measures, drawn) for group in groups)
    n_questions = len(set(zip(columns["source"], columns["question_id"], strict=True)))
    by_name = {measure.name: measure for measure in measures}
    for contrast in contrasts(columns, groups, SECOND, measures, drawn, settings):
        measure = by_name[contrast.measure]
        yield Comparison(
            measure=measure.name,
            first_interval=interval_of_measure(measure, first, settings),
            second_interval=interval_of_measure(measure, second, settings),
            difference=contrast.interval,
            p_value=contrast.p_value,
            p_adjusted=contrast.p_value,
            p_exchange=contrast.p_exchange,
            n_questions=n_questions,
        )


def paired_trials(first: Columns, second: Columns, conditions: Sequence[str]) -> tuple[Columns, NDArray[Any]]:
    """Stack the trials of what both were asked under some conditions; say whose each trial is.

    Questions that share an id and differ in their text are left out.
    """
    chosen = [
        _kept(columns, columns["condition"].tolist(), frozenset(conditions)) for columns in (first, second)
    ]
    cells = [asked(columns) for columns in chosen]
    common = {*cells[0]} & {*cells[1]} - conflicting_ids(chosen)
    kept = [_kept(columns, its, common) for columns, its in zip(chosen, cells, strict=True)]
    stacked = {name: np.concatenate([column, kept[1][name]]) for name, column in kept[0].items()}
    side = np.repeat([FIRST, SECOND], [len(columns["question_id"]) for columns in kept])
    return stacked, side


def _kept(columns: Columns, values: Iterable[Any], known: Container[Any]) -> Columns:
    """Keep the trials of which a value is known."""
    return rows_of(columns, np.flatnonzero([value in known for value in values]))


def cautions(
    first: ModelTrials,
    second: ModelTrials,
    task_trials: TaskTrials,
    settings: Settings,
    cache: Cache | None = None,
) -> list[Notice]:
    """Return what calls a comparison into question, the serious first; it calls the models A and B.

    That is every check of the report, on the trials that are compared, how the ways differ in which A and B were
    asked, what only one of them was asked, and which questions are left out because their texts differ.
    """
    own = [
        *id_conflict_notice((first.columns, second.columns)),
        *_asked_otherwise(first, second),
        *_not_shared(first, second),
    ]
    columns, side = paired_trials(first.columns, second.columns, _shared_conditions(first, second))
    if len(side):
        compared = tuple(
            replace(model, name=name, label=name, columns=rows_of(columns, side == whose))
            for model, name, whose in ((first, "A", FIRST), (second, "B", SECOND))
        )
        # Enough to see whether many resamples leave a measure undefined.
        fewer = replace(settings, n_resamples=min(settings.n_resamples, 1_000))
        ((results,), _) = results_and_lost([replace(task_trials, models=compared)], fewer, cache=cache)
        of_unpaired = (different_questions, id_conflicts)
        checks = [check for check in loaded(task_trials.study.checks) if check not in of_unpaired]
        own += notices(results, checks)
    return in_order_of_severity(own)


def _shared_conditions(first: ModelTrials, second: ModelTrials) -> list[str]:
    return in_order({*first.columns["condition"]} & {*second.columns["condition"]})


def _asked_otherwise(first: ModelTrials, second: ModelTrials) -> Iterator[Notice]:
    """Say in what the ways differ that A and B were asked in."""
    setups = [model.files[0].setup for model in (first, second)]
    origins = [
        {key: value for file in model.files for key, value in file.provenance.items()}
        for model in (first, second)
    ]
    said = [
        *((key, *(setup.get(key, "not set") for setup in setups)) for key in sorted(set().union(*setups))),
        *((key, origins[0][key], origins[1][key]) for key in sorted(origins[0].keys() & origins[1].keys())),
    ]
    where = [f"{key}: A {a}, B {b}" for key, a, b in said if a != b]
    prompts = [
        dict(zip(asked(model.columns), model.columns[PROMPT].tolist(), strict=True))
        for model in (first, second)
    ]
    # The harnesses have digests of their own, which do not compare: those of lm-eval begin with its name.
    known = [
        cell
        for cell in sorted(prompts[0].keys() & prompts[1].keys())
        if prompts[0][cell] and prompts[1][cell] and (" " in prompts[0][cell]) == (" " in prompts[1][cell])
    ]
    differing = [cell for cell in known if prompts[0][cell] != prompts[1][cell]]
    if differing:
        condition, _, name = differing[0]
        where.append(
            f"prompts: {len(differing)} of {len(known)} differ, such as that of {name} under {condition}"
        )
    yield from notice_if_any(
        "warning",
        "A and B were asked in different ways",
        "What differs beside the model can explain a difference as well as the model can.",
        [printable(each) for each in where],
    )


def _not_shared(first: ModelTrials, second: ModelTrials) -> Iterator[Notice]:
    """Say what only one of the models was asked."""
    of_first, of_second = (set(asked(model.columns)) for model in (first, second))
    where = []
    for name, its, other in (("A", of_first, of_second), ("B", of_second, of_first)):
        conditions = {cell[0] for cell in other}
        alone = in_order({cell[0] for cell in its} - conditions)
        missing = sum(cell[0] in conditions for cell in its - other)
        where += [f"{name}: {missing} of {len(its)} questions and conditions"] if missing else []
        where += [f"{name}: the conditions {', '.join(alone)}"] if alone else []
    yield from notice_if_any(
        "warning",
        "Not all was asked of both",
        "Only what both were asked is compared. What only one was asked is left out, and may be harder or easier than"
        " the rest.",
        where,
    )


def credibly_worse(each: Comparison, study: Study, margin: float) -> bool:
    """Return whether the second model is worse than the first by more than a margin.

    All of the interval must say so, and the p-value that is corrected for the conditions; a measure that is neither
    better nor worse when it is higher says nothing.
    """
    better = study.measures_by_name[each.measure].better
    limit = {"higher": each.difference.low, "lower": -each.difference.high}.get(better, -math.inf)
    return limit > margin and each.p_adjusted <= 1.0 - each.difference.level


def holm_corrected(found: Sequence[Comparison]) -> list[Comparison]:
    """Correct the p-values of one measure for the conditions."""
    adjusted = adjusted_for_all([each.p_value for each in found], holm)
    return [replace(each, p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]
