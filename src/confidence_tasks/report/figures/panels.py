"""Functions that draw panels: each draws one kind of diagram on given axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks.drawing import Colour, tips
from confidence_tasks.report.figures import Line
from confidence_tasks.statistics import risk_coverage_curve
from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.discrimination import type2_roc_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from confidence_tasks.drawing.axes import PageAxes
    from confidence_tasks.statistics.calibration.binning import ReliabilityCurve

_DIAGONAL: dict[str, Any] = {
    "color": Colour.MUTED.value,
    "linewidth": 0.8,
    "linestyle": (0, (3, 2)),
    "zorder": 1,
}
_STRIP = 0.16
"""Height of the histogram under a reliability diagram, as a proportion of the axes."""

_MAX_POINTS, _MIN_POINTS, _POINTS_OF_ALL = 120, 40, 1_000
"""Maximum and minimum number of points drawn of a curve, and number of points of all curves between these bounds."""


def unit_square(axes: Axes | PageAxes, x: str, y: str) -> None:
    """Make both axes run from 0 to 1."""
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel=y)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([0.0, 0.5, 1.0], ["0", ".5", "1"])


def reliability(
    axes: Axes | PageAxes, curve: ReliabilityCurve, colour: Colour, *, outcomes: bool = True
) -> None:
    """Draw accuracy against confidence in bins, above a histogram of confidence.

    With ``outcomes``, answers are right or wrong, and intervals and consistency bars are drawn. Without, correctness is
    a known probability, whose mean has no sampling error.
    """
    nonempty = curve.count > 0
    axes.plot([0, 1], [0, 1], **_DIAGONAL)
    axes.stairs(
        _STRIP * curve.count / max(curve.count.max(initial=0.0), 1.0),
        np.append(curve.low, curve.high[-1]),
        fill=True,
        color=Colour.BAND,
        zorder=0.6,
    )
    x, y = curve.confidence[nonempty], curve.accuracy[nonempty]
    low, high, count = curve.accuracy_low[nonempty], curve.accuracy_high[nonempty], curve.count[nonempty]
    if outcomes:
        consistency = curve.consistency_low[nonempty], curve.consistency_high[nonempty]
        axes.vlines(x, *consistency, color=Colour.GRID, linewidth=5, zorder=1.5)
        axes.vlines(x, low, high, color=colour, linewidth=1.1, zorder=2)
        values = [f"accuracy {b:.2f} [{c:.2f}, {d:.2f}]" for b, c, d in zip(y, low, high, strict=True)]
    else:
        values = [f"score {b:.2f}" for b in y]
    (dots,) = axes.plot(x, y, "o-", color=colour, linewidth=0.7, markersize=4, markeredgewidth=0, zorder=3)
    tips(dots, [f"confidence {a:.2f}: {b}, n = {n:.0f}" for a, b, n in zip(x, values, count, strict=True)])
    axes.text(0.0, 0.94, f"n = {curve.count.sum():,.0f}", fontsize=7, color=Colour.MUTED)
    unit_square(axes, "confidence", "accuracy" if outcomes else "score")


def histogram(
    axes: Axes | PageAxes,
    raw: FloatArray,
    correct: FloatArray,
    weights: FloatArray,
    lower: float,
    upper: float,
) -> None:
    """Draw a histogram of stated confidence, right answers below wrong ones; label the three most frequent values.

    ``weights`` are those of the replies; they add up to 1.
    """
    from matplotlib.ticker import MaxNLocator

    margin = 0.06 * (upper - lower)
    shown = (raw >= lower - margin) & (raw <= upper + margin)
    step = max(1.0, (upper - lower) / 100) if upper - lower >= 5 else (upper - lower) / 20
    edges = np.arange(lower - step / 2, upper + step, step)
    is_right = shown & (correct >= 0.5)
    right, _ = np.histogram(raw[is_right], edges, weights=weights[is_right])
    total, _ = np.histogram(raw[shown], edges, weights=weights[shown])
    axes.stairs(total, edges, fill=True, color=Colour.WRONG, zorder=2)
    axes.stairs(right, edges, fill=True, color=Colour.RIGHT, zorder=2.1)
    values, index = np.unique(raw, return_inverse=True)
    top = max(float(total.max(initial=0.0)), 1e-9)
    frequency = np.bincount(index, weights, len(values)).round(9)
    frequent = values[np.argsort(-frequency, kind="stable")[:3]]
    labelled = np.sort(frequent[(frequent >= lower - margin) & (frequent <= upper + margin)])
    # Each label is left of its line and higher than the previous one, so that labels do not overlap.
    for height, value in zip(top * (1.12 + 0.2 * np.arange(len(labelled))), labelled, strict=True):
        axes.vlines(value, 0, height, color=Colour.MUTED, linewidth=0.7, linestyle=(0, (2, 2)), zorder=1)
        axes.text(value, height, f"{value:g} ", ha="right", va="center", fontsize=7, color=Colour.INK)
    axes.set(xlim=(lower - margin, upper + margin), ylim=(0, top * 1.65))
    axes.set(xlabel="stated confidence", ylabel="proportion")
    axes.set_xticks([lower, upper] if (lower + upper) % 2 else [lower, (lower + upper) / 2, upper])
    axes.yaxis.set_major_locator(MaxNLocator(3))


def curves(
    axes: Axes | PageAxes,
    lines: Sequence[Line],
    x: str,
    y: str,
    *,
    diagonal: bool = False,
    lowest: float = 0.0,
) -> None:
    """Draw curves in the unit square, or in its part above ``lowest``."""
    if diagonal:
        axes.plot([0, 1], [0, 1], **_DIAGONAL)
    n_points = int(np.clip(_POINTS_OF_ALL / max(len(lines), 1), _MIN_POINTS, _MAX_POINTS))
    for line in lines:
        shown = np.unique(np.linspace(0, len(line.x) - 1, min(len(line.x), n_points)).astype(int))
        axes.plot(
            line.x[shown],
            line.y[shown],
            line.marker or "None",
            linestyle="-",
            color=line.colour,
            linewidth=1.3,
            markersize=4,
            markeredgewidth=0,
            markevery=(0.1, 0.25),
        )
    unit_square(axes, x, y)
    if lowest > 0.0:
        middle = (1.0 + lowest) / 2.0
        axes.set_ylim(1.0 - 1.02 * (1.0 - lowest), 1.0 + 0.02 * (1.0 - lowest))
        axes.set_yticks([lowest, middle, 1.0], [f"{lowest:.2g}"[1:], f"{middle:.2f}"[1:], "1"])


def accepted(
    axes: Axes | PageAxes,
    lines: Sequence[Line],
    marks: Sequence[Line],
    texts: Sequence[Sequence[str]],
    *,
    lowest: float,
) -> None:
    """Draw accuracy against the share of accepted answers, and points on the curves, each with its tooltip."""
    curves(axes, lines, "share accepted", "accuracy", lowest=lowest)
    for line, of_line in zip(marks, texts, strict=True):
        _dots(axes, line, line.x, line.y, of_line, linestyle="none", markersize=5.0)


def roc(correct: FloatArray, confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the points of the type-2 ROC curve."""
    curve = type2_roc_curve(correct, confidence)
    return curve.false_alarm_rate, curve.hit_rate


