"""``confidence-tasks compare``: two models or runs, paired by question."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape

from confidence_tasks.report.console import (
    cache_of,
    cache_option,
    errors,
    json_option,
    print_json,
    print_table,
    progress,
    read,
    said_of_usage,
    settings_options,
    workers_of,
)
from confidence_tasks.report.labels import (
    json_number,
    limits,
    measure_label,
    number,
    p_value,
    signed,
    why_missing,
)

if TYPE_CHECKING:
    from confidence_tasks.report.checks import Notice
    from confidence_tasks.report.compare import Comparison
    from confidence_tasks.report.task_trials import ModelTrials, TaskTrials
    from confidence_tasks.study.definition import Study

_DECIMALS = 3
MOST_SHOWN = 10
"""Models, conditions and files named in the terminal for each notice."""


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--model-a", help="The model of A; needed if A holds several.")
@click.option("--model-b", help="The model of B; needed if B holds several.")
@click.option(
    "--measure", "measures", multiple=True, help="Compare this measure; may be given several times."
)
@click.option(
    "--by",
    default="",
    metavar="COLUMN",
    help="Compare within each value of a column of the trials, such as domain or source.",
)
@click.option(
    "--fail-if-worse",
    "margin",
    type=click.FloatRange(0),
    metavar="MARGIN",
    help="Exit with 1 if B is worse than A by more than MARGIN in any measure and condition: the whole interval lies"
    " beyond the margin, and the corrected p-value is below 1 - level. Choose the measure with --measure.",
)
@settings_options
@cache_option
@json_option
def compare(
    first: str,
    second: str,
    model_a: str | None,
    model_b: str | None,
    measures: tuple[str, ...],
    by: str,
    margin: float | None,
    resamples: int,
    level: float,
    seed: int,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Compare A with B on the questions that both were asked.

    A and B are logs, sample files, files of trials or folders, as for `report`. Give the same path twice to compare two
    models in it; tasks that have only one of them are named and skipped. Differences are A minus B, paired by question.
    Interval and p-value come from one test: where possible, a studentised permutation test that exchanges A and B
    within questions. p-values are corrected over the conditions of each measure (Holm). A measure uses the replies that
    have what it needs, as in the report.

    Below each table are the warnings of the report's checks on these trials, and every setting in which A and B
    differ. Questions with the same id and different texts are named and left out.

    Exits with 1 if A and B have no question in common, and with --fail-if-worse if B is worse.
    """
    from confidence_tasks.report.compare import cautions, model_pairs
    from confidence_tasks.report.compare import compare as compared
    from confidence_tasks.report.estimates import Settings
    from confidence_tasks.report.task_trials import group_by_task

    settings = Settings(resamples, level, seed)
    cache = cache_of(no_cache)
    with workers_of(None, None) as workers:
        by_path = {path: read([path], workers, cache) for path in dict.fromkeys((first, second))}
        collections = [by_path[path] for path in (first, second)]
        ours, theirs = (group_by_task(collection.files) for collection in collections)
        with said_of_usage():
            pairs, unpaired = model_pairs(ours, theirs, (model_a, model_b))
        found: list[Comparison] = []
        doubts: dict[str, list[Notice]] = {}
        with progress("comparing") as advance:
            for done, (task_trials, a, b) in enumerate(pairs, start=1):
                with said_of_usage():
                    found += compared(
                        a, b, task_trials, measures or None, settings, by, workers=workers, cache=cache
                    )
                doubts[task_trials.task] = cautions(a, b, task_trials, settings, cache)
                advance(done, len(pairs))
    left_out = [
        {"what": file.path, "reason": file.reason}
        for collection in collections
        for file in collection.skipped
    ]
    left_out += [{"what": task, "reason": reason} for task, reason in unpaired.items()]
    if as_json:
        print_json(_whole_record(found, doubts, left_out))
    else:
        for task_trials, a, b in pairs:
            its = [each for each in found if each.task == task_trials.task]
            _print(task_trials, a, b, its, doubts[task_trials.task])
        _print_footer(found)
    for task, reason in unpaired.items():
        errors.print(f"[yellow]skipped[/] {escape(task)}: {escape(reason)}", highlight=False)
    if not found:
        errors.print("there is no question that both were asked under the same condition of the same task")
        raise SystemExit(1)
    if margin is not None:
        _fail_if_worse(found, {task.task: task.study for task, _, _ in pairs}, margin)


