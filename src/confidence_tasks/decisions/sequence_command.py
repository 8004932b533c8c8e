"""``confidence-tasks sequence``: after how many questions a finished run would have stopped."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.decisions.command_parts import read_tasks
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.commands.options import FILE, cache_option, json_option, parse_with, seed_option
from confidence_tasks.report.commands.printing import print_json, print_message, print_table
from confidence_tasks.report.commands.reading import as_click_error
from confidence_tasks.report.labels import measure_label, number
from confidence_tasks.sources.source import write_atomically
from confidence_tasks.study.gates import Gate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from confidence_tasks.logs.sequences import GateSequence
    from confidence_tasks.logs.task_trials import TaskTrials
    from confidence_tasks.report.figures import Figure, Panel


@click.command(
    epilog="""\b
Examples:
  confidence-tasks sequence run.eval --require 'overconfidence<0.1'
  confidence-tasks sequence run.eval --require 'accuracy/0-100>0.7' --alpha 0.01 --plot sequence.svg
  confidence-tasks sequence new.eval --require 'brier<old.eval'"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--require",
    "gate",
    required=True,
    metavar="GATE",
    callback=parse_with(Gate.parse),
    help="Bound of a mean, such as 'overconfidence<0.1', or an earlier log to compare with, such as 'brier<old.eval'.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(1e-6, 0.5),
    default=0.05,
    show_default=True,
    help="Largest probability of a wrong decision, over all conditions of a model.",
)
@click.option(
    "--plot",
    "--figure",
    "figure",
    type=FILE,
    help="Draw the confidence sequences against the number of questions in this SVG file.",
)
@seed_option
@cache_option
@json_option
def sequence(
    paths: tuple[str, ...],
    gate: Gate,
    alpha: float,
    figure: Path | None,
    seed: int,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Show after how many questions a run with a gate would have stopped, under each condition.

    PATH is as in `report`. The gate is that of the parameter `stop` of tasks on Inspect: questions are taken in the
    planned order of the run, and the command prints after how many of them it is known, with a probability of error of
    at most 5% (--alpha), that the mean is on the right side of the bound ("met") or on the wrong side ("not met").
    Where the planned order is unknown, the order is a random one (--seed).

    The measure must be a mean over questions of values with known bounds, such as accuracy, overconfidence, a Brier
    score, coverage or utility. With an earlier log, the values are differences by question.

    Exits with 1 unless the gate is met for every model and condition.
    """
    tasks = read_tasks(paths, no_cache=no_cache)
    before = read_tasks([gate.earlier], no_cache=no_cache) if gate.earlier else []
    with as_click_error():
        found = [each for task in tasks for each in _of_task(task, before, gate, alpha, seed)]
    if figure:
        from confidence_tasks.report.figures import figure_svg

        write_atomically(figure, figure_svg(_figure(found)).encode())
    if as_json:
        print_json([_record(each) for each in found])
    else:
        _print_sequences(found, seed)
    if any(each.outcome != "met" for each in found):
        raise SystemExit(1)


def _of_task(
    task: TaskTrials, before: Sequence[TaskTrials], gate: Gate, alpha: float, seed: int
) -> list[GateSequence]:
    """Return what a gate makes of all models of a task; ``before`` are the trials of the earlier log."""
    from confidence_tasks.decisions.earlier_log import earlier_values
    from confidence_tasks.logs.sequences import gate_sequences

    earlier = earlier_values(gate, before, task) if gate.earlier else None
    return [
        each
        for model in task.models
        for each in gate_sequences(task, model, gate, alpha, seed=seed, earlier=earlier)
    ]


def _record(found: GateSequence) -> dict[str, Any]:
    """Return what a gate found for JSON."""
    names = ("task", "model", "condition", "outcome", "n_decided", "n", "n_lost", "is_planned")
    limits = found.limits
    curve = {name: getattr(limits, name).tolist() for name in ("estimate", "low", "high")}
    record = {name: getattr(found, name) for name in names}
    return {"gate": str(found.gate), **record, "level": limits.level, **curve}


def _print_sequences(found: Sequence[GateSequence], seed: int) -> None:
    """Print what a gate found for each model as a table, with the order of questions below the last."""
    for (task, model), of_model in groupby(found, key=lambda each: (each.task, each.model)):
        click.echo(f"{click.style(printable(task), bold=True)}, {model}, {found[0].gate}")
        print_table(
            [_row(each) for each in of_model], frozenset({"decided after", "questions", "lost", "mean"})
        )
    if any(not each.is_planned for each in found):
        print_message(
            f"The planned order of some of these questions is unknown: they are in a random order (--seed {seed}).",
            err=False,
        )
    if any(each.n_lost for each in found):
        print_message("Lost questions count as the worst case for either side.", err=False)


def _row(found: GateSequence) -> dict[str, str]:
    limits = found.limits
    known = len(limits.low) > 0
    return {
        "condition": printable(found.condition),
        "gate": found.outcome,
        "decided after": f"{found.n_decided:,}" if found.n_decided else "",
        "questions": f"{found.n:,}",
        "lost": f"{found.n_lost:,}",
        "mean": number(limits.estimate[-1], 3) if known else "",
        f"{100 * limits.level:.3g}% sequence": f"[{number(limits.low[-1], 3)}, {number(limits.high[-1], 3)}]"
        if known
        else "",
    }


def _figure(found: Sequence[GateSequence]) -> Figure:
    from confidence_tasks.report.figures import Figure

    gate = found[0].gate
    name = measure_label(gate.measure) + (", difference" if gate.earlier else "")
    caption = (
        f"Confidence sequence of {name} against the number of questions, with the bound and the decision."
    )
    return Figure("sequence", "Sequence", caption, (("", tuple(map(_panel, found))),), size=(3.2, 2.8))


def _panel(found: GateSequence) -> Panel:
    import numpy as np

    from confidence_tasks.drawing import SERIES, Colour
    from confidence_tasks.report.figures import Panel

    limits = found.limits

    def draw(axes: Axes) -> None:
        n = np.arange(1, len(limits.low) + 1)
        axes.axhline(found.gate.bound, color=Colour.MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
        axes.fill_between(n, limits.low, limits.high, color=SERIES[0], alpha=0.2, linewidth=0.0)
        axes.plot(n, limits.estimate, color=SERIES[0], linewidth=1.3)
        axes.set_xlabel("questions")
        axes.set_ylabel(measure_label(found.gate.measure))

    after = f" after {found.n_decided:,}" if found.n_decided else ""
    return Panel(printable(f"{found.model}, {found.condition}: {found.outcome}{after}"), draw)
