"""The lm-eval tasks and groups of a study, as lm-eval's configurations, their metrics, and what is said of mistakes.

The start-up hook adds the configurations to lm-eval's index; `stub_folder` writes them as YAML for ``--include_path``.

A study is a group of conditions. A condition is a task or, where it has several sources, a group of tasks, one a
source, and its metrics are the means over sources, as in Inspect. A study has no metrics of its own: conditions ask
the same questions, so lm-eval's standard error of their mean would be wrong, and what pools them belongs to the report.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import say_errors, with_logged
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.source import cache_folder, write_atomically
from confidence_tasks.study import Study
from confidence_tasks.study.measures import Measure, columns
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.reference import Reference

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.study.measures import Value


OFFLINE = "arithmetic"
"""Suffix of the group of a study's tasks on generated questions, which need no data."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A group of lm-eval tasks: one task of a study, under each of its conditions.

    Attributes
    ----------
    sources : mapping of str to sequence of str
        The sources of each condition.
    offline : mapping of str to str
        The generated source of a condition that asks other sources by default; its task is in no group of the
        condition, but in one of the study's own.
    measures : sequence of Measure
        The metrics, where they are to be averaged over the sources of a condition.
    naming : str
        How names of tasks are made of ``{study}`` and ``{condition}``.
    """

    name: str
    study: Study
    sources: Mapping[str, Sequence[str]]
    offline: Mapping[str, str] = field(default_factory=dict)
    measures: Sequence[Measure] = ()
    naming: str = "{study}_{condition}"

    def task(self, condition: str, *source: str) -> str:
        """Name a task or a group: ``scale_granularity_0_20_mmlu``, ``riskeval_lambda10``."""
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
        """Yield a condition: a task, or a group of one task a source."""
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
            "class": StagedTask,
            "tag": list(dict.fromkeys((f"confidence_{self.name}", f"confidence_{source}"))),
            "metadata": {"condition": condition, "source": source, "study": self.study.address},
        }

    def _group(self, name: str, members: list[str], measures: Sequence[Measure] = ()) -> dict[str, Any]:
        """Return a group, whose metrics are unweighted means of its members'."""
        means = [{"metric": measure.name, "weight_by_size": False} for measure in measures]
        return {
            "group": name,
            "task": members,
            **({"aggregate_metric_list": means} if means else {}),
            "metadata": {"version": self.study.version},
        }


