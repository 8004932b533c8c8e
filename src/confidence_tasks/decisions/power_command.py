"""``confidence-tasks power``: predict by simulation how many questions a study needs."""

from __future__ import annotations

import dataclasses
import math
from ast import literal_eval
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.report.commands import (
    FILE,
    WITHIN_0_AND_1,
    as_click_error,
    cluster_option,
    json_option,
    list_option,
    name_value_pairs,
    parse_with,
    print_json,
    print_message,
    print_stopped_early,
    print_table,
    progress,
    read_trials,
    seed_option,
    study_name,
)
from confidence_tasks.report.labels import group_label, measure_label, number, signed
from confidence_tasks.simulation.subject import PROFILES
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from confidence_tasks.report.figures import Figure
    from confidence_tasks.report.pilot import ClusterEffect
    from confidence_tasks.report.power import PowerCurve
    from confidence_tasks.simulation.power_design import PowerDesign
    from confidence_tasks.statistics.reliability import VarianceComponents


def _power_designs() -> Mapping[str, PowerDesign]:
    """Return the designs for power analysis; help imports none of their modules."""
    from confidence_tasks.report.power import power_designs

    return power_designs()


def _list_measures() -> dict[str, str]:
    """Return the measures of each study that `power` supports."""
    return {
        name: f"{', '.join(design.measures)} (under {group_label(design.condition)})"
        for name, design in _power_designs().items()
    }


