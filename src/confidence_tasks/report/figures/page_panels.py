"""Panels of figures as SVG elements of a page, in the colours of its theme."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from confidence_tasks.drawing import Colour
from confidence_tasks.drawing.axes import PageAxes
from confidence_tasks.drawing.axis import Unwritable
from confidence_tasks.drawing.page_text import compact, without_names
from confidence_tasks.report.figures import Panel, drawing_in_style, saved, shortened, with_tips
from confidence_tasks.report.figures.panels import DIAGRAMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGINS = {"left": 0.46, "right": 0.06, "bottom": 0.4, "top": 0.2}
"""Margins around the axes of a panel, in inches."""

_WIDE = 4.0
"""Width in inches from which a panel has a wider left margin, for longer labels."""


def panel_svg(panel: Panel, size: tuple[float, float], label: str = "") -> str:
    """Return a panel as an SVG element for a page, its colours as CSS variables.

    The size is in inches; ``label`` is the text for screen readers. Equal parts of drawings have equal ids, so that
    :func:`~confidence_tasks.drawing.page_text.share_parts` can keep each part once on a page. The diagrams of
    :mod:`~confidence_tasks.report.figures.panels` are written directly, any other panel is drawn by Matplotlib.
    """
    text = written(panel, size) or drawn(panel, size)
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
    return re.sub("|".join(Colour), lambda colour: f"var({Colour(colour[0]).variable})", text)


def written(panel: Panel, size: tuple[float, float]) -> str:
    """Return a panel as SVG without Matplotlib's axes; empty if only these can draw it."""
    draw = panel.draw
    if not isinstance(draw, partial) or draw.func not in DIAGRAMS:
        return ""
    (width, height), margins = size, _margins(panel, size)
    axes = PageAxes(
        (72.0 * width, 72.0 * height),
        (72.0 * margins["left"], 72.0 * margins["right"], 72.0 * margins["bottom"], 72.0 * margins["top"]),
    )
    try:
        draw.func(axes, *draw.args, **draw.keywords)
        _set_title(axes, panel.title, width - margins["left"] - margins["right"])
        return axes.svg()
    except Unwritable:
        return ""


def drawn(panel: Panel, size: tuple[float, float]) -> str:
    """Return a panel as SVG by Matplotlib, shortened for a page."""
    (width, height), margins = size, _margins(panel, size)
    with drawing_in_style(size) as drawing:
        rectangle = (
            margins["left"] / width,
            margins["bottom"] / height,
            1.0 - (margins["left"] + margins["right"]) / width,
            1.0 - (margins["bottom"] + margins["top"]) / height,
        )
        axes = drawing.add_axes(rectangle)
        panel.draw(axes)
        _set_title(axes, panel.title, width - margins["left"] - margins["right"])
        text = saved(drawing)
    text = text[text.index("<svg") :]
    return without_names(with_tips(compact(text)))


def _margins(panel: Panel, size: tuple[float, float]) -> dict[str, float]:
    """Return the margins on the left, on the right, below and above the axes of a panel, in inches."""
    if panel.left is not None:
        return {**_MARGINS, "left": panel.left}
    widened = 1.5 if size[0] >= _WIDE else 1.0
    return {**_MARGINS, "left": widened * _MARGINS["left"]}


def _set_title(axes: Axes | PageAxes, title: str, inches: float) -> None:
    """Set a title in the largest type that fits; a title that is too long in the smallest type loses its middle."""
    room = 72.0 * inches / _LETTER
    smallest, largest = _TITLE_SIZES
    size = min(largest, max(smallest, room / max(len(title), 1)))
    axes.set_title(shortened(title, int(room / size)), loc="left", fontsize=size)


_LETTER = 0.53
"""Mean width of a letter, in multiples of the type size."""

_TITLE_SIZES = (7.0, 8.5)
"""Smallest and largest type size of a panel's title, in points."""
