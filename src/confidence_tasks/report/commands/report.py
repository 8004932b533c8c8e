"""``confidence-tasks report`` and ``cache``: the report page, the summary in the terminal, and the cache."""

from __future__ import annotations

import math
import webbrowser
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from confidence_tasks.logs.texts import printable
from confidence_tasks.report.commands import (
    FILE,
    FOLDER,
    as_click_error,
    cache_option,
    cluster_option,
    correctness_options,
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
    p_value,
    signed,
    why_missing,
)
from confidence_tasks.simulation.subject import Subject, make_subject
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.logs.task_trials import ModelTrials
    from confidence_tasks.report.estimates import Estimated
    from confidence_tasks.report.groups import ModelGroups
    from confidence_tasks.report.requirements import Requirement
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.write import Report


OUTPUTS = {
    "html": Path("report.html"),
    "markdown": Path("report.md"),
    "model-card": Path("model_card.md"),
}
"""Formats of the page, and where each is written by default."""


def _web_address(value: str) -> str:
    """Return an http(s) address; ValueError for others, such as ``javascript:``, which a browser would execute."""
    if urlsplit(value).scheme not in ("http", "https"):
        raise ValueError(f"{value!r} must begin with http:// or https://")
    return value


def _check_groups(groups: ModelGroups, collection: Collection) -> None:
    """Raise BadParameter if a group has a model without trials."""
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
    help="Path of the page.  [default: report.html; report.md or model_card.md for the other formats]",
)
@click.option(
    "--format",
    "page_format",
    type=click.Choice(list(OUTPUTS)),
    default="html",
    show_default=True,
    help="`markdown` writes the main measures, differences and notices as text; `model-card` also the measures and"
    " intervals as metadata of a model card on the Hugging Face Hub.",
)
@click.option("--tables", type=FOLDER, help="Also write CSV and LaTeX tables into this folder.")
@click.option("--figures", type=FOLDER, help="Also write the figures into this folder, as SVG.")
@click.option(
    "--paper",
    type=FOLDER,
    is_flag=False,
    flag_value="paper",
    help="Also write the papers' tables and figures, computed for the models of the logs, into this folder (`paper`"
    " if none is named), as HTML, CSV, LaTeX, SVG and PDF.",
)
@click.option("--title", default=TITLE, show_default=True, help="Title of the page.")
@click.option(
    "--viewer",
    default=VIEWER,
    show_default=True,
    callback=parse_with(_web_address),
    help="Address of `inspect view`, for links from the page to samples.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME=MODEL,...",
    callback=parse_with(lambda texts: import_module("confidence_tasks.report.groups").parse_groups(texts)),
    help="Named group of models, such as reasoning=openai/o3,deepseek-r1, whose means are added to the tables of"
    " LifeEval and the question sets; may be repeated.",
)
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="REQUIREMENT",
    callback=parse_with(
        lambda texts: import_module("confidence_tasks.report.requirements").parse_requirements(texts)
    ),
    help="Exit with 1 unless the whole interval of a measure meets this bound, such as 'ece<0.1' or 'auroc/0-20>0.7';"
    " may be repeated.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@cluster_option
@correctness_options
@settings_options
@workers_options
@cache_option
@json_option
def report(
    paths: tuple[str, ...],
    output: Path | None,
    page_format: str,
    tables: Path | None,
    figures: Path | None,
    paper: Path | None,
    title: str,
    viewer: str,
    groups: ModelGroups,
    requirements: list[Requirement],
    opens: bool,
    correct: str,
    scorer: str,
    jobs: int | None,
    scheduler: str | None,
    no_cache: bool,
    as_json: bool,
    **uncertainty: Any,
) -> None:
    """Write a page of tables, figures and checks from logs.

    PATH is an Inspect log, an lm-eval sample file, a plain file of trials (CSV, JSON lines, Parquet), or a folder that
    is searched recursively for these. It is local, or any address that fsspec opens (s3://, gs://, https://).

    The terminal shows the headline measures of each task, under the condition in which models are compared. For
    simulated subjects it also shows the true values.

    Earlier results are read from a cache (see `confidence-tasks cache`), and new ones are computed in one process per
    core. Neither changes any number.

    Exits with 1 if a requirement is not met, if a process died (the page names the model that is missing), or if no
    trials were found (then no page is written).
    """
    from confidence_tasks.report.estimates import Settings
    from confidence_tasks.report.requirements import verdicts
    from confidence_tasks.report.write import report_of

    cache = open_cache(no_cache)
    with open_workers(jobs, scheduler) as workers:
        collection = read_trials(paths, workers, cache, correct=correct, scorer=scorer)
        _check_groups(groups, collection)
        with as_click_error(), progress("computing models") as advance:
            result = report_of(
                collection,
                settings=Settings(**uncertainty, groups=groups),
                viewer=viewer,
                title=title,
                advance=advance,
                workers=workers,
                cache=cache,
            )
    try:
        outcomes = list(verdicts(requirements, result.results)) if result.results else []
    except ValueError as error:
        raise click.BadParameter(f"--require {error}") from error
    has_trials = bool(result.results)
    output = output or OUTPUTS[page_format]
    if has_trials:
        _write_files(result, output, _page(result, page_format, title), tables, figures, paper)
        if opens and not webbrowser.open(address := output.resolve().as_uri()):
            click.echo(f"no browser was found; open {address}", err=True)
    if as_json:
        written = str(output) if has_trials else None
        print_json({"report": written, **_report_record(result, outcomes, collection)})
    elif has_trials:
        print_headlines(result.results)
        print_serious(result)
        click.echo(f"The report is in {output}")
    if not (has_trials or result.lost):
        print_message(", and no page is written", "no trials were found", "red")
        raise SystemExit(1)
    for outcome in outcomes:
        print_message("{outcome:<9}  {requirement}: {found} ({where})".format_map(outcome))
    for lost in result.lost:
        print_message(f" {lost.path}: {lost.reason}", "left out", "red")
    if result.lost or any(outcome["outcome"] != "met" for outcome in outcomes):
        raise SystemExit(1)


