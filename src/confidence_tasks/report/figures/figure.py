"""A figure before it is drawn, and its colours and type, for light pages and for dark ones.

The palette is told apart with any colour vision. The eight colours of series are those of Okabe & Ito (2008),
https://jfly.uni-koeln.de/color/, their yellow and black replaced by ones that show on either ground; the ordered ones
are sampled from viridis. Drawings are made in the colours of the light theme, which a page replaces by CSS variables.
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


SETTINGS: Mapping[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "confidence-tasks",  # the same drawing is the same file
    "pdf.fonttype": 42,
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
