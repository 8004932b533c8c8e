"""Tables beside the measures: what a study's paper sets side by side, for the report and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.report.labels import group_label, measure_label, why_missing
from confidence_tasks.study.stage import TOKENS

if TYPE_CHECKING:
    from confidence_tasks.report.estimates import Estimated
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials, TaskTrials


@dataclass(frozen=True, slots=True)
class ExtraTable:
    """A table with its title.

    Attributes
    ----------
    name : str
        File name without its suffix.
    title, note : str
        What it shows, and how to read it.
    frame : DataFrame
        The numbers and texts; the first column heads the rows.
    limits : mapping of str to (str, str)
        Columns that hold the limits of a column's intervals, and are shown with it.
    decimals : int, optional
        Of every number, where all are of one kind; by default as many as tell the numbers of a column apart.
    reasons : mapping of str to str
        Columns that say why a column's values or intervals are missing, and are shown as notes.
    trials : mapping of str to sequence of (ModelTrials, int)
        Columns that name trials: the trial of each row, to whose sample the page links.
    """

    name: str
    title: str
    note: str
    frame: pd.DataFrame
    limits: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    decimals: int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    trials: Mapping[str, Sequence[tuple[ModelTrials, int]]] = field(default_factory=dict)


MakeTable: TypeAlias = "Callable[[TaskResults], ExtraTable]"
"""Makes a table of a task; an empty frame where there is nothing to show."""


def side_by_side(name: str, title: str, note: str, group: str, measures: Sequence[str]) -> MakeTable:
    """Return what makes a table of the models by some measures of one group of trials, as papers print it.

    Its file name is that of the task with ``name`` behind it; ``group`` is a label such as ``all`` or a condition.
    """

    def make(results: TaskResults) -> ExtraTable:
        rows = [
            (model.label, [results.estimate(model.label, group, measure) for measure in measures])
            for model in results.models
        ]
        return table_of_entries(f"{results.task_trials.slug}_{name}", title, note, rows, measures)

    return make


def table_of_entries(
    name: str,
    title: str,
    note: str,
    rows: Iterable[tuple[str, Sequence[Estimated | None]]],
    measures: Sequence[str],
) -> ExtraTable:
    """Return a table of models by measures, with limits, the number of trials, and why an interval is missing.

    A row is a model's label and its entry of each measure; one without any entry is left out.
    """
    labels = [measure_label(measure) for measure in measures]
    records: list[dict[str, Any]] = []
    for model, entries in rows:
        record: dict[str, Any] = {}
        for label, entry in zip(labels, entries, strict=True):
            if entry is not None:
                interval = entry.interval
                record |= {label: float(interval.estimate), f"{label} low": float(interval.low)}
                record |= {f"{label} high": float(interval.high), "n": entry.n}
                if why := why_missing(interval):
                    record[f"{label} missing"] = why
        if record:
            n = record.pop("n")
            records.append({"model": model, **record, "n": n})
    frame = pd.DataFrame(records)
    reasons = {label: f"{label} missing" for label in labels if f"{label} missing" in frame}
    return ExtraTable(
        name,
        title,
        note,
        frame.fillna(dict.fromkeys(reasons.values(), "")),
        {label: (f"{label} low", f"{label} high") for label in labels},
        reasons=reasons,
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


def trials_frame(task_trials: TaskTrials) -> pd.DataFrame:
    """Return the trials of all models of a task as one table, with the models' labels in ``model``."""
    parts = [pd.DataFrame(dict(model.columns)).assign(model=model.label) for model in task_trials.models]
    return pd.concat(parts, ignore_index=True)
