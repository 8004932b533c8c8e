"""Reports: the page, and its tables and figures as files in CSV, LaTeX and SVG."""

from __future__ import annotations

import hashlib
import json
import math
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from markupsafe import Markup

from confidence_tasks.drawing import Colour
from confidence_tasks.harness.workers import Advance, Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.collection import Collection
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.logs.texts import without_controls
from confidence_tasks.logs.trial_files import Skipped
from confidence_tasks.report import general_tables
from confidence_tasks.report.clusters import with_units
from confidence_tasks.report.estimates import Estimated, Settings
from confidence_tasks.report.extra_tables import ExtraTable, Overview, overviews
from confidence_tasks.report.figures import Figure, figure_svg
from confidence_tasks.report.figures.general import ModelStyles, model_styles
from confidence_tasks.report.figures.page_panels import SHARED, share_parts
from confidence_tasks.report.labels import (
    LATEX,
    TITLE,
    VIEWER,
    latex,
    measure_label,
    page_part,
    plain_cell,
    rendered,
)
from confidence_tasks.report.notices import Notice, Severity, in_order_of_severity
from confidence_tasks.report.page import decimals_of
from confidence_tasks.report.page.first_screen import (
    Headline,
    headline_of,
    headline_table,
    significant_differences,
)
from confidence_tasks.report.page.tasks import (
    FigureView,
    OverviewView,
    PaperView,
    TaskView,
    figure_views,
    figures_of,
    overview_figures,
    overview_view,
    task_view,
)
from confidence_tasks.report.paper import Replication
from confidence_tasks.report.paper.filled import Filled, filled_papers, html_table
from confidence_tasks.report.results import TaskResults, contrasts_frame, estimates_frame, results_and_lost
from confidence_tasks.report.study_report import study_report
from confidence_tasks.sources.source import write_atomically
from confidence_tasks.study.measures import Measure


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
    views = {view.figure.name: view for view in figure_views(figures, workers, cache)}

    def drawn(of_section: Sequence[Figure]) -> list[FigureView]:
        return [views[figure.name] for figure in of_section]

    task_views = [
        task_view(headline, drawn(of_task), tables, viewer)
        for headline, of_task, tables in zip(headlines, figures_of_tasks, extras, strict=True)
    ]
    tasks = _with_papers(task_views, results, papers)
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


def _with_papers(
    tasks: Sequence[TaskView],
    results: Sequence[TaskResults],
    papers: Sequence[tuple[Replication, list[Filled]]],
) -> tuple[TaskView, ...]:
    """Add each paper's tables to the last of its tasks; notes that several tables share stand once, above them."""
    names = [task.task_trials.tasks for task in results]
    views = list(tasks)
    for replication, items in papers:
        last = max(i for i, of_task in enumerate(names) if not replication.tasks.keys().isdisjoint(of_task))
        counts = Counter(note for item in items for note in item.notes)
        shared = tuple(note for note, n in counts.items() if n > 1)
        tables = tuple(_paper_table(item, shared) for item in items)
        paper = PaperView(replication.title, shared, tables)
        views[last] = replace(views[last], papers=(*views[last].papers, paper))
    return tuple(views)


def _paper_table(item: Filled, shared: Container[str]) -> tuple[Filled, Markup | None]:
    """Return an item of a paper without the notes that others share, and its table, if it has rows."""
    item = replace(item, notes=tuple(note for note in item.notes if note not in shared))
    return item, html_table(item) if item.rows else None


def extra_tables(results: TaskResults) -> list[ExtraTable]:
    """Return the tables of a task beside the measures, without empty ones."""
    of_study = study_report(results.task_trials.study).tables
    tables = [make(results) for make in (*general_tables.GENERAL, *of_study)]
    return [table for table in tables if not table.frame.empty]


# The page -------------------------------------------------------------------------------------------------------------