def accuracy_coverage(correct: FloatArray, confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return accuracy against coverage."""
    curve = risk_coverage_curve(correct, confidence)
    return curve.coverage, curve.accuracy


def intervals(
    axes: Axes | PageAxes,
    labels: Sequence[str],
    lines: Sequence[Line],
    y: str,
    *,
    reference: float | None = None,
    joined: bool = True,
    span: tuple[float, float] | None = None,
) -> None:
    """Draw estimates with intervals side by side at labelled positions; ``line.x`` holds the numbers of the labels.

    ``span`` is the range of the y axis, for panels that share one.
    """
    if reference is not None:
        axes.axhline(reference, **_DIAGONAL)
    for line, defined, positions in _apart(lines, 0.1):
        values = line.y[defined]
        if line.low is not None and line.high is not None:
            low, high = line.low[defined], line.high[defined]
            axes.vlines(positions, low, high, color=line.colour, linewidth=1.1, alpha=0.75)
        texts = [_tip(line, k, labels) for k in defined]
        _dots(axes, line, positions, values, texts, linestyle="-" if joined else "none")
    axes.set(xlim=(-0.5, len(labels) - 0.5), ylabel=y)
    if span is not None:
        axes.set_ylim(*span)
    axes.set_xticks(range(len(labels)), labels)
    axes.grid(visible=False, axis="x")


def interval_rows(
    axes: Axes, labels: Sequence[str], lines: Sequence[Line], x: str, *, reference: float | None = None
) -> None:
    """Draw estimates with intervals one below the other, for more or longer labels than fit side by side."""
    if reference is not None:
        axes.axvline(reference, **_DIAGONAL)
    for line, defined, rows in _apart(lines, 0.2):
        if line.low is not None and line.high is not None:
            low, high = line.low[defined], line.high[defined]
            axes.hlines(rows, low, high, color=line.colour, linewidth=1.1, alpha=0.75)
        _dots(axes, line, line.y[defined], rows, [_tip(line, k, labels) for k in defined], linestyle="none")
    axes.set(ylim=(len(labels) - 0.5, -0.5), xlabel=x)
    axes.set_yticks(range(len(labels)), labels)
    axes.grid(visible=False, axis="y")


def _apart(lines: Sequence[Line], distance: float) -> Iterator[tuple[Line, IntArray, FloatArray]]:
    """Yield each line with the numbers of its defined points, and their positions, which are apart at each label."""
    spread = min(0.62, distance * len(lines))
    for i, line in enumerate(lines):
        defined = np.flatnonzero(~np.isnan(line.y))
        yield line, defined, line.x[defined] + spread * ((i + 0.5) / len(lines) - 0.5)


def points(
    axes: Axes | PageAxes,
    lines: Sequence[Line],
    x: str,
    y: str,
    *,
    reference: float | None = None,
    diagonal: bool = False,
) -> None:
    """Draw points with intervals at numeric positions, and the line y = ``reference`` or the diagonal y = x."""
    if reference is not None:
        axes.axhline(reference, **_DIAGONAL)
    for line in lines:
        if line.low is not None and line.high is not None:
            axes.vlines(line.x, line.low, line.high, color=line.colour, linewidth=1.1, alpha=0.75)
        texts = [
            f"{line.label}: {line.x[k]:.3f}, {line.y[k]:.3f}{_limits(line, k)}" for k in range(len(line.x))
        ]
        _dots(axes, line, line.x, line.y, texts)
    if diagonal:
        ends = np.concatenate([line.x for line in lines])
        low, high = min(0.0, 1.1 * ends.min()), max(1.0, 1.1 * ends.max())
        axes.plot([low, high], [low, high], **_DIAGONAL)
        axes.set_xlim(low, high)
    axes.set(xlabel=x, ylabel=y)


def _dots(
    axes: Axes | PageAxes,
    line: Line,
    x: FloatArray,
    y: FloatArray,
    texts: Sequence[str],
    *,
    linestyle: str = "-",
    linewidth: float = 0.6,
    markersize: float = 4.2,
) -> None:
    """Draw the points of a line, each with its tooltip."""
    look: dict[str, Any] = {"linestyle": linestyle, "linewidth": linewidth, "markersize": markersize}
    (dots,) = axes.plot(x, y, line.marker or "o", color=line.colour, markeredgewidth=0, **look)
    tips(dots, texts)


def _limits(line: Line, k: np.intp | int) -> str:
    if line.low is None or line.high is None or np.isnan(line.low[k]):
        return ""
    return f" [{line.low[k]:.3f}, {line.high[k]:.3f}]"


def over_range(axes: Axes | PageAxes, lines: Sequence[Line], x: str, y: str, *, shares: bool = True) -> None:
    """Draw curves at numeric positions; ``shares`` lie between 0 and 1."""
    for line in lines:
        axes.plot(line.x, line.y, color=line.colour, linewidth=1.3)
    axes.set(xlabel=x, ylabel=y)
    if shares:
        axes.set_ylim(-0.02, 1.02)
        axes.set_yticks([0.0, 0.5, 1.0], ["0", ".5", "1"])


def counts(axes: Axes | PageAxes, values: FloatArray, low: int, high: int, x: str, y: str) -> None:
    """Draw a histogram of the whole numbers from ``low`` to ``high``."""
    edges = np.arange(low - 0.5, high + 1.0)
    number, _ = np.histogram(values, edges)
    axes.stairs(number, edges, fill=True, color=Colour.SERIES_0)
    axes.set(xlim=(low - 0.5, high + 0.5), xlabel=x, ylabel=y)


def scatter(
    axes: Axes | PageAxes, x: FloatArray, y: FloatArray, colour: Colour, labels: tuple[str, str]
) -> None:
    """Draw one dot per trial in the unit square, and the diagonal y = x."""
    axes.plot([0, 1], [0, 1], **_DIAGONAL)
    axes.plot(x, y, "o", color=colour, markersize=2, markeredgewidth=0, alpha=0.4)
    unit_square(axes, *labels)


def trends(
    axes: Axes | PageAxes,
    labels: Sequence[str],
    lines: Sequence[Line],
    x: str,
    y: str,
    *,
    lowest: float | None = 0.0,
) -> None:
    """Draw curves at labelled positions, with a band of their intervals; the y axis begins at ``lowest``."""
    for line in lines:
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=line.colour, alpha=0.15, linewidth=0)
        texts = [_tip(line, k, labels) for k in np.flatnonzero(~np.isnan(line.y))]
        _dots(axes, line, line.x, line.y, texts, linewidth=1.2, markersize=3)
    if lowest is not None:
        axes.set_ylim(bottom=lowest)
    axes.set(xlim=(-0.4, len(labels) - 0.6), xlabel=x, ylabel=y)
    step = 1 if len(labels) <= 6 else 2
    axes.set_xticks(range(0, len(labels), step), labels[::step])


def _tip(line: Line, k: np.intp, labels: Sequence[str]) -> str:
    return f"{line.label}, {labels[int(line.x[k])]}: {line.y[k]:.3f}{_limits(line, k)}"


DIAGRAMS = frozenset(
    (reliability, histogram, curves, accepted, intervals, points, over_range, counts, scatter, trends)
)
"""The diagrams that need no more of Matplotlib's axes than :class:`~confidence_tasks.drawing.axes.PageAxes` has."""
