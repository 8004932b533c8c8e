"""A figure before it is drawn, and its colours and type, for light pages and for dark ones.

The palette is told apart with any colour vision. The eight colours of series are those of Okabe & Ito (2008),
https://jfly.uni-koeln.de/color/, their yellow and black replaced by ones that show on either ground; the ordered ones
are sampled from viridis. Drawings are made in stand-in colours, which a page replaces by CSS variables and a file by
the colours of the light theme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Colour(StrEnum):
    """Stand-in colours, by the role that they have in a drawing, with what they are on light and on dark pages."""

    light: str
    dark: str

    def __new__(cls, stand_in: str, light: str = "", dark: str = "") -> Self:
        """Make the stand-in the value of the member."""
        colour = str.__new__(cls, stand_in)
        colour._value_, colour.light, colour.dark = stand_in, light, dark
        return colour

    INK = "#010100", "#1b1f24", "#e8ebef"
    MUTED = "#010200", "#636c76", "#9aa4b0"
    GRID = "#010300", "#dfe3e8", "#333a44"
    PAPER = "#010400", "#ffffff", "#171b21"
    BAND = "#010500", "#e9edf2", "#262c35"
    RIGHT = "#010600", "#0072b2", "#56b4e9"
    WRONG = "#010700", "#e69f00", "#ff8a3d"
    SERIES_0 = "#020000", "#0072b2", "#4aa8e8"
    SERIES_1 = "#020100", "#d55e00", "#ff8a3d"
    SERIES_2 = "#020200", "#009e73", "#2ec4a0"
    SERIES_3 = "#020300", "#b0578d", "#e39ac6"
    SERIES_4 = "#020400", "#3aa0dc", "#9ad4f7"
    SERIES_5 = "#020500", "#d48d00", "#f4b942"
    SERIES_6 = "#020600", "#6b5b95", "#a99bdb"
    SERIES_7 = "#020700", "#50565e", "#b4bcc6"
    ORDER_0 = "#030000", "#440154", "#b58ae0"
    ORDER_1 = "#030100", "#414487", "#8a93dd"
    ORDER_2 = "#030200", "#2a788e", "#4fb3cc"
    ORDER_3 = "#030300", "#22a884", "#3fd1a5"
    ORDER_4 = "#030400", "#6bb33f", "#93db5c"
    ORDER_5 = "#030500", "#c8b900", "#f3e55a"

    @property
    def variable(self) -> str:
        """Name of the CSS variable.

        Examples
        --------
        >>> Colour.SERIES_0.variable
        '--series-0'
        """
        return "--" + self.name.lower().replace("_", "-")


LIGHT: Mapping[Colour, str] = {colour: colour.light for colour in Colour}
DARK: Mapping[Colour, str] = {colour: colour.dark for colour in Colour}

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


SETTINGS: Mapping[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "confidence-tasks",  # the same drawing is the same file
    "pdf.fonttype": 42,
    "pdf.compression": 0,  # colours are replaced in the drawing
    "text.parse_math": False,  # a model's name is no formula
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titley": 1.0,  # no ticks are on top: not to be looked for, which takes a tenth of the time
    "axes.labelsize": 8,
    "axes.labelcolor": Colour.MUTED.value,
    "axes.edgecolor": Colour.MUTED.value,
    "axes.linewidth": 0.6,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": Colour.GRID.value,
    "grid.linewidth": 0.6,
    "figure.facecolor": "none",
    "text.color": Colour.INK.value,
    "xtick.color": Colour.MUTED.value,
    "ytick.color": Colour.MUTED.value,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "patch.linewidth": 0,
}
"""Matplotlib settings of every drawing."""


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
    """What a colour stands for, with Matplotlib's name of the marker; empty for a patch of colour."""

    label: str
    colour: Colour
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
