"""Colours and type: one palette that is told apart with any colour vision, for light pages and for dark ones.

The eight colours of series are those of Okabe & Ito (2008), https://jfly.uni-koeln.de/color/, their yellow and black
replaced by ones that show on either ground; the ordered ones are sampled from viridis. Drawings are made in stand-in
colours, which a page replaces by CSS variables and a file by the colours of the light theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Colour(StrEnum):
    """Stand-in colours, by the role that they have in a drawing."""

    INK = "#010100"
    MUTED = "#010200"
    GRID = "#010300"
    PAPER = "#010400"
    BAND = "#010500"
    RIGHT = "#010600"
    WRONG = "#010700"
    SERIES_0 = "#020000"
    SERIES_1 = "#020100"
    SERIES_2 = "#020200"
    SERIES_3 = "#020300"
    SERIES_4 = "#020400"
    SERIES_5 = "#020500"
    SERIES_6 = "#020600"
    SERIES_7 = "#020700"
    ORDER_0 = "#030000"
    ORDER_1 = "#030100"
    ORDER_2 = "#030200"
    ORDER_3 = "#030300"
    ORDER_4 = "#030400"
    ORDER_5 = "#030500"

    @property
    def variable(self) -> str:
        """Name of the CSS variable.

        Examples
        --------
        >>> Colour.SERIES_0.variable
        '--series-0'
        """
        return "--" + self.name.lower().replace("_", "-")


LIGHT: Mapping[Colour, str] = {
    Colour.INK: "#1b1f24",
    Colour.MUTED: "#636c76",
    Colour.GRID: "#dfe3e8",
    Colour.PAPER: "#ffffff",
    Colour.BAND: "#e9edf2",
    Colour.RIGHT: "#0072b2",
    Colour.WRONG: "#e69f00",
    Colour.SERIES_0: "#0072b2",
    Colour.SERIES_1: "#d55e00",
    Colour.SERIES_2: "#009e73",
    Colour.SERIES_3: "#b0578d",
    Colour.SERIES_4: "#3aa0dc",
    Colour.SERIES_5: "#d48d00",
    Colour.SERIES_6: "#6b5b95",
    Colour.SERIES_7: "#50565e",
    Colour.ORDER_0: "#440154",
    Colour.ORDER_1: "#414487",
    Colour.ORDER_2: "#2a788e",
    Colour.ORDER_3: "#22a884",
    Colour.ORDER_4: "#6bb33f",
    Colour.ORDER_5: "#c8b900",
}

DARK: Mapping[Colour, str] = {
    Colour.INK: "#e8ebef",
    Colour.MUTED: "#9aa4b0",
    Colour.GRID: "#333a44",
    Colour.PAPER: "#171b21",
    Colour.BAND: "#262c35",
    Colour.RIGHT: "#56b4e9",
    Colour.WRONG: "#ff8a3d",
    Colour.SERIES_0: "#4aa8e8",
    Colour.SERIES_1: "#ff8a3d",
    Colour.SERIES_2: "#2ec4a0",
    Colour.SERIES_3: "#e39ac6",
    Colour.SERIES_4: "#9ad4f7",
    Colour.SERIES_5: "#f4b942",
    Colour.SERIES_6: "#a99bdb",
    Colour.SERIES_7: "#b4bcc6",
    Colour.ORDER_0: "#b58ae0",
    Colour.ORDER_1: "#8a93dd",
    Colour.ORDER_2: "#4fb3cc",
    Colour.ORDER_3: "#3fd1a5",
    Colour.ORDER_4: "#93db5c",
    Colour.ORDER_5: "#f3e55a",
}

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