def page(
    tasks: Sequence[TaskView],
    headlines: Sequence[Headline],
    collection: Collection,
    styles: ModelStyles,
    settings: Settings,
    *,
    overviews: Sequence[OverviewView],
    title: str,
) -> str:
    """Return the page; its ``overviews`` come before its tasks."""
    counts = {
        "models": len(styles),
        "tasks": len(tasks),
        "trials": sum(task.n_trials for task in tasks),
        "files": len(collection.files),
    }
    script = page_part("script.js").replace("LATEX", json.dumps(LATEX, ensure_ascii=False), 1)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = rendered(
        "page.html",
        title=title,
        date=f"{datetime.now(UTC):%-d %B %Y}",
        facts=[
            (name if count != 1 else name.removesuffix("s"), f"{count:,}") for name, count in counts.items()
        ],
        tasks=tasks,
        headlines=headline_table(headlines),
        differences=significant_differences(headlines),
        most_compared=max((len(each.comparisons) for each in headlines), default=0),
        notices=merged_notices(tasks),
        overviews=overviews,
        models=list(styles),
        model_styles=styles,
        model_numbers={model: number for number, model in enumerate(styles)},
        shared=Markup(SHARED),  # noqa: S704 - a constant
        files=collection.files,
        skipped=collection.skipped,
        colours=Colour,
        style=Markup(page_part("style.css")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=f"sha256-{digest}",
        level=f"{settings.level:.0%}",
        n_resamples=f"{settings.n_resamples:,}",
        seed=settings.seed,
        version=version("confidence-tasks"),
    )
    # HTML implies these end tags; a page has tens of thousands of them.
    return re.sub("</t[dhr]>", "", share_parts(without_controls(html)))


def merged_notices(tasks: Sequence[TaskView]) -> list[Notice]:
    """Merge the notices of all tasks by title and severity; the most serious come first."""
    by_title: dict[tuple[Severity, str], list[tuple[str, Notice]]] = {}
    for task in tasks:
        for notice in task.notices:
            by_title.setdefault((notice.severity, notice.title), []).append((task.title, notice))
    merged = []
    for (severity, title), raised in by_title.items():
        meanings = {notice.meaning for _, notice in raised}
        shared = meanings.pop() if len(meanings) == 1 else ""
        where: list[str] = []
        for task_title, notice in raised:
            texts = notice.where if shared else (notice.meaning, *notice.where)
            where += [f"{task_title}: {text}" for text in texts]
        merged.append(Notice(severity, title, shared, tuple(where)))
    return in_order_of_severity(merged)


# Files --------------------------------------------------------------------------------------------------------------


def write_tables(report: Report, folder: Path) -> None:
    """Write all tables as CSV, and the headline measures of tasks and overviews also as LaTeX."""
    tables = {"estimates": estimates_frame(report.results), "contrasts": contrasts_frame(report.results)}
    tables |= {overview.design.name: overview.frame() for overview in report.overviews}
    tables |= {extra.name: extra.frame for extra in report.extras}
    texts = {f"{name}.csv": table.map(plain_cell).to_csv(index=False) for name, table in tables.items()}
    for overview in report.overviews:
        name, measures = overview.design.name, overview.design.measures
        texts[f"{name}.tex"] = _latex(overview, overview.models, overview.columns, measures)
    for task in report.results:
        models = [model.label for model in task.models]
        texts[f"{task.task_trials.slug}.tex"] = _latex(task, models, task.conditions, task.headline)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode(errors="replace"))


def write_figures(figures: Iterable[Figure], folder: Path) -> None:
    """Write every figure as an SVG file."""
    for figure in figures:
        content = without_controls(figure_svg(figure)).encode()
        write_atomically(folder / f"{figure.name}.svg", content)


def _latex(
    source: TaskResults | Overview, models: Sequence[str], columns: Sequence[str], measures: Sequence[Measure]
) -> str:
    """Return estimates as a ``booktabs`` table: for each model a row per measure and one of numbers of trials."""
    task, contrasts = (source, source.contrasts) if isinstance(source, TaskResults) else (source.tasks[0], [])
    settings = task.settings
    note = f"{settings.n_resamples:,} resamples of questions, seed {settings.seed}"
    if contrasts:
        baseline = task.task_trials.design.baseline
        note += f"; * differs from {baseline} at .05 after Bonferroni's correction over the study"
    stars = {(each.model, each.group, each.measure) for each in contrasts if each.significant}
    lines = [
        f"% {settings.level:.0%} intervals over {note}",
        r"\begin{tabular}{ll" + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(["Model", "Measure", *map(latex, columns)]) + r" \\",
    ]
    for model in models:
        entries = {
            measure.name: [source.estimate(model, column, measure.name) for column in columns]
            for measure in measures
        }
        lines += [r"\midrule", *_latex_rows(model, entries, stars)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_rows(
    model: str, by_measure: Mapping[str, Sequence[Estimated | None]], stars: set[tuple[str, str, str]]
) -> Iterator[str]:
    """Yield the rows of a model: its estimates by measure, and the numbers of trials of the last measure."""
    first = latex(model)
    for name, entries in by_measure.items():
        cells = [_latex_cell(entry, decimals_of(entries), stars) for entry in entries]
        yield " & ".join([first, latex(measure_label(name)), *cells]) + r" \\"
        first = ""
    sizes = ["--" if entry is None else f"{entry.n}" for entry in entries]
    yield " & ".join(["", "Trials", *sizes]) + r" \\"


def _latex_cell(entry: Estimated | None, decimals: int, stars: set[tuple[str, str, str]]) -> str:
    if entry is None or math.isnan(entry.interval.estimate):
        return "--"
    interval = entry.interval
    star = "^{*}" if (entry.model, entry.group, entry.measure) in stars else ""
    value, low, high = (
        # Adding 0 turns -0.0 into 0.0.
        f"{round(float(number), decimals) + 0.0:.{decimals}f}".replace("inf", r"\infty")
        for number in (interval.estimate, interval.low, interval.high)
    )
    if math.isnan(interval.low):
        return f"${value}{star}$"
    return f"${value}{star}$ {{\\scriptsize $[{low}, {high}]$}}"
