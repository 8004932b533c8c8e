"""Axes of a panel on a page: the methods of Matplotlib's axes that diagrams call, written as SVG directly.

Matplotlib takes twenty times as long for a panel, most of it for an empty frame. Ticks, their labels and the limits of
data come from Matplotlib; places and styles are those that it gives in the package's style (``drawings.mplstyle``).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.drawing import Colour, tips_of
from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.ticker import Locator

Dashes: TypeAlias = "str | tuple[float, tuple[float, ...]]"
"""Style of a line: ``"-"``, ``"none"``, or an offset with the lengths of dashes and gaps."""

TEXT_SIZE, TITLE_PAD, LABEL_PAD, LINE_WIDTH = 8.0, 6.0, 4.0, 0.6
"""Size of labels, pads above the axes and beside tick labels, and width of spines and grid lines, in points."""

TICK_PAD = 6.0
"""Length of a tick and the pad of its label, in points."""

ASCENT, DESCENT = 0.759765625, 0.24031
"""Height of a line of text above and below its baseline, in multiples of the type size: those of DejaVu Sans."""

WIDTHS = {".": 0.31787109375, "−": 0.837890625}
DIGIT = 0.63623046875
"""Widths of the letters of numbers, in multiples of the type size: those of DejaVu Sans."""

MARGIN = 0.05
"""Margin beside the data on either side, as a proportion of their range."""

MANY_POINTS = 128
"""Number of points from which a line is simplified."""

AXIS_ORDER, PATCH_ORDER, LINE_ORDER, SPINE_ORDER, TEXT_ORDER = 0.5, 1.0, 2.0, 2.5, 3.0
"""Order in which marks are drawn, the lowest first."""

_CIRCLE = (
    (0.1326015, 0.5, 0.25979, 0.4473168, 0.3535534, 0.3535534),
    (0.4473168, 0.25979, 0.5, 0.1326015, 0.5, 0.0),
    (0.5, -0.1326015, 0.4473168, -0.25979, 0.3535534, -0.3535534),
    (0.25979, -0.4473168, 0.1326015, -0.5, 0.0, -0.5),
    (-0.1326015, -0.5, -0.25979, -0.4473168, -0.3535534, -0.3535534),
    (-0.4473168, -0.25979, -0.5, -0.1326015, -0.5, 0.0),
    (-0.5, 0.1326015, -0.4473168, 0.25979, -0.3535534, 0.3535534),
    (-0.25979, 0.4473168, -0.1326015, 0.5, 0.0, 0.5),
)
"""A circle of diameter 1 in eight curves, from its lowest point."""

_THIRD = 1.0 / 6.0
_DIAMOND = math.sqrt(0.5)
_POLYGONS: dict[str, tuple[tuple[float, float], ...]] = {
    "s": ((-0.5, 0.5), (0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)),
    "^": ((0.0, -0.5), (-0.5, 0.5), (0.5, 0.5)),
    "D": ((0.0, _DIAMOND), (_DIAMOND, 0.0), (0.0, -_DIAMOND), (-_DIAMOND, 0.0)),
    "v": ((0.0, 0.5), (0.5, -0.5), (-0.5, -0.5)),
    "P": (
        (-_THIRD, 0.5), (_THIRD, 0.5), (_THIRD, _THIRD), (0.5, _THIRD), (0.5, -_THIRD), (_THIRD, -_THIRD),
        (_THIRD, -0.5), (-_THIRD, -0.5), (-_THIRD, -_THIRD), (-0.5, -_THIRD), (-0.5, _THIRD), (-_THIRD, _THIRD),
    ),
    "X": (
        (-0.25, 0.5), (0.0, 0.25), (0.25, 0.5), (0.5, 0.25), (0.25, 0.0), (0.5, -0.25),
        (0.25, -0.5), (0.0, -0.25), (-0.25, -0.5), (-0.5, -0.25), (-0.25, 0.0), (-0.5, 0.25),
    ),
    "*": tuple(
        (-radius * math.sin(math.pi * k / 5.0), -radius * math.cos(math.pi * k / 5.0))
        for k, radius in enumerate((0.5, 0.190983) * 5)
    ),
}  # fmt: skip
"""Other markers of size 1, by Matplotlib's names; y grows downwards."""


def number(value: float) -> str:
    """Return a coordinate with one digit after the point, cut off as in drawings by Matplotlib."""
    whole, _, digits = f"{value:.6f}".partition(".")
    return whole if digits[0] == "0" else f"{whole}.{digits[0]}"


def _points(x: Iterable[float], y: Iterable[float]) -> list[str]:
    return [f"{number(a)} {number(b)}" for a, b in zip(x, y, strict=True)]


