"""Elements of SVG: numbers, paths, styles and texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from html import escape
from typing import TypeAlias

import numpy as np

from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray

Dashes: TypeAlias = "str | tuple[float, tuple[float, ...]]"
"""Style of a line: ``"-"``, ``"none"``, or an offset with the lengths of dashes and gaps."""

ASCENT, DESCENT = 0.759765625, 0.24031
"""Height of a line of text above and below its baseline, in multiples of the type size: those of DejaVu Sans."""


def number(value: float) -> str:
    """Return a coordinate with one digit after the point, cut off as in drawings by Matplotlib."""
    whole, _, digits = f"{value:.6f}".partition(".")
    return whole if digits[0] == "0" else f"{whole}.{digits[0]}"


def points(x: Iterable[float], y: Iterable[float]) -> list[str]:
    """Return the coordinates of each point."""
    return [f"{number(a)} {number(b)}" for a, b in zip(x, y, strict=True)]


def line_through(x: FloatArray, y: FloatArray) -> str:
    """Return the path through some points, which begins anew after one that is undefined."""
    defined = runs(np.isfinite(x) & np.isfinite(y))
    return "".join("M" + "L".join(points(x[run].tolist(), y[run].tolist())) for run in defined)


def runs(chosen: BoolArray) -> list[IntArray]:
    """Return the positions of each unbroken run of True."""
    places = np.flatnonzero(chosen)
    return [run for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if run.size]


def identifier_of(kind: str, content: str) -> str:
    """Return an identifier that equal contents share on a page."""
    return kind + hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()[:10]


def stroke(colour: str, width: float, dashes: Dashes = "-", alpha: float | None = None) -> str:
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


def fill_style(colour: str, alpha: float | None = None) -> str:
    """Return the style of an area."""
    opacity = "" if alpha is None else f"; fill-opacity: {number(alpha)}"
    return f"fill: {colour}{opacity}"


def text_element(
    text: str, x: float, y: float, *, size: float, anchor: str, colour: str, rotated: bool = False
) -> str:
    """Return a text; ``rotated`` text runs upwards."""
    if not text:
        return ""
    turn = f' transform="rotate(-90 {number(x)} {number(y)})"' if rotated else ""
    style = f"font-size: {number(size)}px; text-anchor: {anchor}; fill: {colour}"
    return f'<text style="{style}" x="{number(x)}" y="{number(y)}"{turn}>{escape(text, quote=False)}</text>'
