"""Comparisons of two models as tables of the terminal and as JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from confidence_tasks.report.commands.printing import print_message, print_notices, print_table
from confidence_tasks.report.labels import limits, measure_label, number, p_value, signed, why_missing

if TYPE_CHECKING:
    from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
    from confidence_tasks.report.estimates.contrast import Contrast
    from confidence_tasks.report.notices import Notice


class ComparedTask(NamedTuple):
    """Two models in one task, their comparisons, and the notices about these."""

    task_trials: TaskTrials
    a: ModelTrials
    b: ModelTrials
    comparisons: list[Contrast]
    notices: list[Notice]


def comparisons_record(
    compared: Sequence[ComparedTask], skipped: Sequence[tuple[str, str]]
) -> dict[str, Any]:
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


def _comparison_record(comparison: Contrast) -> dict[str, Any]:
    """Return a comparison for JSON."""
    from confidence_tasks.report.stopped import remark_on

    a, b = comparison.a, comparison.b
    first, second = comparison.values
    statistics = ("p_value", "p_adjusted", "p_exchange", "n_questions", "n_clusters")
    record: dict[str, Any] = {
        "study": comparison.study,
        "task": comparison.task,
        "condition": comparison.group,
        "measure": comparison.measure,
        "first": a.model,
        "second": b.model,
        **{name: getattr(comparison, name) for name in statistics},
    }
    for name, interval, models in (
        ("first_value", first, (a.model,)),
        ("second_value", second, (b.model,)),
        ("difference", comparison.interval, (a.model, b.model)),
    ):
        record |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
        record[f"{name}_reason"] = remark_on(interval, *models)
    effects = {"first": a.design_effect, "second": b.design_effect, "difference": comparison.design_effect}
    return record | {f"{side}_design_effect": effect for side, effect in effects.items()}


def print_tasks(compared: Sequence[ComparedTask]) -> None:
    """Print the comparisons of each task as a table."""
    for each in compared:
        _print_task(each)
    _print_footer(list(chain.from_iterable(each.comparisons for each in compared)))


def _print_task(compared: ComparedTask) -> None:
    """Print the notices and the table of a task."""
    task = click.style(compared.task_trials.task, bold=True)
    click.echo(f"{task}\nA  {compared.a.label}\nB  {compared.b.label}")
    print_notices(compared.notices)
    if compared.comparisons:
        rows = [_comparison_row(each) for each in compared.comparisons]
        print_table(rows, frozenset({"A", "B", "A − B", "p", "exch. p", "n", "clusters", "design effect"}))


def _print_footer(comparisons: Sequence[Contrast]) -> None:
    """Print the meaning of the tables' columns."""
    if comparisons:
        print_message(
            "A − B: paired by question; p: corrected over the conditions of each measure (Holm), but not over measures;"
            " exch. p: the papers' exchange test, not corrected; n: number of questions; *: p < .05",
            err=False,
        )
    if any(math.isnan(each.p_value) and not math.isnan(each.interval.low) for each in comparisons):
        click.echo("no p: the measure needs a model fit that cannot be repeated for every resample")


def _comparison_row(comparison: Contrast) -> dict[str, str]:
    difference, (first, second) = comparison.interval, comparison.values
    interval = limits(difference, 3) or why_missing(difference).removeprefix("no interval: ")
    return {
        "condition": comparison.group,
        "measure": measure_label(comparison.measure),
        "A": number(first.estimate, 3),
        "B": number(second.estimate, 3),
        "A − B": f"{signed(difference.estimate, 3)} {interval}",
        "p": p_value(comparison.p_adjusted) + (" *" if comparison.p_adjusted < 0.05 else "  "),
        "exch. p": p_value(comparison.p_exchange),
        "n": f"{comparison.n_questions:,}",
        **_of_clusters(comparison),
    }


def _of_clusters(comparison: Contrast) -> dict[str, str]:
    if comparison.n_clusters is None:
        return {}
    effect = comparison.design_effect
    return {"clusters": f"{comparison.n_clusters:,}", "design effect": number(effect, 2)}
