"""Comparisons of two models, runs or samples: differences with intervals and tests.

The command, Python and the page of a report make pairs of trials and give them to :func:`compare`.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.catalogue import study_named
from confidence_tasks.harness.workers import Lost, Workers
from confidence_tasks.report.cache import Cache, computed
from confidence_tasks.report.checks import (
    checks_of,
    conflicting_ids,
    different_questions,
    id_conflict_notice,
    id_conflicts,
)
from confidence_tasks.report.contrasts import Contrast, contrasts
from confidence_tasks.report.estimates import (
    Distribution,
    Settings,
    combined,
    distributions,
    interval_of_measure,
)
from confidence_tasks.report.labels import printable
from confidence_tasks.report.notices import Notice, in_order_of_severity, notice_if_any, notices
from confidence_tasks.report.results import results_and_lost
from confidence_tasks.report.task_trials import (
    ALL_TRIALS,
    Columns,
    Group,
    ModelTrials,
    TaskTrials,
    asked,
    in_order,
    split_by_source,
)
from confidence_tasks.report.trial_files import PROMPT, setting_names, short_value
from confidence_tasks.statistics import Interval, holm
from confidence_tasks.statistics.inference.tests import adjusted_for_all
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure, rows_of
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.standard import STANDARD, computable
from confidence_tasks.study.units import with_shared_units

FIRST, SECOND = "first", "second"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A measure of two models under one condition, on the questions that both were asked.

    Attributes
    ----------
    measure : str
        Name of the measure.
    first_interval, second_interval : Interval
        The measure of either model.
    difference : Interval
        First minus second, paired by question.
    p_value : float
        p-value of the difference, from the same pivot as its interval; NaN without an interval.
    p_adjusted : float
        The p-value after Holm's correction for the conditions.
    p_exchange : float
        p-value of the papers' test, which exchanges the models within questions and does not studentise.
    n_questions : int
        Number of questions.
    n_clusters : int, optional
        Number of units, if there are clusters of questions.
    design_effects : tuple of float
        Design effect of the measure of either model, and of the difference; NaN without clusters.
    study, task, condition : str
        What was asked.
    first, second : str
        Labels of the models.
    """

    measure: str
    first_interval: Interval
    second_interval: Interval
    difference: Interval
    p_value: float
    p_adjusted: float
    p_exchange: float
    n_questions: int
    n_clusters: int | None = None
    design_effects: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    study: str = ""
    task: str = ""
    condition: str = ""
    first: str = ""
    second: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Trials of two models, or of two samples, to compare.

    Attributes
    ----------
    first, second : mapping of str to ndarray, shape (n,)
        The trials of either.
    measures : tuple of str
        Names of measures.
    study : str
        Name of the study that has the measures; empty for the standard measures.
    conditions : tuple of str, optional
        Conditions whose trials are paired by question. By default the samples are independent: they share no question.
    labels : mapping
        What the comparisons are called: fields of :class:`Comparison`.
    """

    first: Columns
    second: Columns
    measures: tuple[str, ...]
    study: str = ""
    conditions: tuple[str, ...] | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)


def compare(
    pairs: Sequence[Pair], settings: Settings, workers: Workers | None = None, cache: Cache | None = None
) -> list[list[Comparison]]:
    """Compare the two sides of each pair by each measure; the p-values are not corrected yet.

    A pair that shares no question, or of which one side is empty, has no comparisons. Where ``workers`` and a ``cache``
    are given, comparisons are computed there and kept.
    """
    work = sum(
        len(columns["question_id"]) * settings.n_resamples
        for pair in pairs
        for columns in (pair.first, pair.second)
    )
    outcomes = computed(
        compared_trials,
        [(_name(pair), _arguments(pair, settings)) for pair in pairs],
        "comparisons",
        list[Comparison],
        workers,
        cache,
        enough=WORTH_WORKERS * len(pairs) / max(work, 1),
    )
    compared = []
    for pair, outcome in zip(pairs, outcomes, strict=True):
        found = compared_trials(*_arguments(pair, settings)) if isinstance(outcome, Lost) else outcome
        compared.append([replace(comparison, **pair.labels) for comparison in found])
    return compared


WORTH_WORKERS = 500_000_000
"""Number of trials times resamples above which worker processes save time."""


def _name(pair: Pair) -> str:
    return f"{pair.labels.get('first', 'A')} and {pair.labels.get('second', 'B')}"


def _arguments(pair: Pair, settings: Settings) -> tuple[Any, ...]:
    """Return the arguments of :func:`compared_trials`, which are the key in the cache: they leave out the labels."""
    first, second = dict(pair.first), dict(pair.second)
    return pair.study, pair.measures, pair.conditions, settings, first, second


def compared_trials(
    study: str,
    measures: Sequence[str],
    conditions: Sequence[str] | None,
    settings: Settings,
    first: Columns,
    second: Columns,
) -> list[Comparison]:
    """Compare trials as :class:`Pair` says; labels of the comparisons are left empty."""
    if conditions is None:
        columns, side = _stacked(first, second)
    else:
        columns, side = paired_trials(first, second, conditions)
    if set(side.tolist()) != {FIRST, SECOND}:
        return []
    if study:
        by_name = study_named(study).measures_by_name
    else:
        by_name = {measure.name: measure for measure in computable(STANDARD, columns["correct"])}
    chosen = [by_name[name] for name in measures if name in by_name]
    return list(compared_measures(columns, side, chosen, settings))


def compare_models(
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
    """Compare two models on the questions that both were asked, for each condition and measure.

    Parameters
    ----------
    first, second : ModelTrials
        The models.
    task_trials : TaskTrials
        The task.
    measures : sequence of str, optional
        Names of measures. By default the headline, tested and pooled measures of the study, without those that neither
        model has a value of.
    settings : Settings, optional
        Settings of intervals and tests.
    by : str, optional
        A column of texts, such as ``domain``. Each condition is then compared separately for each value of the column.
    workers, cache : optional
        Where comparisons are computed and kept.

    Raises
    ------
    ValueError
        If the study has no measure of a given name, if it has no such column, or if the column has too many values.
    """
    names = _chosen_measures(task_trials.study, measures)
    pairs = list(_pairs_by_condition(first, second, task_trials, names, by))
    compared = list(chain.from_iterable(compare(pairs, settings or Settings(), workers, cache)))
    corrected = []
    for name in names:
        of_measure = [comparison for comparison in compared if comparison.measure == name]
        if measures or any(map(_has_value, of_measure)):
            corrected += holm_corrected(of_measure)
    return corrected


def _chosen_measures(study: Study, measures: Sequence[str] | None) -> list[str]:
    """Return the names of the measures to compare, each once; ValueError if the study lacks one."""
    pooled = (measure.name for measure in study.pooled_measures)
    chosen = measures or (*study.headline_measures, *study.tested_measures, *pooled)
    known = study.measures_by_name
    for name in chosen:
        if name not in known:
            hint = did_you_mean(name, known) or "."
            raise ValueError(f"{study.name} has no measure {name!r}{hint} It has {', '.join(known)}")
    return list(dict.fromkeys(chosen))


def _pairs_by_condition(
    first: ModelTrials, second: ModelTrials, task_trials: TaskTrials, names: Sequence[str], by: str
) -> Iterator[Pair]:
    """Yield the pairs to compare: every shared condition, and all of them together for pooled measures."""
    study = task_trials.study
    pooled = {measure.name for measure in study.pooled_measures}
    by_condition = tuple(name for name in names if name not in pooled)
    over_conditions = tuple(name for name in names if name in pooled)
    conditions = tuple(_shared_conditions(first, second))
    parts: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
        *((condition, (condition,), by_condition) for condition in conditions),
        (ALL_TRIALS, conditions, over_conditions),
    ]
    labels = {"study": study.name, "task": task_trials.task, "first": first.label, "second": second.label}
    for value, one, other in _split(first, second, study, by):
        for condition, included, chosen in parts:
            if chosen:
                label = f"{condition}, {value}" if by else condition
                yield Pair(one, other, chosen, study.name, included, {**labels, "condition": label})


def _has_value(comparison: Comparison) -> bool:
    estimates = (comparison.first_interval.estimate, comparison.second_interval.estimate)
    return not all(map(math.isnan, estimates))


def model_pairs(
    ours: Sequence[TaskTrials],
    theirs: Sequence[TaskTrials],
    wanted: tuple[str | None, str | None] = (None, None),
    options: tuple[str, str] = ("--model-a", "--model-b"),
) -> tuple[list[tuple[TaskTrials, ModelTrials, ModelTrials]], dict[str, str]]:
    """Return the models to compare in each task, and for every other task the reason why it is not compared.

    ``wanted`` holds the name or label of the model of A and of B; None selects the only model. Error messages call
    them by the names in ``options``.

    Raises ValueError if a wanted model is in no task, or if None is wanted and there are several models.
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
        sides = [tasks.get(key) for tasks in by_task]
        if None in sides:
            unpaired[key[1]] = f"only {'A' if sides[0] else 'B'} has trials of this task"
            continue
        one, other = (task_trials for task_trials in sides if task_trials)
        chosen = [_model(*each) for each in zip((one, other), wanted, options, strict=True)]
        if reasons := [each for each in chosen if isinstance(each, str)]:
            unpaired[key[1]] = "; ".join(dict.fromkeys(reasons))
            continue
        a, b = (each for each in chosen if isinstance(each, ModelTrials))
        pairs.append((one, a, b))
    return pairs, unpaired


