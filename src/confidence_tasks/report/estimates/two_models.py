"""Two models compared under each condition that both were asked under."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain

from confidence_tasks.harness.workers import Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.task_trials import Columns, ModelTrials, TaskTrials
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.estimates.compare import Pair, compare, holm_corrected
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.paired_trials import shared_conditions
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import ALL_TRIALS
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import did_you_mean


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
) -> list[Contrast]:
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
    called = {"task": task_trials.task, "first_model": first.label, "second_model": second.label}
    for value, one, other in _split(first, second, study, by):
        for condition, included, measures in parts:
            label = f"{condition}, {value}" if by else condition
            yield Pair(one, other, measures, study.name, included, condition=label, **called)


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


def _has_value(comparison: Contrast) -> bool:
    return not all(math.isnan(each.estimate) for each in comparison.values)


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


def credibly_worse(each: Contrast, study: Study, margin: float) -> bool:
    """Return True if the second model is worse than the first by more than a margin.

    The whole interval must lie beyond the margin, and the corrected p-value must be significant at the level of the
    interval. A measure without a better direction never counts as worse.
    """
    better = study.measures_by_name[each.measure].better
    limit = {"higher": each.interval.low, "lower": -each.interval.high}.get(better, -math.inf)
    return limit > margin and each.p_adjusted <= 1.0 - each.interval.level