def _parse_sizes(value: str) -> list[int]:
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
@click.argument("study", callback=study_name(_power_designs))
@list_option(_list_measures, "List the studies and their measures.")
@click.option("--effect", type=float, required=True, help="Difference to detect: A minus B, as in `compare`.")
@click.option("--measure", help="Measure that differs.  [default: the study's first measure]")
@click.option(
    "--n",
    "sizes",
    callback=parse_with(_parse_sizes),
    show_default="50, 100, 200, ..., 6400",
    help="Numbers of questions to try, such as 100,200,300.",
)
@click.option("--condition", default="", help="Condition under which both are asked, such as 0-20 or p=0.8.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="ideal",
    show_default=True,
    metavar="NAME",
    help=f"Simulated subject A: {', '.join(PROFILES)}. B differs from A only by the effect.",
)
@click.option(
    "-M",
    "parameters",
    multiple=True,
    callback=name_value_pairs("KEY=NUMBER, such as d_prime=1.2", literal_eval),
    metavar="KEY=VALUE",
    help="Change a parameter of A, such as d_prime=1.2; may be repeated.",
)
@click.option(
    "--correlation",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Correlation of A and B over questions: 0 for unrelated models, 1 for one model asked twice.",
)
@click.option(
    "--alpha",
    type=WITHIN_0_AND_1,
    default=0.05,
    show_default=True,
    help="Significance level. Divide it by the number of conditions to allow for the correction over conditions.",
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
@click.option(
    "--pilot",
    metavar="LOGS",
    help="Logs or files of trials of STUDY. If their questions have clusters, such as passages, the design effect of"
    " these enlarges all standard errors. If they were asked in several epochs, more epochs are compared with more"
    " questions.",
)
@cluster_option
@seed_option
@click.option("--csv", "table", type=FILE, help="Also write the power curve to this CSV file.")
@click.option("--figure", type=FILE, help="Also draw the power curve in this SVG file.")
@json_option
def power(
    study: str,
    effect: float,
    measure: str | None,
    sizes: list[int] | None,
    pilot: str | None,
    cluster: str,
    table: Path | None,
    figure: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict by simulation how many questions a study needs.

    Two simulated subjects, A and B, answer the same questions of STUDY. B differs from A in one parameter, which is set
    so that the measure differs by EFFECT. Many studies are simulated from their replies and tested as in `compare`. The
    power is the proportion of studies in which the test detects the difference. The numbers count questions that both
    answer in readable form: plan for more if some replies may be unreadable. No model and no network are needed.

    With --pilot, questions come in clusters such as passages, and the output says how many clusters are needed with
    more or fewer questions in each. If the questions of the pilot were asked in several epochs, it says what a mean
    gains by more epochs, and by more questions.
    """
    from confidence_tasks.report.figures import figure_svg
    from confidence_tasks.report.power import QUESTIONS, fewest_questions, power_curve

    measure = measure or next(iter(_power_designs()[study].measures))
    clusters, replies = _of_pilot(pilot, cluster, study, measure, options["condition"])
    n = sizes or [size for size in QUESTIONS if size >= fewest_questions(clusters)]
    print_message(
        f"simulating {options['n_studies']:,} studies of each size: {', '.join(map(str, n))} questions"
    )
    with as_click_error(), progress("simulating studies") as advance:
        curve = power_curve(study, measure, effect, n=n, clusters=clusters, advance=advance, **options)
    if table is not None:
        write_atomically(table, _curve_frame(curve).to_csv(index=False).encode())
    if figure is not None:
        write_atomically(figure, figure_svg(_curve_figure(curve)).encode())
    if as_json:
        print_json(_record(curve, replies))
    else:
        _print_curve(curve)
        if replies:
            _print_designs(measure_label(measure), replies)


def _record(curve: PowerCurve, replies: VarianceComponents | None) -> dict[str, Any]:
    """Return a power curve, and what the replies of a pilot say, for JSON."""
    names = ("study", "measure", "condition", "effect", "alpha", "target", "n_studies")
    return {
        **{name: getattr(curve, name) for name in names},
        "pair": dataclasses.asdict(curve.pair),
        "curve": _curve_frame(curve).to_dict("records"),
        "needed": curve.needed,
        "clusters": dataclasses.asdict(curve.clusters) if curve.clusters else None,
        "plans": list(_plans(curve)),
        "replies": dataclasses.asdict(replies) if replies else None,
        "designs": list(_designs(replies)) if replies else [],
    }


def _of_pilot(
    pilot: str | None, cluster: str, study: str, measure: str, condition: str
) -> tuple[ClusterEffect | None, VarianceComponents | None]:
    """Return the effect of the clusters of a pilot, and the variance between and within its questions."""
    from confidence_tasks.logs.task_trials import group_by_task
    from confidence_tasks.report.pilot import pilot_clusters
    from confidence_tasks.report.reliability import pilot_replies

    if pilot is None:
        if cluster:
            raise click.UsageError(
                "--cluster needs --pilot LOGS: the design effect of clusters comes from trials with such clusters"
            )
        return None, None
    tasks = group_by_task(read_trials([pilot]).files)
    print_stopped_early(tasks)
    with as_click_error():
        design = _power_designs()[study]
        label = design.read_condition(condition or design.condition)
        replies = pilot_replies(tasks, study, measure, label)
        try:
            return pilot_clusters(tasks, study, measure, label, cluster), replies
        except ValueError:
            if replies is None or cluster:  # without epochs, a pilot is there for its clusters
                raise
            return None, replies


PLANNED_EPOCHS = (1, 2, 3, 5, 10)
"""Numbers of epochs for which `power` computes the standard error."""


def _designs(replies: VarianceComponents) -> Iterator[dict[str, Any]]:
    """Yield the standard error of designs with as many replies as the pilot, and of more epochs of its questions."""
    for epochs in PLANNED_EPOCHS:
        questions = replies.n_values // epochs
        if questions >= 2:
            yield {
                "epochs": epochs,
                "questions": questions,
                "error": replies.error(questions, epochs),
                "error_same_questions": replies.error(replies.n_questions, epochs),
            }


def _print_designs(label: str, replies: VarianceComponents) -> None:
    """Print what more epochs and more questions bring, by the replies of a pilot."""
    size = replies.n_values / replies.n_questions
    best = number(replies.error(replies.n_questions, math.inf), 4)
    advice = (
        "For as many replies, more questions have the smaller standard error. More epochs of the same questions lower"
        f" it to {best} at best."
        if replies.between > 0.0
        else "More epochs are then worth as much as more questions."
    )
    print_message(
        f"The pilot has {size:.3g} replies to each of {replies.n_questions:,} questions: the variance of {label} is"
        f" {number(replies.between, 4)} between questions and {number(replies.within, 4)} within, a share of"
        f" {number(100 * replies.share, 0)}% between. {advice}",
        err=False,
    )
    rows = [
        {
            "epochs": f"{each['epochs']}",
            "questions": f"{each['questions']:,}",
            "standard error": number(each["error"], 4),
            f"of {replies.n_questions:,} questions": number(each["error_same_questions"], 4),
        }
        for each in _designs(replies)
    ]
    if rows:
        print_table(rows, frozenset(rows[0]))


PLANNED_SIZES = (1, 2, 3, 5, 10, 20)
"""Numbers of questions in a cluster for which `power` computes the number of clusters."""


def _plans(curve: PowerCurve) -> Iterator[dict[str, Any]]:
    """Yield the number of clusters that reach the target, by the number of questions in each."""
    if curve.clusters is None or not math.isfinite(curve.needed):
        return
    independent = curve.needed / curve.clusters.design_effect
    for size in PLANNED_SIZES:
        needed = curve.clusters.clusters_needed(independent, size)
        if not math.isnan(needed):
            effect = curve.clusters.design_effect_at(size)
            yield {"size": size, "design_effect": effect, "clusters": needed, "questions": size * needed}


def _curve_frame(curve: PowerCurve) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: getattr(curve, name) for name in ("n", "power", "low", "high", "withheld")})


def _print_curve(curve: PowerCurve) -> None:
    """Print the two subjects, the power curve and the required number of questions."""
    pair = curve.pair
    click.echo(
        f"{measure_label(curve.measure)}, {group_label(curve.condition)}: A {number(pair.first_measure, 3)}, "
        f"B {number(pair.second_measure, 3)} ({pair.parameter} {pair.first:g} and {pair.second:.3g})"
    )
    rows = [
        {"questions": f"{n:,}", "power": f"{power:.0%}", "95% interval": f"{low:.0%} to {high:.0%}"}
        for n, power, low, high in zip(curve.n, curve.power, curve.low, curve.high, strict=True)
    ]
    print_table(rows, frozenset({"questions", "power"}))
    print_message(f"{_describe_curve(curve)}{_cost_hint(curve)}", err=False)
    if curve.clusters:
        _print_clusters(curve, curve.clusters)
    withheld = float(curve.withheld.max())
    if withheld > 0.02:
        print_message(
            f"In up to {withheld:.0%} of these studies, compare withholds the difference because it depends on too few"
            " trials; these studies count as not detecting the difference.",
            err=False,
        )


def _print_clusters(curve: PowerCurve, clusters: ClusterEffect) -> None:
    """Print the effect of clusters, and how many are needed with more or fewer questions in each."""
    size = clusters.size
    remaining = clusters.design_effect_at(2.0 * size) / (2.0 * clusters.design_effect)
    print_message(
        f"The pilot has {clusters.n_clusters:,} clusters of {clusters.n_questions:,} questions, and the design effect "
        f"is {number(clusters.design_effect, 2)}: 100 questions are worth {100.0 / clusters.design_effect:.0f} "
        "independent ones. Twice as many clusters halve the variance; twice as many questions in each"
        f" {'leave' if remaining > 0.0 else 'would leave'} {number(100.0 * remaining, 0)}% of it.",
        err=False,
    )
    rows = [
        {
            "questions in a cluster": f"{plan['size']}",
            "design effect": number(plan["design_effect"], 2),
            "clusters needed": f"{plan['clusters']:,.0f}",
            "questions needed": f"{plan['questions']:,.0f}",
        }
        for plan in _plans(curve)
    ]
    if rows:
        print_table(rows, frozenset(rows[0]))


def _describe_curve(curve: PowerCurve) -> str:
    effect = (
        f"a difference of {signed(curve.effect, 3)} with {curve.target:.0%} power at alpha {curve.alpha:g}"
    )
    if math.isinf(curve.needed):
        return f"More than {curve.n[-1]:,} questions are needed to detect {effect}."
    if math.isnan(curve.needed):
        return f"No more than {curve.n[0]:,} questions are needed to detect {effect}."
    return f"About {curve.needed:,.0f} questions are needed to detect {effect}."


def _cost_hint(curve: PowerCurve) -> str:
    """Return the command that shows what the questions needed cost; empty if there are none, or no task asks them."""
    from confidence_tasks.catalogue import study_named

    study = study_named(curve.study)
    if not math.isfinite(curve.needed) or not study.designs:
        return ""
    return f" `confidence-tasks plan {study.first_task} -T n={math.ceil(curve.needed)}` shows what they cost."


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
    return Figure("power", "Power", _describe_curve(curve), (("", (Panel(title, draw),)),), size=(4.2, 2.8))
