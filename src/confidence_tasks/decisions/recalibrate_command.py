"""``confidence-tasks recalibrate``: what a stated confidence means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.decisions.command_parts import condition_option, read_tasks
from confidence_tasks.decisions.recalibrate_printed import print_recalibrations, reliability_figure
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.commands.options import (
    FILE,
    cache_option,
    cluster_option,
    json_option,
    settings_options,
)
from confidence_tasks.report.commands.printing import print_stopped_early
from confidence_tasks.report.commands.reading import as_click_error
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    from confidence_tasks.logs.judged_answers import JudgedAnswers
    from confidence_tasks.report.estimates.settings import Settings
    from confidence_tasks.statistics.calibration.maps import Recalibration


METHODS = ("isotonic", "beta", "logistic", "histogram")


@click.command(
    epilog="""\b
Examples:
  confidence-tasks recalibrate run.eval --condition 0-100 -o map.json --figure map.svg
  confidence-tasks recalibrate next-release.eval --condition 0-100 --apply map.json"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--output", type=FILE, help="Write the map of one model and condition to this JSON file.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="isotonic",
    show_default=True,
    help="Form of the map.",
)
@click.option(
    "--apply",
    "map_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Apply this map instead of fitting one.",
)
@condition_option
@click.option("--model", default="", help="Model, by its label.  [default: each]")
@click.option(
    "--figure", type=FILE, help="Draw the map of one model and condition, with a band, in this SVG file."
)
@click.option(
    "--force",
    is_flag=True,
    help="Fit a map to fewer than 100 questions, or fewer than 10 right or wrong answers, too.",
)
@cluster_option
@settings_options
@cache_option
@json_option
def recalibrate(
    paths: tuple[str, ...],
    output: Path | None,
    method: Any,
    map_file: Path | None,
    condition: str,
    model: str,
    figure: Path | None,
    force: bool,
    no_cache: bool,
    as_json: bool,
    **uncertainty: Any,
) -> None:
    """Fit a map from stated confidence to the probability of being right, and show what it improves.

    PATH is as in `report`. The table shows ECE, Brier score and log score of the stated confidence and of the
    recalibrated one. The latter is cross-fitted: the map that is applied to a question is fitted to other questions.
    The map in the file is fitted to all. It is plain JSON and does not extrapolate.

    With --apply, a map that was fitted to other logs is applied: to another model, scale, source or release. Answers
    with a confidence outside the map are left out and counted.
    """
    from confidence_tasks.decisions.recalibration import recalibrated
    from confidence_tasks.logs.judged_answers import judged_answers, of_model
    from confidence_tasks.report.estimates.settings import Settings
    from confidence_tasks.statistics.calibration.maps import Recalibration

    settings = Settings(**uncertainty)
    tasks = read_tasks(paths, no_cache=no_cache, cluster=settings.cluster)
    print_stopped_early(tasks)
    with as_click_error():
        meaning = Recalibration.load(map_file) if map_file else None
        answers = of_model(judged_answers(tasks, condition), model)
        fitted = [meaning or _fit(each, method, force) for each in answers]
        _write(answers, fitted, output, figure, settings)
    after = [
        meaning(each.confidence) if meaning else recalibrated(each, method, settings.seed) for each in answers
    ]
    print_recalibrations(answers, after, settings, as_json=as_json)
    if meaning is None and not as_json:
        click.echo("The intervals do not contain the error of fitting a map to these answers.")


def _fit(answers: JudgedAnswers, method: Any, force: bool) -> Recalibration:
    from confidence_tasks.statistics.calibration.maps import fit_recalibration

    made_from = printable(f"{answers.task}, {answers.model}, {answers.condition}")[:1000]
    try:
        return fit_recalibration(
            answers.correct,
            answers.confidence,
            method=method,
            clusters=answers.units,
            made_from=made_from,
            force=force,
        )
    except ValueError as error:
        raise ValueError(f"{made_from}: {error} with --force") from error


def _write(
    answers: Sequence[JudgedAnswers],
    maps: Sequence[Recalibration],
    output: Path | None,
    figure: Path | None,
    settings: Settings,
) -> None:
    """Write the map and its figure, if they are asked for; ValueError if there are several."""
    from confidence_tasks.report.figures import figure_svg

    if (output or figure) and len(maps) > 1:
        names = "; ".join(f"{each.task}, {each.model}, {each.condition}" for each in answers[:10])
        raise ValueError(
            f"a file holds one map, and there are {len(maps)} ({names}): choose by --model and --condition"
        )
    for each, meaning in zip(answers, maps, strict=True):
        if output:
            write_atomically(output, meaning.to_json().encode())
        if figure:
            write_atomically(figure, figure_svg(reliability_figure(each, meaning, settings)).encode())
