"""Tables beside the measures: what a study's paper sets side by side, for the report and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.page.numbers import why_missing

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


def trials_frame(task_trials: TaskTrials) -> pd.DataFrame:
    """Return the trials of all models of a task as one table, with the models' labels in ``model``."""
    parts = [pd.DataFrame(dict(model.columns)).assign(model=model.label) for model in task_trials.models]
    return pd.concat(parts, ignore_index=True)
