"""Panels of figures as SVG elements of a page, in the colours of its theme."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from confidence_tasks.drawing import Colour
from confidence_tasks.drawing.axes import PageAxes
from confidence_tasks.drawing.axis import Unwritable
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
    :func:`share_parts` can keep each part once on a page. The diagrams of
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
    for pattern, replacement in _SHORTER:
        text = pattern.sub(replacement, text)
    # Round coordinates to a tenth of a point. Numbers between tags are texts and stay unchanged.
    text = _TAG.sub(lambda tag: _AROUND_COMMANDS.sub(r"\1", _DIGITS.sub(r"\1\2", tag[0])), text)
    text = _AXIS.sub('<g class="axis"', with_tips(text))
    return _without_bare_groups(_NAMED.sub("<g", text))


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


def _without_bare_groups(text: str) -> str:
    """Remove the tags of groups without attributes, which have no effect."""
    parts: list[str] = []
    is_kept: list[bool] = []  # of each open group
    for part in _GROUP.split(text):
        if part == "</g>":
            keep = is_kept.pop()
        else:
            keep = part != "<g>"
            if part.startswith("<g"):
                is_kept.append(keep)
        if keep:
            parts.append(part)
    return "".join(parts)


def share_parts(page: str) -> str:
    """Move equal parts of a page's drawings to one place: styles become classes; axes, ticks and markers are reused.

    Parameters
    ----------
    page : str
        A page with drawings by :func:`panel_svg`, a style element, to which the classes are added, and a drawing
        without a size that contains :data:`SHARED`, which is replaced by the shared parts.
    """
    classes: dict[str, str] = {}
    parts: dict[tuple[str, str], str] = {}
    new_ids: dict[str, str] = {}

    def class_of(style: re.Match[str]) -> str:
        return f'class="{classes.setdefault(style[1], f"s{len(classes)}")}"'

    def move_part(part: re.Match[str]) -> str:
        before, old_id, after = filter(None, part.groups())
        new_ids[old_id] = parts.setdefault((before, after), f"d{len(parts)}")
        return ""

    def reuse_axis(axis: re.Match[str]) -> str:
        return f'<use href="#{parts.setdefault(("<g ", f">{axis[1]}</g>"), f"d{len(parts)}")}"/>'

    def shorten(drawing: re.Match[str]) -> str:
        text = _TAG.sub(lambda tag: _STYLE.sub(class_of, tag[0]), drawing[0])
        text = _EMPTY.sub("", _PART.sub(move_part, text))
        text = _ID.sub(lambda match: match[1] + new_ids[match[2]], text)
        return _SHARED_AXIS.sub(reuse_axis, text)

    page = _DRAWING.sub(shorten, page)
    rules = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    shared = "".join(f'{before}id="{new_id}"{after}' for (before, after), new_id in parts.items())
    return page.replace("</style>", f"{rules}</style>", 1).replace(SHARED, f"<defs>{shared}</defs>", 1)


SHARED = "<defs></defs>"
"""Placeholder in a page for the shared parts of its drawings."""


_DRAWING = re.compile(r'<svg role="img".*?</svg>', re.DOTALL)
_STYLE = re.compile(r'(?<= )style="([^"]*)"')
_ID = re.compile(r'((?<= )(?:href="#|clip-path="url\(#))([mp][0-9a-f]{10})')
_PART = re.compile(
    r'(<path )id="([mp][0-9a-f]{10})"([^>]*/>)|(<clipPath )id="([mp][0-9a-f]{10})"(>.*?</clipPath>)',
    re.DOTALL,
)
_SHARED_AXIS = re.compile(r'<g class="axis">((?:(?!<g).)*?)</g>', re.DOTALL)
_EMPTY = re.compile(r"<defs>\s*</defs>")
_GROUP = re.compile(r"(</?g(?: [^>]*)?>)")
_TAG = re.compile(r"<[^>]*>")
_DIGITS = re.compile(r"(\d)(?:\.0\d*|(\.\d)\d*)(?!\d)")
_AROUND_COMMANDS = re.compile(r" ?\b([MLCQz]) ")

_AXIS = re.compile(r'<g id="matplotlib\.axis_\d+"')
_NAMED = re.compile(r'<g id="[^"]*"')
"""Tag of a group with an id: Matplotlib repeats ids in each drawing, and on a page they must be unique."""

_SHORTER: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        (r"<svg [^>]*(viewBox=\"[^\"]*\")[^>]*>", r"<svg \1>"),  # no fixed size
        (r"<defs>\s*<style.*?</style>\s*</defs>", ""),  # a style element applies to the whole page
        (r"<!--.*?-->", ""),
        (r" transform=\"rotate\(-0 [^\"]*\"", ""),
        (r"font-size: ([\d.]+)px; font-family: [^;\"]*", r"font-size: \1px"),  # the page's own fonts
        (r"xlink:href", "href"),
        (r"\s*\n\s*", " "),
        (r"> <", "><"),
        (r"<g [^>]*><path d=\"[^\"]*\" style=\"fill: none\"/></g>", ""),  # invisible backgrounds
        (r"<defs></defs>", ""),
        (r"<path(?![^>]* d=)[^>]*/>", ""),  # intervals that do not exist
        (r"<g(?: [^>]*)?/>", ""),
        (
            rf" clip-path=\"[^\"]*\"( style=\"fill: none; stroke: {Colour.GRID})",
            r"\1",
        ),  # grid lines lie within the axes
    )
)
"""Patterns that shorten a drawing for a page, with their replacements, in order."""
