"""Reliability of a task's measures over epochs: variance between and within questions, and what more epochs bring."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.logs.asked_tasks import ALL, asked_tasks
from confidence_tasks.logs.task_trials import Columns, TaskTrials
from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.reliability import (
    VarianceComponents,
    components_of_difference,
    retest_reliability,
    split_half_reliability,
    variance_components,
)
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.gates import trial_values
from confidence_tasks.study.measure import Measure

CONFIDENCE = "confidence"
"""Column whose reliability is shown whether or not a study has it as a measure."""


@extra_table(
    "reliability",
    "Reliability over epochs",
    "Of questions that were asked several times, the variance of their values between and within questions, and the"
    " share between (intraclass correlation). Split-half: reliability of a question's mean over all its epochs, by"
    " Spearman and Brown. Test-retest: correlation of two epochs over questions. A share near 1 means that a further"
    " epoch says little new; confidence-tasks power --pilot compares more epochs with more questions.",
)
def reliability_table(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Yield a row for each model, condition, source and measure that is a mean over trials."""
    several_sources = len(results.sources) > 1
    for model in results.models:
        if not _is_repeated(model.columns):
            continue
        for condition, subsets in results.subsets[model.label].items():
            for subset in subsets:
                where = {"model": model.label, "condition": group_label(condition)}
                where |= {"source": subset.source} if several_sources else {}
                for row in _rows(rows_of(model.columns, subset.rows), results.headline):
                    yield where | row


def _is_repeated(columns: Columns) -> bool:
    """Return whether a model has answered in several epochs."""
    return len(set(columns["epoch"].tolist())) > 1


def _rows(trials: Columns, measures: Sequence[Measure]) -> Iterator[dict[str, Any]]:
    values = {CONFIDENCE: np.asarray(trials[CONFIDENCE], dtype=np.float64)}
    for measure in measures:
        of_measure = mean_values(measure, trials)
        if of_measure is not None:
            values[measure.name] = of_measure
    for name, each in values.items():
        found = variance_components(each, trials["question_id"].astype(str))
        if math.isnan(found.share):  # no question has two values, or all values are equal
            continue
        table = by_epoch(each, trials)
        yield {
            "measure": measure_label(name),
            "questions": found.n_questions,
            "replies each": found.n_values / found.n_questions,
            "between": found.between,
            "within": found.within,
            "share between": found.share,
            "split-half": float(split_half_reliability(table)),
            "test-retest": float(retest_reliability(table)),
        }


def mean_values(measure: Measure, trials: Columns) -> FloatArray | None:
    """Return the value of each trial, NaN for none; None if the measure is not the mean of such values."""
    inference = measure.inference
    if measure.fitted or not (inference.is_average or inference.proportion or inference.posterior):
        return None
    try:
        values = trial_values(measure, trials)
    except ValueError:
        return None
    return np.array([math.nan if value is None else value for value in values])


def by_epoch(values: FloatArray, trials: Columns) -> FloatArray:
    """Return the values as a table of questions by epochs; NaN where a question has none, or has several."""
    questions, row = np.unique(trials["question_id"].astype(str), return_inverse=True)
    epochs, column = np.unique(trials["epoch"].astype(str), return_inverse=True)
    table = np.full((len(questions), len(epochs)), np.nan)
    table[row, column] = values
    counts = np.zeros(table.shape)
    np.add.at(counts, (row, column), 1.0)
    table[counts != 1.0] = np.nan
    return table


# Power ----------------------------------------------------------------------------------------------------------------


def pilot_replies(
    tasks: Sequence[TaskTrials], study: str, measure: str, condition: str
) -> VarianceComponents | None:
    """Return the variance components of a measure in a pilot whose questions were asked several times.

    Parameters
    ----------
    tasks, study, measure, condition
        As for :func:`~confidence_tasks.decisions.pilot.pilot_clusters`. With several models, the components are those
        of the paired difference, averaged over the pairs of models; sources are averaged, too.

    Returns
    -------
    VarianceComponents or None
        None if no question was asked twice, or the measure is no mean.

    Raises
    ------
    ValueError
        If the pilot has no trials of the study, or none under the condition.
    """
    asked = asked_tasks(tasks, study, condition)
    every = [each for task in asked for each in _components(task, measure, condition)]
    known = [each for each in every if not math.isnan(each.within)]
    if not known:
        return None
    return VarianceComponents(
        sum(each.n_questions for each in known),
        sum(each.n_values for each in known),
        float(np.mean([each.between for each in known])),
        float(np.mean([each.within for each in known])),
    )


def _components(task: TaskTrials, measure: str, condition: str) -> Iterator[VarianceComponents]:
    """Yield the components of the only model, or of the difference of each pair of models, by source."""
    chosen = task.study.measures_by_name[measure]
    models = [_values_by_source(chosen, model.columns, condition) for model in task.models]
    if len(models) == 1:
        for values, questions in models[0].values():
            yield variance_components(values, questions)
    for first, second in combinations(models, 2):
        for source in sorted(first.keys() & second.keys()):
            yield components_of_difference(*first[source], *second[source])


def _values_by_source(
    measure: Measure, columns: Columns, condition: str
) -> dict[str, tuple[FloatArray, NDArray[Any]]]:
    """Return the value and the question of each trial, by source; empty if the measure is no mean."""
    found = {}
    of_condition = (columns["condition"] == condition) | (condition == ALL)
    for source in sorted(set(columns["source"][of_condition].tolist())):
        trials = rows_of(columns, of_condition & (columns["source"] == source))
        values = mean_values(measure, trials)
        if values is not None:
            found[source] = values, trials["question_id"].astype(str)
    return found
