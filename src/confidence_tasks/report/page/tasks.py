"""The section of a task on the report's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confidence_tasks.report.checks import notices_of
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.labels import STATUSES, group_label, measure_label
from confidence_tasks.report.page import (
    TableView,
    contrast_table,
    extra_view,
    measure_tables,
    model_tables,
    source_tables,
)
from confidence_tasks.report.page.first_screen import (
    Headline,
    contrast_sentences,
    model_sentences,
    overconfidence_sentences,
)
from confidence_tasks.report.page.samples import sample_rows, samples_per_model, status_rows
from confidence_tasks.report.page.views import FigureView, MeasureView, TaskView
from confidence_tasks.study.definition import Study

_WIDE, _NARROW = (7.4, 3.0), (3.4, 2.4)
"""Size in inches of the figure of a measure: over several conditions, or over one or two."""

_LEADING, _FEW_PANELS = 3.4, 4
"""Width in inches of the panels of a leading figure, two of which fill the page, if there are few."""


def task_view(
    headline: Headline, views: Sequence[FigureView], extras: Sequence[ExtraTable], viewer: str
) -> TaskView:
    """Return the section of a task with its figures and its extra tables."""
    results = headline.results
    study, design, slug = results.task_trials.study, results.task_trials.design, results.task_trials.slug
    by_name = {view.figure.name: view for view in views}
    measures = [
        MeasureView(measure, name, by_name.pop(name, None), measure_tables(results, measure))
        for measure in results.headline
        for name in [f"{slug}_{measure.name}"]
    ]
    lead = next((view for view in by_name.values() if view.figure.leads), None)
    all_measures = model_tables(results)
    statuses = tuple(status_rows(results))
    return TaskView(
        tasks=(results,),
        name=slug,
        title=results.task_trials.title,
        question=design.question,
        sentences=(
            *model_sentences(headline),
            *contrast_sentences(results),
            *overconfidence_sentences(results),
        ),
        notices=tuple(notices_of(results)),
        measures=tuple(measures),
        lead=lead,
        figures=tuple(view for view in by_name.values() if view is not lead),
        all_measures=all_measures,
        definitions=_definitions(study, all_measures),
        extras=_extra_views(extras, viewer),
        contrasts=contrast_table(results),
        baseline=group_label(design.baseline),
        sources=source_tables(results, results.headline),
        statuses=statuses,
        legend=_legend(statuses),
        samples=tuple(sample_rows(results, viewer)),
        samples_per_model=samples_per_model(results),
    )


def _extra_views(extras: Sequence[ExtraTable], viewer: str) -> tuple[tuple[ExtraTable, TableView], ...]:
    """Return the tables that the page shows, each with its view."""
    return tuple((extra, extra_view(extra, viewer)) for extra in extras if not extra.repeats)


def _definitions(study: Study, tables: Sequence[TableView]) -> tuple[tuple[str, str], ...]:
    """Return the labels and definitions of the measures that are rows of some tables."""
    shown = {row.label for table in tables for row in table.rows}
    labelled = [(measure_label(measure.name), measure.description) for measure in study.measures]
    return tuple((label, description) for label, description in labelled if label in shown)


def _legend(statuses: Sequence[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Return the statuses that occur in some rows, each with its label."""
    occurring = {status for row in statuses for status, _, _ in row["parts"]}
    return tuple((status, name) for status, name in STATUSES.items() if status in occurring)
