"""What commands print: messages, tables, notices and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from confidence_tasks.logs.texts import with_escaped_controls, without_controls

if TYPE_CHECKING:
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
