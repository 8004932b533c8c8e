"""The power curve and the designs of a pilot as tables of the terminal and as JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.report.commands.printing import print_message, print_table
from confidence_tasks.report.labels import measure_label, number, signed

if TYPE_CHECKING:
    import pandas as pd

    from confidence_tasks.decisions.pilot import ClusterEffect
    from confidence_tasks.decisions.power import PowerCurve
    from confidence_tasks.statistics.reliability import VarianceComponents


def curve_record(curve: PowerCurve, replies: VarianceComponents | None) -> dict[str, Any]:
    """Return a power curve, and what the replies of a pilot say, for JSON."""
    names = ("study", "measure", "condition", "effect", "alpha", "target", "n_studies")
    return {
        **{name: getattr(curve, name) for name in names},
        "pair": dataclasses.asdict(curve.pair),
        "curve": curve_frame(curve).to_dict("records"),
        "needed": curve.needed,
        "clusters": dataclasses.asdict(curve.clusters) if curve.clusters else None,
        "plans": list(_plans(curve)),
        "replies": dataclasses.asdict(replies) if replies else None,
        "designs": list(_designs(replies)) if replies else [],
    }


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


def print_designs(label: str, replies: VarianceComponents) -> None:
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


def curve_frame(curve: PowerCurve) -> pd.DataFrame:
    """Return a power curve as a table, one row a number of questions."""
    import pandas as pd

    return pd.DataFrame({name: getattr(curve, name) for name in ("n", "power", "low", "high", "withheld")})


def print_curve(curve: PowerCurve) -> None:
    """Print the two subjects, the power curve and the required number of questions."""
    pair = curve.pair
    click.echo(
        f"{measure_label(curve.measure)}, {curve.condition}: A {number(pair.first_measure, 3)}, "
        f"B {number(pair.second_measure, 3)} ({pair.parameter} {pair.first:g} and {pair.second:.3g})"
    )
    rows = [
        {"questions": f"{n:,}", "power": f"{power:.0%}", "95% interval": f"{low:.0%} to {high:.0%}"}
        for n, power, low, high in zip(curve.n, curve.power, curve.low, curve.high, strict=True)
    ]
    print_table(rows, frozenset({"questions", "power"}))
    print_message(f"{describe_curve(curve)}{_cost_hint(curve)}", err=False)
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


def describe_curve(curve: PowerCurve) -> str:
    """Return what a power curve says in one sentence."""
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
