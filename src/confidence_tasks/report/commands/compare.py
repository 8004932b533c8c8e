"""``confidence-tasks compare`` and ``power``: two models paired by question, and how many questions that takes."""

from __future__ import annotations

import dataclasses
import math
from ast import literal_eval
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.catalogue import power_designs
from confidence_tasks.report.commands import (
    FILE,
    WITHIN_0_AND_1,
    cache_of,
    cache_option,
    json_option,
    list_option,
    name_values,
    one_of_studies,
    parsed,
    print_json,
    print_table,
    progress,
    read,
    said_of_usage,
    say,
    seed_option,
    settings_options,
    workers_of,
)
from confidence_tasks.report.labels import (
    group_label,
    limits,
    measure_label,
    number,
    p_value,
    signed,
    why_missing,
)
from confidence_tasks.simulation.subject import PROFILES
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from confidence_tasks.report.checks import Notice
    from confidence_tasks.report.compare import Comparison
    from confidence_tasks.report.figures import Figure
    from confidence_tasks.report.power import PowerCurve
    from confidence_tasks.report.task_trials import ModelTrials, TaskTrials
    from confidence_tasks.study.definition import Study

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
    no_cache: bool,
    as_json: bool,
    **uncertainty: Any,
) -> None:
    """Compare A with B on the questions that both were asked.

    A and B are logs, sample files, files of trials or folders, as for `report`. Give the same path twice to compare two
    models in it; tasks that have only one of them are named and skipped. Differences are A minus B, paired by question.
    Interval and p-value come from one test: where possible, a studentised permutation test that exchanges A and B
    within questions. p-values are corrected over the conditions of each measure (Holm). A measure uses the replies that
    have what it needs, as in the report.

    Above each table are the warnings of the report's checks on these trials, and every setting in which A and B
    differ. Questions with the same id and different texts are named and left out.

    Exits with 1 if A and B have no question in common, and with --fail-if-worse if B is worse.
    """
    from confidence_tasks.report.compare import cautions, model_pairs
    from confidence_tasks.report.compare import compare as compared
    from confidence_tasks.report.estimates import Settings
    from confidence_tasks.report.task_trials import group_by_task

    settings, cache = Settings(**uncertainty), cache_of(no_cache)
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
    left_out = [(file.path, file.reason) for collection in collections for file in collection.skipped]
    left_out += unpaired.items()
    if as_json:
        notices = [
            {"task": task, **dataclasses.asdict(notice)} for task, its in doubts.items() for notice in its
        ]
        skipped = [{"what": what, "reason": reason} for what, reason in left_out]
        print_json({"comparisons": [_record(each) for each in found], "notices": notices, "skipped": skipped})
    else:
        for task_trials, a, b in pairs:
            its = [each for each in found if each.task == task_trials.task]
            _print(task_trials, a, b, its, doubts[task_trials.task])
        _print_footer(found)
    for task, reason in unpaired.items():
        say(f" {task}: {reason}", "skipped")
    if not found:
        say("there is no question that both were asked under the same condition of the same task")
        raise SystemExit(1)
    if margin is not None:
        _fail_if_worse(found, {task.task: task.study for task, _, _ in pairs}, margin)


def _fail_if_worse(found: Sequence[Comparison], studies: Mapping[str, Study], margin: float) -> None:
    """Name what is worse in B by more than the margin, and exit with 1 if there is anything."""
    from confidence_tasks.report.compare import credibly_worse

    worse = [each for each in found if credibly_worse(each, studies[each.task], margin)]
    for each in worse:
        say(f"B is worse by more than {margin:g} in {each.measure} ({each.task}, {each.condition})")
    if worse:
        raise SystemExit(1)


def _record(each: Comparison) -> dict[str, Any]:
    named = ("study", "task", "condition", "measure", "first", "second")
    told = (*named, "p_value", "p_adjusted", "p_exchange", "n_questions")
    record: dict[str, Any] = {name: getattr(each, name) for name in told}
    for name, interval in (
        ("first_value", each.first_interval),
        ("second_value", each.second_interval),
        ("difference", each.difference),
    ):
        record |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
        record[f"{name}_reason"] = why_missing(interval)
    return record


