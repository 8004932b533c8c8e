"""Reliability of measures over models: whether another half of the questions, or another epoch, orders models alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from confidence_tasks.logs.task_trials import Columns, question_keys
from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.statistics.inference.weights import SharedWeights
from confidence_tasks.statistics.reliability import halves_over_models, retest_over_models
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.measure import Measure

FEWEST_MODELS = 5
"""Minimum number of models: a correlation of fewer says little."""

N_SPLITS = 100
"""Number of random splits of the questions into halves."""


@extra_table(
    "model_reliability",
    "Reliability of measures over models",
    "Whether a measure orders models alike on other questions and in other epochs. Split-half: correlation over models"
    " of the measure on one half of the questions and on the other, the mean of 100 random splits, corrected for the"
    " length of the test (Spearman and Brown). Test-retest: the same for the first two epochs, without a correction."
    " Near 1, differences of models would be found again; near 0, they are noise. Models with other questions are left"
    " out.",
)
def model_reliability_table(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Yield a row for each condition and headline measure, if there are enough models."""
    for condition in results.conditions:
        trials = _of_models(results, condition)
        if len(trials) < FEWEST_MODELS:
            continue
        keys = [question_keys(each) for each in trials]
        halves = [_weighted(each, rows) for each, rows in zip(trials, _halves(keys), strict=True)]
        epochs = [_weighted(each, _first_epochs(each)) for each in trials]
        # A measure that is fitted once to all questions says nothing about one half alone.
        for measure in filter(None, (each.exchangeable for each in results.headline)):
            yield {
                "condition": group_label(condition),
                "measure": measure_label(measure.name),
                "models": len(trials),
                "questions": len(set(keys[0])),
                "split-half": float(halves_over_models(*_twice(measure, halves))),
                "test-retest": float(retest_over_models(*_twice(measure, epochs))),
            }


def _of_models(results: TaskResults, condition: str) -> list[Columns]:
    """Return the trials of the models that were asked the questions of most models under a condition."""
    found = []
    for model in results.models:
        rows = model.columns["condition"] == condition
        if rows.any():
            found.append(rows_of(model.columns, rows))
    questions = [frozenset(question_keys(trials)) for trials in found]
    usual = max(questions, key=questions.count, default=frozenset())
    return [trials for trials, each in zip(found, questions, strict=True) if each == usual]


def _halves(keys: Sequence[Sequence[tuple[Any, ...]]]) -> Iterator[BoolArray]:
    """Yield the trials of each model in the first half of each split, and then in the second: (2 * splits, trials).

    ``keys`` are the questions of the trials of each model. All models share the splits.
    """
    questions = sorted(set(keys[0]))
    rng = np.random.default_rng(0)
    order = np.argsort(rng.random((N_SPLITS, len(questions))), axis=1)
    in_first = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(in_first, order[:, : len(questions) // 2], True, axis=1)
    number = {question: i for i, question in enumerate(questions)}
    for of_model in keys:
        chosen = in_first[:, [number[question] for question in of_model]]
        yield np.concatenate([chosen, ~chosen])


def _first_epochs(trials: Columns) -> BoolArray:
    """Return the trials in the first and in the second epoch, of shape (2, trials); none if there is one epoch."""
    epochs = np.unique(trials["epoch"])
    if len(epochs) == 1:
        return np.zeros((2, len(trials["epoch"])), dtype=bool)
    return np.stack([trials["epoch"] == epoch for epoch in epochs[:2]])


Weighted: TypeAlias = "Sequence[tuple[Columns, FloatArray]]"
"""Trials of each source of questions, with rows of weights that all measures share."""


def _weighted(trials: Columns, chosen: BoolArray) -> Weighted:
    """Return the trials of each source, with a row of weights for each row of chosen trials."""
    parts = []
    for source in np.unique(trials["source"]):
        rows = trials["source"] == source
        parts.append((rows_of(trials, rows), SharedWeights.of(chosen[:, rows].astype(np.float64))))
    return parts


def _twice(measure: Measure, models: Sequence[Weighted]) -> tuple[FloatArray, FloatArray]:
    """Return a measure of each model, averaged over sources, for the first half of the rows and for the second.

    Both are of shape (rows / 2, models).
    """
    values = np.stack([_values(measure, parts) for parts in models], axis=1)
    first, second = np.split(values, 2)
    return first, second


def _values(measure: Measure, parts: Weighted) -> FloatArray:
    """Return a measure for each row of weights, averaged over the sources of questions; NaN without trials."""
    weights = parts[0][1]
    if not np.any(weights):
        return np.full(len(weights), np.nan)
    mean: FloatArray = np.mean(
        [np.asarray(measure.compute(*part), dtype=np.float64) for part in parts], axis=0
    )
    return mean