def task_groups(studies: Iterable[Study]) -> Iterator[TaskGroup]:
    """Yield the groups of some studies: one for each task, with a task for each condition, on its default sources.

    Where questions have their own conditions, the study is the group, and each of its tasks a condition. These end in
    ``_confidence``, for lm-eval has tasks called boolq and sciq itself.
    """
    for study in studies:
        sources = {name: _default_sources(study, name) for name in study.designs}
        offline = {
            name: its
            for name, design in study.designs.items()
            if (its := design.offline_source or study.offline_source)
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
    named = defaults.get("sources") or defaults.get("source", study.source or study.name)
    return str(named).split(",")


_TASK = Reference("confidence_tasks.harness.lm_eval.staged", "StudyOfStages")


class StagedTask:
    """The task of one condition of a study: a :class:`~confidence_tasks.harness.lm_eval.staged.StudyOfStages`.

    It is imported when a task is made, with what it needs.
    """

    def __new__(cls, config: Mapping[str, Any]) -> Any:
        """Return the task."""
        return _TASK.load()(config=config)

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Take a configuration, as lm-eval wants it; never called, for `__new__` returns a task of another class."""


def stub_folder(studies: Iterable[Study]) -> Path:
    """Return a folder of the user's cache that has the tasks and groups of some studies; write it at the first use.

    The folder is named by its content, so that it never has a task of a study that is gone.
    """
    stubs = {
        f"{name}.yaml": "".join(f"{key}: {_yaml(value)}\n" for key, value in configuration.items())
        for group in task_groups(studies)
        for name, configuration in group.configurations()
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


# Metrics --------------------------------------------------------------------------------------------------------------


TRIAL = "trial"
"""The key under which a sample's log holds its trial; in the results, the number of trials."""

REVISIONS = "revisions"
"""The key of a task's metadata under which a run's results have the pinned revision of each source."""

RESAMPLES = 1_000
SEED = 0


@dataclass(frozen=True, slots=True)
class Part:
    """One sample's part in a metric: its trial, which the log shows once, under its own key.

    lm-eval hands an aggregation nothing but the values that the samples gave for that metric, so each metric needs
    the whole trial.
    """

    trial: Mapping[str, Any]

    def __str__(self) -> str:
        return f"see {TRIAL}"


def sample_metrics(trial: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return what a sample gives for the metrics called ``names``, and the trial in full, which is no metric."""
    return with_logged({name: Part(trial) for name in names if name != TRIAL}, {TRIAL: trial})


def aggregations(measures: Sequence[Measure]) -> dict[str, Callable[[Sequence[Any]], float]]:
    """Return how each metric is computed: the measures, then their standard errors, then the number of trials.

    lm-eval knows no standard error for a metric of ours and writes ``N/A`` under ``<metric>_stderr``; a metric of
    that name which comes later takes its place.
    """
    return {
        **{measure.name: _value(measure) for measure in measures},
        **{f"{measure.name}_stderr": _standard_error(measure) for measure in measures},
        TRIAL: len,
    }


def _value(measure: Measure) -> Callable[[Sequence[Part]], float]:
    def value(parts: Sequence[Part]) -> float:
        return float(measure.compute(columns([part.trial for part in parts]), None))

    return value


def _standard_error(measure: Measure) -> Callable[[Sequence[Part]], float]:
    """Bootstrap over questions, which some tasks ask more than once."""

    def standard_error(parts: Sequence[Part]) -> float:
        from confidence_tasks.statistics import bootstrap

        table = columns([part.trial for part in parts])

        def resampled(_: FloatArray, *, weights: FloatArray) -> Value:
            return measure.compute(table, weights)

        rows = range(len(parts))
        found = bootstrap(resampled, rows, clusters=table["question_id"], n_resamples=RESAMPLES, seed=SEED)
        return found.standard_error

    return standard_error


@click.command("lm-eval-path")
def lm_eval_path() -> None:
    """Print the folder for lm_eval --include_path, which names the tasks where lm_eval does not find them.

    The folder is in the user's cache.
    """
    click.echo(stub_folder(studies()))


_NOT_FOUND = "Tasks not found: "
_NO_KEY = "API key not found"
_NO_MODEL = re.compile(r"Attempted to load model '(.*)', but .* Supported model names: (.*)")
"""Beginnings of lm-eval's messages about an unknown model, and what each message lists."""

_EXTRA = frozenset({"torch", "transformers", "accelerate"})
"""Modules that ``--model hf`` needs."""


def say_mistakes() -> None:
    """Have the command ``lm_eval`` end with a line on what the user must put right, where it would with a traceback."""
    say_errors(lambda error: said_in_a_line(error) if _is_command(sys.argv) else "")


def _is_command(arguments: list[str]) -> bool:
    """Return whether Python runs lm-eval, by its script or as a module, and not a script of the user's."""
    path = PurePath(arguments[0] if arguments else "")
    return path.stem in ("lm_eval", "lm-eval") or path.parent.name == "lm_eval"


def said_in_a_line(error: BaseException) -> str:
    """Return what an error of the command ``lm_eval`` says to the user; empty if it is none of the user's.

    Examples
    --------
    >>> said_in_a_line(ValueError("Tasks not found: riskevl"))
    "there is no task 'riskevl'; did you mean 'riskeval'?"
    >>> said_in_a_line(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "No module named 'torch': pip install 'confidence-tasks[hf]'"
    """
    text = str(error)
    if isinstance(error, SourceError) or text.startswith(_NO_KEY):
        return text
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA:
        return f"{text}: pip install 'confidence-tasks[hf]'"
    if text.startswith(_NOT_FOUND):
        return _nearest(text.removeprefix(_NOT_FOUND).split(", "))
    if no_model := _NO_MODEL.match(text):
        name, known = no_model.groups()
        return f"there is no model {name!r}{did_you_mean(name, known.split(', ')) or f'. There are {known}'}"
    return ""


def _nearest(missing: Iterable[str]) -> str:
    """Say which tasks of ours were probably meant; empty if none is near, as then those of lm-eval may be meant."""
    known = [name for group in task_groups(studies()) for name, _ in group.configurations()]
    hints = [f"there is no task {name!r}{near}" for name in missing if (near := did_you_mean(name, known))]
    return ". ".join(hints)
