"""The parameters of a run, and what follows from them: stages, conditions, roles and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from confidence_tasks.harness.logged_addresses import resolve_address
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import Parameter, one_of, parse_list, unknown_parameter
from confidence_tasks.study.records import TaskMetrics
from confidence_tasks.study.stage import Stage
from confidence_tasks.study.trial import Question

STUDY = "study"
"""Key of a sample's metadata under which the study's ``module:attribute`` address is stored."""


def load_study(reference: str) -> Study:
    """Return the study with a :attr:`~confidence_tasks.study.Study.address`."""
    study = resolve_address(reference)
    assert isinstance(study, Study)
    return study


def complete_parameters(task: str, given: Mapping[str, Any], declared: Sequence[Parameter]) -> dict[str, Any]:
    """Return all parameters of a run: the given values, and defaults for the others.

    Raises ValueError for an unknown parameter, a wrong type, or a value outside the choices or bounds.
    """
    known = {parameter.name: parameter for parameter in declared}
    for name, value in given.items():
        if name not in known:
            raise ValueError(unknown_parameter(task, name, known))
        known[name].check(value)
    return {name: parameter.default for name, parameter in known.items()} | dict(given)


def default_parameters(study: Study) -> dict[str, Any]:
    """Return the parameters of a run with all defaults."""
    return {**complete_parameters(study.name, {}, study.task_parameters()), "task": study.first_task}


@cache
def default_stages(study: Study) -> tuple[Stage, ...]:
    """Return the stages of a run with all defaults."""
    return study.stages_of(default_parameters(study))


def roles_needed(study: Study, parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the model roles that must be bound: those of the study's scorer and of its stages."""
    scorer_roles = study.scoring.roles(parameters, questions) if study.scoring.roles else ()
    stage_roles = [stage.role for stage in study.stages_of(parameters) if stage.role]
    return list(dict.fromkeys([*scorer_roles, *stage_roles]))


def chosen_conditions(study: Study, parameters: Mapping[str, Any]) -> list[str]:
    """Return the labels of the conditions to ask; none if each question has its own condition.

    Raises ValueError for an unknown condition.
    """
    rules = study.condition_rules
    if rules.select is not None:
        chosen = list(rules.select(parameters))
    else:
        name = rules.parameter
        value = parameters.get(name)
        if value is None:
            return list(study.designs[parameters["task"]].conditions or study.conditions)
        chosen = parse_list(value, name)
    return list(dict.fromkeys(condition_label(study, condition) for condition in chosen))


def condition_label(study: Study, condition: str) -> str:
    """Return the label of a condition that a user named; ValueError if the study has no such condition."""
    if (label_of := study.condition_rules.label_of) is not None:
        return label_of(condition)
    return one_of(study.conditions, condition, "condition")


def is_single(stages: Sequence[Stage]) -> bool:
    """Return whether a trial consists of one call."""
    return len(stages) == 1 and stages[0].samples == 1


def task_metrics(study: Study, parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the metrics of a task's log: by default every measure in every condition."""
    if study.scoring.metrics is not None:
        return study.scoring.metrics(parameters, conditions)
    arguments = {"study": study.address, "conditions": list(conditions)}
    return TaskMetrics(None, arguments, study.measures, conditions[0])
