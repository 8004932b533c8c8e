"""Answers before and after recalibration: the table of the terminal, the record of JSON, and the figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.logs.texts import printable
from confidence_tasks.report.commands.printing import print_json, print_table
from confidence_tasks.report.labels import limits, measure_label, number, signed, why_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from confidence_tasks.logs.judged_answers import JudgedAnswers
    from confidence_tasks.report.estimates.contrast import Contrast
    from confidence_tasks.report.estimates.settings import Settings
    from confidence_tasks.report.figures import Figure
    from confidence_tasks.statistics.calibration.maps import Recalibration
    from confidence_tasks.statistics.core import FloatArray


def print_recalibrations(
    answers: Sequence[JudgedAnswers], after: Sequence[FloatArray], settings: Settings, *, as_json: bool
) -> None:
    """Print what another confidence improves."""
    from confidence_tasks.decisions.recalibration import before_and_after

    results = [
        (each, before_and_after(each, confidence, settings), int((confidence != confidence).sum()))
        for each, confidence in zip(answers, after, strict=True)
    ]
    if as_json:
        print_json([_record(*each) for each in results])
        return
    for result in results:
        _print_answers(*result)


def reliability_figure(answers: JudgedAnswers, meaning: Recalibration, settings: Settings) -> Figure:
    """Return the figure of the accuracy by confidence before recalibration, with the map."""
    import numpy as np

    from confidence_tasks.decisions.recalibration import band
    from confidence_tasks.drawing import SERIES
    from confidence_tasks.report.figures import Figure, Line, Panel, panels

    knots = np.array(meaning.confidence)
    low, high = band(answers, meaning, settings)
    line = Line("map", SERIES[0], knots, np.array(meaning.probability))

    def draw(axes: Axes) -> None:
        axes.fill_between(knots, low, high, color=line.colour, alpha=0.2, linewidth=0.0)
        panels.curves(axes, [line], "stated confidence", "probability of being right", diagonal=True)

    title = printable(f"{answers.model}, {answers.condition}")
    caption = f"Recalibration map ({meaning.method}) with pointwise {settings.level:.0%} limits."
    return Figure("recalibration", "Recalibration", caption, (("", (Panel(title, draw),)),), size=(3.0, 2.8))


def _record(answers: JudgedAnswers, found: dict[str, Contrast], n_outside: int) -> dict[str, Any]:
    """Return what recalibration changes, for JSON."""
    from confidence_tasks.logs.task_trials import is_marked

    where = {name: getattr(answers, name) for name in ("task", "model", "condition", "n_left_out")}
    where["stopped_early"] = is_marked(answers.model)
    measures = {
        name: {
            "before": each.values[1].estimate,
            "after": each.values[0].estimate,
            "difference": each.interval.estimate,
            "low": each.interval.low,
            "high": each.interval.high,
            "p_value": each.p_value,
        }
        for name, each in found.items()
    }
    return {**where, "n": len(answers.correct), "n_outside": n_outside, "measures": measures}


def _print_answers(answers: JudgedAnswers, found: dict[str, Contrast], n_outside: int) -> None:
    """Print what recalibration changes for one model and condition."""
    click.echo(click.style(printable(f"{answers.task}, {answers.model}, {answers.condition}"), bold=True))
    level = next((f"{each.interval.level:.0%} interval" for each in found.values()), "interval")
    rows = [
        {
            "measure": measure_label(name),
            "before": number(each.values[1].estimate, 3),
            "after": number(each.values[0].estimate, 3),
            "after − before": signed(each.interval.estimate, 3),
            level: limits(each.interval, 3) or why_missing(each.interval),
        }
        for name, each in found.items()
    ]
    print_table(rows, frozenset({"before", "after", "after − before"}))
    left_out = f"{answers.n_left_out:,} trials without an answer or a confidence left out"
    outside = f"; {n_outside:,} answers outside the map left out" if n_outside else ""
    click.echo(f"{len(answers.correct):,} answers; {left_out}{outside}")
