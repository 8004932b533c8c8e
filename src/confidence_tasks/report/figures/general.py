"""Figures that any study has: intervals by condition, reliability, histograms, type-2 ROC and accuracy at coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.report.estimates import number_questions
from confidence_tasks.report.figures import Colour, Figure, LegendEntry, Line, Panel, panel, panels, series
from confidence_tasks.report.labels import group_label
from confidence_tasks.report.task_trials import BY_CONDITION, Columns, ModelTrials, split_by_source
from confidence_tasks.statistics import Interval, complete, reliability_curve
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.study.measures import rows_of

if TYPE_CHECKING:
    import pandas as pd

    from confidence_tasks.report.extra_tables import Overview
    from confidence_tasks.report.results import TaskResults

ModelStyles: TypeAlias = dict[str, tuple[Colour, str]]
"""Colour and marker of each model, the same throughout a report."""

Points: TypeAlias = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""Computes the points of a curve from correctness and confidence."""

MakeFigure: TypeAlias = "Callable[[TaskResults, ModelStyles], Figure]"
"""Draws a figure from results; the figure has no rows where there is nothing to show."""


def model_styles(models: Sequence[str]) -> ModelStyles:
    """Give every model its colour and marker."""
    return {model: series(i) for i, model in enumerate(models)}


def model_keys(results: TaskResults, styles: ModelStyles) -> tuple[LegendEntry, ...]:
    """Return the legend of the models."""
    return tuple(LegendEntry(model.label, *styles[model.label]) for model in results.models)


Legend: TypeAlias = "tuple[LegendEntry, ...] | Callable[[TaskResults, ModelStyles], tuple[LegendEntry, ...]]"

_SMALL = (1.95, 1.8)


MakePanels: TypeAlias = "Callable[[TaskResults, ModelStyles], Iterable[Panel]]"
MakePanelsOfModel: TypeAlias = "Callable[[TaskResults, ModelStyles, ModelTrials], Iterable[Panel]]"


def figure_of(
    name: str, title: str, caption: str, *, keys: Legend = model_keys, size: tuple[float, float] = _SMALL
) -> Callable[[MakePanels], MakeFigure]:
    """Make a figure of a function that yields its panels; they stand in a row.

    Its file name is that of the task with ``name`` behind it; ``keys`` are the legend, by default of the models.
    """

    def decorate(make: MakePanels) -> MakeFigure:
        @wraps(make)
        def figure(results: TaskResults, styles: ModelStyles) -> Figure:
            legend = keys(results, styles) if callable(keys) else keys
            row = tuple(make(results, styles))
            return Figure(f"{results.task_trials.slug}_{name}", title, caption, (("", row),), legend, size)

        return figure

    return decorate


def figure_by_model(
    name: str, title: str, caption: str, *, keys: Legend = (), size: tuple[float, float] = _SMALL
) -> Callable[[MakePanelsOfModel], MakeFigure]:
    """Make a figure of a function that yields the panels of one model, which are its row.

    Models of one panel each share a row, with their names as titles. Parameters are those of :func:`figure_of`.
    """
    without_panels = figure_of(name, title, caption, keys=keys, size=size)(lambda results, styles: ())

    def decorate(make: MakePanelsOfModel) -> MakeFigure:
        @wraps(make)
        def figure(results: TaskResults, styles: ModelStyles) -> Figure:
            rows = ((model.label, tuple(make(results, styles, model))) for model in results.models)
            return replace(without_panels(results, styles), rows=rows_of_models(rows))

        return figure

    return decorate


def trials_by_source(
    results: TaskResults, model: ModelTrials, condition: str | None, *names: str
) -> list[Columns]:
    """Return the columns of some names for each source that tables average over, under one condition or each."""
    cells = [
        cell
        for group in results.groups[model.label]
        if group.by == BY_CONDITION and condition in (None, group.label)
        for cell in group.cells
    ] or split_by_source(model.columns, _asked(model, condition))
    columns = {name: model.columns[name] for name in names}
    return [rows_of(columns, cell.rows) for cell in cells]


def complete_by_source(
    results: TaskResults, model: ModelTrials, condition: str | None = None
) -> list[tuple[FloatArray, FloatArray]]:
    """Return correctness and confidence of the trials that have both, of each source that tables average over."""
    pairs = []
    for columns in trials_by_source(results, model, condition, "correct", "confidence"):
        correct, confidence = complete(columns["correct"], columns["confidence"])
        if len(correct):
            pairs.append((correct, confidence))
    return pairs


