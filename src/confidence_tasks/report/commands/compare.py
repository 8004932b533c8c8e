"""``confidence-tasks compare``: compare two models on the questions that both were asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.report.commands.compare_printed import ComparedTask, comparisons_record, print_tasks
from confidence_tasks.report.commands.options import (
    cache_option,
    cluster_option,
    correctness_options,
    json_option,
    settings_options,
)
from confidence_tasks.report.commands.printing import print_json, print_message
from confidence_tasks.report.commands.reading import (
    as_click_error,
    open_cache,
    open_workers,
    progress,
    read_trials,
)

if TYPE_CHECKING:
    from confidence_tasks.logs.cache import Cache
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
    from confidence_tasks.report.estimates.settings import Settings


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="A [B ...]")
@click.option("--model-a", help="Model of A; needed if A has several models.")
@click.option("--model-b", help="Model of B; needed if B has several models.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    help="Measure to compare; may be repeated.  [default: the study's main measures]",
)
@click.option(
    "--by",
    default="",
    metavar="COLUMN",
    help="Compare within each value of this column of the trials, such as domain or source.",
)
@click.option(
    "--fail-if-worse",
    "margin",
    type=click.FloatRange(0),
    metavar="MARGIN",
    help="Exit with 1 if B is worse than A by more than MARGIN in any measure and condition: the whole interval is"
    " beyond the margin, and the corrected p-value is below 1 - level. Choose the measure with --measure.",
)
@cluster_option
@correctness_options
@settings_options
@cache_option
@json_option
def compare(
    paths: tuple[str, ...],
    model_a: str | None,
    model_b: str | None,
    measures: tuple[str, ...],
    by: str,
    margin: float | None,
    correct: str,
    scorer: str,
    signals: tuple[str, ...],
    no_cache: bool,
    as_json: bool,
    **uncertainty: Any,
) -> None:
    """Compare A with B, or several models, on the questions that all of them were asked.

    A and B are Inspect logs, lm-eval sample files, files of trials, or folders of these, as for `report`. To compare
    two models in one path, give the path once, with --model-a and --model-b; tasks with only one of the models are
    skipped. With three paths or more, or with one path alone, all models are compared at once: each has a rank with
    limits, and all ranks, and all differences of pairs, of a task hold at once with the level.

    Differences are A minus B, paired by question. The interval and the p-value come from the same test: where possible,
    a studentised permutation test that exchanges A and B within questions. p-values are corrected over the conditions
    of each measure (Holm). As in the report, each measure uses the replies that have the columns it needs.

    Above each table are the warnings of the report's checks, and all settings in which A and B differ. Questions with
    the same id and different texts are left out, with a warning.

    Exits with 1 if A and B have no question in common, or with --fail-if-worse if B is worse.
    """
    from confidence_tasks.report.commands.rank import compare_many
    from confidence_tasks.report.estimates.settings import Settings

    settings = Settings(**uncertainty)
    correctness = {"correct": correct, "scorer": scorer, "signals": signals}
    if len(paths) > 2 or (len(paths) == 1 and not (model_a or model_b)):
        _check_options_of_many(model_a=model_a, model_b=model_b, by=by, margin=margin)
        compare_many(paths, measures, settings, correctness, no_cache=no_cache, as_json=as_json)
        return
    two = paths if len(paths) == 2 else (*paths, _same_path(paths[0], model_a, model_b))
    cache, options = open_cache(no_cache), {"measures": measures or None, "by": by}
    compared = _compare_two(two, (model_a, model_b), settings, cache, correctness, options, as_json=as_json)
    if not any(each.comparisons for each in compared):
        print_message("A and B have no question in common under the same condition of the same task")
        raise SystemExit(1)
    if margin is not None:
        _fail_if_worse(compared, margin)


def _compare_two(
    paths: tuple[str, ...],
    models: tuple[str | None, str | None],
    settings: Settings,
    cache: Cache | None,
    correctness: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    as_json: bool,
) -> list[ComparedTask]:
    """Compare the models of two paths, which may be equal, and print the result."""
    from confidence_tasks.logs.clusters import with_units
    from confidence_tasks.logs.model_pairs import model_pairs
    from confidence_tasks.logs.task_trials import group_by_task

    with open_workers(None, None) as workers:
        collections = [read_trials([path], workers, cache, **correctness) for path in dict.fromkeys(paths)]
        with as_click_error():
            ours, theirs = (
                with_units(group_by_task(each.files), settings.cluster)
                for each in (collections[0], collections[-1])
            )
            pairs, unpaired = model_pairs(ours, theirs, models)
        compared = _compare(pairs, settings, cache, {**options, "workers": workers})
    if as_json:
        print_json(comparisons_record(compared, [*_skipped(collections), *unpaired.items()]))
    else:
        print_tasks(compared)
    for name, reason in unpaired.items():
        print_message(f" {name}: {reason}", "skipped")
    return compared


def _compare(
    pairs: Sequence[tuple[TaskTrials, ModelTrials, ModelTrials]],
    settings: Settings,
    cache: Cache | None,
    options: Mapping[str, Any],
) -> list[ComparedTask]:
    """Compare each pair, and show the progress."""
    from confidence_tasks.report.compared_runs import cautions
    from confidence_tasks.report.estimates.two_models import compare_models

    compared: list[ComparedTask] = []
    with progress("comparing") as advance:
        for done, (task, a, b) in enumerate(pairs, start=1):
            with as_click_error():
                found = compare_models(a, b, task, settings=settings, cache=cache, **options)
            compared.append(ComparedTask(task, a, b, found, cautions(a, b, task, settings, cache)))
            advance(done, len(pairs))
    return compared


def _skipped(collections: Iterable[Collection]) -> list[tuple[str, str]]:
    """Return the files that were skipped, with the reasons."""
    return [(file.path, file.reason) for each in collections for file in each.skipped]


def _check_options_of_many(**options: Any) -> None:
    """Raise UsageError for an option that compares two models only."""
    names = {"model_a": "--model-a", "model_b": "--model-b", "by": "--by", "margin": "--fail-if-worse"}
    given = [names[name] for name, value in options.items() if value not in (None, "")]
    if given:
        raise click.UsageError(
            f"{', '.join(given)} is for two models: give A and B, or name two models of one path"
        )


def _same_path(first: str, model_a: str | None, model_b: str | None) -> str:
    """Return the path of A as that of B; UsageError unless two of its models are named."""
    if not (model_a and model_b):
        raise click.UsageError("name B, or two models of A with --model-a and --model-b")
    return first


def _fail_if_worse(compared: Sequence[ComparedTask], margin: float) -> None:
    """Print the comparisons in which B is worse by more than the margin, and exit with 1 if there are any."""
    from confidence_tasks.report.estimates.two_models import credibly_worse

    worse = [
        comparison
        for task in compared
        for comparison in task.comparisons
        if credibly_worse(comparison, task.task_trials.study, margin)
    ]
    for each in worse:
        print_message(f"B is worse by more than {margin:g} in {each.measure} ({each.task}, {each.group})")
    if worse:
        raise SystemExit(1)
