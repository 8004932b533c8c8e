"""Configurations of lm-eval tasks and groups.

The start-up hook adds the configurations to lm-eval's index; `stub_folder` writes them as YAML for ``--include_path``.

A study is a group of conditions. A condition is a task or, if it has several sources, a group with one task per source,
whose metrics are the means over sources, as on Inspect. The group of a study has no metrics: its conditions ask the
same questions, so lm-eval's standard error of their mean would be wrong. The report pools conditions.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from confidence_tasks.catalogue import LM_EVAL_TASKS, studies
from confidence_tasks.sources.source import cache_folder, write_atomically
from confidence_tasks.study import Study
from confidence_tasks.study.measure import Measure

OFFLINE = "arithmetic"
"""Suffix of the group of a study's tasks on generated questions, which need no download."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A group of lm-eval tasks: one task of a study under each of its conditions.

    Attributes
    ----------
    sources : mapping of str to sequence of str
        The sources of each condition.
    offline : mapping of str to str
        The generated source of each condition whose default sources are others. Tasks on these sources form a group of
        their own, and are not in the groups of the conditions.
    measures : sequence of Measure
        The metrics that are averaged over the sources of a condition, if it has several.
    naming : str
        Template for the names of tasks, with ``{study}`` and ``{condition}``.
    """

    name: str
    study: Study
    sources: Mapping[str, Sequence[str]]
    offline: Mapping[str, str] = field(default_factory=dict)
    measures: Sequence[Measure] = ()
    naming: str = "{study}_{condition}"

    def task(self, condition: str, *source: str) -> str:
        """Return the name of a task or a group, such as ``scale_granularity_0_20_mmlu`` or ``riskeval_lambda10``."""
        label = condition.replace("=", "").replace("-", "_").replace(".", "_")
        return "_".join([self.naming.format(study=self.name, condition=label), *source])

    def configurations(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the name and the configuration of each task and group."""
        for condition, sources in self.sources.items():
            yield from self._condition(condition, sources)
        yield self.name, self._group(self.name, [self.task(condition) for condition in self.sources])
        offline = {self.task(*cell): cell for cell in self.offline.items()}
        for name, cell in offline.items():
            yield name, self._task(name, *cell)
        if offline:
            name = f"{self.name}_{OFFLINE}"
            yield name, self._group(name, list(offline))

    def _condition(self, condition: str, sources: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a condition's task, or its tasks for each source and their group."""
        name = self.task(condition)
        if len(sources) == 1:
            yield name, self._task(name, condition, *sources)
            return
        tasks = {self.task(condition, source): source for source in sources}
        for task, source in tasks.items():
            yield task, self._task(task, condition, source)
        yield name, self._group(name, list(tasks), self.measures)

    def _task(self, name: str, condition: str, source: str) -> dict[str, Any]:
        return {
            "task": name,
            "class": StudyTaskFactory,
            "tag": list(dict.fromkeys((f"confidence_{self.name}", f"confidence_{source}"))),
            "metadata": {"condition": condition, "source": source, "study": self.study.address},
        }

    def _group(self, name: str, members: list[str], measures: Sequence[Measure] = ()) -> dict[str, Any]:
        """Return a group whose metrics are unweighted means over its members."""
        means = [{"metric": measure.name, "weight_by_size": False} for measure in measures]
        return {
            "group": name,
            "task": members,
            **({"aggregate_metric_list": means} if means else {}),
            "metadata": {"version": self.study.version},
        }


def task_groups(studies: Iterable[Study]) -> Iterator[TaskGroup]:
    """Yield one group per task of each study, with an lm-eval task for each condition, on the default sources.

    If the questions of a study have their own conditions, the study is one group, with an lm-eval task for each task of
    the study. The names of these end in ``_confidence``, because lm-eval has its own tasks boolq and sciq.
    """
    for study in studies:
        sources = {name: _default_sources(study, name) for name in study.designs}
        offline = {
            name: source
            for name, design in study.designs.items()
            if (source := design.offline_source or study.asking.offline_source)
        }
        if not study.conditions:
            yield TaskGroup(study.name, study, sources, offline, naming="{condition}_confidence")
            continue
        for name, design in study.designs.items():
            conditions = design.conditions or study.conditions
            yield TaskGroup(
                name,
                study,
                sources=dict.fromkeys(conditions, sources[name]),
                offline=dict.fromkeys(conditions, offline[name]) if name in offline else {},
                measures=study.measures if len(sources[name]) > 1 else (),
            )


def _default_sources(study: Study, task: str) -> list[str]:
    defaults = {each.name: each.default for each in study.task_parameters(task)}
    sources = defaults.get("sources") or defaults.get("source", study.asking.source or study.name)
    return str(sources).split(",")


def configurations(studies: Iterable[Study]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the configuration of every task and group of lm-eval that this package adds."""
    for group in task_groups(studies):
        yield from group.configurations()
    for name in LM_EVAL_TASKS:
        yield name, {"task": name, "class": TaskOfOthers}


class TaskOfOthers:
    """Creates the task of :data:`~confidence_tasks.catalogue.LM_EVAL_TASKS` that a configuration names."""

    def __new__(cls, config: Mapping[str, Any]) -> Any:
        """Return the task or group."""
        return resolve_name(LM_EVAL_TASKS[config["task"]])(config)

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Declare the signature that lm-eval inspects; never called, because `__new__` returns another class."""


_TASK = "confidence_tasks.harness.lm_eval.task:StudyTask"


class StudyTaskFactory:
    """Creates a :class:`~confidence_tasks.harness.lm_eval.task.StudyTask`, whose module is imported only then."""

    def __new__(cls, config: Mapping[str, Any]) -> Any:
        """Return the task."""
        return resolve_name(_TASK)(config=config)

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Declare the signature that lm-eval inspects; never called, because `__new__` returns another class."""


def stub_folder(studies: Iterable[Study]) -> Path:
    """Write the tasks and groups of some studies as YAML files into the user's cache, and return the folder.

    The folder's name is a digest of the files, so that the folder never contains tasks of removed studies.
    """
    stubs = {
        f"{name}.yaml": "".join(f"{key}: {_yaml(value)}\n" for key, value in configuration.items())
        for name, configuration in configurations(studies)
    }
    digest = sha256(json.dumps(stubs, sort_keys=True).encode()).hexdigest()[:16]
    folder = cache_folder() / "lm_eval" / digest
    for name, text in stubs.items():
        if not (folder / name).exists():
            write_atomically(folder / name, text.encode())
    return folder


def _yaml(value: Any) -> str:
    if isinstance(value, type):
        return f"!function {value.__module__}.{value.__qualname__}"
    return json.dumps(value)


@click.command("lm-eval-path")
def lm_eval_path() -> None:
    """Print the folder for lm_eval --include_path, in case lm_eval does not find the tasks.

    The folder is in the user's cache.
    """
    click.echo(stub_folder(studies()))


REVISIONS = "revisions"
"""Key of a task's metadata in the results that holds the pinned revision of each source."""


def __getattr__(name: str) -> Any:
    """Return `StudyTaskFactory` under its earlier name, for one release."""
    if name == "StagedTask":
        message = f"{__name__}.StagedTask is StudyTaskFactory"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return StudyTaskFactory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
