"""Figures for any study: reliability diagrams, type-2 ROC, accuracy at coverage, and lines of intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.drawing import Colour, series
from confidence_tasks.logs.task_trials import Columns, ModelTrials
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.groups import BY_CONDITION, split_by_source
from confidence_tasks.report.labels import group_label
from confidence_tasks.statistics import Interval, complete, reliability_curve
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.kinds import number_units

if TYPE_CHECKING:
    from confidence_tasks.report.extra_tables import Overview
    from confidence_tasks.report.results import TaskResults

ModelStyles: TypeAlias = dict[str, tuple[Colour, str]]
"""Colour and marker of each model; they are the same throughout a report."""

Points: TypeAlias = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""Computes the points of a curve from correctness and confidence."""

MakeFigure: TypeAlias = "Callable[[TaskResults, ModelStyles], Figure]"
"""Makes a figure of a task, with empty rows where there is nothing to show."""


def model_styles(models: Sequence[str]) -> ModelStyles:
    """Return the colour and marker of each model."""
    return {model: series(i) for i, model in enumerate(models)}


def model_keys(results: TaskResults, styles: ModelStyles) -> tuple[LegendEntry, ...]:
    """Return a legend of the models."""
    return tuple(LegendEntry(model.label, *styles[model.label]) for model in results.models)


Legend: TypeAlias = "tuple[LegendEntry, ...] | Callable[[TaskResults, ModelStyles], tuple[LegendEntry, ...]]"
MakePanels: TypeAlias = "Callable[[TaskResults, ModelStyles], Iterable[Panel]]"
MakePanelsOfModel: TypeAlias = "Callable[[TaskResults, ModelStyles, ModelTrials], Iterable[Panel]]"

_SMALL = (1.95, 1.8)
"""Size of a panel in inches."""


def figure_of(
    name: str, title: str, caption: str, *, keys: Legend = model_keys, size: tuple[float, float] = _SMALL
) -> Callable[[MakePanels], MakeFigure]:
    """Turn a function that yields the panels of one row into one that makes the figure.

    The name of the figure's file is that of the task followed by ``name``. The legend ``keys`` lists the models by
    default.
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
    name: str,
    title: str,
    caption: str,
    *,
    keys: Legend = (),
    size: tuple[float, float] = _SMALL,
    grid: bool = False,
) -> Callable[[MakePanelsOfModel], MakeFigure]:
    """Turn a function that yields the panels of one model into one that makes a figure with a row per model.

    Models with one panel each share a row, with their names as titles. Parameters are those of :func:`figure_of`, and
    ``grid`` is that of :class:`confidence_tasks.report.figures.Figure`.
    """

    def decorate(make: MakePanelsOfModel) -> MakeFigure:
        @wraps(make)
        def figure(results: TaskResults, styles: ModelStyles) -> Figure:
            legend = keys(results, styles) if callable(keys) else keys
            rows = ((model.label, tuple(make(results, styles, model))) for model in results.models)
            slug = results.task_trials.slug
            return Figure(f"{slug}_{name}", title, caption, rows_of_models(rows), legend, size, grid=grid)

        return figure

    return decorate


def trials_by_source(
    results: TaskResults, model: ModelTrials, condition: str | None, *names: str
) -> list[Columns]:
    """Return the named columns for each source that tables average over, under one condition or all of them."""
    subsets = [
        subset
        for group in results.groups[model.label]
        if group.by == BY_CONDITION and condition in (None, group.label)
        for subset in group.subsets
    ] or split_by_source(model.columns, _rows_under(model, condition))
    columns = {name: model.columns[name] for name in names}
    return [rows_of(columns, subset.rows) for subset in subsets]


def complete_by_source(
    results: TaskResults, model: ModelTrials, condition: str | None = None
) -> list[tuple[FloatArray, FloatArray]]:
    """Return correctness and confidence of the trials that have both, for each source that tables average over."""
    pairs = []
    for columns in trials_by_source(results, model, condition, "correct", "confidence"):
        correct, confidence = complete(columns["correct"], columns["confidence"])
        if len(correct):
            pairs.append((correct, confidence))
    return pairs


MIN_ANSWERS = 20
"""Number of answers from which accuracy at coverage is drawn; accuracy over fewer answers is too noisy."""

_STEP = 1e-9
"""Distance by which each point of a curve is moved right of the one before, where the curve is vertical."""


def mean_curve(curves: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return the pointwise mean of curves; left of its first point a curve is constant."""
    if len(curves) == 1:
        return curves[0]
    increasing = [(x + _STEP * np.arange(len(x)), y) for x, y in curves]
    grid = np.unique(np.concatenate([x for x, _ in increasing]))
    return grid, np.mean([np.interp(grid, x, y) for x, y in increasing], axis=0)


def _rows_under(model: ModelTrials, condition: str | None) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = (
        np.ones(len(model), dtype=bool) if condition is None else model.columns["condition"] == condition
    )
    return rows


def rows_of_models(
    rows: Iterable[tuple[str, tuple[Panel, ...]]],
) -> tuple[tuple[str, tuple[Panel, ...]], ...]:
    """Return a row per model; models with one panel each share a row, with their names as titles."""
    nonempty = tuple((label, row) for label, row in rows if row)
    if len(nonempty) == 1 or any(len(row) > 1 for _, row in nonempty):
        return nonempty
    return (("", tuple(Panel(label, row[0].draw) for label, row in nonempty)),)


