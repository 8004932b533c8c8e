"""``confidence-tasks power``: how many questions the next study needs."""

from __future__ import annotations

import dataclasses
import math
from ast import literal_eval
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.catalogue import power_designs
from confidence_tasks.report.console import (
    WITHIN_0_AND_1,
    StudyChoice,
    json_option,
    list_option,
    print_json,
    print_table,
    progress,
    said_of_usage,
    seed_option,
)
from confidence_tasks.report.labels import group_label, json_number, measure_label, number, signed
from confidence_tasks.simulation.subject import PROFILES
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from confidence_tasks.report.figures.figure import Figure
    from confidence_tasks.report.power import PowerCurve

_EXAMPLES = """
  confidence-tasks power scales --effect 0.2
  confidence-tasks power scales --measure ece --effect -0.05 --profile overconfident --correlation 0.5
  confidence-tasks power fermieval --measure coverage --effect 0.1 --condition p=0.8 --n 100,200,300
  confidence-tasks power riskeval --effect 0.02 -M risk_sensitivity=0.5 --csv power.csv --figure power.svg"""

_NOTABLY_WITHHELD = 0.02
"""Share of studies without an answer from which it is said."""

FILE = click.Path(dir_okay=False, path_type=Path)


def _listing() -> str:
    """Return the measures that can be planned for, by study."""
    return "\n".join(
        f"{name:<10} {', '.join(design.measures)} (under {group_label(design.condition)})"
        for name, design in power_designs().items()
    )


def _sizes(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    try:
        return [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of whole numbers, such as 100,200,400") from None


def _changes(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """Read KEY=VALUE pairs; a value is a Python literal."""
    changes = {}
    for text in values:
        name, equals, value = text.partition("=")
        try:
            changes[name] = literal_eval(value)
        except (ValueError, SyntaxError):
            equals = ""
        if not equals:
            raise click.BadParameter(f"{text!r} is not KEY=NUMBER, such as d_prime=1.2")
    return changes


@click.command(epilog=f"\b\nExamples:{_EXAMPLES}")
@click.argument("study", type=StudyChoice(power_designs))
@list_option(_listing, "List the studies, and the measures of each.")
@click.option(
    "--effect", type=float, required=True, help="Difference to detect: A minus B, as `compare` subtracts."
)
@click.option("--measure", help="Measure that differs.  [default: the first of the study's measures]")
@click.option(
    "--n",
    "sizes",
    callback=_sizes,
    show_default="50 and its doubles up to 6400",
    help="Numbers of questions to try, such as 100,200,300.",
)
@click.option("--condition", default="", help="Condition that both are asked under, such as 0-20 or p=0.8.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="ideal",
    show_default=True,
    help="Simulated subject A. B is the same subject, but for the effect.",
)
@click.option(
    "-M",
    "changes",
    multiple=True,
    callback=_changes,
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
@click.option(
    "--target",
    type=WITHIN_0_AND_1,
    default=0.8,
    show_default=True,
    help="Power to reach.",
)
@click.option(
    "--studies",
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
    condition: str,
    profile: str,
    changes: dict[str, Any],
    correlation: float,
    alpha: float,
    target: float,
    studies: int,
    seed: int,
    table: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Predict how many questions a study needs, by simulation.

    Two simulated subjects, A and B, answer the same questions of STUDY. B differs from A in one parameter, which is set
    so that the measure differs by EFFECT. Many studies are drawn from their replies, and each is tested as `compare`
    tests it. The power is the proportion of studies in which the test finds the difference. Only questions that both
    answer readably count: plan for more if replies may be unreadable. No model and no network are needed.
    """
    from confidence_tasks.report.figures.figure import figure_svg
    from confidence_tasks.report.power import QUESTIONS, power_curve

    with said_of_usage(), progress("simulating studies") as advance:
        curve = power_curve(
            study,
            measure or next(iter(power_designs()[study].measures)),
            effect,
            n=sizes or QUESTIONS,
            condition=condition,
            profile=profile,
            parameters=changes,
            correlation=correlation,
            alpha=alpha,
            target=target,
            n_studies=studies,
            seed=seed,
            advance=advance,
        )
    if table is not None:
        write_atomically(table, _frame(curve).to_csv(index=False).encode())
    if figure is not None:
        write_atomically(figure, figure_svg(_figure(curve)).encode())
    if as_json:
        print_json(_record(curve))
    else:
        _print(curve)


def _frame(curve: PowerCurve) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: getattr(curve, name) for name in ("n", "power", "low", "high", "withheld")})


def _record(curve: PowerCurve) -> dict[str, Any]:
    facts = {
        name: getattr(curve, name)
        for name in ("study", "measure", "condition", "effect", "alpha", "target", "n_studies")
    }
    return {
        **facts,
        "pair": dataclasses.asdict(curve.pair),
        "curve": _frame(curve).to_dict("records"),
        "needed": json_number(curve.needed),
    }


def _print(curve: PowerCurve) -> None:
    """Print who is compared, the curve, and the answer."""
    pair = curve.pair
    click.echo(
        f"{measure_label(curve.measure)}, {group_label(curve.condition)}: A {number(pair.first_measure, 3)}, "
        f"B {number(pair.second_measure, 3)} ({pair.parameter} {pair.first:g} and {pair.second:.3g})\n"
    )
    rows = [
        {"questions": f"{n:,}", "power": f"{share:.0%}", "95% interval": f"{low:.0%} to {high:.0%}"}
        for n, share, low, high in zip(curve.n, curve.power, curve.low, curve.high, strict=True)
    ]
    print_table(rows, frozenset({"questions", "power"}))
    click.echo(f"\n{_answer(curve)}")
    most = float(curve.withheld.max())
    if most > _NOTABLY_WITHHELD:
        click.echo(
            f"In up to {most:.0%} of these studies compare withholds the difference, because too few trials would"
            " decide it: these count as not found."
        )


def _answer(curve: PowerCurve) -> str:
    what = f"a difference of {signed(curve.effect, 3)} with {curve.target:.0%} power at alpha {curve.alpha:g}"
    if math.isinf(curve.needed):
        return f"More than {curve.n[-1]:,} questions are needed to find {what}."
    if math.isnan(curve.needed):
        return f"No more than {curve.n[0]:,} questions are needed to find {what}."
    return f"About {curve.needed:,.0f} questions are needed to find {what}."


def _figure(curve: PowerCurve) -> Figure:
    import numpy as np

    from confidence_tasks.report.figures import panels
    from confidence_tasks.report.figures.figure import SERIES, Colour, Figure, Panel

    positions = np.arange(len(curve.n), dtype=np.float64)
    line = panels.Line("power", SERIES[0], positions, curve.power, curve.low, curve.high)
    labels = [f"{n:,}" for n in curve.n]

    def draw(axes: Axes) -> None:
        axes.axhline(curve.target, color=Colour.MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
        panels.trends(axes, labels=labels, lines=[line], x="questions", y="power")

    title = f"{measure_label(curve.measure)}: {signed(curve.effect, 3)}"
    return Figure("power", "Power", _answer(curve), (("", (Panel(title, draw),)),), size=(4.2, 2.8))
