"""``confidence-tasks compare`` and ``power``: compare two models, and predict the number of questions to do so."""

from __future__ import annotations

import dataclasses
import math
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.report.commands import (
    FILE,
    WITHIN_0_AND_1,
    as_click_error,
    cache_option,
    cluster_option,
    correctness_options,
    json_option,
    list_option,
    name_value_pairs,
    open_cache,
    open_workers,
    parse_with,
    print_json,
    print_message,
    print_table,
    progress,
    read_trials,
    seed_option,
    settings_options,
    study_name,
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

    from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
    from confidence_tasks.report.compare import Comparison
    from confidence_tasks.report.figures import Figure
    from confidence_tasks.report.notices import Notice
    from confidence_tasks.report.pilot import ClusterEffect
    from confidence_tasks.report.power import PowerCurve
    from confidence_tasks.simulation.power_design import PowerDesign
    from confidence_tasks.study.definition import Study

MAX_SHOWN = 10
"""Maximum number of models, conditions and files that the terminal shows for each notice."""


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
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
    first: str,
    second: str | None,
    model_a: str | None,
    model_b: str | None,
    measures: tuple[str, ...],
    by: str,
    margin: float | None,
    correct: str,
    scorer: str,
    no_cache: bool,
    as_json: bool,
    **uncertainty: Any,
) -> None:
    """Compare A with B on the questions that both were asked.

    A and B are Inspect logs, lm-eval sample files, files of trials, or folders of these, as for `report`. To compare
    two models in one path, give the path once, with --model-a and --model-b; tasks with only one of the models are
    skipped. Differences are A minus
    B, paired by question. The interval and the p-value come from the same test: where possible, a studentised
    permutation test that exchanges A and B within questions. p-values are corrected over the conditions of each measure
    (Holm). As in the report, each measure uses the replies that have the columns it needs.

    Above each table are the warnings of the report's checks, and all settings in which A and B differ. Questions with
    the same id and different texts are left out, with a warning.

    Exits with 1 if A and B have no question in common, or with --fail-if-worse if B is worse.
    """
    from confidence_tasks.logs.task_trials import group_by_task
    from confidence_tasks.report.clusters import with_units
    from confidence_tasks.report.compare import compare_models
    from confidence_tasks.report.compared_runs import cautions, model_pairs
    from confidence_tasks.report.estimates import Settings

    second = second or _same_path(first, model_a, model_b)
    settings, cache = Settings(**uncertainty), open_cache(no_cache)
    with open_workers(None, None) as workers:
        by_path = {
            path: read_trials([path], workers, cache, correct=correct, scorer=scorer)
            for path in dict.fromkeys((first, second))
        }
        collections = [by_path[path] for path in (first, second)]
        with as_click_error():
            first_tasks, second_tasks = (
                with_units(group_by_task(collection.files), settings.cluster) for collection in collections
            )
            pairs, unpaired = model_pairs(first_tasks, second_tasks, (model_a, model_b))
        comparisons: list[Comparison] = []
        notices: dict[str, list[Notice]] = {}
        with progress("comparing") as advance:
            for done, (task_trials, a, b) in enumerate(pairs, start=1):
                with as_click_error():
                    comparisons += compare_models(
                        a, b, task_trials, measures or None, settings, by, workers=workers, cache=cache
                    )
                notices[task_trials.task] = cautions(a, b, task_trials, settings, cache)
                advance(done, len(pairs))
    if as_json:
        skipped = [(file.path, file.reason) for collection in collections for file in collection.skipped]
        print_json(
            {
                "comparisons": [_comparison_record(each) for each in comparisons],
                "notices": [
                    {"task": task, **dataclasses.asdict(notice)}
                    for task, task_notices in notices.items()
                    for notice in task_notices
                ],
                "skipped": [
                    {"what": what, "reason": reason} for what, reason in (*skipped, *unpaired.items())
                ],
            }
        )
    else:
        for task_trials, a, b in pairs:
            task_comparisons = [each for each in comparisons if each.task == task_trials.task]
            _print_task(task_trials, a, b, task_comparisons, notices[task_trials.task])
        _print_footer(comparisons)
    for task, reason in unpaired.items():
        print_message(f" {task}: {reason}", "skipped")
    if not comparisons:
        print_message("A and B have no question in common under the same condition of the same task")
        raise SystemExit(1)
    if margin is not None:
        _fail_if_worse(comparisons, {task.task: task.study for task, _, _ in pairs}, margin)


