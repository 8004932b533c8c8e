"""A study as an Inspect task: one solver, one scorer and one task for all studies."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache as cached
from typing import Any, NoReturn

from inspect_ai import Epochs, Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from confidence_tasks.harness.inspect import schemas, stopping
from confidence_tasks.harness.inspect.asking import ask_stages
from confidence_tasks.harness.inspect.call_settings import task_settings
from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.model_calls import effort_settings
from confidence_tasks.harness.inspect.roles import require_roles
from confidence_tasks.harness.inspect.scoring import make_scorer
from confidence_tasks.harness.inspect.signatures import set_name, signature_of
from confidence_tasks.harness.inspect.viewer import dataset, provenance, viewer, without_shown_question
from confidence_tasks.harness.items import make_items
from confidence_tasks.harness.parameters import (
    chosen_conditions,
    complete_parameters,
    roles_needed,
    task_metrics,
)
from confidence_tasks.harness.usage_errors import as_usage_error
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import METRICS, efforts_of
from confidence_tasks.study.trial import at_efforts


def study_task(study: Study, name: str = "") -> Callable[..., Task]:
    """Return an Inspect task of a study, which Inspect registers as ``<package>/<name of the design>``.

    The task has the parameters that the study declares. They are checked when the task is created, before any call.
    """
    return _study_task(study, name or study.first_task)


@cached
def _study_task(study: Study, name: str) -> Callable[..., Task]:
    declared = study.task_parameters(name)

    def build(**given: Any) -> Task:
        with as_usage_error():
            parameters = complete_parameters(name, given, declared)
            which = parameters.pop(METRICS.name)
            return _build_task(study, {**parameters, "task": name}, which)

    helps = "\n".join(f"{parameter.name}\n    {parameter.help}" for parameter in declared)
    build.__doc__ = f"{study.designs[name].question}\n\nParameters\n----------\n{helps}\n"
    set_name(build, study, name)
    # Inspect logs the defaults of all parameters that it sees in a signature, and the viewer's header lists them. So
    # Inspect sees `build(**given)` and logs only given parameters; the log's metadata has all. The signature set
    # here is for users; its `unknown` makes Inspect pass misspelt names on, so that `build` can suggest a name.
    registered = task(build)
    unknown = inspect.Parameter("unknown", inspect.Parameter.VAR_KEYWORD, annotation=NoReturn)
    registered.__signature__ = signature_of(declared, Task, unknown)  # type: ignore[attr-defined]
    return registered


def _build_task(study: Study, parameters: Mapping[str, Any], which: str) -> Task:
    stages = study.stages_of(parameters)
    conditions = chosen_conditions(study, parameters)
    efforts = efforts_of(parameters)
    for effort in efforts:
        effort_settings(effort)
    items, manager = stopping.planned(study, parameters, list(make_items(study, parameters, conditions)))
    conditions = conditions or list(dict.fromkeys(item.condition for item in items))
    logged = task_metrics(study, parameters, conditions)
    data = dataset(at_efforts(items, efforts), study.title)
    roles = require_roles(roles_needed(study, parameters, [item.question for item in items]))
    options = inspect.signature(make_scorer(study)).parameters
    return Task(
        # Without the package's name: it would leave no room for metrics in the viewer's header.
        name=parameters["task"],
        dataset=data,
        setup=[without_shown_question(), roles],
        solver=ask_stages(study.address, dict(parameters), len(conditions)),
        scorer=make_scorer(study)(**{name: parameters[name] for name in options if name in parameters}),
        metrics=metrics_of(study, logged, which, efforts),
        config=GenerateConfig(**task_settings(stages), **schemas.shared_schema(stages, items)),
        epochs=Epochs(parameters[repeats], []) if (repeats := study.asking.repeats_parameter) else None,
        early_stopping=manager,
        version=study.version,
        metadata=provenance({name: value for name, value in parameters.items() if name != "task"}, data),
        headline_metric=HeadlineMetric(
            metric="/".join(
                (
                    (logged.default_measures or study.headline_measures)[0],
                    logged.headline_condition,
                    *efforts[:1],
                )
            )
        ),
        viewer=viewer(study),
    )
