"""Shared by the commands: options, progress bars, and tables and messages in the terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import reduce
from importlib import import_module
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from confidence_tasks.logs.texts import with_escaped_controls, without_controls

if TYPE_CHECKING:
    from confidence_tasks.harness.workers import Advance, Workers
    from confidence_tasks.logs.cache import Cache
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.logs.task_trials import TaskTrials
    from confidence_tasks.report.notices import Notice

WIDTH = 100
"""Maximum length of a line without an address; less in a narrower terminal."""


def print_stopped_early(tasks: Iterable[TaskTrials]) -> None:
    """Print which runs stopped early, so that neither ordinary intervals nor guarantees hold for them."""
    for task in tasks:
        for model in task.models:
            if model.stopped:
                print_message(
                    f" {task.task}, {model.label}: neither intervals nor guarantees have their nominal level",
                    "stopped early",
                )


def print_message(
    text: str, mark: str = "", colour: str = "yellow", *, indent: str = "", err: bool = True
) -> None:
    """Print a paragraph after a coloured mark, with line breaks only at spaces, so that addresses stay whole."""
    width = min(WIDTH, get_terminal_size((WIDTH, 30)).columns)
    lines = fill(
        f"{mark}{without_controls(text)}",
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    click.echo(click.style(mark, fg=colour) + lines.removeprefix(mark), err=err)


Command = Callable[..., Any]


def list_option(listing: Callable[[], Mapping[str, str]], help: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--list``, which prints the description of each study and exits."""

    def show(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            for name, description in listing().items():
                print_message(f"{name:<10} {description}", indent=" " * 11, err=False)
            context.exit()

    return click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def _combine(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds several options; the help shows the last option first."""
    return lambda command: reduce(lambda decorated, option: option(decorated), options, command)


def parse_with(parse: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a click callback that parses the value of an option; ValueError becomes a message about the option."""

    def parse_value(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return parse_value


FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
WITHIN_0_AND_1 = click.FloatRange(0, 1, min_open=True, max_open=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed."
)

settings_options = _combine(
    seed_option,
    click.option(
        "--level", type=WITHIN_0_AND_1, default=0.95, show_default=True, help="Confidence level of intervals."
    ),
    click.option(
        "--resamples",
        "n_resamples",
        type=click.IntRange(1),
        default=10_000,
        show_default=True,
        help="Number of bootstrap resamples and of permutations.",
    ),
)
"""Options for intervals and tests: the fields of ``Settings``."""

cluster_option = click.option(
    "--cluster",
    default="",
    metavar="NAME",
    help="Unit of intervals and tests instead of the question: passage, pair, family, a column of the trials such as"
    " subject, or none.  [default: the clusters of each source]",
)

correctness_options = _combine(
    click.option(
        "--signals",
        default="",
        metavar="NAME,...",
        callback=parse_with(
            lambda text: import_module("confidence_tasks.harness.correctness").further_signals(text)
        ),
        help="Further signals of tasks of others, at no call, where the log has log-probabilities: names such as"
        " negentropy,option_negentropy, or all.",
    ),
    click.option(
        "--scorer",
        default="",
        metavar="NAME",
        help="Scorer that says whether an answer is right, for Inspect logs of other tasks.  [default: the first]",
    ),
    click.option(
        "--correct",
        default="",
        metavar="METRIC",
        help="Metric that says whether an answer to a task of others is right, such as exact_match, or a bound such as"
        " 'f1>=0.5'. For Inspect, the bound is 'score>=0.5' or names a value of a score.",
    ),
)
"""Options for logs of tasks that no study asks."""

workers_options = _combine(
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask scheduler on whose cluster to compute, such as tcp://10.0.0.5:8786; needs the extra"
        " `cluster`.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        help="Number of processes.  [default: one per core, or one if there is little to compute]",
    ),
)
"""Options for parallel computation."""

cache_option = click.option(
    "--no-cache",
    is_flag=True,
    envvar="CONFIDENCE_TASKS_NO_CACHE",
    help="Neither read nor write the cache.  [also: CONFIDENCE_TASKS_NO_CACHE=1]",
)


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


def name_value_pairs(expected: str, parse: Callable[[str], Any] = str) -> Callable[..., dict[str, Any]]:
    """Return a click callback that parses values ``NAME=VALUE``; ``expected`` describes them in the error message."""

    def parse_pairs(texts: tuple[str, ...]) -> dict[str, Any]:
        values = {}
        for text in texts:
            name, _, value = text.partition("=")
            try:
                values[name] = parse(value)
            except (ValueError, SyntaxError):
                value = ""
            if not name or not value:
                raise ValueError(f"{text!r} is not {expected}")
        return values

    return parse_with(parse_pairs)


def study_name(names: Callable[[], Iterable[str]]) -> Callable[..., str]:
    """Return a click callback that accepts only the names that ``names()`` returns, and suggests one for a task.

    ``names`` imports the studies, so it is not called for ``--help``.
    """

    def check_name(value: str) -> str:
        from confidence_tasks.catalogue import known_study

        return known_study(value, list(names()))

    return parse_with(check_name)


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


def print_json(value: Any) -> None:
    """Print a value as JSON, with NaN as null and infinities as "Infinity", which pandas and JavaScript read.

    Characters that change how a terminal shows others are escaped, so that they stay in the value.
    """

    def to_json(part: Any) -> Any:
        if isinstance(part, float) and not math.isfinite(part):
            return None if math.isnan(part) else "Infinity" if part > 0 else "-Infinity"
        if isinstance(part, Mapping):
            return {key: to_json(each) for key, each in part.items()}
        return [to_json(each) for each in part] if isinstance(part, list | tuple) else part

    text = json.dumps(to_json(value), indent=2, ensure_ascii=False, allow_nan=False)
    click.echo(with_escaped_controls(text))


MAX_SHOWN = 10
"""Maximum number of models, conditions and files that the terminal shows for each notice."""


def print_notices(notices: Sequence[Notice]) -> None:
    """Print notices with the first places where each applies."""
    for notice in notices:
        print_message(f": {notice.title}. {notice.meaning}", notice.severity, err=False)
        for where in notice.where[:MAX_SHOWN]:
            print_message(f"    {where}", indent="    ", err=False)
        if len(notice.where) > MAX_SHOWN:
            click.echo(f"    and {len(notice.where) - MAX_SHOWN} more (see --json)")


def print_table(
    rows: Sequence[Mapping[str, str]], numbers: frozenset[str] = frozenset(), *, err: bool = False
) -> None:
    """Print rows of text as a table; the columns in ``numbers`` are right-aligned."""
    console = Console(stderr=err)
    if not console.is_terminal:
        console.width = WIDTH
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in rows[0] if rows else ():
        table.add_column(
            escape(without_controls(name)), justify="right" if name in numbers else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(escape(without_controls(value)) for value in row.values()))
    console.print(table)
