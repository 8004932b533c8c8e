"""Which runs the tables and figures of a paper lack, with the commands that make them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from confidence_tasks.report.groups import in_order
from confidence_tasks.report.labels import group_label
from confidence_tasks.report.paper.items import Cell, Replication, TaskParameters
from confidence_tasks.report.paper.runs import Runs


def lacks(replication: Replication, runs: Runs, cells: Sequence[Cell], parameters: str = "") -> Iterator[str]:
    """Say which runs some cells lack, with the command that makes them."""
    by_run: dict[tuple[str, frozenset[tuple[str, str]]], list[str]] = {}
    wanted: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for cell in cells:
        for model in (
            [cell.model] if cell.model else (runs.models(cell.tasks) or runs.models(replication.tasks))
        ):
            wanted.setdefault((cell.tasks[0], model), set()).add((_condition(runs, cell), cell.source))
    for (task, model), its in wanted.items():
        by_run.setdefault((task, frozenset(its)), []).append(model)
    for (task, asked), models in by_run.items():
        conditions, sources = (in_order(filter(None, part)) for part in zip(*asked, strict=True))
        named = replication.tasks.get(task, TaskParameters())
        what = [task, *([", ".join(map(group_label, conditions))] if conditions else []), *sources]
        whom = f" of {', '.join(models)}"
        name = ",".join(dict.fromkeys(map(runs.name_of, models)))
        commands = _commands(task, name, named, conditions, sources, parameters)
        yield f"Lacks {' · '.join(what)}{whom}: {'; '.join(f'`{command}`' for command in commands)}"


def _condition(runs: Runs, cell: Cell) -> str:
    """Return the condition that a cell's group is; nothing for other groups, such as means over conditions."""
    studies = [
        task.task_trials.study for task in runs.results.values() if task.task_trials.task in cell.tasks
    ]
    for study in studies or [task.task_trials.study for task in runs.results.values()]:
        try:
            study.condition_numbers(cell.group)
        except ValueError:
            return ""
    return cell.group


def _commands(
    task: str,
    model: str,
    named: TaskParameters,
    conditions: Sequence[str],
    sources: Sequence[str],
    parameters: str,
) -> list[str]:
    """Return the commands that ask a model under some conditions, on some sources."""
    start = ["inspect", "eval", f"confidence_tasks/{task}", "--model", shlex.quote(model)]
    if conditions and named.conditions:
        values = ",".join(label.partition("=")[2] or label for label in conditions)
        start += ["-T", f"{named.conditions}={values}"]
    start += parameters.split()
    if not (sources and named.sources):
        return [" ".join(start)]
    asked = sources if named.sources == "source" else [",".join(sources)]
    return [" ".join([*start, "-T", f"{named.sources}={value}"]) for value in asked]