def _page(result: Report, page_format: str, title: str) -> str:
    """Return the page of a report in a format."""
    from confidence_tasks.report.markdown import markdown_report, model_card
    from confidence_tasks.report.write import merged_notices

    if page_format == "html":
        return result.html
    if page_format == "model-card":
        return model_card(result.results)
    return markdown_report(result.results, merged_notices(result.tasks), title=title)


@contextmanager
def _told_if_full() -> Iterator[None]:
    """Turn an error of writing, such as of a full disk, into a message."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(
            f"{error.strerror or error}: not every file of the report could be written; those that were are whole."
            " Free space or name another folder, and run the command again"
        ) from error


@_told_if_full()
def _write_files(
    result: Report, output: Path, page: str, tables: Path | None, figures: Path | None, paper: Path | None
) -> None:
    """Write the page, and the tables and figures into the folders that are given."""
    from confidence_tasks.report.paper.filled import write_paper
    from confidence_tasks.report.write import write_figures, write_tables

    write_atomically(output, page.encode(errors="xmlcharrefreplace"))
    if tables is not None:
        write_tables(result, tables)
    if figures is not None:
        write_figures(result.figures, figures)
    if paper is not None:
        write_paper(result.papers, paper)
        items = [item for _, paper_items in result.papers for item in paper_items]
        n_filled = sum(item.is_filled for item in items)
        print_message(
            f"{n_filled} of {len(items)} tables and figures of the papers; paper.tex says what the others lack"
        )


def _report_record(
    result: Report, outcomes: Sequence[Mapping[str, str]], collection: Collection
) -> dict[str, Any]:
    """Return a report for JSON."""
    from confidence_tasks.report.results import contrasts_frame, estimates_frame

    return {
        "estimates": estimates_frame(result.results).to_dict("records"),
        "contrasts": contrasts_frame(result.results).to_dict("records"),
        "notices": [
            {
                "task": results.task_trials.task,
                "severity": notice.severity,
                "title": notice.title,
                "where": list(notice.where),
            }
            for results, task in zip(result.results, result.tasks, strict=True)
            for notice in task.notices
        ],
        "paper": [
            {
                "study": replication.name,
                "item": item.title,
                "filled": item.is_filled,
                "notes": list(item.notes),
            }
            for replication, items in result.papers
            for item in items
        ],
        "requirements": list(outcomes),
        "skipped": [asdict(file) for file in (*collection.skipped, *result.lost)],
    }


# Summary in the terminal ----------------------------------------------------------------------------------------------


def subject_of(model: ModelTrials) -> Subject | None:
    """Return the simulated subject of a model's trials, from either harness; None for any other model."""
    setup = model.files[0].setup
    provider, _, profile = model.name.partition("/")
    if provider != "simulated" or not profile:
        if setup.get("harness.backend") != "simulated":
            return None
        profile = setup.get("model.subject", "ideal")
    try:
        known = {f"model.{field.name}": field.name for field in fields(Subject)}
        changes = {known[key]: literal_eval(value) for key, value in setup.items() if key in known}
        return make_subject(profile, **changes)
    except (ValueError, SyntaxError):  # a subject of another version
        return None


