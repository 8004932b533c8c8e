"""Shared by the commands of decisions: reading logs, and the choice of a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from confidence_tasks.report.commands.printing import print_message
from confidence_tasks.report.commands.reading import as_click_error, open_cache, read_trials

if TYPE_CHECKING:
    from confidence_tasks.logs.task_trials import TaskTrials

condition_option = click.option(
    "--condition", default="", help="Condition, such as 0-100 or a signal.  [default: each]"
)


def read_tasks(paths: Sequence[str], *, no_cache: bool, cluster: str = "") -> list[TaskTrials]:
    """Return the trials under some paths by task, with the units of intervals; exit with 1 if there are none."""
    from confidence_tasks.logs.clusters import with_units
    from confidence_tasks.logs.task_trials import group_by_task

    collection = read_trials(paths, cache=open_cache(no_cache))
    with as_click_error():
        tasks = with_units(group_by_task(collection.files), cluster)
    if not tasks:
        print_message("no trials were found", colour="red")
        raise SystemExit(1)
    return tasks