def _print(
    task_trials: TaskTrials,
    a: ModelTrials,
    b: ModelTrials,
    found: Sequence[Comparison],
    raised: Sequence[Notice],
) -> None:
    """Print what calls the table of a task into question, and the table."""
    click.echo(f"{click.style(task_trials.task, bold=True)}\nA  {a.label}\nB  {b.label}")
    for notice in raised:
        say(f": {notice.title}. {notice.meaning}", notice.severity, err=False)
        for where in notice.where[:MOST_SHOWN]:
            say(f"    {where}", indent="    ", err=False)
        if len(notice.where) > MOST_SHOWN:
            click.echo(f"    and {len(notice.where) - MOST_SHOWN} more, which --json names")
    if found:
        print_table([_row(each) for each in found], frozenset({"A", "B", "A − B", "p", "exch. p", "n"}))


def _print_footer(found: Sequence[Comparison]) -> None:
    """Say what the columns of the tables mean."""
    if found:
        say(
            "p is corrected over the conditions within each measure (Holm), not over measures; exch. p is of the "
            "papers' test, not corrected; n is questions; * p < .05",
            err=False,
        )
    if any(math.isnan(each.p_value) and not math.isnan(each.difference.low) for each in found):
        click.echo("no p where a measure rests on a fit that cannot be made anew for every resample")


def _row(each: Comparison) -> dict[str, str]:
    interval = limits(each.difference, 3) or why_missing(each.difference).removeprefix("no interval: ")
    return {
        "condition": each.condition,
        "measure": measure_label(each.measure),
        "A": number(each.first_interval.estimate, 3),
        "B": number(each.second_interval.estimate, 3),
        "A − B": f"{signed(each.difference.estimate, 3)} {interval}",
        "p": p_value(each.p_adjusted) + (" *" if each.p_adjusted < 0.05 else "  "),
        "exch. p": p_value(each.p_exchange),
        "n": f"{each.n_questions:,}",
    }


# How many questions that takes ---------------------------------------------------------------------------------------


def _listing() -> dict[str, str]:
    """Return the measures that can be planned for, by study."""
    return {
        name: f"{', '.join(design.measures)} (under {group_label(design.condition)})"
        for name, design in power_designs().items()
    }


def _sizes(value: str) -> list[int]:
    try:
        return [int(part) for part in value.split(",")]
    except ValueError:
        raise ValueError(f"{value!r} is not a list of whole numbers, such as 100,200,400") from None