def _fail_if_worse(found: Sequence[Comparison], studies: Mapping[str, Study], margin: float) -> None:
    """Name what is worse in B by more than the margin, and exit with 1 if there is anything."""
    from confidence_tasks.report.compare import credibly_worse

    worse = [each for each in found if credibly_worse(each, studies[each.task], margin)]
    for each in worse:
        where = escape(", ".join((each.task, each.condition)))
        errors.print(f"B is worse by more than {margin:g} in {each.measure} ({where})", highlight=False)
    if worse:
        raise SystemExit(1)


def _whole_record(
    found: Sequence[Comparison], doubts: Mapping[str, Sequence[Notice]], left_out: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """Return a comparison as JSON has it."""
    return {
        "comparisons": [_record(each) for each in found],
        "notices": [
            {"task": task, **dataclasses.asdict(notice)}
            for task, raised in doubts.items()
            for notice in raised
        ],
        "skipped": left_out,
    }


def _record(each: Comparison) -> dict[str, Any]:
    record: dict[str, Any] = {
        field.name: getattr(each, field.name)
        for field in dataclasses.fields(each)
        if not field.name.endswith("interval") and field.name != "difference"
    }
    for name, interval in (
        ("first_value", each.first_interval),
        ("second_value", each.second_interval),
        ("difference", each.difference),
    ):
        record[name] = json_number(interval.estimate)
        record[f"{name}_low"], record[f"{name}_high"] = json_number(interval.low), json_number(interval.high)
        record[f"{name}_reason"] = why_missing(interval)
    p_values = ("p_value", "p_adjusted", "p_exchange")
    return {**record, **{name: json_number(getattr(each, name)) for name in p_values}}


def _print(
    task_trials: TaskTrials,
    a: ModelTrials,
    b: ModelTrials,
    found: Sequence[Comparison],
    raised: Sequence[Notice],
) -> None:
    """Print the table of a task, and what calls it into question."""
    click.echo(f"{task_trials.task}\nA  {a.label}\nB  {b.label}\n")
    if found:
        print_table([_row(each) for each in found], frozenset({"A", "B", "A − B", "p", "exch. p", "n"}))
        click.echo()
    for notice in raised:
        click.echo(f"{notice.severity}: {notice.title}. {notice.meaning}")
        for where in notice.where[:MOST_SHOWN]:
            click.echo(f"    {where}")
        if len(notice.where) > MOST_SHOWN:
            click.echo(f"    and {len(notice.where) - MOST_SHOWN} more, which --json names")
    if raised:
        click.echo()


def _print_footer(found: Sequence[Comparison]) -> None:
    """Say what the columns of the tables mean."""
    if found:
        click.echo(
            "p is corrected over the conditions within each measure (Holm), not over measures; exch. p is of the "
            "papers' test, not corrected; n is questions; * p < .05"
        )
    if any(math.isnan(each.p_value) and not math.isnan(each.difference.low) for each in found):
        click.echo("no p where a measure rests on a fit that cannot be made anew for every resample")


def _row(each: Comparison) -> dict[str, str]:
    interval = limits(each.difference, _DECIMALS) or why_missing(each.difference)
    return {
        "condition": each.condition,
        "measure": measure_label(each.measure),
        "A": number(each.first_interval.estimate, _DECIMALS),
        "B": number(each.second_interval.estimate, _DECIMALS),
        "A − B": f"{signed(each.difference.estimate, _DECIMALS)} {interval}",
        "p": p_value(each.p_adjusted) + (" *" if each.p_adjusted < 0.05 else "  "),
        "exch. p": p_value(each.p_exchange),
        "n": f"{each.n_questions:,}",
    }
