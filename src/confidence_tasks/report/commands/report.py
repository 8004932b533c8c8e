"""``confidence-tasks report``: the page, and the files of its tables and figures."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

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
    progress,
    read_trials,
    settings_options,
    workers_options,
)
from confidence_tasks.report.commands.terminal import print_headlines, print_serious
from confidence_tasks.report.labels import TITLE, VIEWER
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    from confidence_tasks.logs.about_models import AboutModels
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.report.groups import ModelGroups
    from confidence_tasks.report.requirements import Requirement
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


def _checked_groups(groups: ModelGroups, about: AboutModels, collection: Collection) -> ModelGroups:
    """Return the user's groups, or else those by kind; BadParameter if an option names no model of the logs."""
    from confidence_tasks.report.groups import groups_by_kind

    models = sorted({file.model for file in collection.files})
    known = {*models, *(name.rpartition("/")[2] for name in models)}
    for name, members in groups:
        _refuse(f"--group {name}", [member for member in members if member not in known], models)
    in_file = [name for name, _ in about]
    _refuse("--models", in_file if known.isdisjoint(in_file) else [], models)
    return groups or groups_by_kind(about, sorted(known))


def _refuse(option: str, unknown: Sequence[str], models: Sequence[str]) -> None:
    """Raise BadParameter if an option names unknown models."""
    if unknown:
        known = ", ".join(models) or "none"
        raise click.BadParameter(f"{option}: no trials of {', '.join(unknown)}; the models are {known}")


def _with_questions(collection: Collection, questions: Sequence[str] | None) -> Collection:
    """Return the trials of the named questions, or all if none are named; BadParameter if one has no trial."""
    if not questions:
        return collection
    from confidence_tasks.logs.questions import with_questions

    try:
        return with_questions(collection, set(questions))
    except ValueError as error:
        raise click.BadParameter(f"--questions: {error}") from error


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
@click.option(
    "--track",
    type=click.Choice(["mlflow", "wandb"]),
    callback=parse_with(
        lambda name: import_module("confidence_tasks.report.tracking").installed_tracker(name)
    ),
    help="Also log the main measures and the page to MLflow or Weights & Biases, one run a model. The tracker's own"
    " environment variables say where.",
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
    "--models",
    "about",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=parse_with(
        lambda path: path and import_module("confidence_tasks.logs.about_models").read_models(path)
    ),
    help="CSV or JSON lines with what logs do not hold of models, for the papers' tables: model, and any of family,"
    " size, kind, quantised and card. Without --group, models of a kind are a group.",
)
@click.option(
    "--questions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=parse_with(
        lambda path: path and import_module("confidence_tasks.logs.questions").read_questions(path)
    ),
    help="Report on the questions that this text file names, one id on a line, as in the column question_id. Sources of"
    " which it names none are reported whole.",
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
    track: str | None,
    title: str,
    viewer: str,
    groups: ModelGroups,
    about: AboutModels | None,
    questions: list[str] | None,
    requirements: list[Requirement],
    opens: bool,
    correct: str,
    scorer: str,
    signals: tuple[str, ...],
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
    from confidence_tasks.report.write import report_of

    cache = open_cache(no_cache)
    with open_workers(jobs, scheduler) as workers:
        whole = read_trials(paths, workers, cache, correct=correct, scorer=scorer, signals=signals)
        collection = _with_questions(whole, questions)
        about = about or ()
        groups = _checked_groups(groups, about, collection)
        with as_click_error(), progress("computing models") as advance:
            result = report_of(
                collection,
                settings=Settings(**uncertainty, groups=groups, about=about),
                viewer=viewer,
                title=title,
                advance=advance,
                workers=workers,
                cache=cache,
            )
    outcomes = _outcomes(requirements, result)
    has_trials = bool(result.results)
    output = output or OUTPUTS[page_format]
    if has_trials:
        _write_files(result, output, _page(result, page_format, title), tables, figures, paper)
        _track(track, result, output)
    if has_trials and opens:
        _open_in_browser(output)
    if as_json:
        written = str(output) if has_trials else None
        print_json({"report": written, **_report_record(result, outcomes, collection)})
    elif has_trials:
        print_headlines(result.results)
        print_serious(result)
        click.echo(f"The report is in {output}")
    _exit_with_outcomes(result, outcomes)


def _outcomes(requirements: Sequence[Requirement], result: Report) -> list[dict[str, str]]:
    """Return the outcome of each requirement; BadParameter if one names no measure or condition of the report."""
    from confidence_tasks.report.requirements import verdicts

    try:
        return list(verdicts(requirements, result.results)) if result.results else []
    except ValueError as error:
        raise click.BadParameter(f"--require {error}") from error


def _open_in_browser(output: Path) -> None:
    address = output.resolve().as_uri()
    if not webbrowser.open(address):
        click.echo(f"no browser was found; open {address}", err=True)


def _exit_with_outcomes(result: Report, outcomes: Sequence[Mapping[str, str]]) -> None:
    """Print unmet requirements and lost models, and exit with 1 if there are any, or no trials."""
    if not (result.results or result.lost):
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


def _track(tracker: str | None, result: Report, output: Path) -> None:
    """Write the main measures and the page into a tracker, if one is named."""
    from confidence_tasks.report.tracking import track

    if tracker is not None:
        track(tracker, result.results, output)


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
