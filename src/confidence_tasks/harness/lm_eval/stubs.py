"""The YAML stubs that tell lm-eval which tasks there are, generated from the lm-eval groups of the studies.

    python -m confidence_tasks.harness.lm_eval.stubs

writes them anew; a test fails while they differ from the groups. A study is a group of conditions. A condition is a
task or, where it has several sources, a group of tasks, one a source, and its metrics are the means over sources, as in
Inspect. A study has no metrics of its own: conditions ask the same questions, so lm-eval's standard error of their mean
would be wrong, and what pools them belongs to the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.lm_eval import lm_eval_tasks_path
from confidence_tasks.study.measures import Measure

FOLDER = lm_eval_tasks_path() / "stubs"

HEADER = "# Written by python -m confidence_tasks.harness.lm_eval.stubs\n"


OFFLINE = "arithmetic"
"""Ending of the name of the group of a study's tasks on generated questions, for runs without data."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A group of lm-eval tasks: one task of a study, under each of its conditions.

    Attributes
    ----------
    name : str
        Name of the study's group.
    task_class : type
        The class behind its tasks.
    version : str
        Its version.
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
    task_class: type
    version: str
    sources: Mapping[str, Sequence[str]]
    offline: Mapping[str, str] = field(default_factory=dict)
    measures: Sequence[Measure] = ()
    naming: str = "{study}_{condition}"

    def task(self, condition: str, *source: str) -> str:
        """Name a task or a group: ``scale_granularity_0_20_mmlu``, ``riskeval_lambda10``."""
        label = condition.replace("=", "").replace("-", "_").replace(".", "_")
        return "_".join([self.naming.format(study=self.name, condition=label), *source])


def task_groups() -> list[TaskGroup]:
    """Return the groups of every study."""
    return [group for study in studies() if study.lm_eval for group in study.lm_eval.load()]


def stubs(group: TaskGroup) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each stub of a group."""
    for condition, sources in group.sources.items():
        yield from _condition(group, condition, sources)
    yield group.name, _group(group, group.name, [group.task(condition) for condition in group.sources])
    offline = {group.task(*cell): cell for cell in group.offline.items()}
    for name, cell in offline.items():
        yield name, _task(group, name, *cell)
    if offline:
        name = f"{group.name}_{OFFLINE}"
        yield name, _group(group, name, list(offline))


def _condition(group: TaskGroup, condition: str, sources: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the stubs of a condition: a task, or a group of one task a source."""
    name = group.task(condition)
    if len(sources) == 1:
        yield name, _task(group, name, condition, *sources)
        return
    tasks = {group.task(condition, source): source for source in sources}
    for task, source in tasks.items():
        yield task, _task(group, task, condition, source)
    yield name, _group(group, name, list(tasks), group.measures)


def write() -> None:
    """Write every stub, and remove those that are none any more."""
    for path in FOLDER.rglob("*.yaml"):
        path.unlink()
    for group in task_groups():
        folder = FOLDER / group.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in stubs(group):
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def _task(group: TaskGroup, name: str, condition: str, source: str) -> str:
    tags = dict.fromkeys((f"confidence_{group.name}", f"confidence_{source}"))
    return (
        f"{HEADER}task: {name}\n"
        f"class: !function {group.task_class.__module__}.{group.task_class.__qualname__}\n"
        f"tag: [{', '.join(tags)}]\n"
        f"metadata: {json.dumps({'condition': condition, 'source': source})}\n"
    )


def _group(group: TaskGroup, name: str, members: Sequence[str], measures: Sequence[Measure] = ()) -> str:
    """Write a group, whose metrics are unweighted means of its members'."""
    means = [f"{{metric: {measure.name}, weight_by_size: false}}" for measure in measures]
    return (
        f"{HEADER}group: {name}\n"
        f"task:{_sequence(members)}"
        + (f"aggregate_metric_list:{_sequence(means)}" if means else "")
        + f"metadata: {json.dumps({'version': group.version})}\n"
    )


def _sequence(entries: Sequence[str]) -> str:
    return "\n" + "".join(f"  - {entry}\n" for entry in entries)


if __name__ == "__main__":
    write()
