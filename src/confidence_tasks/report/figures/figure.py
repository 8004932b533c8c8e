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
    """One set of axes.

    Attributes
    ----------
    title : str
        What sets it apart from its neighbours, such as a condition.
    draw : callable
        Draws on the axes given.
    """

    title: str
    draw: Draw


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """An entry of the legend.

    Attributes
    ----------
    label : str
        What the colour stands for.
    colour : Colour
        The colour.
    marker : str
        Matplotlib's name of the marker; empty for a patch of colour.
    """

    label: str
    colour: Colour
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels with a title and a caption.

    Attributes
    ----------
    name : str
        File name without its suffix.
    title : str
        The figure in a few words.
    caption : str
        What is shown and how to read it.
    rows : tuple of (str, tuple of Panel)
        Rows with their labels; the label is empty where there is one row.
    keys : tuple of LegendEntry
        The legend.
    size : (float, float)
        Width and height of a panel in inches.
    """

    name: str
    title: str
    caption: str
    rows: tuple[tuple[str, tuple[Panel, ...]], ...]
    keys: tuple[LegendEntry, ...] = ()
    size: tuple[float, float] = (1.95, 1.8)
