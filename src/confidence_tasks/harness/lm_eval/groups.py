"""Configurations of lm-eval tasks and groups, their metrics, and error messages of the command ``lm_eval``.

The start-up hook adds the configurations to lm-eval's index; `stub_folder` writes them as YAML for ``--include_path``.

A study is a group of conditions. A condition is a task or, if it has several sources, a group with one task per source,
whose metrics are the means over sources, as on Inspect. The group of a study has no metrics: its conditions ask the
same questions, so lm-eval's standard error of their mean would be wrong. The report pools conditions.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.catalogue import LM_EVAL_TASKS, studies
from confidence_tasks.harness.compat import shorten_tracebacks, with_logged
from confidence_tasks.harness.refusals import StopError
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.source import cache_folder, write_atomically
from confidence_tasks.study import Study
from confidence_tasks.study.measures import Measure, columns
from confidence_tasks.study.parameter import did_you_mean

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.study.measures import Value


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
            "class": StagedTask,
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


_TASK = "confidence_tasks.harness.lm_eval.staged:StudyOfStages"


class StagedTask:
    """Creates a :class:`~confidence_tasks.harness.lm_eval.staged.StudyOfStages`, whose module is imported only then."""

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


# Metrics --------------------------------------------------------------------------------------------------------------


TRIAL = "trial"
"""Key of the trial in a sample's log, and of the number of trials in the results."""

REVISIONS = "revisions"
"""Key of a task's metadata in the results that holds the pinned revision of each source."""

RESAMPLES = 1_000
SEED = 0


@dataclass(frozen=True, slots=True)
class MetricTrial:
    """One sample's value of a metric: the whole trial, because an aggregation gets only the values of its metric.

    In the log it reads ``see trial``, so that the trial appears only once. ``cluster`` is that of the question.
    """

    trial: Mapping[str, Any]
    cluster: str = ""

    def __str__(self) -> str:
        return f"see {TRIAL}"


def sample_metrics(trial: Mapping[str, Any], names: Sequence[str], cluster: str = "") -> dict[str, Any]:
    """Return a sample's values of the metrics ``names``, and the trial itself, which is logged but not aggregated."""
    return with_logged({name: MetricTrial(trial, cluster) for name in names if name != TRIAL}, {TRIAL: trial})


def aggregations(measures: Sequence[Measure]) -> dict[str, Callable[[Sequence[Any]], float]]:
    """Return the aggregation of each metric: the measures, then their standard errors, then the number of trials.

    lm-eval cannot compute a standard error for these metrics and writes ``N/A`` under ``<metric>_stderr``. A later
    metric of that name replaces the entry.
    """
    return {
        **{measure.name: _value(measure) for measure in measures},
        **{f"{measure.name}_stderr": _standard_error(measure) for measure in measures},
        TRIAL: len,
    }


def _value(measure: Measure) -> Callable[[Sequence[MetricTrial]], float]:
    def value(trials: Sequence[MetricTrial]) -> float:
        return float(measure.compute(columns([each.trial for each in trials]), None))

    return value


def _standard_error(measure: Measure) -> Callable[[Sequence[MetricTrial]], float]:
    """Return the bootstrap standard error over the units of the report: clusters of questions, or questions."""

    def standard_error(trials: Sequence[MetricTrial]) -> float:
        import numpy as np

        from confidence_tasks.statistics import bootstrap
        from confidence_tasks.study.units import clustered_units

        table = columns([each.trial for each in trials])
        if math.isnan(float(measure.compute(table, None))):
            return math.nan

        def statistic(_: FloatArray, *, weights: FloatArray) -> Value:
            return measure.compute(table, weights)

        units = clustered_units(table, np.array([each.cluster for each in trials], dtype=object))
        result = bootstrap(
            statistic,
            range(len(trials)),
            clusters=table["question_id"] if units is None else units,
            n_resamples=RESAMPLES,
            seed=SEED,
        )
        return result.standard_error

    return standard_error


@click.command("lm-eval-path")
def lm_eval_path() -> None:
    """Print the folder for lm_eval --include_path, in case lm_eval does not find the tasks.

    The folder is in the user's cache.
    """
    click.echo(stub_folder(studies()))


_NOT_FOUND = "Tasks not found: "
_NO_KEY = "API key not found"
_NO_MODEL = re.compile(r"Attempted to load model '(.*)', but .* Supported model names: (.*)")
"""Parts of lm-eval's messages about an unknown task, a missing key and an unknown model."""

_EXTRA = frozenset({"torch", "transformers", "accelerate"})
"""Modules that ``--model hf`` needs."""


def shorten_lm_eval_tracebacks() -> None:
    """Make the command ``lm_eval`` print one line instead of a traceback for a user's mistake."""
    shorten_tracebacks(lambda error: describe_mistake(error) if _is_command(sys.argv) else "")


def _is_command(arguments: list[str]) -> bool:
    """Return whether Python runs the command ``lm_eval``, as a script or as a module."""
    path = PurePath(arguments[0] if arguments else "")
    return path.stem in ("lm_eval", "lm-eval") or path.parent.name == "lm_eval"


def describe_mistake(error: BaseException) -> str:
    """Return a message for an error of the command ``lm_eval``; empty if the error is not a user's mistake.

    Examples
    --------
    >>> describe_mistake(ValueError("Tasks not found: riskevl"))
    "there is no task 'riskevl'; did you mean 'riskeval'?"
    >>> describe_mistake(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "No module named 'torch': pip install 'confidence-tasks[hf]'"
    """
    text = str(error)
    if isinstance(error, SourceError | StopError) or text.startswith(_NO_KEY):
        return text
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA:
        return f"{text}: pip install 'confidence-tasks[hf]'"
    if text.startswith(_NOT_FOUND):
        return _suggest_tasks(text.removeprefix(_NOT_FOUND).split(", "))
    if no_model := _NO_MODEL.match(text):
        name, known = no_model.groups()
        return f"there is no model {name!r}{did_you_mean(name, known.split(', ')) or f'. There are {known}'}"
    return ""


def _suggest_tasks(missing: Iterable[str]) -> str:
    """Suggest tasks of this package with a similar name; empty if there are none, as lm-eval's may be meant."""
    known = [name for name, _ in configurations(studies())]
    hints = [f"there is no task {name!r}{hint}" for name in missing if (hint := did_you_mean(name, known))]
    return ". ".join(hints)
