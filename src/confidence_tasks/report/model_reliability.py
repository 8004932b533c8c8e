"""Reliability of measures over models: whether another half of the questions, or another epoch, orders models alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import Columns, question_keys
from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.reliability import halves_over_models, retest_over_models
from confidence_tasks.study.measures import Measure, rows_of

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
        # A measure that is fitted once to all questions says nothing about one half alone.
        for measure in filter(None, (each.exchangeable for each in results.headline)):
            yield {
                "condition": group_label(condition),
                "measure": measure_label(measure.name),
                "models": len(trials),
                "questions": len(set(question_keys(trials[0]))),
                "split-half": float(halves_over_models(*_on_halves(measure, trials))),
                "test-retest": float(retest_over_models(*_in_epochs(measure, trials))),
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


def _on_halves(measure: Measure, models: Sequence[Columns]) -> tuple[FloatArray, FloatArray]:
    """Return a measure on both halves of the questions, of shape (splits, models); all models share the splits."""
    questions = sorted(set(question_keys(models[0])))
    rng = np.random.default_rng(0)
    order = np.argsort(rng.random((N_SPLITS, len(questions))), axis=1)
    in_first = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(in_first, order[:, : len(questions) // 2], True, axis=1)
    number = {question: i for i, question in enumerate(questions)}
    halves: list[list[FloatArray]] = [[], []]
    for trials in models:
        chosen = in_first[:, [number[question] for question in question_keys(trials)]]
        for of_half, rows in zip(halves, (chosen, ~chosen), strict=True):
            of_half.append(_values(measure, trials, rows.astype(np.float64)))
    first, second = (np.stack(of_half, axis=1) for of_half in halves)
    return first, second


def _in_epochs(measure: Measure, models: Sequence[Columns]) -> tuple[FloatArray, FloatArray]:
    """Return a measure of each model in its first and in its second epoch; NaN for a model with one epoch."""
    values = np.full((2, len(models)), np.nan)
    for i, trials in enumerate(models):
        epochs = np.unique(trials["epoch"])
        if len(epochs) > 1:
            rows = np.stack([trials["epoch"] == epoch for epoch in epochs[:2]])
            values[:, i] = _values(measure, trials, rows.astype(np.float64))
    return values[0], values[1]


def _values(measure: Measure, trials: Mapping[str, NDArray[Any]], weights: FloatArray) -> FloatArray:
    """Return a measure for each row of weights, averaged over the sources of questions."""
    by_source = []
    for source in np.unique(trials["source"]):
        rows = trials["source"] == source
        by_source.append(
            np.asarray(measure.compute(rows_of(trials, rows), weights[:, rows]), dtype=np.float64)
        )
    mean: FloatArray = np.mean(by_source, axis=0)
    return mean
