"""Marks within the axes of a panel: lines with markers, paths and texts, as elements of SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Protocol

import numpy as np

from confidence_tasks.drawing import tips_of
from confidence_tasks.drawing.axis import PageAxis
from confidence_tasks.drawing.svg import (
    ASCENT,
    DESCENT,
    identifier_of,
    line_through,
    number,
    points,
    text_element,
)
from confidence_tasks.statistics.core import FloatArray

MANY_POINTS = 128
"""Number of points from which a line is simplified."""

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


class Frame(Protocol):
    """The axes that marks are drawn within."""

    xaxis: PageAxis
    yaxis: PageAxis
    clip: str

    def once(self, definition: str) -> str:
        """Return a definition the first time, and nothing when it is there already."""


class Mark(Protocol):
    """What is drawn within the axes."""

    def svg(self, axes: Frame) -> str:
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

    def svg(self, axes: Frame) -> str:
        """Return the path and the markers."""
        x, y = axes.xaxis.places(self.x), axes.yaxis.places(self.y)
        path = line_through(*_simplified(x, y)) if self.style else ""
        line = f'<path d="{path} " {axes.clip} style="{self.style}"/>' if path else ""
        return line + (self._markers(axes, x, y) if self.marker else "")

    def _markers(self, axes: Frame, x: FloatArray, y: FloatArray) -> str:
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

    def svg(self, axes: Frame) -> str:
        """Return a path element for each path that is defined everywhere."""
        clip = f"{axes.clip} " if self.clipped else ""
        end = "z" if self.closed else " "
        parts = []
        for x, y in self.paths:
            across = axes.xaxis.start + x * axes.xaxis.length if self.across else axes.xaxis.places(x)
            path = line_through(across, axes.yaxis.places(y))
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

    def svg(self, axes: Frame) -> str:
        """Return the text element."""
        x, y = float(axes.xaxis.places(self.x)), float(axes.yaxis.places(self.y))
        shift = self.size * (ASCENT - DESCENT) / 2.0 if self.centred else 0.0
        return text_element(self.text, x, y + shift, size=self.size, anchor=self.anchor, colour=self.colour)


def _simplified(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a line without the points that do not show, if there are many."""
    if len(x) < MANY_POINTS:
        return x, y
    from matplotlib.path import Path

    path = Path(np.column_stack([x, y])).cleaned(simplify=True)
    xs, ys = np.asarray(path.vertices)[path.codes != Path.STOP].T
    return xs, ys


@lru_cache(maxsize=64)
def _marker(name: str, size: float) -> tuple[str, str]:
    """Return the identifier of a marker and the element that defines it."""
    if name == "o":
        curves = (" ".join(number(size * each) for each in curve) for curve in _CIRCLE)
        path = f"M0 {number(0.5 * size)}C" + "C".join(curves)
    else:
        corners = np.array(_POLYGONS[name]) * size
        path = "M" + "L".join(points(*corners.T.tolist()))
    identifier = identifier_of("m", path)
    return identifier, f'<defs><path id="{identifier}" d="{path}z"/></defs>'
