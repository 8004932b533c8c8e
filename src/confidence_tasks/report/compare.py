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
from confidence_tasks.harness.workers import LostJob, Workers
from confidence_tasks.logs.cache import Cache, computed
from confidence_tasks.logs.task_trials import Columns, ModelTrials, TaskTrials, in_order, question_keys
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.checks import conflicting_ids
from confidence_tasks.report.contrasts import Contrast, contrasts
from confidence_tasks.report.estimates import (
    Distribution,
    Settings,
    combined,
    distributions,
    interval_of_measure,
)
from confidence_tasks.report.groups import ALL_TRIALS, Group, split_by_source
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
        found = compared_trials(*_arguments(pair, settings)) if isinstance(outcome, LostJob) else outcome
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
    names = chosen_measures(task_trials.study, measures)
    pairs = list(_pairs_by_condition(first, second, task_trials, names, by))
    compared = list(chain.from_iterable(compare(pairs, settings or Settings(), workers, cache)))
    corrected = []
    for name in names:
        of_measure = [comparison for comparison in compared if comparison.measure == name]
        if measures or any(map(_has_value, of_measure)):
            corrected += holm_corrected(of_measure)
    return corrected


def chosen_measures(study: Study, measures: Sequence[str] | None) -> list[str]:
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
    parts = list(_parts(study, names, shared_conditions(first, second)))
    labels = {"study": study.name, "task": task_trials.task, "first": first.label, "second": second.label}
    for value, one, other in _split(first, second, study, by):
        for condition, included, measures in parts:
            label = f"{condition}, {value}" if by else condition
            yield Pair(one, other, measures, study.name, included, {**labels, "condition": label})


def _parts(
    study: Study, names: Sequence[str], conditions: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield the label of each part of the trials, its conditions, and its measures."""
    pooled = {measure.name for measure in study.pooled_measures}
    by_condition = tuple(name for name in names if name not in pooled)
    if by_condition:
        for condition in conditions:
            yield condition, (condition,), by_condition
    over_conditions = tuple(name for name in names if name in pooled)
    if over_conditions:
        yield ALL_TRIALS, tuple(conditions), over_conditions


def _has_value(comparison: Comparison) -> bool:
    estimates = (comparison.first_interval.estimate, comparison.second_interval.estimate)
    return not all(map(math.isnan, estimates))


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
    return _stacked(*shared_trials((first, second), conditions))


def shared_trials(models: Sequence[Columns], conditions: Sequence[str]) -> tuple[Columns, ...]:
    """Return the trials of each model on the questions that all were asked under some conditions.

    Questions with one identifier and different texts are left out.
    """
    chosen = [_rows_in(columns, columns["condition"].tolist(), frozenset(conditions)) for columns in models]
    cells = [question_keys(columns) for columns in chosen]
    common = set.intersection(*map(set, cells)) - conflicting_ids(chosen)
    return with_shared_units(
        *(_rows_in(columns, keys, common) for columns, keys in zip(chosen, cells, strict=True))
    )


def _stacked(first: Columns, second: Columns) -> tuple[Columns, NDArray[Any]]:
    """Stack the trials of both models; return them with the side of each trial."""
    stacked = {name: np.concatenate([column, second[name]]) for name, column in first.items()}
    side = np.repeat([FIRST, SECOND], [len(columns["question_id"]) for columns in (first, second)])
    return stacked, side


def _rows_in(columns: Columns, keys: Iterable[Any], allowed: Container[Any]) -> Columns:
    """Return the trials whose key is allowed."""
    return rows_of(columns, np.flatnonzero([key in allowed for key in keys]))


def shared_conditions(first: ModelTrials, second: ModelTrials) -> list[str]:
    """Return the conditions under which both models were asked, in order."""
    return in_order({*first.columns["condition"]} & {*second.columns["condition"]})


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
