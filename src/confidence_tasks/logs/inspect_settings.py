"""The settings, versions and provenance of a run of Inspect, from the header of its log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confidence_tasks.logs.log_header import LogHeader, ModelOfRole, RunSpec
from confidence_tasks.logs.run_settings import provenance_of, setup_of
from confidence_tasks.study.definition import Study
from confidence_tasks.study.effort import settings_of_effort
from confidence_tasks.study.parameter import STRUCTURED


def run_versions(header: LogHeader) -> dict[str, str]:
    """Return the versions in the log and the version of the task; those of the latest rescoring take precedence."""
    recorded = (header.eval.metadata or {}).get("versions", {})
    task = {"task": str(header.eval.task_version)}
    versions = {**header.eval.packages, **recorded, **rescoring(header).get("versions", {}), **task}
    return {str(name): str(version) for name, version in versions.items()}


def rescoring(header: LogHeader) -> Mapping[str, Any]:
    """Return date and versions of the latest rescoring of a log; empty if it was never rescored."""
    entry = (header.metadata or {}).get(RESCORED)
    return entry if isinstance(entry, Mapping) else {}


RESCORED = "rescored"
"""Key of a log's metadata under which ``rescore`` writes its entry."""


def run_provenance(header: LogHeader) -> dict[str, str]:
    """Return the version of the task, and the revision of each source that has one."""
    sources = (header.eval.metadata or {}).get("sources") or {}
    return provenance_of(str(header.eval.task_version), sources)


def run_setup(header: LogHeader, study: Study, effort: str | None) -> dict[str, str]:
    """Return the parameters, as text, in which two runs of a model may differ.

    A reasoning effort is given as in a run at that effort alone.
    """
    spec = header.eval
    # Logs hold the arguments that the user gave; older logs hold the defaults, too.
    parameters = {**((spec.metadata or {}).get("parameters") or {}), **spec.task_args}
    # The settings of the task override those of the model, as in the run.
    generation = {
        **spec.model_generate_config,
        **header.plan.config,
        **settings_of_effort(effort),
    }
    if parameters.get(STRUCTURED.name):  # it implies the schema
        generation.pop("response_schema", None)
    return {
        **setup_of("task", study.protocol_parameters(parameters)),
        **setup_of("generation", generation),
        **setup_of("model", _with_address(spec.model_args, spec.model_base_url)),
        **_solver(spec),
        **_roles(spec),
    }


def _with_address(arguments: Mapping[str, Any], address: str | None) -> dict[str, Any]:
    return {**({"base_url": address} if address else {}), **arguments}


def _solver(spec: RunSpec) -> dict[str, str]:
    """Return the solver that replaced the task's own, with its arguments."""
    if spec.solver is None:
        return {}
    return {"harness.solver": spec.solver, **setup_of("solver", spec.solver_args or {})}


def _roles(spec: RunSpec) -> dict[str, str]:
    """Return the models that parse and judge the replies, with their settings."""
    settings: dict[str, str] = {}
    for role, configs in (spec.model_roles or {}).items():
        models: list[ModelOfRole] = configs if isinstance(configs, list) else [configs]
        settings[f"role.{role}"] = ", ".join(config.model for config in models)
        for number, config in enumerate(models, 1):
            name = f"role.{role}.{number}" if len(models) > 1 else f"role.{role}"
            settings |= setup_of(f"{name}.generation", config.config)
            settings |= setup_of(f"{name}.model", _with_address(config.args, config.base_url))
    return settings
