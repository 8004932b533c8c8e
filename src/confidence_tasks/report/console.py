"""What the commands share: progress, tables and messages in the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    from confidence_tasks.report.collection import Collection

errors = Console(stderr=True, soft_wrap=True)
"""Progress and messages go here, so that what a command prints can be piped."""

Command = Callable[..., Any]


class StudyChoice(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no parameter
    """The name of a study, among names that are known once the studies are imported: not for ``--help``.

    Parameters
    ----------
    names : callable
        Returns them.
    """

    name = "study"

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse any other name."""
        return click.Choice(list(self._names())).convert(value, param, ctx)


def list_option(listing: Callable[[], str], help: str) -> Callable[[Command], Command]:
    """Return what adds ``--list``, which prints what the studies offer, and exits."""

    def show(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            click.echo(listing())
            context.exit()

    return click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def json_option(command: Command) -> Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all draws."
)


def settings_options(command: Command) -> Command:
    """Add the options that say how uncertainty is computed."""
    for option in (
        seed_option,
        click.option(
            "--level",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.95,
            show_default=True,
            help="Nominal coverage of intervals.",
        ),
        click.option(
            "--resamples",
            type=click.IntRange(1),
            default=10_000,
            show_default=True,
            help="Resamples of questions, and exchanges of conditions.",
        ),
    ):
        command = option(command)
    return command


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar in a terminal, and give a function that moves it."""
    if not errors.is_terminal:
        yield lambda done, total: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def read(paths: Sequence[str]) -> Collection:
    """Read trials under a progress bar, and name what was skipped."""
    from confidence_tasks.report.collection import collect

    with progress("reading logs") as advance:
        found = collect(paths, advance)
    for skipped in found.skipped:
        errors.print(f"[yellow]skipped[/] {escape(skipped.path)}: {escape(skipped.reason)}", highlight=False)
    return found


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    rows: Sequence[Mapping[str, str]], numbers: frozenset[str] = frozenset(), console: Console | None = None
) -> None:
    """Print rows of text as a table; the columns named in ``numbers`` are set flush right."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in rows[0] if rows else ():
        table.add_column(escape(name), justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(value) for value in row.values()))
    (console or Console()).print(table)
