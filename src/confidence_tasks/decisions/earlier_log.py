"""The earlier log with which a gate compares the questions of another."""

from __future__ import annotations

from collections.abc import Sequence

from confidence_tasks.logs.sequences import Values, question_values
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials, question_keys
from confidence_tasks.report.question_checks import conflicting_ids
from confidence_tasks.study.gates import Gate


def earlier_values(gate: Gate, tasks: Sequence[TaskTrials], task: TaskTrials) -> Values:
    """Return the values of the earlier log that a gate names, whose trials are ``tasks``.

    Raises
    ------
    ValueError
        If the log does not hold the trials of one model of the task, or was asked other questions.
    """
    model = _only_model(gate, tasks, task.task)
    trials = [each.columns for each in task.models]
    if wrong := conflicting_ids([model.columns, *trials]):
        raise ValueError(f"{gate}: the earlier log has another question under the id {sorted(wrong)[0][-1]}")
    values = question_values(gate.measure_of(task.study), model.columns)
    if values.keys().isdisjoint(key for columns in trials for key in question_keys(columns)):
        raise ValueError(f"{gate}: the earlier log has other questions or conditions than these")
    return values


def _only_model(gate: Gate, tasks: Sequence[TaskTrials], name: str) -> ModelTrials:
    """Return the only model of a task; ValueError if there are none or several."""
    models = [model for task in tasks if task.task == name for model in task.models]
    if len(models) != 1:
        found = ", ".join(model.label for model in models) or "none"
        raise ValueError(
            f"{gate}: the earlier log must hold the trials of one model of {name}, and holds {found}"
        )
    return models[0]