def _line_through(x: FloatArray, y: FloatArray) -> str:
    """Return the path through some points, which begins anew after one that is undefined."""
    runs = _runs(np.isfinite(x) & np.isfinite(y))
    return "".join("M" + "L".join(_points(x[run].tolist(), y[run].tolist())) for run in runs)


def _simplified(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a line without the points that do not show, if there are many."""
    if len(x) < MANY_POINTS:
        return x, y
    from matplotlib.path import Path

    path = Path(np.column_stack([x, y])).cleaned(simplify=True)
    xs, ys = np.asarray(path.vertices)[path.codes != Path.STOP].T
    return xs, ys


def _runs(chosen: BoolArray) -> list[IntArray]:
    """Return the positions of each unbroken run of True."""
    places = np.flatnonzero(chosen)
    return [run for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if run.size]


def _identifier(kind: str, content: str) -> str:
    return kind + hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()[:10]


def _stroke(colour: str, width: float, dashes: Dashes = "-", alpha: float | None = None) -> str:
    """Return the style of a line."""
    parts = ["fill: none"]
    if not isinstance(dashes, str):
        offset, lengths = dashes
        scaled = ",".join(number(length * width) for length in lengths)
        parts += [f"stroke-dasharray: {scaled}", f"stroke-dashoffset: {number(offset * width)}"]
    parts.append(f"stroke: {colour}")
    if alpha is not None:
        parts.append(f"stroke-opacity: {number(alpha)}")
    if width != 1.0:
        parts.append(f"stroke-width: {number(width)}")
    return "; ".join(parts)


def _fill(colour: str, alpha: float | None = None) -> str:
    opacity = "" if alpha is None else f"; fill-opacity: {number(alpha)}"
    return f"fill: {colour}{opacity}"


@lru_cache(maxsize=64)
def _marker(name: str, size: float) -> tuple[str, str]:
    """Return the identifier of a marker and the element that defines it."""
    if name == "o":
        curves = (" ".join(number(size * each) for each in curve) for curve in _CIRCLE)
        path = f"M0 {number(0.5 * size)}C" + "C".join(curves)
    else:
        corners = np.array(_POLYGONS[name]) * size
        path = "M" + "L".join(_points(*corners.T.tolist()))
    identifier = _identifier("m", path)
    return identifier, f'<defs><path id="{identifier}" d="{path}z"/></defs>'


@lru_cache(maxsize=2)
def _tick(path: str) -> tuple[str, str]:
    """Return the identifier of the mark of a tick and the element that defines it."""
    style = f"stroke: {Colour.MUTED}; stroke-width: {LINE_WIDTH}"
    identifier = _identifier("m", path)
    return identifier, f'<defs><path id="{identifier}" d="{path} " style="{style}"/></defs>'


def _text(
    text: str, x: float, y: float, *, size: float, anchor: str, colour: str, rotated: bool = False
) -> str:
    """Return a text; ``rotated`` text runs upwards."""
    if not text:
        return ""
    turn = f' transform="rotate(-90 {number(x)} {number(y)})"' if rotated else ""
    style = f"font-size: {number(size)}px; text-anchor: {anchor}; fill: {colour}"
    return f'<text style="{style}" x="{number(x)}" y="{number(y)}"{turn}>{escape(text, quote=False)}</text>'


@dataclass
class PageAxis:
    """One axis: where it lies on the page, what it shows, and its ticks.

    ``start`` is the place of its lower end and ``length`` the way to the upper one, in points; y grows downwards.
    """

    start: float
    length: float
    most_ticks: int
    label: str = ""
    has_grid: bool = True
    limits: tuple[float, float] | None = None
    data: list[FloatArray] = field(default_factory=list)
    floors: list[float] = field(default_factory=list)  # the margin does not cross these
    ticks: FloatArray | None = None
    tick_labels: Sequence[str] | None = None
    locator: Locator | None = None

    def set_major_locator(self, locator: Locator) -> None:
        """Place the ticks where a locator of Matplotlib puts them."""
        self.locator = locator

    def set_ticks(self, ticks: ArrayLike, labels: Sequence[str] | None = None) -> None:
        """Place the ticks; their labels are numbers by default."""
        self.ticks, self.tick_labels = np.asarray(ticks, dtype=np.float64), labels

    def add(self, values: FloatArray) -> None:
        """Let the limits include some values, of which the undefined ones do not count."""
        self.data.append(values[np.isfinite(values)])

    @property
    def view(self) -> tuple[float, float]:
        """The limits of the axis."""
        return self.limits or self._view_of_data()

    def _view_of_data(self) -> tuple[float, float]:
        from matplotlib.ticker import MaxNLocator

        if not self.data:
            return 0.0, 1.0
        values = np.concatenate(self.data)
        ends = (values.min(), values.max()) if values.size else (-math.inf, math.inf)
        low, high = MaxNLocator().nonsingular(*ends)
        margin = MARGIN * (high - low)
        floor = max((each for each in self.floors if each <= low), default=-math.inf)
        return max(low - margin, floor), high + margin

    def places(self, values: ArrayLike) -> FloatArray:
        """Return the places of values on the page, in points."""
        low, high = self.view
        return self.start + (np.asarray(values, dtype=np.float64) - low) * (self.length / (high - low))

    def labelled_ticks(self) -> list[tuple[float, str]]:
        """Return the places of the ticks and their labels."""
        from matplotlib.ticker import MaxNLocator, ScalarFormatter

        low, high = self.view
        ticks = self.ticks
        if ticks is None:
            automatic = MaxNLocator(nbins=self.most_ticks, steps=[1, 2, 2.5, 5, 10])
            ticks = np.asarray((self.locator or automatic).tick_values(low, high))
        labels = self.tick_labels
        if labels is None:
            formatter = ScalarFormatter()
            formatter.create_dummy_axis()
            assert formatter.axis
            formatter.axis.set_view_interval(low, high)
            labels = formatter.format_ticks(ticks.tolist())
            if formatter.get_offset():
                raise Unwritable("numbers of an axis with a common factor")
        slack = 1e-10 * (high - low)
        return [
            (place, label)
            for tick, place, label in zip(ticks, self.places(ticks).tolist(), labels, strict=True)
            if low - slack <= tick <= high + slack
        ]


class Unwritable(Exception):
    """What these axes cannot write, and Matplotlib can."""


class Mark(Protocol):
    """What is drawn within the axes."""

    def svg(self, axes: PageAxes) -> str:
        """Return its elements."""


@dataclass
class PageLine:
    """A line, its markers, or both; ``tips`` are the tooltips of the markers."""

    x: FloatArray
    y: FloatArray
    style: str
    marker: str
    size: float
    fill: str
    every: tuple[float, float] | None
    tips: Sequence[str] = ()

    def set_gid(self, gid: str) -> None:
        """Take the tooltips from an id by :func:`confidence_tasks.drawing.tips`."""
        self.tips = tips_of(gid)

    def svg(self, axes: PageAxes) -> str:
        """Return the path and the markers."""
        x, y = axes.xaxis.places(self.x), axes.yaxis.places(self.y)
        path = _line_through(*_simplified(x, y)) if self.style else ""
        line = f'<path d="{path} " {axes.clip} style="{self.style}"/>' if path else ""
        return line + (self._markers(axes, x, y) if self.marker else "")

    def _markers(self, axes: PageAxes, x: FloatArray, y: FloatArray) -> str:
        chosen = np.isfinite(x) & np.isfinite(y)
        x, y = x[chosen], y[chosen]
        if self.every and x.size:
            some = _evenly_along(x, y, self.every, math.hypot(axes.xaxis.length, axes.yaxis.length))
            x, y = x[some], y[some]
        identifier, definition = _marker(self.marker, self.size)
        uses = []
        for k, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            use = f'<use href="#{identifier}" x="{number(a)}" y="{number(b)}" style="{self.fill}"'
            tip = f"><title>{escape(self.tips[k])}</title></use>" if self.tips else "/>"
            uses.append(use + tip)
        return f"{axes.once(definition)}<g {axes.clip}>{''.join(uses)}</g>" if uses else ""


def _evenly_along(x: FloatArray, y: FloatArray, every: tuple[float, float], diagonal: float) -> FloatArray:
    """Return the points nearest to equal distances along a line, which are proportions of the diagonal."""
    along = np.concatenate([[0.0], np.hypot(np.diff(x), np.diff(y)).cumsum()])
    start, step = every
    wanted = np.arange(start * diagonal, along[-1], step * diagonal)
    return np.unique(np.abs(along - wanted[:, np.newaxis]).argmin(axis=1))


@dataclass(frozen=True)
class PagePaths:
    """Paths of one style, each given by the values of its points."""

    paths: Sequence[tuple[FloatArray, FloatArray]]
    style: str
    closed: bool = False
    clipped: bool = True
    across: bool = False  # x is a proportion of the axes

    def svg(self, axes: PageAxes) -> str:
        """Return a path element for each path that is defined everywhere."""
        clip = f"{axes.clip} " if self.clipped else ""
        end = "z" if self.closed else " "
        parts = []
        for x, y in self.paths:
            across = axes.xaxis.start + x * axes.xaxis.length if self.across else axes.xaxis.places(x)
            path = _line_through(across, axes.yaxis.places(y))
            if path:
                parts.append(f'<path d="{path}{end}" {clip}style="{self.style}"/>')
        return "".join(parts)


@dataclass(frozen=True)
class PageText:
    """A text at a point."""

    x: float
    y: float
    text: str
    size: float
    anchor: str
    colour: str
    centred: bool

    def svg(self, axes: PageAxes) -> str:
        """Return the text element."""
        x, y = float(axes.xaxis.places(self.x)), float(axes.yaxis.places(self.y))
        shift = self.size * (ASCENT - DESCENT) / 2.0 if self.centred else 0.0
        return _text(self.text, x, y + shift, size=self.size, anchor=self.anchor, colour=self.colour)


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
        identifier = _identifier("p", rectangle)
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
            style = _stroke(color, linewidth, dashes, alpha) + cap
        line = PageLine(xs, ys, style, marker, markersize, _fill(color, alpha), markevery)
        self._add(zorder, line, xs, ys)
        return [line]

    def axhline(
        self, y: float, *, color: str, linewidth: float, linestyle: Dashes, zorder: float = LINE_ORDER
    ) -> None:
        """Draw a line across the axes."""
        level = np.full(2, y, dtype=np.float64)
        line = PagePaths([(np.array([0.0, 1.0]), level)], _stroke(color, linewidth, linestyle), across=True)
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
        style = _stroke(color, linewidth, linestyle, alpha)
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
        self._add(zorder, PagePaths([(x, y)], _fill(color)), x, y)

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
        for run in _runs(np.isfinite(x) & np.isfinite(low) & np.isfinite(high)):
            a, b, c = x[run], low[run], high[run]
            bands.append((np.concatenate([a[:1], a, a[::-1]]), np.concatenate([c[:1], b, c[::-1]])))
            self.xaxis.add(a)
            self.yaxis.add(np.concatenate([b, c]))
        self._marks.append((PATCH_ORDER, PagePaths(bands, _fill(color, alpha), closed=True)))

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
        self._title = _text(title, self.left, above, size=fontsize, anchor="start", colour=Colour.INK)

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
        style = _stroke(Colour.MUTED, LINE_WIDTH) + "; stroke-linejoin: miter; stroke-linecap: square"
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
            yield _text(label, place, below, size=TEXT_SIZE, anchor="middle", colour=Colour.MUTED)
        under = (ASCENT + DESCENT) * TEXT_SIZE + LABEL_PAD
        middle = self.left + self.width / 2.0
        yield _text(axis.label, middle, below + under, size=TEXT_SIZE, anchor="middle", colour=Colour.MUTED)
        yield "</g>"

    def _y_axis(self) -> Iterator[str]:
        axis, right = self.yaxis, self.left + self.width
        ticks = axis.labelled_ticks()
        yield '<g class="axis">'
        for place, label in ticks:
            grid = f"M{number(self.left)} {number(place)}L{number(right)} {number(place)}"
            yield self._tick("M0 0L-2.5 0", self.left, place, grid if axis.has_grid else "")
            y = place + ASCENT * TEXT_SIZE / 2.0
            yield _text(label, self.left - TICK_PAD, y, size=TEXT_SIZE, anchor="end", colour=Colour.MUTED)
        widest = max((_width(label) for _, label in ticks), default=0.0) + DESCENT
        x, y = self.left - TICK_PAD - LABEL_PAD - widest * TEXT_SIZE, self.top + self.height / 2.0
        yield _text(axis.label, x, y, size=TEXT_SIZE, anchor="middle", colour=Colour.MUTED, rotated=True)
        yield "</g>"

    def _tick(self, path: str, x: float, y: float, grid: str) -> str:
        """Return a tick with its grid line."""
        line = ""
        if grid:
            line = f'<path d="{grid} " style="{_stroke(Colour.GRID, LINE_WIDTH)}; stroke-linecap: square"/>'
        identifier, definition = _tick(path)
        style = f"fill: {Colour.MUTED}; stroke: {Colour.MUTED}; stroke-width: {LINE_WIDTH}"
        return (
            f"{line}{self.once(definition)}"
            f'<use href="#{identifier}" x="{number(x)}" y="{number(y)}" style="{style}"/>'
        )


def _width(label: str) -> float:
    """Return the width of a number, in multiples of the type size."""
    return sum(WIDTHS.get(letter, DIGIT) for letter in label)
