"""Panels and figures as SVG: small and themed for a page, whole and self-contained for a file."""

from __future__ import annotations

import io
import json
import re
import warnings
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from confidence_tasks.report.figures.figure import SETTINGS, Colour, Figure, Panel

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_MARGINS = {"left": 0.46, "right": 0.06, "bottom": 0.4, "top": 0.2}
"""Inches around the axes of a panel."""

_WIDE = 4.0
"""Inches from which on a panel stands alone, and has room for longer labels."""

_TIPS = "tips-"


def tips(artist: Artist, texts: Sequence[str]) -> None:
    """Attach a text to each marker of an artist, which a page shows on hovering.

    They travel in the artist's id, from which :func:`panel_svg` takes them.
    """
    artist.set_gid(_TIPS + urlsafe_b64encode(json.dumps(list(texts)).encode()).decode().rstrip("="))


def panel_svg(panel: Panel, size: tuple[float, float], label: str = "") -> str:
    """Return a panel as an SVG element for a page, its colours as CSS variables.

    The size is in inches; ``label`` says what it is to those who cannot see it. Equal parts of drawings have equal
    ids, which :func:`share_parts` leaves on a page once.
    """
    with _drawing(size) as drawing:
        width, height = size
        left = _MARGINS["left"] * (1.0 if width < _WIDE else 1.5)
        rectangle = (
            left / width,
            _MARGINS["bottom"] / height,
            1.0 - (left + _MARGINS["right"]) / width,
            1.0 - (_MARGINS["bottom"] + _MARGINS["top"]) / height,
        )
        axes = drawing.add_axes(rectangle)
        panel.draw(axes)
        _entitle(axes, panel.title, width - left - _MARGINS["right"])
        text = _save(drawing)
    text = text[text.index("<svg") :]
    for pattern, replacement in _SHORTER:
        text = pattern.sub(replacement, text)
    text = _TAG.sub(_shorter_tag, text)
    text = _AXIS.sub('<g class="axis"', _with_tips(text))
    text = _without_bare_groups(_NAMED.sub("<g", text))
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
    return re.sub("|".join(Colour), lambda colour: f"var({Colour(colour[0]).variable})", text)


def _entitle(axes: Axes, title: str, inches: float) -> None:
    """Set a title as large as fits; what is still too long loses its middle, and is told in full by the label."""
    room = 72.0 * inches / _LETTER
    smallest, largest = _TITLE_SIZES
    size = min(largest, max(smallest, room / max(len(title), 1)))
    most = int(room / size)
    if len(title) > most:
        half = (most - 1) // 2
        title = f"{title[:half]}…{title[-half:]}"
    axes.set_title(title, loc="left", fontsize=size)


_LETTER = 0.53
"""Width of a letter of running text, in sizes of its type."""

_TITLE_SIZES = (7.0, 8.5)
"""Smallest and largest size of a panel's title, in points."""


def figure_svg(figure: Figure) -> str:
    """Return a whole figure as an SVG file, on white."""
    with _whole(figure) as drawing:
        return _with_tips(_save(drawing))


def figure_pdf(figure: Figure) -> bytes:
    """Return a whole figure as a PDF file, on white."""
    buffer = io.BytesIO()
    with _whole(figure) as drawing:
        drawing.savefig(buffer, format="pdf", metadata={"CreationDate": None})
    return buffer.getvalue()


@contextmanager
def _whole(figure: Figure) -> Iterator[Drawing]:
    """Draw all panels of a figure, with its legend."""
    rows = figure.rows
    columns = max(len(panels) for _, panels in rows)
    width, height = figure.size
    size = width * columns, height * len(rows) + 0.3
    with _drawing(size, layout="constrained") as drawing:
        drawing.patch.set_facecolor(Colour.PAPER)
        grid = drawing.subplots(len(rows), columns, squeeze=False)
        for (label, panels), its_axes in zip(rows, grid, strict=True):
            for position, axes in enumerate(its_axes):
                if position >= len(panels):
                    axes.remove()
                    continue
                panel = panels[position]
                panel.draw(axes)
                heading = f"{label}\n{panel.title}" if position == 0 and label else panel.title
                axes.set_title(heading, loc="left")
        if figure.keys:
            inches = 0.5 + 0.07 * max(len(key.label) for key in figure.keys)
            columns = max(1, min(len(figure.keys), int(size[0] / inches)))
            drawing.legend(handles=_handles(figure), loc="outside lower center", ncols=columns)
        yield drawing


def _handles(figure: Figure) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=key.colour, marker=key.marker, label=key.label)
        if key.marker
        else Patch(color=key.colour, label=key.label)
        for key in figure.keys
    ]


