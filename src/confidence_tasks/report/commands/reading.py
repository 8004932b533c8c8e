"""Trials read for a command, with its workers, its cache and its progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from confidence_tasks.report.commands.printing import print_message

if TYPE_CHECKING:
    from confidence_tasks.harness.workers import Advance, Workers
    from confidence_tasks.logs.cache import Cache
    from confidence_tasks.logs.collection import Collection


@contextmanager
def open_workers(jobs: int | None, scheduler: str | None) -> Iterator[Workers]:
    """Yield the workers of ``--jobs`` or ``--scheduler``."""
    from confidence_tasks.harness.workers import WorkersError, cluster, local_workers

    if jobs and scheduler:
        raise click.UsageError(
            "--jobs and --scheduler exclude each other: the cluster determines the number of workers"
        )
    try:
        with cluster(scheduler) if scheduler else nullcontext(local_workers(jobs)) as workers:
            yield workers
    except WorkersError as error:
        raise click.ClickException(str(error)) from error


def open_cache(no_cache: bool) -> Cache | None:
    """Return the user's cache, which prints its problems in the terminal; None with ``--no-cache``."""
    from confidence_tasks.logs.cache import user_cache

    return None if no_cache else user_cache(print_message)


@contextmanager
def as_click_error() -> Iterator[None]:
    """Turn a ValueError into click's UsageError."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def progress(description: str) -> Iterator[Advance]:
    """Show a progress bar in a terminal, and yield a function that updates the bar and the name of the current item."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total, current="", /: None
        return
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[current]}", markup=False),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task(description, total=None, current="")

        def advance(done: int, total: int, current: str = "") -> None:
            bar.update(task, completed=done, total=total, current=current)

        yield advance


def read_trials(
    paths: Sequence[str],
    workers: Workers | None = None,
    cache: Cache | None = None,
    *,
    correct: str = "",
    scorer: str = "",
    signals: tuple[str, ...] = (),
) -> Collection:
    """Read trials with a progress bar, and print the files that were skipped."""
    from confidence_tasks.harness.correctness import Correctness
    from confidence_tasks.logs.collection import collect

    try:
        chosen = Correctness.parse(correct, scorer)._replace(signals=signals)
    except ValueError as error:
        raise click.BadParameter(f"--correct {error}") from error
    with progress("reading logs") as advance:
        collection = collect(paths, advance, workers, cache, chosen)
    for skipped in collection.skipped:
        print_message(f" {skipped.path}: {skipped.reason}", "skipped")
    return collection
