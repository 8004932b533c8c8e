"""Drawings of Matplotlib as text of a page: shortened, without their names, and with equal parts shared."""

from __future__ import annotations

import re

from confidence_tasks.drawing import Colour


def compact(text: str) -> str:
    """Return a drawing without what a page does not need, its coordinates rounded to a tenth of a point."""
    for pattern, replacement in _SHORTER:
        text = pattern.sub(replacement, text)
    # Numbers between tags are texts and stay unchanged.
    return _TAG.sub(lambda tag: _AROUND_COMMANDS.sub(r"\1", _DIGITS.sub(r"\1\2", tag[0])), text)


def without_names(text: str) -> str:
    """Return a drawing whose axes have a class, and whose groups have no ids."""
    return _without_bare_groups(_NAMED.sub("<g", _AXIS.sub('<g class="axis"', text)))


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
        A page with drawings, a style element, to which the classes are added, and a drawing
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
