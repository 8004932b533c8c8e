"""Figures as data, their colours, and their drawings as files in SVG and PDF; a page has them panel by panel.

Panels are drawn in the colours of the light theme; in a page, CSS variables replace them.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from confidence_tasks.drawing import TIPS, Colour, tips_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from confidence_tasks.statistics.core import FloatArray


Draw: TypeAlias = "Callable[[Axes], None]"


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: its title, such as a condition, and the function that draws on it.

    ``left`` is the room for labels on the left of the axes on a page, in inches; by default that of numbers.
    """

    title: str
    draw: Draw
    left: float | None = None


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


def shortened(text: str, n: int) -> str:
    """Return a text of at most n letters; a longer one loses its middle."""
    half = (n - 1) // 2
    return text if len(text) <= n else f"{text[:half]}…{text[-half:]}"


def figure_svg(figure: Figure) -> str:
    """Return a whole figure as an SVG file, on white."""
    with _figure_drawing(figure) as drawing:
        return with_tips(saved(drawing))


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
    with drawing_in_style((width, height), layout="constrained") as drawing:
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
    return "\n".join(shortened(part, 18) for part in (f"{provider}{slash}", name) if part)


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
def drawing_in_style(
    size: tuple[float, float], layout: Literal["constrained"] | None = None
) -> Iterator[Drawing]:
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


def saved(drawing: Drawing) -> str:
    """Return a drawing as SVG."""
    buffer = io.StringIO()
    nothing: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with warnings.catch_warnings():
        # SVG keeps texts as texts, so the browser finds a font that has the glyph.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        drawing.savefig(buffer, format="svg", metadata=nothing)
    return buffer.getvalue()


def with_tips(text: str) -> str:
    """Give each marker its tooltip as a title element."""

    def add_titles(artist: re.Match[str]) -> str:
        texts = iter(tips_of(artist[1]))
        markers = re.sub(
            r"<use ([^>]*)/>",
            lambda use: f"<use {use[1]}><title>{escape(next(texts, ''))}</title></use>",
            artist[2],
        )
        return f"<g>{markers}"

    return re.sub(rf'<g id="{TIPS}([\w-]+)">(.*?)(?=<g id=|\Z)', add_titles, text, flags=re.DOTALL)
