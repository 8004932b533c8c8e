"""Figures as data, their colours, and their drawings: small SVG elements for a page, and files in SVG and PDF.

The palette is suited to any colour vision. The eight colours of series are those of Okabe & Ito (2008),
https://jfly.uni-koeln.de/color/, with yellow and black replaced by colours that are visible in both themes; the ordered
colours are sampled from viridis. Panels are drawn in the colours of the light theme; in a page, CSS variables replace
them.
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
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from confidence_tasks.statistics.core import FloatArray


class Colour(StrEnum):
    """Colours by their role in a drawing: the value is for the light theme, ``dark`` for the dark one.

    All values differ, so that each can be replaced by its CSS variable.
    """

    dark: str

    def __new__(cls, light: str, dark: str = "") -> Self:
        """Make the light colour the value of the member."""
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
    """Return the colour and the marker of a series by its number.

    Markers change with the colours, and differ between series of one colour.

    Examples
    --------
    >>> series(0)[1], series(8)[0] is series(0)[0], series(8)[1]
    ('o', True, 's')
    """
    cycle, position = divmod(index, len(SERIES))
    return SERIES[position], MARKERS[(position + cycle) % len(MARKERS)]


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
    """One set of axes: its title, such as a condition, and the function that draws on it."""

    title: str
    draw: Draw


def panel(title: str, draw: Callable[..., None], **settings: Any) -> Panel:
    """Return a panel drawn by ``draw(axes, **settings)``."""
    return Panel(title, partial(draw, **settings))


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A label in a legend, with its colour and Matplotlib marker; the marker is empty for a patch of colour."""

    label: str
    colour: Colour
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """The data and look of one series: a curve, or points with intervals; ``marker`` is empty for a plain curve."""

    label: str
    colour: Colour
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels in rows, with a title, a caption and a legend.

    ``name`` is the file name without its suffix. Each of ``rows`` has a label, which is empty where there is one row.
    ``keys`` are the entries of the legend; ``size`` is the width and height of a panel in inches. A page shows the
    figure that ``leads`` a section open, and folds the others. In a ``grid``, panels with the same title have the same
    axes; in a file they stand in one column, small enough for a page.
    """

    name: str
    title: str
    caption: str
    rows: tuple[tuple[str, tuple[Panel, ...]], ...]
    keys: tuple[LegendEntry, ...] = ()
    size: tuple[float, float] = (1.95, 1.8)
    leads: bool = False
    grid: bool = False

    @property
    def is_grid(self) -> bool:
        """Whether a file is a grid: a single row is not."""
        return self.grid and len(self.rows) > 1

    @property
    def columns(self) -> int:
        """Number of panels side by side in a file."""
        titles = {panel.title for _, panels in self.rows for panel in panels}
        widest = max(len(panels) for _, panels in self.rows)
        if self.is_grid:
            return len(titles)
        return _WRAPPED if len(self.rows) == 1 and widest > _MOST_COLUMNS else widest

    @property
    def width(self) -> float:
        """Width of a file in inches."""
        return (
            min(_PAGE[0], self.size[0] * self.columns + _LABELS)
            if self.is_grid
            else self.size[0] * self.columns
        )


_MOST_COLUMNS, _WRAPPED = 6, 4
"""Largest number of panels in a single row of a file, and number of columns of a longer row, which is wrapped."""

_PAGE, _LABELS = (7.0, 9.2), 1.0
"""Largest size in inches of a grid in a file, and the width of the labels of its rows."""

_MARGINS = {"left": 0.46, "right": 0.06, "bottom": 0.4, "top": 0.2}
"""Margins around the axes of a panel, in inches."""

_WIDE = 4.0
"""Width in inches from which a panel has a wider left margin, for longer labels."""

_TIPS = "tips-"


def tips(artist: Artist, texts: Sequence[str]) -> None:
    """Attach a text to each marker of an artist, which a page shows as a tooltip.

    The texts are encoded in the artist's id; :func:`panel_svg` decodes them.
    """
    artist.set_gid(_TIPS + urlsafe_b64encode(json.dumps(list(texts)).encode()).decode().rstrip("="))


def panel_svg(panel: Panel, size: tuple[float, float], label: str = "") -> str:
    """Return a panel as an SVG element for a page, its colours as CSS variables.

    The size is in inches; ``label`` is the text for screen readers. Equal parts of drawings have equal ids, so that
    :func:`share_parts` can keep each part once on a page.
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
        _set_title(axes, panel.title, width - left - _MARGINS["right"])
        text = _save(drawing)
    text = text[text.index("<svg") :]
    for pattern, replacement in _SHORTER:
        text = pattern.sub(replacement, text)
    # Round coordinates to a tenth of a point. Numbers between tags are texts and stay unchanged.
    text = _TAG.sub(lambda tag: _AROUND_COMMANDS.sub(r"\1", _DIGITS.sub(r"\1\2", tag[0])), text)
    text = _AXIS.sub('<g class="axis"', _with_tips(text))
    text = _without_bare_groups(_NAMED.sub("<g", text))
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
    return re.sub("|".join(Colour), lambda colour: f"var({Colour(colour[0]).variable})", text)


def _set_title(axes: Axes, title: str, inches: float) -> None:
    """Set a title in the largest type that fits; a title that is too long in the smallest type loses its middle."""
    room = 72.0 * inches / _LETTER
    smallest, largest = _TITLE_SIZES
    size = min(largest, max(smallest, room / max(len(title), 1)))
    axes.set_title(_shortened(title, int(room / size)), loc="left", fontsize=size)


def _shortened(text: str, n: int) -> str:
    """Return a text of at most n letters; a longer one loses its middle."""
    half = (n - 1) // 2
    return text if len(text) <= n else f"{text[:half]}…{text[-half:]}"


