"""FermiEval by the size of the answer: where intervals are too narrow, and how far off they are there.

Neither the archive nor the paper grades questions by difficulty. How far an answer lies from everyday numbers is known
before any model is asked, and cannot be confused with what a model does; whether the groups are harder, the table says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, Panel
from confidence_tasks.report.figures.general import ModelStyles, model_keys
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.groups import Columns
from confidence_tasks.report.labels import group_label, why_missing
from confidence_tasks.statistics import bootstrap, coverage
from confidence_tasks.studies.fermieval.trials import TEST, within_split
from confidence_tasks.study.measures import rows_of

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults

SIZES: tuple[tuple[int, int], ...] = ((0, 2), (3, 5), (6, 9), (10, 19), (20, 100))
"""Groups of questions: bounds of the distance of the exponent from 0; each has 13 to 25% of the archive's questions."""

_RESAMPLES = 1_000
"""Of the questions of a group: the standard error of a share needs no more."""


def size_label(bounds: tuple[int, int]) -> str:
    """Return what a group of questions is called.

    Examples
    --------
    >>> size_label((3, 5)), size_label((20, 100))
    ('3–5', '20+')
    """
    low, high = bounds
    return f"{low}+" if bounds == SIZES[-1] else f"{low}–{high}"


def gaps_by_size(results: TaskResults) -> pd.DataFrame:
    """Return coverage less nominal coverage by model, level and size of the answer, on the test half.

    Parameters
    ----------
    results : TaskResults
        FermiEval's intervals as stated.

    Returns
    -------
    DataFrame
        One row a model, condition and group: ``gap`` with Wilson's ``low`` and ``high``, ``missing`` (why there is no
        interval), ``off``, the median distance of the middle of the interval from the truth, in orders of magnitude,
        and ``n``, the number of intervals.
    """
    return pd.DataFrame(_rows(results))


def _rows(results: TaskResults) -> Iterator[dict[str, Any]]:
    for model in results.models:
        judged = within_split(model.columns, TEST)
        size = np.abs(judged["truth"])
        for condition in results.conditions:
            for bounds in SIZES:
                low, high = bounds
                rows = (judged["condition"] == condition) & (size >= low) & (size <= high)
                if rows.any():
                    group = {"model": model.label, "condition": condition, "size": size_label(bounds)}
                    yield group | _gap(rows_of(judged, rows), results)


def _gap(trials: Columns, results: TaskResults) -> dict[str, Any]:
    ends = trials["truth"], trials["lower"], trials["upper"]
    interval = bootstrap(
        coverage,
        *ends,
        clusters=trials["question_id"],
        n_resamples=_RESAMPLES,
        level=results.settings.level,
        method="wilson",
        seed=results.settings.seed,
    )
    level, middle = float(trials["level"][0]), trials["lower"] / 2.0 + trials["upper"] / 2.0
    return {
        "gap": float(interval.estimate) - level,
        "low": float(interval.low) - level,
        "high": float(interval.high) - level,
        "missing": why_missing(interval),
        "off": float(np.median(np.abs(middle - trials["truth"]))),
        "n": len(trials["truth"]),
    }


_NOTE = (
    "Coverage less nominal coverage on the test half, by how far the exponent of the right answer lies from 0; below 0"
    " the model is overconfident. Questions are not graded by difficulty: “off by” is how many orders of magnitude the"
    " middle of an interval lies from the truth (median, averaged over the levels), which says how hard a group was for"
    " the model."
)


def by_size(results: TaskResults) -> ExtraTable:
    """Return the coverage gap of every model and level by the size of the answer."""
    gaps = gaps_by_size(results)
    rows, limits, reasons = [], {}, {}
    for (model, size), group in gaps.groupby(["model", "size"], sort=False) if len(gaps) else ():
        row: dict[str, Any] = {"model": model, "exponent": size, "off by": float(group["off"].mean())}
        for part in group.to_dict("records"):
            label = group_label(part["condition"])
            limits[label] = f"{label} low", f"{label} high"
            row |= {label: part["gap"], f"{label} low": part["low"], f"{label} high": part["high"]}
            if part["missing"]:
                reasons[label] = f"{label} missing"
                row[reasons[label]] = part["missing"]
        sizes = sorted(set(group["n"]))
        row["n"] = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
        rows.append(row)
    frame = pd.DataFrame(rows).fillna(dict.fromkeys(reasons.values(), ""))
    return ExtraTable(
        f"{results.task_trials.slug}_by_size",
        "Coverage gap by size of the answer",
        _NOTE,
        frame,
        limits,
        decimals=2,
        reasons=reasons,
    )


def gap_by_size(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw the coverage gap of all models against the size of the answer, a panel a level."""
    gaps = gaps_by_size(results)
    labels = [size_label(bounds) for bounds in SIZES]
    its_panels = []
    ends = gaps[["gap", "low", "high"]].to_numpy(dtype=np.float64) if len(gaps) else np.zeros((1, 3))
    span = float(np.nanmin(ends)) - 0.05, max(float(np.nanmax(ends)), 0.0) + 0.05
    for condition in results.conditions if len(gaps) else ():
        of_level = gaps[gaps["condition"] == condition]
        lines = [
            _line(of_level[of_level["model"] == model.label], model.label, labels, styles)
            for model in results.models
        ]
        draw = partial(
            panels.intervals,
            labels=labels,
            lines=lines,
            x="size of the exponent",
            y="coverage gap",
            reference=0.0,
            span=span,
        )
        its_panels.append(Panel(group_label(condition), draw))
    return Figure(
        f"{results.task_trials.slug}_gap_by_size",
        "Coverage gap by size of the answer",
        "Coverage less nominal coverage, with intervals, by how far the exponent of the right answer lies from 0. Below"
        " the dashed line a model is overconfident. Questions are not graded by difficulty; the table below says how"
        " far off a model was in each group.",
        (("", tuple(its_panels)),),
        model_keys(results, styles),
        size=(2.5, 2.1),
    )


def _line(rows: pd.DataFrame, model: str, labels: Sequence[str], styles: ModelStyles) -> Line:
    placed = rows.set_index("size").reindex(list(labels))
    y, low, high = (placed[name].to_numpy(dtype=np.float64) for name in ("gap", "low", "high"))
    return Line(
        model, styles[model][0], np.arange(len(labels), dtype=np.float64), y, low, high, styles[model][1]
    )
