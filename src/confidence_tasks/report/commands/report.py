"""``confidence-tasks report``: from logs to a page of findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from rich.markup import escape

from confidence_tasks.report.console import (
    cache_of,
    cache_option,
    errors,
    json_option,
    print_json,
    progress,
    read,
    settings_options,
    workers_of,
    workers_options,
)
from confidence_tasks.report.labels import TITLE, VIEWER
from confidence_tasks.sources.storage import write_atomically

if TYPE_CHECKING:
    from confidence_tasks.report.collection import Collection
    from confidence_tasks.report.groups import ModelGroups
    from confidence_tasks.report.terminal import Requirement, Verdict
    from confidence_tasks.report.write import Report

FOLDER = click.Path(file_okay=False, path_type=Path)


def _web_address(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Refuse an address that a browser would run instead of open."""
    if urlsplit(value).scheme not in ("http", "https"):
        raise click.BadParameter(f"{value!r} must begin with http:// or https://")
    return value


def _groups(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> ModelGroups:
    """Read groups of models."""
    if not value:
        return ()
    from confidence_tasks.report.groups import parse_groups

    try:
        return parse_groups(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _requirements(
    _context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]
) -> tuple[Requirement, ...]:
    """Read requirements."""
    if not value:
        return ()
    from confidence_tasks.report.terminal import Requirement

    try:
        return tuple(map(Requirement.parse, value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _check_groups(groups: ModelGroups, collection: Collection) -> None:
    """Refuse a group with a model that no log is of."""
    known = {name for file in collection.files for name in (file.model, file.model.rpartition("/")[2])}
    for name, members in groups:
        if unknown := [member for member in members if member not in known]:
            models = ", ".join(sorted({file.model for file in collection.files})) or "none"
            raise click.BadParameter(
                f"--group {name}: no trials of {', '.join(unknown)}; the models are {models}"
            )


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The page to write.",
)
@click.option("--tables", type=FOLDER, help="Also write CSV and LaTeX tables here.")
@click.option("--figures", type=FOLDER, help="Also write the figures here, as SVG.")
@click.option(
    "--paper",
    type=FOLDER,
    is_flag=False,
    flag_value="paper",
    help="Also write the tables and figures of the studies' papers, for the models of the logs: HTML, CSV, LaTeX, SVG"
    " and PDF; into the folder paper where none is named.",
)
@click.option("--title", default=TITLE, show_default=True, help="Title of the page.")
@click.option(
    "--viewer",
    default=VIEWER,
    show_default=True,
    callback=_web_address,
    help="Address of `inspect view`, for links to samples.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME=MODEL,...",
    callback=_groups,
    help="A named group of models, such as reasoning=openai/o3,deepseek-r1: the tables of LifeEval and of its question"
    " sets have its means. May be repeated.",
)
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="REQUIREMENT",
    callback=_requirements,
    help="Exit with 1 unless the whole interval of a measure meets a bound, such as 'ece<0.1' or 'auroc/0-20>0.7'. May"
    " be repeated.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@settings_options
@workers_options
@cache_option
@json_option
def report(
    paths: tuple[str, ...],
    output: Path,
    tables: Path | None,
    figures: Path | None,
    paper: Path | None,
    title: str,
    viewer: str,
    groups: ModelGroups,
    requirements: tuple[Requirement, ...],
    opens: bool,
    resamples: int,
    level: float,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Write a page of tables, figures and checks from logs.

    PATH is an Inspect log, a sample file of lm-eval, a plain file of trials (CSV, JSON lines, Parquet), or a folder of
    these, searched in depth; local, or any address that fsspec opens (s3://, gs://, https://).

    The terminal shows the headline measures of each task under the condition that models are compared on, beside the
    true values of simulated subjects.

    What was computed before is taken from a cache (`confidence-tasks cache`); the rest is computed in one process per
    core. Neither changes any number.

    Exits with 1 if a requirement is not met, if the process that computed a model died (the page names the model and
    has all others), or if no trials were found (the page then lists the files that were skipped; a page that exists
    already is kept).
    """
    from confidence_tasks.report.estimates import Settings
    from confidence_tasks.report.terminal import print_headlines
    from confidence_tasks.report.write import report_of

    cache = cache_of(no_cache)
    with workers_of(jobs, scheduler) as workers:
        collection = read(paths, workers, cache)
        _check_groups(groups, collection)
        with progress("computing models") as advance:
            made = report_of(
                collection,
                settings=Settings(resamples, level, seed, groups),
                viewer=viewer,
                title=title,
                advance=advance,
                workers=workers,
                cache=cache,
            )
    judged = _judged(requirements, made)
    found_any = bool(made.results)
    written = found_any or not output.exists()
    if written:
        write_atomically(output, made.html.encode(errors="xmlcharrefreplace"))
    if found_any:
        _write_files(made, tables, figures, paper)
    if written and opens:
        click.launch(output.resolve().as_uri())
    if as_json:
        print_json({"report": str(output) if written else None, **_record(made, judged, collection)})
    elif written:
        print_headlines(made.results)
        click.echo(output)
    if not (found_any or made.lost):
        outcome = "the page says what was" if written else f"{output} was left as it was"
        errors.print(f"[red]no trials were found[/]: {escape(outcome)}")
        raise SystemExit(1)
    if _failings(judged, made):
        raise SystemExit(1)


def _failings(judged: Sequence[Verdict], made: Report) -> int:
    """Say how each requirement was met, and which files' models could not be computed; return how many failed."""
    for each in judged:
        errors.print(escape(f"{each.outcome:<9}  {each.requirement}: {each.found} ({each.where})"))
    for lost in made.lost:
        errors.print(f"[red]left out[/] {escape(lost.path)}: {escape(lost.reason)}", highlight=False)
    return len(made.lost) + sum(each.outcome != "met" for each in judged)


def _judged(requirements: Sequence[Requirement], made: Report) -> list[Verdict]:
    """Hold what was found against the requirements."""
    from confidence_tasks.report.terminal import verdicts

    try:
        return list(verdicts(requirements, made.results)) if made.results else []
    except ValueError as error:
        raise click.BadParameter(f"--require {error}") from error


def _write_files(made: Report, tables: Path | None, figures: Path | None, paper: Path | None) -> None:
    """Write what is beside the page."""
    from confidence_tasks.report.export import write_figures, write_tables
    from confidence_tasks.report.paper.files import write_paper

    if tables is not None:
        write_tables(made.results, made.extras, tables, made.overviews)
    if figures is not None:
        write_figures(made.figures, figures)
    if paper is not None:
        write_paper(made.papers, paper)
        its_items = [item for _, items in made.papers for item in items]
        n_filled = sum(item.is_filled for item in its_items)
        errors.print(
            f"{n_filled} of {len(its_items)} tables and figures of the papers; paper.tex says what the others lack"
        )


def _record(made: Report, judged: Sequence[Verdict], collection: Collection) -> dict[str, Any]:
    """Return a report as JSON has it."""
    from confidence_tasks.report.export import contrasts_frame, estimates_frame, records

    return {
        "estimates": records(estimates_frame(made.results)),
        "contrasts": records(contrasts_frame(made.results)),
        "notices": [
            {
                "task": results.task_trials.task,
                "severity": notice.severity,
                "title": notice.title,
                "where": list(notice.where),
            }
            for results, task in zip(made.results, made.tasks, strict=True)
            for notice in task.notices
        ],
        "paper": [
            {
                "study": replication.name,
                "item": each.title,
                "filled": each.is_filled,
                "notes": list(each.notes),
            }
            for replication, its in made.papers
            for each in its
        ],
        "requirements": [dataclasses.asdict(each) for each in judged],
        "skipped": [{"path": file.path, "reason": file.reason} for file in (*collection.skipped, *made.lost)],
    }
