"""``confidence-tasks compare``: two models or runs, paired by question."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import click

from confidence_tasks.analysis.compare import Comparison
from confidence_tasks.analysis.compare import compare as compared
from confidence_tasks.analysis.console import (
    errors,
    json_option,
    print_json,
    print_table,
    progress,
    read,
    settings_options,
)
from confidence_tasks.analysis.estimates import Settings
from confidence_tasks.analysis.export import json_number
from confidence_tasks.analysis.labels import measure_label
from confidence_tasks.analysis.report.numbers import limits, number, p_value, signed, why_missing
from confidence_tasks.analysis.sections import ModelTrials, Section, sections

_DECIMALS = 3


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--model-a", help="Which model of A; needed when it holds several.")
@click.option("--model-b", help="Which model of B; needed when it holds several.")
@click.option(
    "--measure", "measures", multiple=True, help="Compare this measure; may be given several times."
)
@settings_options
@json_option
def compare(
    first: str,
    second: str,
    model_a: str | None,
    model_b: str | None,
    measures: tuple[str, ...],
    resamples: int,
    level: float,
    seed: int,
    as_json: bool,
) -> None:
    """Compare A with B on the questions that both were asked.

    A and B are logs, sample files, files of trials or folders, as for `report`; the same path twice compares two models
    in it. Differences are A minus B, paired by question, with a bootstrap interval over questions, a permutation test
    that exchanges A and B within questions, and Holm's correction over the conditions within each measure. A measure
    leaves out replies that lack what it needs, as in the report: see how many could be read.

    Exits with 1 when there is nothing that both were asked.
    """
    settings = Settings(resamples, level, seed)
    ours, theirs = (sections(read([path]).files) for path in (first, second))
    pairs = [
        (one, other)
        for one in ours
        for other in theirs
        if one.task == other.task and one.study is other.study
    ]
    found: list[Comparison] = []
    with progress("comparing") as advance:
        for done, (one, other) in enumerate(pairs, start=1):
            a, b = _model(one, model_a, "--model-a"), _model(other, model_b, "--model-b")
            try:
                found += compared(a, b, one, measures or None, settings)
            except ValueError as error:
                raise click.BadParameter(str(error), param_hint="--measure") from error
            advance(done, len(pairs))
    if as_json:
        print_json([_record(each) for each in found])
    else:
        _print(found)
    if not found:
        errors.print("there is no question that both were asked under the same condition of the same task")
        raise SystemExit(1)


def _model(section: Section, wanted: str | None, option: str) -> ModelTrials:
    """Return the model asked for, or the only one."""
    labels = {model.label: model for model in section.models}
    if wanted is None and len(labels) == 1:
        return section.models[0]
    if wanted not in labels:
        raise click.UsageError(f"{section.task}: choose one of its models with {option}: {', '.join(labels)}")
    return labels[wanted]


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
    return {**record, "p_value": json_number(each.p_value), "p_adjusted": json_number(each.p_adjusted)}


def _print(found: list[Comparison]) -> None:
    """Print a table for each task."""
    if found:
        click.echo(f"A  {found[0].first}\nB  {found[0].second}")
    for task in dict.fromkeys(each.task for each in found):
        click.echo(f"\n{task}")
        print_table(
            [_row(each) for each in found if each.task == task], frozenset({"A", "B", "A − B", "p", "n"})
        )
    if found:
        click.echo(
            "\np is corrected over the conditions within each measure (Holm), not over measures; n is questions; "
            "* p < .05"
        )
    if any(math.isnan(each.p_value) and math.isfinite(each.difference.estimate) for each in found):
        click.echo("no p where a measure rests on a fit that cannot be made anew for every exchange")


def _row(each: Comparison) -> dict[str, str]:
    interval = limits(each.difference, _DECIMALS) or why_missing(each.difference)
    return {
        "condition": each.condition,
        "measure": measure_label(each.measure),
        "A": number(each.first_interval.estimate, _DECIMALS),
        "B": number(each.second_interval.estimate, _DECIMALS),
        "A − B": f"{signed(each.difference.estimate, _DECIMALS)} {interval}",
        "p": p_value(each.p_adjusted) + (" *" if each.p_adjusted < 0.05 else "  "),
        "n": f"{each.n_questions:,}",
    }
