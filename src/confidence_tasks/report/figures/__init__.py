"""A figure before it is drawn, its colours and type, and its SVG: small for a page, self-contained for a file.

The palette is told apart with any colour vision. The eight colours of series are those of Okabe & Ito (2008),
https://jfly.uni-koeln.de/color/, their yellow and black replaced by ones that show on either ground; the ordered ones
are sampled from viridis. Drawings are made in the colours of the light theme, which a page replaces by CSS variables.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from confidence_tasks.statistics.core import FloatArray


class Colour(StrEnum):
    """Colours by their role in a drawing: the value is that of light pages, no two alike; ``dark`` of dark ones."""

    dark: str

    def __new__(cls, light: str, dark: str = "") -> Self:
        """Make the colour on light pages the value of the member."""
        colour = str.__new__(cls, light)
        colour._value_, colour.dark = light, dark
        return colour

    INK = "#1b1f24", "#e8ebef"
    MUTED = "#636c76", "#9aa4b0"
    GRID = "#dfe3e8", "#333a44"
    PAPER = "#ffffff", "#171b21"
    BAND = "#e9edf2", "#262c35"
    RIGHT = "#0072b3", "#56b4e9"
    WRONG = "#e69f00", "#ff8a3d"
    SERIES_0 = "#0072b2", "#4aa8e8"
    SERIES_1 = "#d55e00", "#ff8a3d"
    SERIES_2 = "#009e73", "#2ec4a0"
    SERIES_3 = "#b0578d", "#e39ac6"
    SERIES_4 = "#3aa0dc", "#9ad4f7"
    SERIES_5 = "#d48d00", "#f4b942"
    SERIES_6 = "#6b5b95", "#a99bdb"
    SERIES_7 = "#50565e", "#b4bcc6"
    ORDER_0 = "#440154", "#b58ae0"
    ORDER_1 = "#414487", "#8a93dd"
    ORDER_2 = "#2a788e", "#4fb3cc"
    ORDER_3 = "#22a884", "#3fd1a5"
    ORDER_4 = "#6bb33f", "#93db5c"
    ORDER_5 = "#c8b900", "#f3e55a"

    @property
    def variable(self) -> str:
        """Name of the CSS variable.

        Examples
        --------
        >>> Colour.SERIES_0.variable
        '--series-0'
        """
        return "--" + self.name.lower().replace("_", "-")


SERIES = tuple(colour for colour in Colour if colour.name.startswith("SERIES"))
ORDER = tuple(colour for colour in Colour if colour.name.startswith("ORDER"))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def series(index: int) -> tuple[Colour, str]:
    """Return colour and marker of the series with this number; after eight colours the next marker.

    Examples
    --------
    >>> series(0)[1], series(8)[0] is series(0)[0], series(8)[1]
    ('o', True, 's')
    """
    turn, position = divmod(index, len(SERIES))
    return SERIES[position], MARKERS[(position + turn) % len(MARKERS)]


def ordered(index: int, count: int) -> Colour:
    """Return the colour of step ``index`` of ``count`` on an ordered scale.

    Examples
    --------
    >>> ordered(0, 3) is ORDER[0], ordered(2, 3) is ORDER[-1]
    (True, True)
    """
    return ORDER[round(index * (len(ORDER) - 1) / max(count - 1, 1))]


Draw: TypeAlias = "Callable[[Axes], None]"


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: what sets it apart from its neighbours, such as a condition, and what draws on it."""

    title: str
    draw: Draw


def panel(title: str, draw: Callable[..., None], **settings: Any) -> Panel:
    """Return a panel that a function draws with some settings, which it takes as keywords."""
    return Panel(title, partial(draw, **settings))


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """Label of a colour in a legend, with Matplotlib's name of the marker; empty for a patch of colour."""

    label: str
    colour: Colour
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A curve, or points with intervals, in the look of one series; ``marker`` is empty for a plain curve."""

    label: str
    colour: Colour
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels with a title and a caption, which says what is shown and how to read it.

    ``name`` is the file name without its suffix; ``rows`` have labels, empty where there is one row; ``keys`` are
    the legend, and ``size`` the width and height of a panel in inches.
    """

    name: str
    title: str
    caption: str
    rows: tuple[tuple[str, tuple[Panel, ...]], ...]
    keys: tuple[LegendEntry, ...] = ()
    size: tuple[float, float] = (1.95, 1.8)


_MARGINS = {"left": 0.46, "right": 0.06, "bottom": 0.4, "top": 0.2}
"""Inches around the axes of a panel."""

_WIDE = 4.0
"""Width in inches from which a panel stands alone and has room for longer labels."""

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
    # Coordinates to a tenth of a point, as good as exact; numbers between the tags are texts, and stay.
    text = _TAG.sub(lambda tag: _AROUND_COMMANDS.sub(r"\1", _DIGITS.sub(r"\1\2", tag[0])), text)
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

    with matplotlib.rc_context(_style()):
        yield Drawing(figsize=size, layout=layout)


@cache
def _style() -> Any:
    """Return the settings of every drawing: a style sheet, and the colours."""
    import matplotlib

    path = Path(__file__).with_name("drawings.mplstyle")
    muted = dict.fromkeys(
        ("axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), Colour.MUTED.value
    )
    colours = {"text.color": Colour.INK.value, "grid.color": Colour.GRID.value, **muted}
    return {**matplotlib.rc_params_from_file(path, use_default_template=False), **colours}


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


def _without_bare_groups(text: str) -> str:
    """Leave out the groups that have no attributes, and so do nothing."""
    parts: list[str] = []
    kept: list[bool] = []
    for piece in _GROUP.split(text):
        if piece.startswith("<g"):
            kept.append(piece != "<g>")
            shown = kept[-1]
        else:
            shown = kept.pop() if piece == "</g>" else True
        if shown:
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
"""Tag of a named group: matplotlib repeats names from drawing to drawing, and they must be unique on a page."""

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
"""Patterns that shorten a drawing for a page, with their replacements, in order."""
