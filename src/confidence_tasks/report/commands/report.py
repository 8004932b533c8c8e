"""``confidence-tasks report``: the page, and the files of its tables and figures."""

from __future__ import annotations

import webbrowser
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from confidence_tasks.report.commands.options import (
    FILE,
    FOLDER,
    cache_option,
    cluster_option,
    correctness_options,
    json_option,
    parse_with,
    settings_options,
    workers_options,
)
from confidence_tasks.report.commands.printing import print_json
from confidence_tasks.report.commands.reading import (
    as_click_error,
    open_cache,
    open_workers,
    progress,
    read_trials,
)
from confidence_tasks.report.commands.report_files import page_text, report_record, track_report, write_files
from confidence_tasks.report.commands.report_outcomes import exit_with_outcomes, outcomes_of_requirements
from confidence_tasks.report.commands.report_selection import checked_groups, with_named_questions
from confidence_tasks.report.commands.terminal import print_headlines, print_notices
from confidence_tasks.report.labels import TITLE, VIEWER

if TYPE_CHECKING:
    from confidence_tasks.logs.about_models import AboutModels
    from confidence_tasks.report.groups import ModelGroups
    from confidence_tasks.report.requirements import Requirement


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
    from confidence_tasks.report.build import report_of
    from confidence_tasks.report.estimates.settings import Settings

    cache = open_cache(no_cache)
    with open_workers(jobs, scheduler) as workers:
        whole = read_trials(paths, workers, cache, correct=correct, scorer=scorer, signals=signals)
        collection = with_named_questions(whole, questions)
        about = about or ()
        groups = checked_groups(groups, about, collection)
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
    outcomes = outcomes_of_requirements(requirements, result)
    has_trials = bool(result.results)
    output = output or OUTPUTS[page_format]
    if has_trials:
        write_files(result, output, page_text(result, page_format, title), tables, figures, paper)
        track_report(track, result, output)
    if has_trials and opens:
        _open_in_browser(output)
    if as_json:
        written = str(output) if has_trials else None
        print_json({"report": written, **report_record(result, outcomes, collection)})
    elif has_trials:
        print_headlines(result.results)
        print_notices(result)
        click.echo(f"The report is in {output}")
    exit_with_outcomes(result, outcomes)


def _open_in_browser(output: Path) -> None:
    address = output.resolve().as_uri()
    if not webbrowser.open(address):
        click.echo(f"no browser was found; open {address}", err=True)
