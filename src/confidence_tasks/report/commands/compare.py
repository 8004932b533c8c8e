"""``confidence-tasks compare``: compare two models on the questions that both were asked."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from confidence_tasks.report.commands import (
    as_click_error,
    cache_option,
    cluster_option,
    correctness_options,
    json_option,
    open_cache,
    open_workers,
    print_json,
    print_message,
    print_notices,
    print_table,
    progress,
    read_trials,
    settings_options,
)
from confidence_tasks.report.labels import limits, measure_label, number, p_value, signed, why_missing

if TYPE_CHECKING:
    from confidence_tasks.logs.cache import Cache
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
    from confidence_tasks.report.compare import Comparison
    from confidence_tasks.report.estimates import Settings
    from confidence_tasks.report.notices import Notice


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
    from confidence_tasks.report.estimates import Settings

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
) -> list[_Compared]:
    """Compare the models of two paths, which may be equal, and print the result."""
    from confidence_tasks.logs.task_trials import group_by_task
    from confidence_tasks.report.clusters import with_units
    from confidence_tasks.report.compared_runs import model_pairs

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
        print_json(_record(compared, [*_skipped(collections), *unpaired.items()]))
    else:
        _print_tasks(compared)
    for name, reason in unpaired.items():
        print_message(f" {name}: {reason}", "skipped")
    return compared


class _Compared(NamedTuple):
    """Two models in one task, their comparisons, and the notices about these."""

    task_trials: TaskTrials
    a: ModelTrials
    b: ModelTrials
    comparisons: list[Comparison]
    notices: list[Notice]


def _compare(
    pairs: Sequence[tuple[TaskTrials, ModelTrials, ModelTrials]],
    settings: Settings,
    cache: Cache | None,
    options: Mapping[str, Any],
) -> list[_Compared]:
    """Compare each pair, and show the progress."""
    from confidence_tasks.report.compare import compare_models
    from confidence_tasks.report.compared_runs import cautions

    compared: list[_Compared] = []
    with progress("comparing") as advance:
        for done, (task, a, b) in enumerate(pairs, start=1):
            with as_click_error():
                found = compare_models(a, b, task, settings=settings, cache=cache, **options)
            compared.append(_Compared(task, a, b, found, cautions(a, b, task, settings, cache)))
            advance(done, len(pairs))
    return compared


def _skipped(collections: Iterable[Collection]) -> list[tuple[str, str]]:
    """Return the files that were skipped, with the reasons."""
    return [(file.path, file.reason) for each in collections for file in each.skipped]


def _record(compared: Sequence[_Compared], skipped: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return what JSON has: comparisons, notices, and what was skipped, with the reason."""
    comparisons, notices = [], []
    for each in compared:
        comparisons += [_comparison_record(comparison) for comparison in each.comparisons]
        notices += [{"task": each.task_trials.task, **dataclasses.asdict(notice)} for notice in each.notices]
    return {
        "comparisons": comparisons,
        "notices": notices,
        "skipped": [{"what": what, "reason": reason} for what, reason in skipped],
    }


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


def _fail_if_worse(compared: Sequence[_Compared], margin: float) -> None:
    """Print the comparisons in which B is worse by more than the margin, and exit with 1 if there are any."""
    from confidence_tasks.report.compare import credibly_worse

    worse = [
        comparison
        for task in compared
        for comparison in task.comparisons
        if credibly_worse(comparison, task.task_trials.study, margin)
    ]
    for each in worse:
        print_message(f"B is worse by more than {margin:g} in {each.measure} ({each.task}, {each.condition})")
    if worse:
        raise SystemExit(1)


def _comparison_record(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison for JSON."""
    from confidence_tasks.report.stopped import remark_on

    names = ("study", "task", "condition", "measure", "first", "second")
    statistics = ("p_value", "p_adjusted", "p_exchange", "n_questions", "n_clusters")
    record: dict[str, Any] = {name: getattr(comparison, name) for name in (*names, *statistics)}
    for name, interval, models in (
        ("first_value", comparison.first_interval, (comparison.first,)),
        ("second_value", comparison.second_interval, (comparison.second,)),
        ("difference", comparison.difference, (comparison.first, comparison.second)),
    ):
        record |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
        record[f"{name}_reason"] = remark_on(interval, *models)
    sides = ("first", "second", "difference")
    effects = zip(sides, comparison.design_effects, strict=True)
    return record | {f"{side}_design_effect": effect for side, effect in effects}


def _print_tasks(compared: Sequence[_Compared]) -> None:
    for each in compared:
        _print_task(each)
    _print_footer(list(chain.from_iterable(each.comparisons for each in compared)))


def _print_task(compared: _Compared) -> None:
    """Print the notices and the table of a task."""
    task = click.style(compared.task_trials.task, bold=True)
    click.echo(f"{task}\nA  {compared.a.label}\nB  {compared.b.label}")
    print_notices(compared.notices)
    if compared.comparisons:
        rows = [_comparison_row(each) for each in compared.comparisons]
        print_table(rows, frozenset({"A", "B", "A − B", "p", "exch. p", "n", "clusters", "design effect"}))


def _print_footer(comparisons: Sequence[Comparison]) -> None:
    """Print the meaning of the tables' columns."""
    if comparisons:
        print_message(
            "A − B: paired by question; p: corrected over the conditions of each measure (Holm), but not over measures;"
            " exch. p: the papers' exchange test, not corrected; n: number of questions; *: p < .05",
            err=False,
        )
    if any(math.isnan(each.p_value) and not math.isnan(each.difference.low) for each in comparisons):
        click.echo("no p: the measure needs a model fit that cannot be repeated for every resample")


def _comparison_row(comparison: Comparison) -> dict[str, str]:
    difference = comparison.difference
    interval = limits(difference, 3) or why_missing(difference).removeprefix("no interval: ")
    return {
        "condition": comparison.condition,
        "measure": measure_label(comparison.measure),
        "A": number(comparison.first_interval.estimate, 3),
        "B": number(comparison.second_interval.estimate, 3),
        "A − B": f"{signed(difference.estimate, 3)} {interval}",
        "p": p_value(comparison.p_adjusted) + (" *" if comparison.p_adjusted < 0.05 else "  "),
        "exch. p": p_value(comparison.p_exchange),
        "n": f"{comparison.n_questions:,}",
        **_of_clusters(comparison),
    }


def _of_clusters(comparison: Comparison) -> dict[str, str]:
    if comparison.n_clusters is None:
        return {}
    *_, effect = comparison.design_effects
    return {"clusters": f"{comparison.n_clusters:,}", "design effect": number(effect, 2)}
