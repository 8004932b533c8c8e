"""Figures drawn for the page, in worker processes where that saves time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np
from markupsafe import Markup

from confidence_tasks.harness.workers import Job, LostJob, Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.computed import computed
from confidence_tasks.report.figures import Figure, Panel
from confidence_tasks.report.figures.page_panels import panel_svg
from confidence_tasks.report.page.tasks import _FEW_PANELS, _LEADING
from confidence_tasks.report.page.views import FigureView

T = TypeVar("T")

PANELS_SHOWN = 24
"""Maximum number of panels of a figure on a page."""

WORTH_WORKERS = 100
"""Number of panels above which worker processes, which take about 5 s to start, save time."""


def figure_views(
    figures: Sequence[Figure], workers: Workers | None = None, cache: Cache | None = None
) -> list[FigureView]:
    """Draw the panels of figures for the page; of a figure with many panels, some of each row."""
    figures = [_enlarged(figure) for figure in figures]
    shown = [_rows_shown(figure) for figure in figures]
    jobs = [
        _drawing(figure, heading, panel)
        for figure, rows in zip(figures, shown, strict=True)
        for heading, panels in rows
        for panel in panels
    ]
    results = computed(panel_svg, jobs, "panel", str, workers, cache, enough=WORTH_WORKERS)
    drawn = iter(
        Markup(panel_svg(*arguments) if isinstance(svg, LostJob) else svg)  # noqa: S704 - matplotlib escapes
        for (_, arguments), svg in zip(jobs, results, strict=True)
    )
    views = []
    for figure, rows in zip(figures, shown, strict=True):
        svgs = tuple((heading, tuple(islice(drawn, len(panels)))) for heading, panels in rows)
        views.append(FigureView(figure, svgs))
    return views


def _enlarged(figure: Figure) -> Figure:
    """Return a leading figure with larger panels, if it has few; any other as it is."""
    width, height = figure.size
    n_panels = sum(len(panels) for _, panels in figure.rows)
    if not figure.leads or n_panels > _FEW_PANELS or width >= _LEADING:
        return figure
    return replace(figure, size=(_LEADING, height * _LEADING / width))


def _drawing(figure: Figure, heading: str, panel: Panel) -> Job:
    """Return the arguments of :func:`panel_svg` for a panel, with its label."""
    label = ", ".join(filter(None, (figure.title, heading, panel.title)))
    return label, (panel, figure.size, label)


def _rows_shown(figure: Figure) -> list[tuple[str, list[Panel]]]:
    """Return the rows of a figure with the panels that the page shows."""
    rows = _evenly_spaced(figure.rows, PANELS_SHOWN)
    return [(heading, _evenly_spaced(panels, PANELS_SHOWN // len(rows))) for heading, panels in rows]


def _evenly_spaced(items: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` items, evenly spaced from the first to the last."""
    chosen = np.unique(np.linspace(0, len(items) - 1, min(most, len(items))).round().astype(int))
    return [items[i] for i in chosen]