@contextmanager
def _drawing(size: tuple[float, float], layout: Literal["constrained"] | None = None) -> Iterator[Drawing]:
    """Give an empty drawing in the package's style."""
    import matplotlib
    from matplotlib.figure import Figure as Drawing

    settings: Any = dict(SETTINGS)
    with matplotlib.rc_context(settings):
        yield Drawing(figsize=size, layout=layout)


def _save(drawing: Drawing) -> str:
    buffer = io.StringIO()
    nothing: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with warnings.catch_warnings():
        # Texts stay texts, which the browser draws, in a font of its own where this one has no such letter.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        drawing.savefig(buffer, format="svg", metadata=nothing)
    return buffer.getvalue()


def _with_tips(text: str) -> str:
    """Put the texts that artists carry into their markers, as titles."""
    return re.sub(rf'<g id="{_TIPS}([\w-]+)">(.*?)(?=<g id=|\Z)', _titled, text, flags=re.DOTALL)


def _titled(match: re.Match[str]) -> str:
    texts = iter(json.loads(urlsafe_b64decode(match[1] + "==")))
    marked = re.sub(
        r"<use ([^>]*)/>",
        lambda use: f"<use {use[1]}><title>{escape(next(texts, ''))}</title></use>",
        match[2],
    )
    return f"<g>{marked}"


def _shorter_tag(tag: re.Match[str]) -> str:
    """Round coordinates to a tenth of a point, as good as exact; numbers between the tags are texts, and stay."""
    return _AROUND_COMMANDS.sub(r"\1", _DIGITS.sub(r"\1\2", tag[0]))


def _without_bare_groups(text: str) -> str:
    """Leave out the groups that have no attributes, and so do nothing."""
    parts: list[str] = []
    kept: list[bool] = []
    for piece in _GROUP.split(text):
        if piece == "</g>":
            if kept.pop():
                parts.append(piece)
        elif _GROUP.fullmatch(piece):
            kept.append(piece != "<g>")
            if kept[-1]:
                parts.append(piece)
        else:
            parts.append(piece)
    return "".join(parts)


def share_parts(page: str) -> str:
    """Give a page's drawings what they have in common: classes in place of styles, one of each axis, tick and marker.

    Parameters
    ----------
    page : str
        A page with drawings by :func:`panel_svg`, a style element that takes the rules, and :data:`SHARED` in a drawing
        without a size, which takes the parts.
    """
    names: dict[str, str] = {}
    parts: dict[tuple[str, str], str] = {}
    ids: dict[str, str] = {}

    def named(style: re.Match[str]) -> str:
        return f'class="{names.setdefault(style[1], f"s{len(names)}")}"'

    def taken_out(part: re.Match[str]) -> str:
        before, ident, after = filter(None, part.groups())
        ids[ident] = parts.setdefault((before, after), f"d{len(parts)}")
        return ""

    def once(axis: re.Match[str]) -> str:
        return f'<use href="#{parts.setdefault(("<g ", f">{axis[1]}</g>"), f"d{len(parts)}")}"/>'

    def shared(drawing: re.Match[str]) -> str:
        text = _TAG.sub(lambda tag: _STYLE.sub(named, tag[0]), drawing[0])
        text = _EMPTY.sub("", _PART.sub(taken_out, text))
        text = _ID.sub(lambda ident: ident[1] + ids[ident[2]], text)
        return _SHARED_AXIS.sub(once, text)

    page = _DRAWING.sub(shared, page)
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    drawn = "".join(f'{before}id="{ident}"{after}' for (before, after), ident in parts.items())
    return page.replace("</style>", f"{rules}</style>", 1).replace(SHARED, f"<defs>{drawn}</defs>", 1)


SHARED = "<defs></defs>"
"""Where a page takes the parts that its drawings share."""


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
"""Groups are named alike in every drawing, and no two elements of a page may share a name."""

_SHORTER: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        (r"<svg [^>]*(viewBox=\"[^\"]*\")[^>]*>", r"<svg \1>"),  # no fixed size
        (r"<defs>\s*<style.*?</style>\s*</defs>", ""),  # it would apply to the whole page
        (r"<!--.*?-->", ""),
        (r" transform=\"rotate\(-0 [^\"]*\"", ""),
        (r"font-size: ([\d.]+)px; font-family: [^;\"]*", r"font-size: \1px"),  # the page's own fonts
        (r"xlink:href", "href"),
        (r"\s*\n\s*", " "),
        (r"> <", "><"),
        (r"<g [^>]*><path d=\"[^\"]*\" style=\"fill: none\"/></g>", ""),  # grounds that cannot be seen
        (r"<defs></defs>", ""),
        (r"<path(?![^>]* d=)[^>]*/>", ""),  # of intervals that do not exist
        (r"<g(?: [^>]*)?/>", ""),
        (rf" clip-path=\"[^\"]*\"( style=\"fill: none; stroke: {Colour.GRID})", r"\1"),  # a grid lies within
    )
)
"""What a page can do without, in order."""