def interval_line(
    results: TaskResults | Overview,
    model: str,
    labels: Sequence[str],
    measure: str,
    colour: Colour,
    marker: str,
    **source: str,
) -> Line:
    """Return a model's estimates of a measure by group, of one ``source`` if it is given."""
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
    """Return estimates with their intervals as a line over ``x``, by default over 0, 1, 2 and so on."""
    value, low, high = (
        np.array([np.nan if each is None else getattr(each, name) for each in intervals], dtype=np.float64)
        for name in ("estimate", "low", "high")
    )
    positions = np.arange(len(intervals)) if x is None else x
    return Line(label, colour, np.asarray(positions, dtype=np.float64), value, low, high, marker)


MANY_PANELS = 40
"""Number of panels above which reliability diagrams pool the conditions."""

_RELIABILITY = (
    "Accuracy against stated confidence, in ten bins: below the dashed line a model is overconfident. Error bars"
    " are 95% Wilson intervals, and grey bars contain a calibrated model’s accuracy 95% of the time; both count"
    " repeated trials of a question once. The blocks along the bottom are a histogram of the trials."
)
_RELIABILITY_OF_SCORES = (
    "Mean score against stated confidence, in ten bins: below the dashed line a model is overconfident. A score is the"
    " probability, from the life table, that the guess comes true. It is exact, so a calibrated model lies on the line."
    " The blocks along the bottom are a histogram of the trials."
)
_SELECTIVE = (
    "Accuracy when only the most confident proportion of questions is answered, averaged over the orders of ties and,"
    " as in the tables, over sources. A curve that falls to the right shows that confidence ranks right answers first."
)
_POOLED = " The diagram pools the trials of all sources, while tables average over the sources."


def reliability(
    results: TaskResults,
    styles: ModelStyles,
    caption: str = _RELIABILITY,
    *,
    outcomes: bool = True,
    overall: bool = False,
) -> Figure:
    """Make a reliability diagram of every model and condition, or of every model where these would be too many."""
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
"""Make reliability diagrams that pool all conditions."""

reliability_of_scores: MakeFigure = partial(reliability, caption=_RELIABILITY_OF_SCORES, outcomes=False)
"""Make reliability diagrams where correctness is a known probability, not an outcome."""


def _reliability_panels(
    model: ModelTrials, conditions: Sequence[str | None], colour: Colour, outcomes: bool
) -> Iterator[Panel]:
    for label in conditions:
        rows = _rows_under(model, label)
        numbers, _ = number_units(model.columns, rows)
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
    every_source: bool = True,
    first: int = 0,
) -> list[tuple[str, list[Line]]]:
    """Return the curves of all models by condition, from the ``first`` answer on, as means over sources.

    A model has no curve where a source has only right or only wrong answers, or, with ``every_source`` false, where
    all sources do.
    """
    curves = []
    for label in conditions:
        lines = []
        for model in results.models:
            pairs = complete_by_source(results, model, label)
            if _is_defined([correct for correct, _ in pairs], every_source=every_source):
                x, y = mean_curve([points(*pair) for pair in pairs])
                shown = x >= first / sum(len(correct) for correct, _ in pairs)
                if shown.sum() >= 2:
                    colour, marker = styles[model.label]
                    lines.append(Line(model.label, colour, x[shown], y[shown], marker=marker))
        if lines:
            curves.append((group_label(label or ""), lines))
    return curves


def _is_defined(by_source: Sequence[FloatArray], *, every_source: bool) -> bool:
    """Return whether every source, or with ``every_source`` false any, has both right and wrong answers."""
    has_both = [set(correct) == {0.0, 1.0} for correct in by_source]
    return any(has_both) and (all(has_both) or not every_source)


@figure_of(
    "type2_roc",
    "Type-2 ROC",
    "Proportion of right answers (hits) against proportion of wrong answers (false alarms) at or above each confidence."
    " On the dashed line confidence is uninformative; the area under the curve is AUROC. Curves, like values in tables,"
    " are means over the sources.",
)
def type2_roc(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw the type-2 ROC curves of all models under every condition."""
    for label, lines in _curves(results, styles, results.conditions, panels.roc):
        yield panel(label, panels.curves, lines=lines, x="false alarm rate", y="hit rate", diagonal=True)


def _accuracy_at_coverage(
    results: TaskResults, styles: ModelStyles, *, overall: bool = False
) -> Iterator[Panel]:
    """Yield panels of accuracy against coverage of all models, under every condition or over all conditions."""
    conditions = [None] if overall else results.conditions
    curves = _curves(
        results, styles, conditions, panels.accuracy_coverage, every_source=False, first=MIN_ANSWERS
    )
    lowest = min((float(line.y.min()) for _, lines in curves for line in lines), default=0.0)
    axes = {"x": "coverage", "y": "accuracy", "lowest": np.floor(lowest * 10) / 10}
    for label, lines in curves:
        yield panel(label, panels.curves, lines=lines, **axes)


selective = figure_of("risk_coverage", "Accuracy at coverage", _SELECTIVE)(_accuracy_at_coverage)
"""Draw accuracy against coverage of all models under every condition."""

selective_overall = figure_of("risk_coverage", "Accuracy at coverage, all conditions", _SELECTIVE)(
    partial(_accuracy_at_coverage, overall=True)
)
"""Draw accuracy against coverage of all models, over all conditions."""

GENERAL: tuple[MakeFigure, ...] = (reliability, type2_roc, selective)
"""The default figures of a study."""
