"""What the tables and figures of a paper lack: the missing runs with the commands that make them, and other reasons."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.logs.task_trials import in_order
from confidence_tasks.report.labels import group_label
from confidence_tasks.report.paper import Cell, PaperFigure, Replication, Runs, TaskParameters


def missing_from_figure(item: PaperFigure, runs: Runs, *, drawn: bool) -> list[Cell]:
    """Return the tasks that are missing from a figure, and the sources that models were not asked in other tasks."""
    if not drawn and not item.sources:
        return [Cell(task=name) for name in item.tasks]
    missing = [Cell(task=name) for name in item.tasks if not runs.results_of(name)]
    for name in item.tasks:
        missing += _missing_sources(item, runs, name, drawn=drawn)
    return missing


def _missing_sources(item: PaperFigure, runs: Runs, task: str, *, drawn: bool) -> Iterator[Cell]:
    """Yield the sources that models were not asked in a task; all of them if the figure is not drawn."""
    for source in item.sources:
        for model in runs.models([task]):
            cell = Cell(task=task, model=model, source=source)
            if not (drawn and runs.was_asked(cell)):
                yield cell


def lacking(
    replication: Replication, runs: Runs, cells: Iterable[Cell], parameters: str = ""
) -> Iterator[str]:
    """Yield why some cells have no number.

    A missing run is named with the command that makes it. Recorded replies have no command, as they cannot be asked
    again, and neither has a run that is there, unless the cells need runs with other ``parameters``.
    """
    empty = list(_cells_of_models(replication, runs, cells))
    asked = [] if parameters else list(filter(runs.was_asked, empty))
    for run, models in _by_run(runs, asked).items():
        yield f"{run.name} of {', '.join(models)}: the trials are too few, or lack a condition to compare with"
    for run, models in _by_run(runs, [cell for cell in empty if cell not in asked]).items():
        names = replication.tasks.get(run.task, TaskParameters())
        yield from _missing_run(run, runs, models, names, parameters)


def _missing_run(
    run: _Run, runs: Runs, models: Sequence[str], names: TaskParameters, parameters: str
) -> Iterator[str]:
    """Yield the note about a run that some models lack: one about recorded replies, and one about other models."""
    recorded = list(filter(runs.is_recorded, models))
    others = [label for label in models if label not in recorded]
    if recorded:
        yield f"Lacks {run.name} in the recorded replies of {', '.join(recorded)}"
    if others:
        model = ",".join(dict.fromkeys(map(runs.name_of, others)))
        commands = "; ".join(f"`{command}`" for command in _commands(run, model, names, parameters))
        yield f"Lacks {run.name} of {', '.join(others)}: {commands}"


@dataclass(frozen=True, slots=True)
class _Run:
    """A task under some conditions, on some sources; without conditions or sources, those of the task."""

    task: str
    conditions: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def name(self) -> str:
        """The task with its conditions and sources."""
        labels = [", ".join(map(group_label, self.conditions))] if self.conditions else []
        return " · ".join([self.task, *labels, *self.sources])


def _cells_of_models(replication: Replication, runs: Runs, cells: Iterable[Cell]) -> Iterator[Cell]:
    """Yield the cells, those without a model once for each model of their tasks, or else of the paper."""
    for cell in cells:
        models = [cell.model] if cell.model else runs.models(cell.tasks) or runs.models(replication.tasks)
        yield from (replace(cell, model=model) for model in models)


def _by_run(runs: Runs, cells: Sequence[Cell]) -> Mapping[_Run, list[str]]:
    """Return the runs that cells are of, each with its models; sources with the same conditions are one run."""
    conditions: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for cell in cells:
        conditions[cell.tasks[0], cell.model, cell.source].add(_condition(runs, cell))
    sources: dict[tuple[str, str, tuple[str, ...]], set[str]] = defaultdict(set)
    for (task, model, source), labels in conditions.items():
        sources[task, model, tuple(in_order(filter(None, labels)))].add(source)
    models: dict[_Run, list[str]] = defaultdict(list)
    for (task, model, ordered), of_model in sources.items():
        models[_Run(task, ordered, tuple(in_order(filter(None, of_model))))].append(model)
    return models


def _condition(runs: Runs, cell: Cell) -> str:
    """Return the condition that a cell's group is; empty for other groups, such as means over conditions."""
    of_cell = [task for name in cell.tasks for task in runs.results_of(name)]
    for task in of_cell or runs.results:
        try:
            task.task_trials.study.condition_rules.columns(cell.group)
        except ValueError:
            return ""
    return cell.group


def _commands(run: _Run, model: str, names: TaskParameters, parameters: str) -> list[str]:
    """Return the commands that make a run of a model."""
    command = f"inspect eval confidence_tasks/{run.task} --model {shlex.quote(model)}"
    if run.conditions and names.conditions:
        values = ",".join(label.partition("=")[2] or label for label in run.conditions)
        command += f" -T {names.conditions}={values}"
    if parameters:
        command += f" {parameters}"
    if not (run.sources and names.sources):
        return [command]
    values_per_run = run.sources if names.sources == "source" else [",".join(run.sources)]
    return [f"{command} -T {names.sources}={value}" for value in values_per_run]
