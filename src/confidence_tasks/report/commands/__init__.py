"""What the commands share: options, progress, tables and messages in the terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import reduce
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

if TYPE_CHECKING:
    from confidence_tasks.report.cache import Cache
    from confidence_tasks.report.collection import Collection
    from confidence_tasks.report.workers import Advance, Workers

WIDTH = 100
"""Maximum length of a line that holds no address; a narrower terminal lowers it."""


def say(text: str, mark: str = "", colour: str = "yellow", *, indent: str = "", err: bool = True) -> None:
    """Print a paragraph after a coloured mark; lines break between words, and addresses stay whole."""
    width = min(WIDTH, get_terminal_size((WIDTH, 30)).columns)
    lines = fill(
        f"{mark}{text}", width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    click.echo(click.style(mark, fg=colour) + lines.removeprefix(mark), err=err)


Command = Callable[..., Any]


def list_option(listing: Callable[[], Mapping[str, str]], help: str) -> Callable[[Command], Command]:
    """Return what adds ``--list``, which prints what each study offers, and exits."""

    def show(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            for name, offer in listing().items():
                say(f"{name:<10} {offer}", indent=" " * 11, err=False)
            context.exit()

    return click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def _adds(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return what adds several options, the last of them first in the help."""
    return lambda command: reduce(lambda made, option: option(made), options, command)


FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
WITHIN_0_AND_1 = click.FloatRange(0, 1, min_open=True, max_open=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all draws."
)

settings_options = _adds(
    seed_option,
    click.option(
        "--level", type=WITHIN_0_AND_1, default=0.95, show_default=True, help="Nominal coverage of intervals."
    ),
    click.option(
        "--resamples",
        "n_resamples",
        type=click.IntRange(1),
        default=10_000,
        show_default=True,
        help="Number of bootstrap resamples, and of permutations.",
    ),
)
"""How uncertainty is computed: the fields of ``Settings``."""

workers_options = _adds(
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Compute on the Dask cluster of this scheduler, such as tcp://10.0.0.5:8786; needs the extra `cluster`.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        help="Number of processes.  [default: one per core; one where there is little to compute]",
    ),
)
"""Where work is done."""

cache_option = click.option(
    "--no-cache",
    is_flag=True,
    envvar="CONFIDENCE_TASKS_NO_CACHE",
    help="Compute everything again and cache nothing.  [also: CONFIDENCE_TASKS_NO_CACHE=1]",
)


@contextmanager
def workers_of(jobs: int | None, scheduler: str | None) -> Iterator[Workers]:
    """Give the workers that were asked for."""
    from confidence_tasks.report.workers import WorkersError, cluster, local_workers

    if jobs and scheduler:
        raise click.UsageError(
            "--jobs and --scheduler exclude each other: a cluster says how many workers it has"
        )
    try:
        with cluster(scheduler) if scheduler else nullcontext(local_workers(jobs)) as workers:
            yield workers
    except WorkersError as error:
        raise click.ClickException(str(error)) from error


def cache_of(no_cache: bool) -> Cache | None:
    """Return the user's cache, whose troubles are said in the terminal; None if it is left out."""
    from confidence_tasks.report.cache import user_cache

    return None if no_cache else user_cache(say)


def parsed(parse: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return what reads the value of an option by a function; one of which it raises ValueError is a bad parameter."""

    def read_value(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return read_value


def name_values(such_as: str, read: Callable[[str], Any] = str) -> Callable[..., dict[str, Any]]:
    """Return what reads the values of an option, each a name, an equals sign and what ``read`` takes."""

    def pairs(texts: tuple[str, ...]) -> dict[str, Any]:
        found = {}
        for text in texts:
            name, _, value = text.partition("=")
            try:
                found[name] = read(value)
            except (ValueError, SyntaxError):
                value = ""
            if not name or not value:
                raise ValueError(f"{text!r} is not {such_as}")
        return found

    return parsed(pairs)


def one_of_studies(names: Callable[[], Iterable[str]]) -> Callable[..., str]:
    """Return what refuses all names but those that a function returns, once the studies are imported: not for help."""

    def known(value: str) -> str:
        from confidence_tasks.study.parameter import did_you_mean

        if value not in (every := list(names())):
            raise ValueError(f"{value!r} is not one of {', '.join(every)}{did_you_mean(value, every)}")
        return value

    return parsed(known)


@contextmanager
def said_of_usage() -> Iterator[None]:
    """Show a ValueError as a mistake in what was typed."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Show a bar in a terminal, and give a function that moves it and says what is under way."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total, under_way="", /: None
        return
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[under_way]}", markup=False),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=None, under_way="")

        def advance(done: int, total: int, under_way: str = "") -> None:
            bar.update(task, completed=done, total=total, under_way=under_way)

        yield advance


def read(paths: Sequence[str], workers: Workers | None = None, cache: Cache | None = None) -> Collection:
    """Read trials under a progress bar, and name what was skipped."""
    from confidence_tasks.report.collection import collect

    with progress("reading logs") as advance:
        found = collect(paths, advance, workers, cache)
    for skipped in found.skipped:
        say(f" {skipped.path}: {skipped.reason}", "skipped")
    return found


def print_json(value: Any) -> None:
    """Print a value as JSON: NaN as null, and an infinity by the name that pandas and JavaScript read."""

    def plain(part: Any) -> Any:
        if isinstance(part, float) and not math.isfinite(part):
            return None if math.isnan(part) else "Infinity" if part > 0 else "-Infinity"
        if isinstance(part, Mapping):
            return {key: plain(each) for key, each in part.items()}
        return [plain(each) for each in part] if isinstance(part, list | tuple) else part

    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    rows: Sequence[Mapping[str, str]], numbers: frozenset[str] = frozenset(), *, err: bool = False
) -> None:
    """Print rows of text as a table; the columns named in ``numbers`` are set flush right."""
    console = Console(stderr=err)
    if not console.is_terminal:
        console.width = WIDTH
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in rows[0] if rows else ():
        table.add_column(escape(name), justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(value) for value in row.values()))
    console.print(table)
