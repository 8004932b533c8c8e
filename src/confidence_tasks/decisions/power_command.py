"""``confidence-tasks power``: predict by simulation how many questions a study needs."""

from __future__ import annotations

from ast import literal_eval
from pathlib import Path
from typing import Any

import click

from confidence_tasks.decisions.power_figure import curve_figure
from confidence_tasks.decisions.power_pilot import designs_by_study, read_pilot
from confidence_tasks.decisions.power_printed import curve_frame, curve_record, print_curve, print_designs
from confidence_tasks.report.commands.options import (
    FILE,
    WITHIN_0_AND_1,
    cluster_option,
    json_option,
    list_option,
    name_value_pairs,
    parse_with,
    seed_option,
    study_name,
)
from confidence_tasks.report.commands.printing import print_json, print_message
from confidence_tasks.report.commands.reading import as_click_error, progress
from confidence_tasks.report.labels import measure_label
from confidence_tasks.simulation.subject import PROFILES
from confidence_tasks.sources.source import write_atomically


def _list_measures() -> dict[str, str]:
    """Return the measures of each study that `power` supports."""
    return {
        name: f"{', '.join(design.measures)} (under {design.condition})"
        for name, design in designs_by_study().items()
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
@click.argument("study", callback=study_name(designs_by_study))
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
    from confidence_tasks.decisions.power import QUESTIONS, fewest_questions, power_curve
    from confidence_tasks.report.figures import figure_svg

    measure = measure or next(iter(designs_by_study()[study].measures))
    clusters, replies = read_pilot(pilot, cluster, study, measure, options["condition"])
    n = sizes or [size for size in QUESTIONS if size >= fewest_questions(clusters)]
    print_message(
        f"simulating {options['n_studies']:,} studies of each size: {', '.join(map(str, n))} questions"
    )
    with as_click_error(), progress("simulating studies") as advance:
        curve = power_curve(study, measure, effect, n=n, clusters=clusters, advance=advance, **options)
    if table is not None:
        write_atomically(table, curve_frame(curve).to_csv(index=False).encode())
    if figure is not None:
        write_atomically(figure, figure_svg(curve_figure(curve)).encode())
    if as_json:
        print_json(curve_record(curve, replies))
    else:
        print_curve(curve)
        if replies:
            print_designs(measure_label(measure), replies)
