"""A figure before it is drawn: panels in rows, each with what it says in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from confidence_tasks.report.figures.style import Colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw: TypeAlias = "Callable[[Axes], None]"


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: what sets it apart from its neighbours, such as a condition, and what draws on it."""

    title: str
    draw: Draw


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
