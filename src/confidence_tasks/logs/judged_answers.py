"""Answers in logs that are right or wrong and have a confidence, by model and condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import Columns, ModelTrials, TaskTrials, in_order
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.units import units_of


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """Answers of a model under one condition that are right or wrong and have a confidence.

    Attributes
    ----------
    task, model, condition : str
        Who was asked what, and how.
    correct, confidence : ndarray, shape (n,)
        1 or 0, and a number in [0, 1].
    units : ndarray, shape (n,)
        Question of each answer, or its cluster.
    n_left_out : int
        Number of trials without one of the two numbers.
    labels : ndarray, shape (n,), optional
        Labels of people, 1 or 0, NaN for answers without one; empty if there are no labels.
    """

    task: str
    model: str
    condition: str
    correct: FloatArray
    confidence: FloatArray
    units: NDArray[Any]
    n_left_out: int
    labels: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def n_labels(self) -> int:
        """Number of answers with a label."""
        return int((~np.isnan(self.labels)).sum())


def judged_answers(tasks: Sequence[TaskTrials], condition: str = "") -> list[JudgedAnswers]:
    """Return the judged answers of all models, under one condition or each.

    Raises
    ------
    ValueError
        If no model was asked under the condition, or no task has answers that are right or wrong.
    """
    models = [(task, model) for task in tasks for model in task.models]
    if condition:
        _check_condition(models, condition)
    answers = [each for task, model in models for each in answers_of(task, model, condition)]
    if models and not answers:
        raise ValueError(
            f"no answer is right or wrong and has a confidence ({', '.join(task.task for task in tasks)}): name logs"
            " of a task whose answers are graded, such as scale_granularity"
        )
    return answers


def _check_condition(models: Sequence[tuple[TaskTrials, ModelTrials]], condition: str) -> None:
    """Raise ValueError if no model was asked under a condition."""
    known = in_order(label for _, model in models for label in model.columns["condition"].tolist())
    if condition not in known:
        raise ValueError(
            f"no model was asked under {condition!r}; the conditions are {', '.join(known)}"
            f"{did_you_mean(condition, known)}"
        )


def answers_of(task: TaskTrials, model: ModelTrials, condition: str = "") -> Iterator[JudgedAnswers]:
    """Yield the judged answers of a model under one condition or each; none where correctness is a probability."""
    columns = model.columns
    for label in [condition] if condition else in_order(columns["condition"].tolist()):
        rows = columns["condition"] == label
        usable = rows & _is_usable(columns)
        if usable.any() and not _has_probabilities(columns["correct"][rows]):
            yield JudgedAnswers(
                task.task,
                model.label,
                label,
                columns["correct"][usable],
                columns["confidence"][usable],
                units_of(columns)[usable].astype(str),
                int(rows.sum() - usable.sum()),
                columns.get("label", np.full(len(usable), np.nan))[usable],
            )


def _is_usable(columns: Columns) -> BoolArray:
    """Return which trials are right or wrong and have a confidence in [0, 1]."""
    correct, confidence = columns["correct"], columns["confidence"]
    return np.asarray(~np.isnan(correct) & (confidence >= 0.0) & (confidence <= 1.0))


def _has_probabilities(correct: FloatArray) -> bool:
    """Return True if correctness is the probability that a guess comes true, as in LifeEval."""
    return bool(((correct > 0.0) & (correct < 1.0)).any())


def of_model(answers: Sequence[JudgedAnswers], model: str) -> list[JudgedAnswers]:
    """Return the answers of one model, by its label, or all if ``model`` is empty; ValueError if it is unknown."""
    known = list(dict.fromkeys(each.model for each in answers))
    if model and model not in known:
        raise ValueError(
            f"there is no model {model!r}; the models are {', '.join(known)}{did_you_mean(model, known)}"
        )
    return [each for each in answers if model in ("", each.model)]
