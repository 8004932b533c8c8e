"""Colours and markers of drawings, tooltips, and axes that are written as SVG.

The palette is suited to any colour vision. The eight colours of series are those of Okabe & Ito (2008),
https://jfly.uni-koeln.de/color/, with yellow and black replaced by colours that are visible in both themes; the ordered
colours are sampled from viridis.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, Self


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


class Identified(Protocol):
    """What takes an identifier, such as an artist of Matplotlib."""

    def set_gid(self, gid: str) -> None:
        """Take an identifier."""


TIPS = "tips-"
"""Beginning of an identifier that holds tooltips."""


def tips(artist: Identified, texts: Sequence[str]) -> None:
    """Attach a text to each marker of an artist, which a page shows as a tooltip.

    The texts are encoded in the artist's id; :func:`tips_of` decodes them.
    """
    artist.set_gid(TIPS + urlsafe_b64encode(json.dumps(list(texts)).encode()).decode().rstrip("="))


def tips_of(identifier: str) -> list[str]:
    """Return the texts of an artist's markers, which :func:`tips` encoded in its id."""
    encoded = identifier.removeprefix(TIPS)
    texts: list[str] = json.loads(urlsafe_b64decode(encoded + "=="))
    return texts
