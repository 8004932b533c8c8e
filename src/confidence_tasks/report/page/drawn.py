"""Figures drawn for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from markupsafe import Markup

from confidence_tasks.report.figures import Figure, Panel
from confidence_tasks.report.figures.page_panels import panel_svg
from confidence_tasks.report.page.tasks import _FEW_PANELS, _LEADING
from confidence_tasks.report.page.views import FigureView

T = TypeVar("T")

PANELS_SHOWN = 24
"""Maximum number of panels of a figure on a page."""


def figure_views(figures: Sequence[Figure]) -> list[FigureView]:
    """Draw the panels of figures for the page; of a figure with many panels, some of each row."""
    views = []
    for figure in map(_enlarged, figures):
        rows = tuple(
            (heading, tuple(_drawing(figure, heading, panel) for panel in panels))
            for heading, panels in _rows_shown(figure)
        )
        views.append(FigureView(figure, rows))
    return views


def _enlarged(figure: Figure) -> Figure:
    """Return a leading figure with larger panels, if it has few; any other as it is."""
    width, height = figure.size
    n_panels = sum(len(panels) for _, panels in figure.rows)
    if not figure.leads or n_panels > _FEW_PANELS or width >= _LEADING:
        return figure
    return replace(figure, size=(_LEADING, height * _LEADING / width))


def _drawing(figure: Figure, heading: str, panel: Panel) -> Markup:
    """Return the drawing of a panel, with its label."""
    label = ", ".join(filter(None, (figure.title, heading, panel.title)))
    return Markup(panel_svg(panel, figure.size, label))  # noqa: S704 - its texts are escaped


def _rows_shown(figure: Figure) -> list[tuple[str, list[Panel]]]:
    """Return the rows of a figure with the panels that the page shows."""
    rows = _evenly_spaced(figure.rows, PANELS_SHOWN)
    return [(heading, _evenly_spaced(panels, PANELS_SHOWN // len(rows))) for heading, panels in rows]


def _evenly_spaced(items: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` items, evenly spaced from the first to the last."""
    chosen = np.unique(np.linspace(0, len(items) - 1, min(most, len(items))).round().astype(int))
    return [items[i] for i in chosen]
