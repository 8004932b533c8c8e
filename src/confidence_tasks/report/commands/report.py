"""``confidence-tasks report``: from logs to a page of findings, and what the terminal shows of them."""

from __future__ import annotations

import math
import webbrowser
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from confidence_tasks.report.commands import (
    FILE,
    FOLDER,
    cache_option,
    json_option,
    open_cache,
    open_workers,
    parse_with,
    print_json,
    print_message,
    print_table,
    progress,
    read_trials,
    settings_options,
    workers_options,
)
from confidence_tasks.report.labels import (
    TITLE,
    VIEWER,
    group_label,
    limits,
    measure_label,
    number,
    why_missing,
)
from confidence_tasks.simulation.subject import Subject, make_subject
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    from confidence_tasks.report.checks import Requirement
    from confidence_tasks.report.collection import Collection
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelGroups, ModelTrials
    from confidence_tasks.report.write import Report


def _web_address(value: str) -> str:
    """Refuse an address that a browser would run instead of open."""
    if urlsplit(value).scheme not in ("http", "https"):
        raise ValueError(f"{value!r} must begin with http:// or https://")
    return value


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
    type=FILE,
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
    callback=parse_with(_web_address),
    help="Address of `inspect view`, for links to samples.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME=MODEL,...",
    callback=parse_with(
        lambda texts: import_module("confidence_tasks.report.task_trials").parse_groups(texts)
    ),
    help="A named group of models, such as reasoning=openai/o3,deepseek-r1: the tables of LifeEval and of its question"
    " sets have its means. May be repeated.",
)
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="REQUIREMENT",
    callback=parse_with(
        lambda texts: import_module("confidence_tasks.report.checks").parse_requirements(texts)
    ),
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
    requirements: list[Requirement],
    opens: bool,
    jobs: int | None,
    scheduler: str | None,
    no_cache: bool,
    as_json: bool,
    **uncertainty: Any,
) -> None:
    """Write a page of tables, figures and checks from logs.

    PATH is an Inspect log, a sample file of lm-eval, a plain file of trials (CSV, JSON lines, Parquet), or a folder of
    these, searched in depth; local, or any address that fsspec opens (s3://, gs://, https://).

    The terminal shows the headline measures of each task under the condition that models are compared on, beside the
    true values of simulated subjects.

    What was computed before is taken from a cache (`confidence-tasks cache`); the rest is computed in one process per
    core. Neither changes any number.

    Exits with 1 if a requirement is not met, if the process that computed a model died (the page names the model and
    has all others), or if no trials were found; then no page is written.
    """
    from confidence_tasks.report.checks import verdicts
    from confidence_tasks.report.estimates import Settings
    from confidence_tasks.report.write import report_of

    cache = open_cache(no_cache)
    with open_workers(jobs, scheduler) as workers:
        collection = read_trials(paths, workers, cache)
        _check_groups(groups, collection)
        with progress("computing models") as advance:
            made = report_of(
                collection,
                settings=Settings(**uncertainty, groups=groups),
                viewer=viewer,
                title=title,
                advance=advance,
                workers=workers,
                cache=cache,
            )
    try:
        judged = list(verdicts(requirements, made.results)) if made.results else []
    except ValueError as error:
        raise click.BadParameter(f"--require {error}") from error
    found_any = bool(made.results)
    if found_any:
        write_atomically(output, made.html.encode(errors="xmlcharrefreplace"))
        _write_files(made, tables, figures, paper)
        if opens and not webbrowser.open(address := output.resolve().as_uri()):
            click.echo(f"no browser was found; open {address}", err=True)
    if as_json:
        print_json({"report": str(output) if found_any else None, **_record(made, judged, collection)})
    elif found_any:
        print_headlines(made.results)
        click.echo(output)
    if not (found_any or made.lost):
        print_message(", and no page is written", "no trials were found", "red")
        raise SystemExit(1)
    if _failings(judged, made):
        raise SystemExit(1)


def _failings(judged: Sequence[Mapping[str, str]], made: Report) -> int:
    """Say how each requirement was met, and which files' models could not be computed; return how many failed."""
    for each in judged:
        print_message("{outcome:<9}  {requirement}: {found} ({where})".format_map(each))
    for lost in made.lost:
        print_message(f" {lost.path}: {lost.reason}", "left out", "red")
    return len(made.lost) + sum(each["outcome"] != "met" for each in judged)


