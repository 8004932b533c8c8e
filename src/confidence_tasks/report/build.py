"""A report: its page, and what the page shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from confidence_tasks.harness.workers import Advance, Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.collection import Collection
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.logs.trial_files import Skipped
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import ExtraTable, Overview, overviews
from confidence_tasks.report.figures import Figure
from confidence_tasks.report.figures.general import model_styles
from confidence_tasks.report.general_tables import extra_tables
from confidence_tasks.report.labels import TITLE, VIEWER
from confidence_tasks.report.page.document import page
from confidence_tasks.report.page.drawn import figure_views
from confidence_tasks.report.page.first_screen import headline_of
from confidence_tasks.report.page.overviews import overview_view
from confidence_tasks.report.page.papers import with_papers
from confidence_tasks.report.page.task_figures import figures_of, overview_figures
from confidence_tasks.report.page.tasks import task_view
from confidence_tasks.report.page.views import FigureView, TaskView
from confidence_tasks.report.paper import Replication
from confidence_tasks.report.paper.filled import Filled, filled_papers
from confidence_tasks.report.results import TaskResults, results_and_lost


@dataclass(frozen=True, slots=True)
class Report:
    """A report: its page, which needs no other file, and what the page shows.

    Attributes
    ----------
    results : tuple of TaskResults
        The numbers of each task.
    figures : tuple of Figure
        All figures, those of overviews first.
    extras : tuple of ExtraTable
        The tables of the studies beside the measures.
    tasks : tuple of TaskView
        The section of each task.
    overviews : tuple of Overview
        Tables of several tasks side by side.
    papers : tuple of (Replication, list)
        The tables and figures of the studies' papers, with the models of the report.
    lost : tuple of Skipped
        The files of models that the report lacks because the processes that computed them died.
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
    """Return the report on collected trials; without trials, the page only lists the files that were skipped.

    Parameters
    ----------
    collection : Collection
        Trials read by :func:`~confidence_tasks.report.collect`.
    settings : Settings, optional
        How uncertainty is computed.
    viewer, title : str
        Address of Inspect's viewer, for links to samples, and title of the page.
    advance : callable, optional
        Called with the number of models done, their total, and the name of the model under way.
    workers : Workers, optional
        Processes that compute the models; by default this process.
    cache : Cache, optional
        Where results of the same trials are looked up and stored.
    """
    settings = settings or Settings()
    of_tasks = with_units(group_by_task(collection.files), settings.cluster)
    computed, lost = results_and_lost(of_tasks, settings, advance, workers, cache)
    results = tuple(computed)
    collection = replace(collection, skipped=(*collection.skipped, *lost))
    styles = model_styles(_labels(results))
    extras = [extra_tables(task) for task in results]
    all_extras = tuple(chain.from_iterable(extras))
    task_overviews = tuple(overviews(results))
    figures_of_overviews = [overview_figures(overview, styles) for overview in task_overviews]
    figures_of_tasks = [figures_of(task, styles) for task in results]
    figures = tuple(chain.from_iterable(figures_of_overviews + figures_of_tasks))
    papers = tuple(filled_papers(results, all_extras, figures))
    headlines = [headline_of(task, workers, cache) for task in results]
    views = {view.figure.name: view for view in figure_views(figures)}

    def drawn(of_section: Sequence[Figure]) -> list[FigureView]:
        return [views[figure.name] for figure in of_section]

    task_views = [
        task_view(headline, drawn(of_task), tables, viewer)
        for headline, of_task, tables in zip(headlines, figures_of_tasks, extras, strict=True)
    ]
    tasks = with_papers(task_views, results, papers)
    overview_sections = [
        overview_view(overview, drawn(of_overview))
        for overview, of_overview in zip(task_overviews, figures_of_overviews, strict=True)
    ]
    return Report(
        html=page(tasks, headlines, collection, styles, settings, overviews=overview_sections, title=title),
        results=results,
        figures=figures,
        extras=all_extras,
        tasks=tasks,
        overviews=task_overviews,
        papers=papers,
        lost=tuple(lost),
    )


def _labels(results: Iterable[TaskResults]) -> list[str]:
    """Return the labels of all models, each once."""
    return list(dict.fromkeys(model.label for task in results for model in task.models))
