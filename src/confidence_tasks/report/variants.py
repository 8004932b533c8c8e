"""Models that were asked in several ways: other prompts, examples or settings, side by side and never together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks.report.extra_tables import ExtraTable, table_of_entries
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, Panel
from confidence_tasks.report.figures.general import ModelStyles, interval_line, model_keys
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.study.stage import TOKENS

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults


def ways_figure(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw the headline measures of each such model against the conditions, a line a way."""
    labels, several = results.conditions, results.asked_in_several_ways
    rows = []
    for name, parts in several.items():
        its_panels = []
        for measure in results.headline:
            lines = [
                interval_line(results, part.label, labels, measure.name, *styles[part.label])
                for part in parts
            ]
            title = measure_label(measure.name)
            ticks = [group_label(label).partition("\u00a0=\u00a0")[2] or label for label in labels]
            draw = (
                partial(panels.trends, labels=ticks, lines=lines, x="condition", y="", lowest=None)
                if len(labels) > 1
                else partial(panels.intervals, labels=ticks, lines=lines, y="")
            )
            its_panels.append(Panel(title, draw))
        rows.append((name, tuple(its_panels)))
    shown = {part.label for parts in several.values() for part in parts}
    keys = [key for key in model_keys(results, styles) if key.label in shown]
    return Figure(
        f"{results.task_trials.slug}_ways",
        "Asked in several ways",
        "The headline measures of models that were asked in several ways, with intervals: a line is a way. Lines that"
        " lie on one another are a result that does not hang on the prompt.",
        tuple(rows),
        tuple(keys),
        size=(2.5, 2.0),
    )


def ways_table(results: TaskResults) -> ExtraTable:
    """Return the headline measures of each way of asking a model, on the group that models are compared on."""
    names, where = [measure.name for measure in results.headline], results.reference
    ways = {part.label: part for parts in results.asked_in_several_ways.values() for part in parts}
    rows = [(label, [results.estimate(label, where, name) for name in names]) for label in ways]
    place = "Over all conditions" if where == "all" else f"On {group_label(where)}"
    table = table_of_entries(
        f"{results.task_trials.slug}_ways",
        "Asked in several ways",
        f"{place}. Trials of different ways are never taken together. confidence-tasks compare pairs two ways by"
        " question, and tests the difference. Tokens are means over all trials, of the calls that a trial is made of.",
        rows,
        names,
    )
    frame = table.frame
    for kind in TOKENS if "model" in frame else ():
        told = [ways[label].columns[kind] for label in frame["model"]]
        means = [float(np.mean(known)) if len(known := its[~np.isnan(its)]) else np.nan for its in told]
        if not np.isnan(means).all():
            frame[kind.replace("_", " ")] = means
    return table