_NOISY = 20
"""Number of answers from which accuracy against coverage is drawn; with fewer it is noise."""

_STEP = 1e-9
"""Distance by which each point of a curve is moved right of the one before, where the curve is vertical."""


def mean_curve(curves: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return the mean of curves: at each x, the mean of y; left of its first point a curve is level."""
    if len(curves) == 1:
        return curves[0]
    apart = [(x + _STEP * np.arange(len(x)), y) for x, y in curves]
    grid = np.unique(np.concatenate([x for x, _ in apart]))
    return grid, np.mean([np.interp(grid, x, y) for x, y in apart], axis=0)


def _asked(model: ModelTrials, condition: str | None) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = (
        np.ones(len(model), dtype=bool) if condition is None else model.columns["condition"] == condition
    )
    return rows


def rows_of_models(
    rows: Iterable[tuple[str, tuple[Panel, ...]]],
) -> tuple[tuple[str, tuple[Panel, ...]], ...]:
    """Return a row a model; models of one panel each share a row, with their names as titles."""
    kept = [(label, its_panels) for label, its_panels in rows if its_panels]
    if len(kept) == 1 or any(len(its_panels) > 1 for _, its_panels in kept):
        return tuple(kept)
    return (("", tuple(Panel(label, its_panels[0].draw) for label, its_panels in kept)),)


def interval_line(
    results: TaskResults | Overview,
    model: str,
    labels: Sequence[str],
    measure: str,
    colour: Colour,
    marker: str,
    **source: str,
) -> Line:
    """Return a model's estimates of a measure over some groups, of one ``source`` if it is given."""
    entries = [results.estimate(model, label, measure, **source) for label in labels]
    return line_of_intervals(
        model, [None if entry is None else entry.interval for entry in entries], colour, marker
    )


def line_of_intervals(
    label: str,
    intervals: Sequence[Interval | None],
    colour: Colour,
    marker: str,
    x: Sequence[float] | FloatArray | None = None,
) -> Line:
    """Return estimates with their intervals as a line over ``x``, by default over their numbers."""
    value, low, high = (
        np.array([np.nan if each is None else getattr(each, limit) for each in intervals], dtype=np.float64)
        for limit in ("estimate", "low", "high")
    )
    positions = np.arange(len(intervals)) if x is None else x
    return Line(label, colour, np.asarray(positions, dtype=np.float64), value, low, high, marker)


def line_of_rows(
    rows: pd.DataFrame, by: str, positions: Sequence[object], label: str, colour: Colour, marker: str = ""
) -> Line:
    """Return the columns ``estimate``, ``low`` and ``high`` of rows as a line over named positions of a column ``by``.

    Positions that the rows lack are NaN.
    """
    placed = rows.drop_duplicates(by).set_index(by).reindex(list(positions))
    y, low, high = (placed[name].to_numpy(dtype=np.float64) for name in ("estimate", "low", "high"))
    return Line(label, colour, np.arange(len(positions), dtype=np.float64), y, low, high, marker)


MANY_PANELS = 40
"""Number of panels above which a figure is drawn over all conditions."""

_RELIABILITY = (
    "Share right against stated confidence, in ten bins: below the dashed line a model is overconfident. Lines are 95%"
    " Wilson intervals, grey bars the range that a calibrated model stays in 95% of the time, both as if the trials of"
    " one question were one, and the blocks along the bottom show where the trials are."
)
_RELIABILITY_OF_SCORES = (
    "Mean score against stated confidence, in ten bins: below the dashed line a model is overconfident. A score is the"
    " probability that the guess comes true, which the life table knows, so that no luck is in it: a calibrated model"
    " lies on the line. The blocks along the bottom show where the trials are."
)
_SELECTIVE = (
    "Accuracy when only the most confident share of questions is answered, averaged over the orders of ties and, as in"
    " the tables, over sources. A curve that falls to the right is confidence that can be acted on."
)
_POOLED = " Trials of all sources are taken together here, while tables average over the sources."


def reliability(
    results: TaskResults,
    styles: ModelStyles,
    caption: str = _RELIABILITY,
    *,
    outcomes: bool = True,
    overall: bool = False,
) -> Figure:
    """Draw a reliability diagram for every model and condition, or for every model where these would be too many."""
    overall = overall or len(results.models) * len(results.conditions) > MANY_PANELS
    conditions = [None] if overall else results.conditions
    rows = [
        (model.label, tuple(_reliability_panels(model, conditions, styles[model.label][0], outcomes)))
        for model in results.models
    ]
    return Figure(
        f"{results.task_trials.slug}_reliability",
        "Reliability, all conditions" if overall else "Reliability",
        caption + (_POOLED if len(results.sources) > 1 else ""),
        rows_of_models(rows),
    )


reliability_overall: MakeFigure = partial(reliability, overall=True)
"""Draw reliability diagrams over all conditions."""

reliability_of_scores: MakeFigure = partial(reliability, caption=_RELIABILITY_OF_SCORES, outcomes=False)
"""Draw reliability diagrams where correctness is a known probability, not an outcome."""


def _reliability_panels(
    model: ModelTrials, conditions: Sequence[str | None], colour: Colour, outcomes: bool
) -> Iterator[Panel]:
    for label in conditions:
        rows = _asked(model, label)
        numbers, _ = number_questions(model.columns, rows)
        correct, confidence, questions = complete(
            model.columns["correct"][rows], model.columns["confidence"][rows], numbers[rows]
        )
        if len(correct):
            curve = reliability_curve(correct, confidence, questions=questions)
            look = {"colour": colour, "outcomes": outcomes}
            yield panel(group_label(label or ""), panels.reliability, curve=curve, **look)


def _curves(
    results: TaskResults,
    styles: ModelStyles,
    conditions: Sequence[str | None],
    points: Points,
    *,
    of_all: bool = True,
    first: int = 0,
) -> list[tuple[str, list[Line]]]:
    """Return the mean curve over sources of all models, condition by condition, from the ``first`` answer on.

    There is none where a source, or with ``of_all`` false each of them, lacks right or wrong answers.
    """
    curves = []
    for label in conditions:
        lines = []
        for model in results.models:
            pairs = complete_by_source(results, model, label)
            both = [set(correct) == {0.0, 1.0} for correct, _ in pairs]
            if (all(both) and both) if of_all else any(both):
                x, y = mean_curve([points(*pair) for pair in pairs])
                n = sum(len(correct) for correct, _ in pairs)
                shown = x >= first / n
                if shown.sum() < 2:
                    continue
                colour, marker = styles[model.label]
                lines.append(Line(model.label, colour, x[shown], y[shown], marker=marker))
        curves.append((group_label(label or ""), lines))
    return [(label, lines) for label, lines in curves if lines]


@figure_of(
    "type2_roc",
    "Type-2 ROC",
    "Share of right answers (hits) against share of wrong answers (false alarms) at or above each confidence."
    " On the dashed line confidence tells nothing; the area under the curve is AUROC. Curves, as values in tables,"
    " are means over the sources.",
)
def type2_roc(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw the type-2 ROC curves of all models under every condition."""
    for label, lines in _curves(results, styles, results.conditions, panels.roc):
        yield panel(label, panels.curves, lines=lines, x="false alarm rate", y="hit rate", diagonal=True)


@figure_of("risk_coverage", "Accuracy at coverage", _SELECTIVE)
def selective(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw accuracy against coverage of all models under every condition."""
    return _selective(results, styles, results.conditions)


@figure_of("risk_coverage", "Accuracy at coverage, all conditions", _SELECTIVE)
def selective_overall(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw accuracy against coverage of all models, over all conditions."""
    return _selective(results, styles, [None])


def _selective(
    results: TaskResults, styles: ModelStyles, conditions: Sequence[str | None]
) -> Iterator[Panel]:
    curves = _curves(results, styles, conditions, panels.accuracy_coverage, of_all=False, first=_NOISY)
    least = min((float(line.y.min()) for _, lines in curves for line in lines), default=0.0)
    axes = {"x": "share answered", "y": "accuracy", "lowest": np.floor(least * 10) / 10}
    for label, lines in curves:
        yield panel(label, panels.curves, lines=lines, **axes)


GENERAL: tuple[MakeFigure, ...] = (reliability, type2_roc, selective)
"""Figures of a study that names none."""
