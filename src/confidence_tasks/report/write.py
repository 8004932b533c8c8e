"""From trials to a report: the page, the numbers in it, and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from confidence_tasks.report.cache import Cache
from confidence_tasks.report.collection import Collection
from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.extra_tables import ExtraTable, Overview, overviews, ways_table
from confidence_tasks.report.figures.figure import Figure
from confidence_tasks.report.figures.general import model_styles
from confidence_tasks.report.labels import TITLE, VIEWER
from confidence_tasks.report.page.first_screen import headline_of
from confidence_tasks.report.page.page import page
from confidence_tasks.report.page.tasks import (
    TaskView,
    figure_views,
    figures_of,
    overview_figures,
    overview_view,
    task_view,
)
from confidence_tasks.report.paper import Filled, Replication, filled_papers
from confidence_tasks.report.paper.files import html_table
from confidence_tasks.report.results import TaskResults, results_and_lost
from confidence_tasks.report.task_trials import group_by_task
from confidence_tasks.report.trial_files import Skipped
from confidence_tasks.report.workers import Advance, Workers
from confidence_tasks.study.reference import loaded


@dataclass(frozen=True, slots=True)
class Report:
    """A report.

    Attributes
    ----------
    html : str
        The page, self-contained.
    results : tuple of TaskResults
        Its numbers, by task.
    figures : tuple of Figure
        Its figures.
    extras : tuple of ExtraTable
        Its tables beside the measures.
    tasks : tuple of TaskView
        What the page shows of each task.
    overviews : tuple of Overview
        Its tasks side by side.
    papers : tuple of (Replication, list)
        What the studies' papers number, with the models of the report.
    lost : tuple of Skipped
        The files of models that are not in the report, because the processes that computed them died.
    """

    html: str
    results: tuple[TaskResults, ...]
    figures: tuple[Figure, ...]
    extras: tuple[ExtraTable, ...]
    tasks: tuple[TaskView, ...]
    overviews: tuple[Overview, ...]
    papers: tuple[tuple[Replication, list[Filled]], ...]
    lost: tuple[Skipped, ...] = ()


def report_of(
    collection: Collection,
    *,
    settings: Settings | None = None,
    viewer: str = VIEWER,
    title: str = TITLE,
    advance: Advance | None = None,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> Report:
    """Return the report on some trials.

    Parameters
    ----------
    collection : Collection
        What :func:`~confidence_tasks.report.collect` read; without trials, the page says what was found.
    settings : Settings, optional
        How uncertainty is computed.
    viewer : str
        Address of Inspect's viewer, for links to samples.
    title : str
        Title of the page.
    advance : callable, optional
        Told how many models are done, of how many, and which is under way.
    workers : Workers, optional
        Where the models are computed; by default in this process.
    cache : Cache, optional
        What is known of the same trials, and where what is computed is kept.
    """
    settings = settings or Settings()
    computed, lost = results_and_lost(group_by_task(collection.files), settings, advance, workers, cache)
    results = tuple(computed)
    collection = replace(collection, skipped=(*collection.skipped, *lost))
    styles = model_styles(list(dict.fromkeys(model.label for task in results for model in task.models)))
    figures = [figures_of(task, styles) for task in results]
    extras = [extras_of(task) for task in results]
    above = tuple(overviews(results))
    above_figures = [overview_figures(overview, styles) for overview in above]
    every_figure = chain.from_iterable(above_figures + figures)
    papers = tuple(filled_papers(results, chain.from_iterable(extras), every_figure))
    headlines = [headline_of(task, workers, cache) for task in results]
    drawn = iter(figure_views(list(chain.from_iterable(above_figures + figures)), workers, cache))
    views, its_views = ([[next(drawn) for _ in its] for its in group] for group in (above_figures, figures))
    tasks = tuple(task_view(*parts, viewer) for parts in zip(headlines, its_views, extras, strict=True))
    tasks = _with_papers(tasks, results, papers)
    side_by_side = [overview_view(*parts) for parts in zip(above, views, strict=True)]
    return Report(
        html=page(tasks, headlines, collection, styles, settings, overviews=side_by_side, title=title),
        results=results,
        figures=tuple(figure for its in above_figures + figures for figure in its),
        extras=tuple(extra for its in extras for extra in its),
        tasks=tasks,
        overviews=above,
        papers=papers,
        lost=tuple(lost),
    )


def _with_papers(
    tasks: Sequence[TaskView],
    results: Sequence[TaskResults],
    papers: Sequence[tuple[Replication, list[Filled]]],
) -> tuple[TaskView, ...]:
    """Put each paper's tables with the last of its tasks."""
    names = [task.task_trials.task for task in results]
    last = {
        max(i for i, name in enumerate(names) if name in replication.tasks): tuple(
            (made, html_table(made) if made.rows else None) for made in items
        )
        for replication, items in papers
    }
    return tuple(replace(view, replication=last.get(i, ())) for i, view in enumerate(tasks))


def extras_of(results: TaskResults) -> list[ExtraTable]:
    """Return the tables of a task beside the measures, but those with nothing to show."""
    made = [make(results) for make in (ways_table, *loaded(results.task_trials.study.tables))]
    return [extra for extra in made if not extra.frame.empty]
