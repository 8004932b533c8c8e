"""``confidence-tasks sources``: list the sources of questions, fetch them ahead, and verify the copies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from confidence_tasks.sources import find_source
from confidence_tasks.sources.source import Source, SourceError, mirror_folder
from confidence_tasks.sources.table import SOURCES

_mirror_option = click.option(
    "--mirror",
    type=click.Path(path_type=Path),
    help="Folder with local copies of hub data sets.  [default: $CONFIDENCE_TASKS_MIRROR]",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@_mirror_option
@_json_option
@click.pass_context
def sources(context: click.Context, mirror: Path | None, as_json: bool) -> None:
    """List the sources of questions, download them ahead, or verify the copies."""
    if context.invoked_subcommand is not None:
        if mirror is not None or as_json:
            raise click.UsageError(f"options of {context.invoked_subcommand!r} go after its name")
        return
    folder = mirror_folder(mirror)
    records = [_record(source, folder) for source in SOURCES.values()]
    if as_json:
        click.echo(json.dumps(records, indent=2))
    else:
        Console().print(_listing(records))


def _record(source: Source, mirror: Path | None) -> dict[str, Any]:
    return {
        "name": source.name,
        "questions": source.size,
        "licence": source.licence,
        "gated": source.gated,
        "state": source.state(mirror),
        "page": source.page,
    }


def _listing(records: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for header in ("source", "questions", "licence", "access", "copy"):
        table.add_column(header, justify="right" if header == "questions" else "left", no_wrap=True)
    for record in records:
        table.add_row(
            record["name"],
            "any number" if record["questions"] is None else f"{record['questions']:,}",
            record["licence"],
            "gated" if record["gated"] else "open",
            record["state"],
        )
    return table


@sources.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a mirror folder instead of the cache, to take to a machine without internet.",
)
def fetch(names: tuple[str, ...], into: Path | None) -> None:
    """Download sources ahead, each at its pinned commit."""
    wanted = [find_source(name) for name in names]
    console = Console(stderr=True)
    for position, source in enumerate(wanted, start=1):
        console.print(f"[{position}/{len(wanted)}] {source.name} ...", markup=False, highlight=False)
        path = source.fetch(into)
        click.echo(f"{source.name}: {path or 'nothing to download'}")


@sources.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_mirror_option
@_json_option
def verify(names: tuple[str, ...], mirror: Path | None, as_json: bool) -> None:
    """Check hashes, counts and all rows.

    Without names, every copy that is there is checked.
    """
    folder = mirror_folder(mirror)
    wanted = [find_source(name) for name in names] or [
        source for source in SOURCES.values() if source.state(folder) != "absent"
    ]
    results = [_verified(source, folder) for source in wanted]
    if as_json:
        click.echo(json.dumps(results, indent=2))
    else:
        for result in results:
            found = result["error"] or f"{result['name']}: {result['questions']:,} questions"
            click.echo(("failed  " if result["error"] else "ok      ") + found)
    if any(result["error"] for result in results):
        raise SystemExit(1)


def _verified(source: Source, mirror: Path | None) -> dict[str, Any]:
    try:
        return {"name": source.name, "questions": source.verify(mirror), "error": None}
    except SourceError as error:
        return {"name": source.name, "questions": None, "error": str(error)}
