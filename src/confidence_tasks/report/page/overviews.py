"""The section of several tasks side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.extra_tables import Overview
from confidence_tasks.report.labels import signed
from confidence_tasks.report.page import overview_table
from confidence_tasks.report.page.views import FigureView, MeasureView, OverviewView


def overview_view(overview: Overview, views: Sequence[FigureView]) -> OverviewView:
    """Return the section of an overview, with a figure of each measure."""
    design = overview.design
    return OverviewView(
        tasks=overview.tasks,
        name=design.name,
        title=design.title,
        question=design.question,
        sentences=tuple(_overconfidence_by_task(overview)),
        measures=tuple(
            MeasureView(measure, figure.figure.name, figure, (overview_table(overview, measure),))
            for measure, figure in zip(design.measures, views, strict=True)
        ),
        note=design.note,
    )


def _overconfidence_by_task(overview: Overview) -> Iterator[str]:
    """Yield the tasks on which models are overconfident, and those on which they are underconfident."""
    for word, side, sign, is_beyond in _BEYOND:
        counts: list[str] = []
        for column, entries in _overconfidence_by_column(overview):
            n = sum(map(is_beyond, entries))
            if n:
                noun = " model" if len(entries) == 1 else " models"
                most = max(sign * entry.interval.estimate for entry in entries)
                of_models = f"{n} of {len(entries)}{'' if counts else noun}"
                counts.append(f"{column} ({of_models}, by up to {signed(sign * most)})")
        if counts:
            yield f"{word}, with intervals {side} 0: {', '.join(counts)}."


def _overconfidence_by_column(overview: Overview) -> Iterator[tuple[str, list[Estimated]]]:
    for column in overview.columns:
        entries = [overview.estimate(model, column, "overconfidence") for model in overview.models]
        yield column, [entry for entry in entries if entry is not None]


_BEYOND: tuple[tuple[str, str, float, Callable[[Estimated], bool]], ...] = (
    ("Overconfident", "above", 1.0, lambda entry: entry.interval.low > 0.0),
    ("Underconfident", "below", -1.0, lambda entry: entry.interval.high < 0.0),
)
"""Directions of error: word, side of 0, sign, and whether the interval of an estimate lies on that side."""