def true_values(results: TaskResults, model: ModelTrials, condition: str) -> Mapping[str, float]:
    """Return the true values of a simulated subject's measures, by name; empty for any other model."""
    study, subject = results.task_trials.study, subject_of(model)
    if subject is None or study.simulation.true_values is None:
        return {}
    try:
        return study.simulation.true_values(
            subject, condition, results.task_trials.task, model.files[0].parameters
        )
    except (ValueError, KeyError):  # the user's own condition or task
        return {}


def print_headlines(task_results: Iterable[TaskResults]) -> None:
    """Print the headline measures of each task and model under one condition, with the true values of subjects.

    The condition is the one under which models are compared, or for a simulated subject the first with true values. The
    contrasts of the conditions with the baseline follow.
    """
    for results in task_results:
        for model in results.models:
            candidates = [results.reference, *results.conditions]
            truths = ((label, true_values(results, model, label)) for label in candidates)
            condition, truth = next((each for each in truths if each[1]), (results.reference, {}))
            title = ", ".join((results.task_trials.task, model.label, group_label(condition)))
            print_message(title + _others(len(results.conditions)))
            rows = []
            for name in (measure.name for measure in results.headline):
                if entry := results.estimate(model.label, condition, name):
                    interval = entry.interval
                    row = {"measure": measure_label(name), "value": number(interval.estimate, 3)}
                    row |= {"true": number(truth.get(name, math.nan), 3)} if truth else {}
                    row[f"{interval.level:.0%} interval"] = limits(interval, 3) or why_missing(interval)
                    rows.append(row | _clusters(entry))
            print_table(rows, frozenset({"value", "true", "clusters", "design effect"}), err=True)
            _print_contrasts(results, model)


def _others(n_conditions: int) -> str:
    """Return where the numbers of all conditions are, if there are several."""
    return f" ({n_conditions} conditions are in the report)" if n_conditions > 1 else ""


def _print_contrasts(results: TaskResults, model: ModelTrials) -> None:
    """Print the differences of a model's conditions from the baseline, for the first tested measure that has any."""
    of_model = [each for each in results.contrasts if each.model == model.label]
    name = next((each.measure for each in of_model if not math.isnan(each.interval.estimate)), "")
    shown = [each for each in of_model if each.measure == name]
    if not shown:
        return
    name, baseline = measure_label(shown[0].measure), group_label(shown[0].baseline)
    print_message(f"{name} minus that of {baseline}, paired by question")
    rows = [
        {
            "condition": group_label(each.group),
            "difference": signed(each.interval.estimate, 3),
            f"{each.interval.level:.0%} interval": limits(each.interval, 3) or why_missing(each.interval),
            "corrected p": p_value(each.p_adjusted),
        }
        for each in shown
    ]
    print_table(rows, frozenset({"difference", "corrected p"}), err=True)


def _clusters(entry: Estimated) -> dict[str, str]:
    """Return the number of clusters of an estimate and their design effect; empty without clusters."""
    if entry.clusters is None:
        return {}
    effect = number(entry.clusters.design_effect, 2)
    return {"clusters": f"{entry.clusters.n:,}", "design effect": effect}


def print_serious(result: Report) -> None:
    """Print the serious notices of a report."""
    from confidence_tasks.report.write import merged_notices

    for notice in merged_notices(result.tasks):
        if notice.severity == "serious":
            print_message(f" {notice.title}: {printable('; '.join(notice.where[:5]))}", "serious", "red")
            print_message(notice.meaning)


# Cache ----------------------------------------------------------------------------------------------------------------


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def cache(context: click.Context, as_json: bool) -> None:
    """Show or clear the cache of trials and estimates.

    The cache is in the user's cache folder, or in the folder that CONFIDENCE_TASKS_CACHE names. If it is full, the
    least recently used entries are deleted. Entries are never outdated, because an entry is used only for the same
    data, settings and code.
    """
    if context.invoked_subcommand is not None:
        return
    from confidence_tasks.logs.cache import user_cache

    store = user_cache()
    sizes = store.sizes()
    if as_json:
        print_json({"folder": str(store.folder), "entries": len(sizes), "bytes": sum(sizes.values())})
        return
    click.echo(f"{store.folder}")
    click.echo(
        f"{len(sizes):,} entries, {sum(sizes.values()) / 1e6:,.1f} of at most {store.most_bytes / 1e6:,.0f} MB"
    )


@cache.command()
def clear() -> None:
    """Empty the cache."""
    from confidence_tasks.logs.cache import user_cache

    store = user_cache()
    click.echo(f"{store.folder}: {store.clear():,} entries deleted")
