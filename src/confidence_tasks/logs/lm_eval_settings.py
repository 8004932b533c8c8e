"""The settings of a run of lm-eval and the provenance of its data, from its results."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any

import fsspec

from confidence_tasks.harness.address import ORIGIN
from confidence_tasks.harness.lm_eval.groups import REVISIONS
from confidence_tasks.harness.system_role import SYSTEM_MESSAGE
from confidence_tasks.logs.lm_eval_files import SAMPLE_NAME, is_results_file, results_beside
from confidence_tasks.logs.run_settings import UNKNOWN_RUN, provenance_of, setup_of, without_secrets
from confidence_tasks.logs.trial_files import NotTrialsError
from confidence_tasks.sources.bounds import BoundError, JsonBounds
from confidence_tasks.study.definition import Study

_TASK_METADATA = frozenset({"condition", "source", "study", "config_source", "version", REVISIONS, ORIGIN})
"""Keys of a task's metadata that are not parameters of the study: its condition, source and data."""

_RUN_KEYS = (
    "random_seed",
    "numpy_seed",
    "torch_seed",
    "fewshot_seed",
    "model_sha",
    "peft_sha",
    "delta_sha",
)
"""Keys of a run's configuration that may change a reply."""


def _origin(run: Mapping[str, Any], task: str) -> dict[str, str]:
    """Return the server of a run, the model that it served, and where the system message went, as settings."""
    origin = (run.get("configs", {}).get(task, {}).get("metadata") or {}).get(ORIGIN)
    known = ("base_url", "served", SYSTEM_MESSAGE)
    found = {name: origin[name] for name in known if name in origin} if isinstance(origin, dict) else {}
    return setup_of("model", found)


def model_name(run: Mapping[str, Any]) -> str:
    """Return the name of the model; from its arguments, if none of them is the ``model_name`` of lm-eval."""
    arguments = parsed_arguments(run.get("config", {}).get("model_args"))
    name = str(run.get("model_name", ""))
    if name in map(str, arguments.values()) or not run:
        return name
    settings = ",".join(f"{key}={value}" for key, value in without_secrets(arguments).items())
    return f"{run['config']['model']}({settings})"


def parsed_arguments(arguments: Any) -> dict[str, Any]:
    """Return arguments by name, from a mapping or from text ``name=value,...``."""
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(",") if part)
    return {str(key): value for key, value in (arguments or {}).items()}


def run_setup(run: Mapping[str, Any], task: str, study: Study) -> dict[str, str]:
    """Return the parameters by which two runs of a model may differ."""
    config = run.get("config", {})
    model = parsed_arguments(config.get("model_args"))
    return {
        **setup_of("task", _task_parameters(run, task, study, model)),
        **setup_of("generation", parsed_arguments(config.get("gen_kwargs"))),
        **setup_of("model", model),
        **setup_of("harness", _harness_settings(run, task)),
        **_origin(run, task),
    }


def _task_parameters(
    run: Mapping[str, Any], task: str, study: Study, model: Container[str]
) -> dict[str, Any]:
    """Return the parameters of a task; lm-eval adds the arguments of the ``model`` to its metadata."""
    metadata = run.get("configs", {}).get(task, {}).get("metadata") or {}
    declared = {each.name for design in study.designs for each in study.task_parameters(design)}
    return {
        key: value
        for key, value in study.protocol_parameters(metadata).items()
        if key not in _TASK_METADATA and (key not in model or key in declared)
    }


def _harness_settings(run: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return the settings of lm-eval that may change a reply."""
    config = run.get("config", {})
    settings: dict[str, Any] = {}
    for name in ("chat_template", "system_instruction"):
        if run.get(f"{name}_sha"):
            settings[name] = str(run[f"{name}_sha"])[:8]
    for name in _RUN_KEYS:
        if config.get(name) not in (None, ""):
            settings[name] = str(config[name])[:8]
    if config.get("model"):
        settings["backend"] = config["model"]
    fewshot = run.get("n-shot", {}).get(task, 0)
    if fewshot:
        settings["fewshot_as_multiturn"] = run.get("fewshot_as_multiturn")
    return {**settings, "fewshot": fewshot}


def run_provenance(run: Mapping[str, Any], task: str) -> dict[str, str]:
    """Return the version of the task, the revision of each source, and the task's own generation parameters.

    The names of generation parameters include the task, as the tasks of a design may be temperatures. Parameters that
    ``--gen_kwargs`` sets belong to the setup of the run instead.
    """
    config = run.get("configs", {}).get(task, {})
    version = run.get("versions", {}).get(task)
    generation = without_secrets(config.get("generation_kwargs") or {})
    run_arguments = parsed_arguments(run.get("config", {}).get("gen_kwargs"))
    revisions = (config.get("metadata") or {}).get(REVISIONS) or {}
    return {
        **provenance_of("" if version is None else str(version), revisions),
        **{f"{key} of {task}": value for key, value in generation.items() if key not in run_arguments},
    }


def facts_of_file(
    path: str, task: str, run: Mapping[str, Any], study: Study, generation: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of a file of trials that come from the results of its run."""
    match = SAMPLE_NAME.search(path)
    time = match["time"] if match else ""
    return {
        "model": model_name(run) or path.rsplit("/", 2)[-2],
        "created": time,
        "versions": {
            "lm_eval": str(run.get("lm_eval_version", "")),
            "task": str(run.get("versions", {}).get(task, "")),
        },
        "setup": run_setup(run, task, study)
        if run
        else {**setup_of("generation", generation), UNKNOWN_RUN: time},
    }


def number_of_samples(run: Mapping[str, Any], task: str) -> int:
    """Return the number of documents that a run asked; 0 if it is unknown."""
    return int(((run.get("n-samples") or {}).get(task) or {}).get("effective") or 0)


def read_results(path: str) -> dict[str, Any]:
    """Return the results of a sample file's run; empty if there are none."""
    for results_path in filter(is_results_file, results_beside(path)):
        with fsspec.open(results_path, "rb") as file:
            text = file.read()
        try:
            JsonBounds().add(text)
            run: dict[str, Any] = json.loads(text)
        except (BoundError, RecursionError) as error:
            raise NotTrialsError(f"the results beside it, {results_path}, cannot be read: {error}") from error
        return run
    return {}