def _model(task_trials: TaskTrials, wanted: str | None, option: str) -> ModelTrials | str:
    """Return the model with the wanted label or name, or the only model; otherwise the reason why there is none."""
    labels = ", ".join(model.label for model in task_trials.models)
    if wanted is None:
        if len(task_trials.models) == 1:
            return task_trials.models[0]
        raise ValueError(f"{task_trials.task}: choose one of its models with {option}: {labels}")
    by_label = [model for model in task_trials.models if model.label == wanted]
    by_name = [model for model in task_trials.models if model.name == wanted]
    for models in (by_label, by_name):
        if len(models) == 1:
            return models[0]
    if by_name:
        return f"{wanted} ran with several settings: name one with {option}: {labels}"
    return f"it has no model {wanted} ({option}); its models are {labels}"


MOST_VALUES = 30
"""Maximum number of values of the column ``by``; a column with more values does not define groups."""


def _split(
    first: ModelTrials, second: ModelTrials, study: Study, by: str
) -> Iterator[tuple[str, Columns, Columns]]:
    """Yield the trials of the models for each value of a column that both have; without a column, all trials."""
    if not by:
        yield "", first.columns, second.columns
        return
    if study.column_types.get(by) is not str:
        texts = [name for name, kind in study.column_types.items() if kind is str]
        raise ValueError(f"{study.name} has no text column {by!r}; it has {', '.join(texts)}")
    values = sorted({*map(str, first.columns[by])} & {*map(str, second.columns[by])})
    if len(values) > MOST_VALUES:
        raise ValueError(f"{by} has {len(values)} values; choose a column with at most {MOST_VALUES}")
    for value in values:
        one, other = (
            rows_of(model.columns, model.columns[by].astype(str) == value) for model in (first, second)
        )
        yield printable(value), one, other