@click.command(
    epilog="""\b
Examples:
  confidence-tasks power scales --effect 0.2
  confidence-tasks power scales --measure ece --effect -0.05 --profile overconfident
  confidence-tasks power fermieval --measure coverage --effect 0.1 --condition p=0.8 --n 100,300
  confidence-tasks power riskeval --effect 0.02 -M risk_sensitivity=0.5 --csv out.csv"""
)
@click.argument("study", callback=one_of_studies(power_designs))
@list_option(_listing, "List the studies, and the measures of each.")
@click.option(
    "--effect", type=float, required=True, help="Difference to detect: A minus B, as `compare` subtracts."
)
@click.option("--measure", help="Measure that differs.  [default: the first of the study's measures]")
@click.option(
    "--n",
    "sizes",
    callback=parsed(_sizes),
    show_default="50 and its doubles up to 6400",
    help="Numbers of questions to try, such as 100,200,300.",
)
@click.option("--condition", default="", help="Condition that both are asked under, such as 0-20 or p=0.8.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="ideal",
    show_default=True,
    metavar="NAME",
    help=f"Simulated subject A: {', '.join(PROFILES)}. B is the same subject, but for the effect.",
)
@click.option(
    "-M",
    "parameters",
    multiple=True,
    callback=name_values("KEY=NUMBER, such as d_prime=1.2", literal_eval),
    metavar="KEY=VALUE",
    help="Change a parameter of A, such as d_prime=1.2; may be given several times.",
)
@click.option(
    "--correlation",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="How alike questions affect A and B: 0 for unrelated models, 1 for one model asked twice.",
)
@click.option(
    "--alpha",
    type=WITHIN_0_AND_1,
    default=0.05,
    show_default=True,
    help="Size of the test. Divide it by the number of conditions if these are to be corrected for.",
)
@click.option("--target", type=WITHIN_0_AND_1, default=0.8, show_default=True, help="Power to reach.")
@click.option(
    "--studies",
    "n_studies",
    type=click.IntRange(100, 100_000),
    default=1_000,
    show_default=True,
    help="Simulated studies for each number of questions.",
)
@seed_option
@click.option("--csv", "table", type=FILE, help="Also write the curve here, as CSV.")
@click.option("--figure", type=FILE, help="Also draw the curve here, as SVG.")
@json_option
def power(
    study: str,
    effect: float,
    measure: str | None,
    sizes: list[int] | None,
    table: Path | None,
    figure: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict how many questions a study needs, by simulation.

    Two simulated subjects, A and B, answer the same questions of STUDY. B differs from A in one parameter, which is set
    so that the measure differs by EFFECT. Many studies are drawn from their replies, and each is tested as `compare`
    tests it. The power is the proportion of studies in which the test finds the difference. Only questions that both
    answer readably count: plan for more if replies may be unreadable. No model and no network are needed.
    """
    from confidence_tasks.report.figures import figure_svg
    from confidence_tasks.report.power import QUESTIONS, power_curve

    with said_of_usage(), progress("simulating studies") as advance:
        measure = measure or next(iter(power_designs()[study].measures))
        curve = power_curve(study, measure, effect, n=sizes or QUESTIONS, advance=advance, **options)
    if table is not None:
        write_atomically(table, _curve_frame(curve).to_csv(index=False).encode())
    if figure is not None:
        write_atomically(figure, figure_svg(_curve_figure(curve)).encode())
    if as_json:
        facts = ("study", "measure", "condition", "effect", "alpha", "target", "n_studies")
        print_json(
            {
                **{name: getattr(curve, name) for name in facts},
                "pair": dataclasses.asdict(curve.pair),
                "curve": _curve_frame(curve).to_dict("records"),
                "needed": curve.needed,
            }
        )
    else:
        _print_curve(curve)


def _curve_frame(curve: PowerCurve) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: getattr(curve, name) for name in ("n", "power", "low", "high", "withheld")})


def _print_curve(curve: PowerCurve) -> None:
    """Print who is compared, the curve, and the answer."""
    pair = curve.pair
    click.echo(
        f"{measure_label(curve.measure)}, {group_label(curve.condition)}: A {number(pair.first_measure, 3)}, "
        f"B {number(pair.second_measure, 3)} ({pair.parameter} {pair.first:g} and {pair.second:.3g})"
    )
    rows = [
        {"questions": f"{n:,}", "power": f"{share:.0%}", "95% interval": f"{low:.0%} to {high:.0%}"}
        for n, share, low, high in zip(curve.n, curve.power, curve.low, curve.high, strict=True)
    ]
    print_table(rows, frozenset({"questions", "power"}))
    say(_answer(curve), err=False)
    most = float(curve.withheld.max())
    if most > 0.02:
        say(
            f"In up to {most:.0%} of these studies compare withholds the difference, because too few trials would"
            " decide it: these count as not found.",
            err=False,
        )


def _answer(curve: PowerCurve) -> str:
    what = f"a difference of {signed(curve.effect, 3)} with {curve.target:.0%} power at alpha {curve.alpha:g}"
    if math.isinf(curve.needed):
        return f"More than {curve.n[-1]:,} questions are needed to find {what}."
    if math.isnan(curve.needed):
        return f"No more than {curve.n[0]:,} questions are needed to find {what}."
    return f"About {curve.needed:,.0f} questions are needed to find {what}."


def _curve_figure(curve: PowerCurve) -> Figure:
    import numpy as np

    from confidence_tasks.report.figures import SERIES, Colour, Figure, Line, Panel, panels

    positions = np.arange(len(curve.n), dtype=np.float64)
    line = Line("power", SERIES[0], positions, curve.power, curve.low, curve.high)
    labels = [f"{n:,}" for n in curve.n]

    def draw(axes: Axes) -> None:
        axes.axhline(curve.target, color=Colour.MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
        panels.trends(axes, labels=labels, lines=[line], x="questions", y="power")

    title = f"{measure_label(curve.measure)}: {signed(curve.effect, 3)}"
    return Figure("power", "Power", _answer(curve), (("", (Panel(title, draw),)),), size=(4.2, 2.8))
