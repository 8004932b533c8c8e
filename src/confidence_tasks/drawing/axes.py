"""Axes of a panel on a page: the methods of Matplotlib's axes that diagrams call, written as SVG directly.

Matplotlib takes twenty times as long for a panel, most of it for an empty frame. Ticks, their labels and the limits of
data come from Matplotlib; places and styles are those that it gives in the package's style (``drawings.mplstyle``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.drawing import Colour
from confidence_tasks.drawing.axis import PageAxis
from confidence_tasks.drawing.marks import Mark, PageLine, PagePaths, PageText
from confidence_tasks.drawing.svg import (
    ASCENT,
    DESCENT,
    Dashes,
    fill_style,
    identifier_of,
    number,
    runs,
    stroke,
    text_element,
)
from confidence_tasks.statistics.core import FloatArray

TEXT_SIZE, TITLE_PAD, LABEL_PAD, LINE_WIDTH = 8.0, 6.0, 4.0, 0.6
"""Size of labels, pads above the axes and beside tick labels, and width of spines and grid lines, in points."""

TICK_PAD = 6.0
"""Length of a tick and the pad of its label, in points."""

WIDTHS = {".": 0.31787109375, "−": 0.837890625}
DIGIT = 0.63623046875
"""Widths of the letters of numbers, in multiples of the type size: those of DejaVu Sans."""

AXIS_ORDER, PATCH_ORDER, LINE_ORDER, SPINE_ORDER, TEXT_ORDER = 0.5, 1.0, 2.0, 2.5, 3.0
"""Order in which marks are drawn, the lowest first."""


_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


class PageAxes:
    """Axes of a panel, with the methods of :class:`matplotlib.axes.Axes` that its diagrams call.

    Parameters
    ----------
    size : (float, float)
        Width and height of the panel in points.
    margins : (float, float, float, float)
        Margins on the left, on the right, below and above the axes, in points.
    """

    def __init__(self, size: tuple[float, float], margins: tuple[float, float, float, float]) -> None:
        left, right, bottom, top = margins
        self.size, self.left, self.top = size, left, top
        self.width, self.height = size[0] - left - right, size[1] - bottom - top
        self.bottom = top + self.height
        self.xaxis = PageAxis(left, self.width, self._most_ticks(self.width, 3.0))
        self.yaxis = PageAxis(self.bottom, -self.height, self._most_ticks(self.height, 2.0))
        rectangle = (
            f'<rect x="{number(left)}" y="{number(top)}" width="{number(self.width)}"'
            f' height="{number(self.height)}"/>'
        )
        identifier = identifier_of("p", rectangle)
        self.clip = f'clip-path="url(#{identifier})"'
        self._clip_path = f'<defs><clipPath id="{identifier}">{rectangle}</clipPath></defs>'
        self._marks: list[tuple[float, Mark]] = []
        self._title = ""
        self._written: set[str] = set()

    @staticmethod
    def _most_ticks(length: float, letters: float) -> int:
        return min(max(int(length / (TEXT_SIZE * letters)), 1), 9)

    def once(self, definition: str) -> str:
        """Return a definition the first time, and nothing when it is there already."""
        is_new = definition not in self._written
        self._written.add(definition)
        return definition if is_new else ""

    # What diagrams call ----------------------------------------------------------------------------------------------

    def plot(
        self,
        x: ArrayLike,
        y: ArrayLike,
        form: str = "-",
        *,
        color: str,
        linestyle: Dashes | None = None,
        linewidth: float = 1.4,
        markersize: float = 4.0,
        markeredgewidth: float = 0.0,
        markevery: tuple[float, float] | None = None,
        alpha: float | None = None,
        zorder: float = LINE_ORDER,
    ) -> list[PageLine]:
        """Draw a line, markers, or both; markers have no edge."""
        assert markeredgewidth == 0.0
        xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        marker = "" if form == "None" else form.removesuffix("-")
        dashes = linestyle or ("-" if form.endswith("-") else "none")
        style = ""
        if dashes != "none":
            cap = "; stroke-linecap: square" if dashes == "-" else ""
            style = stroke(color, linewidth, dashes, alpha) + cap
        line = PageLine(xs, ys, style, marker, markersize, fill_style(color, alpha), markevery)
        self._add(zorder, line, xs, ys)
        return [line]

    def axhline(
        self, y: float, *, color: str, linewidth: float, linestyle: Dashes, zorder: float = LINE_ORDER
    ) -> None:
        """Draw a line across the axes."""
        level = np.full(2, y, dtype=np.float64)
        line = PagePaths([(np.array([0.0, 1.0]), level)], stroke(color, linewidth, linestyle), across=True)
        self.yaxis.add(level)
        self._marks.append((zorder, line))

    def vlines(
        self,
        x: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        *,
        color: str,
        linewidth: float,
        linestyle: Dashes = "-",
        alpha: float | None = None,
        zorder: float = LINE_ORDER,
    ) -> None:
        """Draw vertical lines between two heights; those with an undefined end are left out."""
        columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(each, float)) for each in (x, low, high)))
        defined = np.isfinite(columns).all(axis=0)
        xs, lows, highs = (column[defined] for column in columns)
        segments = [
            (np.array([a, a]), np.array([b, c]))
            for a, b, c in zip(xs.tolist(), lows.tolist(), highs.tolist(), strict=True)
        ]
        style = stroke(color, linewidth, linestyle, alpha)
        mark = PagePaths(segments, style, clipped=color != Colour.GRID)  # these lie within the axes
        self.xaxis.add(xs)
        self.yaxis.add(np.concatenate([lows, highs]))
        self._marks.append((zorder, mark))

    def stairs(
        self, values: FloatArray, edges: FloatArray, *, fill: bool, color: str, zorder: float = PATCH_ORDER
    ) -> None:
        """Draw a filled histogram above 0."""
        assert fill
        x = np.repeat(edges, 2)
        y = np.concatenate([[0.0], np.repeat(values, 2), [0.0]])
        self.yaxis.floors.append(0.0)
        self._add(zorder, PagePaths([(x, y)], fill_style(color)), x, y)

    def fill_between(
        self,
        x: FloatArray,
        low: FloatArray,
        high: FloatArray,
        *,
        color: str,
        alpha: float,
        linewidth: float = 0.0,
    ) -> None:
        """Fill the band between two lines, where both are defined; the band has no edge."""
        assert linewidth == 0.0
        bands = []
        for run in runs(np.isfinite(x) & np.isfinite(low) & np.isfinite(high)):
            a, b, c = x[run], low[run], high[run]
            bands.append((np.concatenate([a[:1], a, a[::-1]]), np.concatenate([c[:1], b, c[::-1]])))
            self.xaxis.add(a)
            self.yaxis.add(np.concatenate([b, c]))
        self._marks.append((PATCH_ORDER, PagePaths(bands, fill_style(color, alpha), closed=True)))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        fontsize: float,
        color: str,
        ha: str = "left",
        va: str = "baseline",
    ) -> None:
        """Write a text at a point."""
        mark = PageText(float(x), float(y), text, fontsize, _ANCHORS[ha], color, va == "center")
        self._marks.append((TEXT_ORDER, mark))

    def set(
        self,
        *,
        xlim: tuple[float, float] | None = None,
        ylim: tuple[float, float] | None = None,
        xlabel: str = "",
        ylabel: str = "",
    ) -> None:
        """Set limits and labels."""
        if xlim is not None:
            self.set_xlim(*xlim)
        if ylim is not None:
            self.set_ylim(*ylim)
        self.xaxis.label = xlabel or self.xaxis.label
        self.yaxis.label = ylabel or self.yaxis.label

    def set_xlim(self, left: float, right: float) -> None:
        """Set the limits of x."""
        self.xaxis.limits = float(left), float(right)

    def set_ylim(self, bottom: float, top: float | None = None) -> None:
        """Set the limits of y, by default up to where the data so far need it."""
        self.yaxis.limits = float(bottom), self.yaxis.view[1] if top is None else float(top)

    def set_xticks(self, ticks: ArrayLike, labels: Sequence[str] | None = None) -> None:
        """Place the ticks of x."""
        self.xaxis.set_ticks(ticks, labels)

    def set_yticks(self, ticks: ArrayLike, labels: Sequence[str] | None = None) -> None:
        """Place the ticks of y."""
        self.yaxis.set_ticks(ticks, labels)

    def grid(self, *, visible: bool, axis: str) -> None:
        """Show or hide the grid lines at the ticks of an axis."""
        {"x": self.xaxis, "y": self.yaxis}[axis].has_grid = visible

    def set_title(self, title: str, *, loc: str, fontsize: float) -> None:
        """Write a title above the left end of the axes."""
        assert loc == "left"
        above = self.top - TITLE_PAD
        self._title = text_element(title, self.left, above, size=fontsize, anchor="start", colour=Colour.INK)

    def _add(self, order: float, mark: Mark, x: FloatArray, y: FloatArray) -> None:
        """Add a mark; the limits include its points that are defined."""
        defined = np.isfinite(x) & np.isfinite(y)
        self.xaxis.add(x[defined])
        self.yaxis.add(y[defined])
        self._marks.append((order, mark))

    # The drawing -----------------------------------------------------------------------------------------------------

    def svg(self) -> str:
        """Return the drawing as an SVG element."""
        parts: list[tuple[float, Iterator[str]]] = [
            *((order, iter([mark.svg(self)])) for order, mark in self._marks),
            (SPINE_ORDER, self._spines()),
            (AXIS_ORDER, self._x_axis()),
            (AXIS_ORDER, self._y_axis()),
            (TEXT_ORDER, iter([self._title])),
        ]
        parts.sort(key=lambda part: part[0])
        drawn = "".join(element for _, elements in parts for element in elements)
        width, height = map(number, self.size)
        return f'<svg viewBox="0 0 {width} {height}">{drawn}{self._clip_path}</svg>'

    def _spines(self) -> Iterator[str]:
        style = stroke(Colour.MUTED, LINE_WIDTH) + "; stroke-linejoin: miter; stroke-linecap: square"
        corner = f"{number(self.left)} {number(self.bottom)}"
        for x, y in ((self.left, self.top), (self.left + self.width, self.bottom)):
            yield f'<path d="M{corner}L{number(x)} {number(y)} " style="{style}"/>'

    def _x_axis(self) -> Iterator[str]:
        axis, below = self.xaxis, self.bottom + TICK_PAD + ASCENT * TEXT_SIZE
        ticks = axis.labelled_ticks()
        yield '<g class="axis">'
        for place, label in ticks:
            grid = f"M{number(place)} {number(self.bottom)}L{number(place)} {number(self.top)}"
            yield self._tick("M0 0L0 2.5", place, self.bottom, grid if axis.has_grid else "")
            yield text_element(label, place, below, size=TEXT_SIZE, anchor="middle", colour=Colour.MUTED)
        under = (ASCENT + DESCENT) * TEXT_SIZE + LABEL_PAD
        middle = self.left + self.width / 2.0
        yield text_element(
            axis.label, middle, below + under, size=TEXT_SIZE, anchor="middle", colour=Colour.MUTED
        )
        yield "</g>"

    def _y_axis(self) -> Iterator[str]:
        axis, right = self.yaxis, self.left + self.width
        ticks = axis.labelled_ticks()
        yield '<g class="axis">'
        for place, label in ticks:
            grid = f"M{number(self.left)} {number(place)}L{number(right)} {number(place)}"
            yield self._tick("M0 0L-2.5 0", self.left, place, grid if axis.has_grid else "")
            y = place + ASCENT * TEXT_SIZE / 2.0
            yield text_element(
                label, self.left - TICK_PAD, y, size=TEXT_SIZE, anchor="end", colour=Colour.MUTED
            )
        widest = max((_width(label) for _, label in ticks), default=0.0) + DESCENT
        x, y = self.left - TICK_PAD - LABEL_PAD - widest * TEXT_SIZE, self.top + self.height / 2.0
        yield text_element(
            axis.label, x, y, size=TEXT_SIZE, anchor="middle", colour=Colour.MUTED, rotated=True
        )
        yield "</g>"

    def _tick(self, path: str, x: float, y: float, grid: str) -> str:
        """Return a tick with its grid line."""
        line = ""
        if grid:
            line = f'<path d="{grid} " style="{stroke(Colour.GRID, LINE_WIDTH)}; stroke-linecap: square"/>'
        identifier, definition = _tick(path)
        style = f"fill: {Colour.MUTED}; stroke: {Colour.MUTED}; stroke-width: {LINE_WIDTH}"
        return (
            f"{line}{self.once(definition)}"
            f'<use href="#{identifier}" x="{number(x)}" y="{number(y)}" style="{style}"/>'
        )


def _width(label: str) -> float:
    """Return the width of a number, in multiples of the type size."""
    return sum(WIDTHS.get(letter, DIGIT) for letter in label)


@lru_cache(maxsize=2)
def _tick(path: str) -> tuple[str, str]:
    """Return the identifier of the mark of a tick and the element that defines it."""
    style = f"stroke: {Colour.MUTED}; stroke-width: {LINE_WIDTH}"
    identifier = identifier_of("m", path)
    return identifier, f'<defs><path id="{identifier}" d="{path} " style="{style}"/></defs>'