_LETTER = 0.53
"""Mean width of a letter, in multiples of the type size."""

_TITLE_SIZES = (7.0, 8.5)
"""Smallest and largest type size of a panel's title, in points."""


def figure_svg(figure: Figure) -> str:
    """Return a whole figure as an SVG file, on white."""
    with _figure_drawing(figure) as drawing:
        return _with_tips(_save(drawing))


def figure_pdf(figure: Figure) -> bytes:
    """Return a whole figure as a PDF file, on white."""
    buffer = io.BytesIO()
    with _figure_drawing(figure) as drawing:
        drawing.savefig(buffer, format="pdf", metadata={"CreationDate": None})
    return buffer.getvalue()


@contextmanager
def _figure_drawing(figure: Figure) -> Iterator[Drawing]:
    """Yield a drawing of all panels of a figure, with its legend."""
    rows = _rows_in_file(figure)
    width, height = figure.width, figure.size[1] * len(rows)
    height = (min(_PAGE[1], height) if figure.is_grid else height) + 0.3
    with _drawing((width, height), layout="constrained") as drawing:
        drawing.patch.set_facecolor(Colour.PAPER)
        grid = drawing.subplots(len(rows), figure.columns, squeeze=False)
        _draw_panels([("", panels) for _, panels in rows] if figure.is_grid else rows, grid)
        if figure.is_grid:
            _share_axes(drawing, rows, grid)
        if figure.keys:
            inches = 0.5 + 0.07 * max(len(key.label) for key in figure.keys)
            columns = max(1, min(len(figure.keys), int(width / inches)))
            drawing.legend(handles=_legend_handles(figure), loc="outside lower center", ncols=columns)
        yield drawing


def _rows_in_file(figure: Figure) -> _Rows:
    """Return the rows of panels in a file: a long row is wrapped, and in a grid, each title has a column."""
    if figure.is_grid:
        fullest_first = sorted(figure.rows, key=lambda row: -len(row[1]))
        titles = list(dict.fromkeys(panel.title for _, panels in fullest_first for panel in panels))
        by_title = [(label, {panel.title: panel for panel in panels}) for label, panels in figure.rows]
        return [(label, [of_row.get(title) for title in titles]) for label, of_row in by_title]
    n = figure.columns
    return [
        (label, panels[start : start + n])
        for label, panels in figure.rows
        for start in range(0, len(panels), n)
    ]


_Rows: TypeAlias = "Sequence[tuple[str, Sequence[Panel | None]]]"


def _draw_panels(rows: _Rows, grid: Any) -> None:
    """Draw panels on the axes of a grid, and remove the axes that have none."""
    for (label, panels), row in zip(rows, grid, strict=True):
        for axes, panel in zip_longest(row, panels):
            if panel:
                panel.draw(axes)
                axes.set_title(
                    f"{label}\n{panel.title}" if label and axes is row[0] else panel.title, loc="left"
                )
            else:
                axes.remove()


def _share_axes(drawing: Drawing, rows: _Rows, grid: Any) -> None:
    """Leave titles above each column, names beside each row, and ticks and labels of axes at the edges of a grid."""
    filled = [(i, j) for i, (_, panels) in enumerate(rows) for j, panel in enumerate(panels) if panel]
    first, last = ({j: i for i, j in cells} for cells in (filled[::-1], filled))
    leftmost = dict(filled[::-1])
    drawing.supylabel(grid[filled[0]].get_ylabel(), fontsize=8, color=Colour.MUTED.value)
    for i, j in filled:
        _leave_at_edges(grid[i, j], top=i == first[j], bottom=i == last[j], left=j == leftmost[i])
    for i, j in leftmost.items():
        look = {"rotation": 0, "ha": "right", "va": "center", "fontsize": 7}
        grid[i, j].set_ylabel(_in_lines(rows[i][0]), color=Colour.INK.value, **look)


def _leave_at_edges(axes: Axes, *, top: bool, bottom: bool, left: bool) -> None:
    """Remove the title, ticks and labels of a panel that are not at an edge of its grid."""
    axes.locator_params(nbins=3)
    axes.tick_params(labelbottom=bottom, labelleft=left, labelsize=7)
    axes.set_ylabel("")
    if not top:
        axes.set_title("", loc="left")
    if not bottom:
        axes.set_xlabel("")


def _in_lines(label: str) -> str:
    """Return the name of a row in lines of at most 18 letters; only the middle of a long part is left out."""
    provider, slash, name = label.rpartition("/")
    return "\n".join(_shortened(part, 18) for part in (f"{provider}{slash}", name) if part)


def _legend_handles(figure: Figure) -> list[Artist]:
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
    """Yield an empty drawing in the package's style."""
    import matplotlib
    from matplotlib.figure import Figure as Drawing

    with matplotlib.rc_context(_style()):
        yield Drawing(figsize=size, layout=layout)


@cache
def _style() -> Any:
    """Return the Matplotlib settings of all drawings: the style sheet, and the colours."""
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
        # SVG keeps texts as texts, so the browser finds a font that has the glyph.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        drawing.savefig(buffer, format="svg", metadata=nothing)
    return buffer.getvalue()


def _with_tips(text: str) -> str:
    """Give each marker its tooltip as a title element."""

    def add_titles(artist: re.Match[str]) -> str:
        texts = iter(json.loads(urlsafe_b64decode(artist[1] + "==")))
        markers = re.sub(
            r"<use ([^>]*)/>",
            lambda use: f"<use {use[1]}><title>{escape(next(texts, ''))}</title></use>",
            artist[2],
        )
        return f"<g>{markers}"

    return re.sub(rf'<g id="{_TIPS}([\w-]+)">(.*?)(?=<g id=|\Z)', add_titles, text, flags=re.DOTALL)


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
