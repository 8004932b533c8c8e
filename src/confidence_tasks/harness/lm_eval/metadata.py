"""The metadata of a study's lm-eval tasks: which keys there are, and of which type."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from confidence_tasks.catalogue import studies, study_of_task
from confidence_tasks.harness.compat import model_arguments, run_tasks
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.parameters import STUDY, chosen_conditions, complete_parameters, condition_label
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import (
    SEED,
    check_value,
    did_you_mean,
    one_of,
    unknown_parameter,
)

_log = logging.getLogger(__name__)


KEYS_OF_HARNESS = frozenset({"config_source", "version"})
"""Keys that lm-eval itself adds to the metadata."""


ALTERNATIVES: Mapping[str, str] = {
    "seed": "use question_seed, because lm-eval has seeds of its own",
    "fewshot": "use --num_fewshot",
    "cache": "use --use_cache with a path",
    "efforts": "run once per effort, with --gen_kwargs reasoning_effort=low, if the server supports it",
    "sources": "use source, or name the tasks of the sources",
    "stop": "lm-eval sends all requests at once, so that no run can stop early: run the task on Inspect, or see by"
    " confidence-tasks sequence after how many questions a finished run would have stopped",
    "alpha": "it belongs to stop, which is for Inspect only",
    "token_probabilities": "use top_logprobs, with any number from 1 to 20",
}
"""Parameters of tasks on Inspect that lm-eval sets in another way, with that way."""


class MetadataRules(NamedTuple):
    """The allowed and the refused metadata of a study's tasks.

    ``types`` are the types of the parameters that tasks read. ``fixed`` are values that cannot be changed, such as the
    source of a study with a single source. ``alternatives`` say how to set other parameters of the tasks on Inspect.
    """

    types: Mapping[str, Any]
    fixed: Mapping[str, str]
    alternatives: Mapping[str, str]


@cache
def metadata_rules(study: Study) -> MetadataRules:
    """Return the rules for the metadata of a study's tasks."""
    declared = {each.name: each.type for task in study.designs for each in study.task_parameters(task)}
    others = {study.condition_rules.parameter, *ALTERNATIVES}
    types = {name: kind for name, kind in declared.items() if name not in others}
    if "sources" in declared:
        types["source"] = str
    conditions = study.designs[study.first_task].conditions or study.conditions
    tasks = ",".join(TaskGroup(study.first_task, study, {}).task(each) for each in conditions[:2])
    return MetadataRules(
        {STUDY: str, "condition": str, "question_seed": int, **types},
        {} if "source" in types else {"source": study.asking.source or study.name},
        {**ALTERNATIVES, study.condition_rules.parameter: f"name tasks, such as --tasks {tasks}"},
    )


def check_metadata(study: Study, given: Mapping[str, Any]) -> None:
    """Check the names and types of the metadata of a study's task.

    lm-eval merges the model arguments into the metadata. These are ignored, unless they are parameters of the study.
    A parameter of another study is ignored if the run asks a task of that study. Any other unknown name causes a
    warning only, because it may be for a task of others, unless it is close to a name of the study.

    Raises ValueError for a misspelt name, a parameter of a study that the run does not ask, a parameter that lm-eval
    sets in another way, another value of a fixed parameter, or a value of another type.
    """
    types, fixed, alternatives = metadata_rules(study)
    known = {*types, *KEYS_OF_HARNESS, *model_arguments()}
    for name in (each for each in given if each not in known):
        if name in alternatives:
            raise ValueError(
                f"metadata: {study.name} has no parameter {name!r} on lm-eval: {alternatives[name]}"
            )
        if name not in fixed:
            refuse_misspelt(study, name)
            refuse_others_parameter(study, name)
            warn_once(f"metadata: {unknown_parameter(study.name, name, types)}. It is ignored")
        elif given[name] != fixed[name]:
            raise ValueError(f"metadata: {study.name} needs {name}={fixed[name]!r}, not {given[name]!r}")
    for name in types.keys() & given.keys():
        check_value(name, given[name], types[name])


MISSPELT = 0.7
"""Least similarity of a name that is refused: more than that of a mere suggestion, because a name may be for a task of
others."""


def refuse_misspelt(study: Study, name: str) -> None:
    """Raise ValueError for an unknown name of the metadata that is close to a name of the study.

    A name that another study has is none: the studies of a run share the metadata.
    """
    types, _, alternatives = metadata_rules(study)
    hint = did_you_mean(name, types, MISSPELT) or did_you_mean(name, alternatives, MISSPELT)
    others = (metadata_rules(each) for each in studies() if each.designs)
    if hint and not any(name in names for rules in others for names in rules):
        raise ValueError(f"metadata: {study.name} has no parameter {name!r} on lm-eval{hint}")


def refuse_others_parameter(study: Study, name: str) -> None:
    """Raise ValueError for a parameter of other studies, unless the run asks one of them.

    No name is refused outside a run, where the tasks are not known.
    """
    asked, owners = _asked_studies(), _owners(name)
    if asked and owners and not asked.intersection(owners):
        raise ValueError(
            f"metadata: {study.name} has no parameter {name!r} on lm-eval; it is one of {', '.join(owners)}: leave it"
            " out"
        )


def _asked_studies() -> set[str]:
    """Return the names of the studies whose tasks the run names."""
    return {study.name for study in map(study_of_task, run_tasks()) if study}


def _owners(name: str) -> list[str]:
    """Return the names of the studies that have a parameter."""
    rules = {study.name: metadata_rules(study) for study in studies() if study.designs}
    return [owner for owner, each in rules.items() if name in {*each.types, *each.alternatives}]


@cache
def warn_once(message: str) -> None:
    """Log a warning once, not for every condition and source of a study."""
    _log.warning(message)


def inspect_parameters(study: Study, metadata: Mapping[str, Any], lm_eval_task: str) -> dict[str, Any]:
    """Return the parameters of the same task on Inspect, checked.

    Raises ValueError for a value that no parameter may have.
    """
    task = inspect_task(study, metadata, lm_eval_task)
    declared = {each.name: each for each in study.task_parameters(task)}
    same_name = metadata_rules(study).types.keys() & declared.keys()
    values = {name: value for name, value in metadata.items() if name in same_name}
    replace(SEED, name="question_seed").check(metadata.get("question_seed", SEED.default))
    renamed = {study.condition_rules.parameter: "condition", "seed": "question_seed"}
    values |= {name: metadata[key] for name, key in renamed.items() if name in declared and key in metadata}
    if "sources" in declared:
        values["sources"] = [metadata["source"]]
    return {**complete_parameters(study.name, values, list(declared.values())), "task": task}


def inspect_task(study: Study, metadata: Mapping[str, Any], lm_eval_task: str) -> str:
    """Return the name of the same task on Inspect."""
    if not study.conditions:
        return one_of(list(study.designs), str(metadata["condition"]), "condition")
    name = study.design_of(lm_eval_task)
    return name if name in study.designs else study.first_task


def asked_conditions(study: Study, parameters: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[str]:
    """Return the conditions that a task asks; empty if each question has its own condition."""
    if study.condition_rules.parameter in parameters:
        return chosen_conditions(study, parameters)
    return [condition_label(study, str(metadata["condition"]))] if study.conditions else []