def _same_path(first: str, model_a: str | None, model_b: str | None) -> str:
    """Return the path of A as that of B; UsageError unless two of its models are named."""
    if not (model_a and model_b):
        raise click.UsageError("name B, or two models of A with --model-a and --model-b")
    return first


def _fail_if_worse(comparisons: Sequence[Comparison], studies: Mapping[str, Study], margin: float) -> None:
    """Print the comparisons in which B is worse by more than the margin, and exit with 1 if there are any."""
    from confidence_tasks.report.compare import credibly_worse

    worse = [each for each in comparisons if credibly_worse(each, studies[each.task], margin)]
    for each in worse:
        print_message(f"B is worse by more than {margin:g} in {each.measure} ({each.task}, {each.condition})")
    if worse:
        raise SystemExit(1)


def _comparison_record(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison for JSON."""
    names = ("study", "task", "condition", "measure", "first", "second")
    statistics = ("p_value", "p_adjusted", "p_exchange", "n_questions", "n_clusters")
    record: dict[str, Any] = {name: getattr(comparison, name) for name in (*names, *statistics)}
    for name, interval in (
        ("first_value", comparison.first_interval),
        ("second_value", comparison.second_interval),
        ("difference", comparison.difference),
    ):
        record |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
        record[f"{name}_reason"] = why_missing(interval)
    sides = ("first", "second", "difference")
    effects = zip(sides, comparison.design_effects, strict=True)
    return record | {f"{side}_design_effect": effect for side, effect in effects}


def _print_task(
    task_trials: TaskTrials,
    a: ModelTrials,
    b: ModelTrials,
    comparisons: Sequence[Comparison],
    notices: Sequence[Notice],
) -> None:
    """Print the notices and the table of a task."""
    click.echo(f"{click.style(task_trials.task, bold=True)}\nA  {a.label}\nB  {b.label}")
    for notice in notices:
        print_message(f": {notice.title}. {notice.meaning}", notice.severity, err=False)
        for where in notice.where[:MAX_SHOWN]:
            print_message(f"    {where}", indent="    ", err=False)
        if len(notice.where) > MAX_SHOWN:
            click.echo(f"    and {len(notice.where) - MAX_SHOWN} more (see --json)")
    if comparisons:
        rows = [_comparison_row(each) for each in comparisons]
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


# Power ----------------------------------------------------------------------------------------------------------------


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
    help="Logs or files of trials of STUDY whose questions have clusters, such as passages: the design effect of these"
    " clusters enlarges all standard errors.",
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

    With --pilot, questions come in clusters such as passages. The output says how many clusters are needed with more or
    fewer questions in each.
    """
    from confidence_tasks.report.figures import figure_svg
    from confidence_tasks.report.power import QUESTIONS, fewest_questions, power_curve

    measure = measure or next(iter(_power_designs()[study].measures))
    clusters = _pilot_clusters(pilot, cluster, study, measure, options["condition"])
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
        names = ("study", "measure", "condition", "effect", "alpha", "target", "n_studies")
        print_json(
            {
                **{name: getattr(curve, name) for name in names},
                "pair": dataclasses.asdict(curve.pair),
                "curve": _curve_frame(curve).to_dict("records"),
                "needed": curve.needed,
                "clusters": dataclasses.asdict(curve.clusters) if curve.clusters else None,
                "plans": list(_plans(curve)),
            }
        )
    else:
        _print_curve(curve)


def _pilot_clusters(
    pilot: str | None, cluster: str, study: str, measure: str, condition: str
) -> ClusterEffect | None:
    """Return the effect of the clusters of a pilot; None without one."""
    from confidence_tasks.logs.task_trials import group_by_task
    from confidence_tasks.report.pilot import pilot_clusters

    if pilot is None:
        if cluster:
            raise click.UsageError(
                "--cluster needs --pilot LOGS: the design effect of clusters comes from trials with such clusters"
            )
        return None
    tasks = group_by_task(read_trials([pilot]).files)
    with as_click_error():
        design = _power_designs()[study]
        label = design.read_condition(condition or design.condition)
        return pilot_clusters(tasks, study, measure, label, cluster)


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
    print_message(_describe_curve(curve), err=False)
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