def _write_files(made: Report, tables: Path | None, figures: Path | None, paper: Path | None) -> None:
    """Write what is beside the page."""
    from confidence_tasks.report.paper.filled import write_paper
    from confidence_tasks.report.write import write_figures, write_tables

    if tables is not None:
        write_tables(made, tables)
    if figures is not None:
        write_figures(made.figures, figures)
    if paper is not None:
        write_paper(made.papers, paper)
        its_items = [item for _, items in made.papers for item in items]
        n_filled = sum(item.is_filled for item in its_items)
        print_message(
            f"{n_filled} of {len(its_items)} tables and figures of the papers; paper.tex says what the others lack"
        )


def _record(made: Report, judged: Sequence[Mapping[str, str]], collection: Collection) -> dict[str, Any]:
    """Return a report as JSON has it."""
    from confidence_tasks.report.results import contrasts_frame, estimates_frame

    return {
        "estimates": estimates_frame(made.results).to_dict("records"),
        "contrasts": contrasts_frame(made.results).to_dict("records"),
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
        "requirements": list(judged),
        "skipped": [asdict(file) for file in (*collection.skipped, *made.lost)],
    }


# What the terminal shows ----------------------------------------------------------------------------------------------


def subject_of(model: ModelTrials) -> Subject | None:
    """Return the simulated subject whose trials these are, on either harness; None if they are of another model."""
    setup = model.files[0].setup
    provider, _, profile = model.name.partition("/")
    if provider != "simulated" or not profile:
        if setup.get("backend") != "simulated":
            return None
        profile = setup.get("subject", "ideal")
    try:
        known = {field.name for field in fields(Subject)}
        changes = {name: literal_eval(value) for name, value in setup.items() if name in known}
        return make_subject(profile, **changes)
    except (ValueError, SyntaxError):  # of another version, which had other subjects
        return None


def true_values(results: TaskResults, model: ModelTrials, condition: str) -> Mapping[str, float]:
    """Return what the measures of a model are in the long run, if it is a simulated subject; by name."""
    study, subject = results.task_trials.study, subject_of(model)
    if subject is None or study.true_values is None:
        return {}
    try:
        return study.true_values(subject, condition, results.task_trials.task, model.files[0].setup)
    except (ValueError, KeyError):  # a condition or a task of the user's own
        return {}


def print_headlines(every: Iterable[TaskResults]) -> None:
    """Print the headline measures of each task and model under one condition, beside the true values of subjects.

    The condition is the one that models are compared on, or of a simulated subject one that has true values.
    """
    for results in every:
        for model in results.models:
            shown = [results.reference, *results.conditions]
            known = ((label, true_values(results, model, label)) for label in shown)
            condition, truth = next((each for each in known if each[1]), (results.reference, {}))
            print_message(", ".join((results.task_trials.task, model.label, group_label(condition))))
            rows = []
            for name in (measure.name for measure in results.headline):
                if entry := results.estimate(model.label, condition, name):
                    interval = entry.interval
                    row = {"measure": measure_label(name), "value": number(interval.estimate, 3)}
                    row |= {"true": number(truth.get(name, math.nan), 3)} if truth else {}
                    row[f"{interval.level:.0%} interval"] = limits(interval, 3) or why_missing(interval)
                    rows.append(row)
            print_table(rows, frozenset({"value", "true"}), err=True)


# What reports keep --------------------------------------------------------------------------------------------------


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def cache(context: click.Context, as_json: bool) -> None:
    """Show the cache of trials and numbers that reports keep, or clear it.

    The cache is in the user's cache folder, or in the folder that CONFIDENCE_TASKS_CACHE names. When it is full, the
    entries that were not used for the longest time are deleted. It is never out of date: an entry is found only by the
    same data, settings and code.
    """
    if context.invoked_subcommand is not None:
        return
    from confidence_tasks.report.cache import user_cache

    kept = user_cache()
    sizes = kept.sizes()
    if as_json:
        print_json({"folder": str(kept.folder), "entries": len(sizes), "bytes": sum(sizes.values())})
        return
    click.echo(f"{kept.folder}")
    click.echo(
        f"{len(sizes):,} entries, {sum(sizes.values()) / 1e6:,.1f} of at most {kept.most_bytes / 1e6:,.0f} MB"
    )


@cache.command()
def clear() -> None:
    """Empty the cache."""
    from confidence_tasks.report.cache import user_cache

    kept = user_cache()
    click.echo(f"{kept.folder}: {kept.clear():,} entries deleted")