def compared_measures(
    columns: Columns, side: NDArray[Any], measures: Sequence[Measure], settings: Settings
) -> Iterator[Comparison]:
    """Compare measures of two sets of trials, paired by question.

    ``side``, of shape (n,), holds ``FIRST`` or ``SECOND`` for each trial.
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
            n_clusters=contrast.clusters.n if contrast.clusters else None,
            design_effects=(
                _design_effect(first[measure.name]),
                _design_effect(second[measure.name]),
                _design_effect(contrast),
            ),
        )


def _design_effect(found: Distribution | Contrast) -> float:
    return found.clusters.design_effect if found.clusters else math.nan


def paired_trials(first: Columns, second: Columns, conditions: Sequence[str]) -> tuple[Columns, NDArray[Any]]:
    """Stack the trials of both models on the questions that both were asked; return them with the side of each trial.

    Questions with one identifier and different texts are left out.
    """
    chosen = [
        _rows_in(columns, columns["condition"].tolist(), frozenset(conditions)) for columns in (first, second)
    ]
    cells = [asked(columns) for columns in chosen]
    common = {*cells[0]} & {*cells[1]} - conflicting_ids(chosen)
    one, other = with_shared_units(
        *(_rows_in(columns, keys, common) for columns, keys in zip(chosen, cells, strict=True))
    )
    return _stacked(one, other)


def _stacked(first: Columns, second: Columns) -> tuple[Columns, NDArray[Any]]:
    """Stack the trials of both models; return them with the side of each trial."""
    stacked = {name: np.concatenate([column, second[name]]) for name, column in first.items()}
    side = np.repeat([FIRST, SECOND], [len(columns["question_id"]) for columns in (first, second)])
    return stacked, side


def _rows_in(columns: Columns, keys: Iterable[Any], allowed: Container[Any]) -> Columns:
    """Return the trials whose key is allowed."""
    return rows_of(columns, np.flatnonzero([key in allowed for key in keys]))


def cautions(
    first: ModelTrials,
    second: ModelTrials,
    task_trials: TaskTrials,
    settings: Settings,
    cache: Cache | None = None,
) -> list[Notice]:
    """Return the notices about a comparison, serious ones first; they call the models A and B.

    The notices are those of the report's checks on the compared trials. Further notices say in which settings A and B
    differ, what only one of them was asked, and which questions are left out because their texts differ.
    """
    raised = [
        *id_conflict_notice((first.columns, second.columns)),
        *_asked_otherwise(first, second),
        *_not_shared(first, second),
    ]
    columns, side = paired_trials(first.columns, second.columns, _shared_conditions(first, second))
    if len(side):
        compared = tuple(
            replace(model, name=name, label=name, columns=rows_of(columns, side == of_model))
            for model, name, of_model in ((first, "A", FIRST), (second, "B", SECOND))
        )
        # Enough to see whether many resamples leave a measure undefined.
        fewer = replace(settings, n_resamples=min(settings.n_resamples, 1_000))
        ((results,), _) = results_and_lost([replace(task_trials, models=compared)], fewer, cache=cache)
        unpaired_only = (different_questions, id_conflicts)
        checks = [check for check in checks_of(task_trials.study) if check not in unpaired_only]
        raised += notices(results, checks)
    return in_order_of_severity(raised)


def _shared_conditions(first: ModelTrials, second: ModelTrials) -> list[str]:
    return in_order({*first.columns["condition"]} & {*second.columns["condition"]})


def _asked_otherwise(first: ModelTrials, second: ModelTrials) -> Iterator[Notice]:
    """Yield a notice of the settings and prompts in which A and B differ."""
    setups = [model.files[0].setup for model in (first, second)]
    origins = [
        {key: value for file in model.files for key, value in file.provenance.items()}
        for model in (first, second)
    ]
    settings = [
        *((key, *(setup.get(key, "not set") for setup in setups)) for key in sorted(set().union(*setups))),
        *((key, origins[0][key], origins[1][key]) for key in sorted(origins[0].keys() & origins[1].keys())),
    ]
    differing_settings = [each for each in settings if each[1] != each[2]]
    names = setting_names(key for key, _, _ in differing_settings)
    where = [f"{names[key]}: A {short_value(a)}, B {short_value(b)}" for key, a, b in differing_settings]
    prompts = [
        dict(zip(asked(model.columns), model.columns[PROMPT].tolist(), strict=True))
        for model in (first, second)
    ]
    # Digests of different harnesses cannot be compared; those of lm-eval begin with its name.
    comparable = [
        cell
        for cell in sorted(prompts[0].keys() & prompts[1].keys())
        if prompts[0][cell] and prompts[1][cell] and (" " in prompts[0][cell]) == (" " in prompts[1][cell])
    ]
    differing = [cell for cell in comparable if prompts[0][cell] != prompts[1][cell]]
    if differing:
        condition, _, name = differing[0]
        where.append(
            f"prompts: {len(differing)} of {len(comparable)} differ, such as that of {name} under {condition}"
        )
    yield from notice_if_any(
        "warning",
        "A and B ran with different settings",
        "These settings, instead of the models, may cause a difference.",
        [printable(each) for each in where],
    )


def _not_shared(first: ModelTrials, second: ModelTrials) -> Iterator[Notice]:
    """Yield a notice of the questions and conditions that only one of the models was asked."""
    of_first, of_second = (set(asked(model.columns)) for model in (first, second))
    where = []
    for name, cells, other in (("A", of_first, of_second), ("B", of_second, of_first)):
        shared = {cell[0] for cell in other}
        unshared = in_order({cell[0] for cell in cells} - shared)
        missing = sum(cell[0] in shared for cell in cells - other)
        where += [f"{name}: {missing} of {len(cells)} questions and conditions"] if missing else []
        where += [f"{name}: the conditions {', '.join(unshared)}"] if unshared else []
    yield from notice_if_any(
        "warning",
        "A and B do not share all questions",
        "The comparison uses only shared questions and conditions. The other questions may be harder or easier.",
        where,
    )


def credibly_worse(each: Comparison, study: Study, margin: float) -> bool:
    """Return True if the second model is worse than the first by more than a margin.

    The whole interval must lie beyond the margin, and the corrected p-value must be significant at the level of the
    interval. A measure without a better direction never counts as worse.
    """
    better = study.measures_by_name[each.measure].better
    limit = {"higher": each.difference.low, "lower": -each.difference.high}.get(better, -math.inf)
    return limit > margin and each.p_adjusted <= 1.0 - each.difference.level


def holm_corrected(of_measure: Sequence[Comparison]) -> list[Comparison]:
    """Correct the p-values of one measure for the number of conditions."""
    adjusted = adjusted_for_all([comparison.p_value for comparison in of_measure], holm)
    return [replace(comparison, p_adjusted=p) for comparison, p in zip(of_measure, adjusted, strict=True)]
