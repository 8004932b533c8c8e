"""From trials to a report: the page, and its numbers and figures as files: CSV, LaTeX for papers, SVG."""

from __future__ import annotations

import hashlib
import json
import math
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from markupsafe import Markup

from confidence_tasks.report.cache import Cache
from confidence_tasks.report.checks import Notice, Severity, in_order_of_severity
from confidence_tasks.report.collection import Collection
from confidence_tasks.report.estimates import Estimated, Settings
from confidence_tasks.report.extra_tables import ExtraTable, Overview, overviews, ways_table
from confidence_tasks.report.figures import SHARED, Colour, Figure, figure_svg, share_parts
from confidence_tasks.report.figures.general import ModelStyles, model_styles
from confidence_tasks.report.labels import (
    LATEX,
    STATUSES,
    TITLE,
    VIEWER,
    decimals_for,
    latex,
    measure_label,
    page_part,
    plain_cell,
    rendered,
)
from confidence_tasks.report.page import Headline, headline_of, headline_table, told_apart
from confidence_tasks.report.page.tasks import (
    OverviewView,
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
from confidence_tasks.report.task_trials import group_by_task
from confidence_tasks.report.trial_files import Skipped
from confidence_tasks.report.workers import Advance, Workers
from confidence_tasks.sources.source import write_atomically
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.reference import loaded


@dataclass(frozen=True, slots=True)
class Report:
    """A report: the page, self-contained, and what is in it.

    Attributes
    ----------
    results, figures, extras, overviews
        Its numbers by task, its figures, its tables beside the measures, and its tasks side by side.
    tasks : tuple of TaskView
        What the page shows of each task.
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
    """Return the report on what was collected; without trials, the page says what was found.

    Parameters
    ----------
    collection : Collection
        What :func:`~confidence_tasks.report.collect` read.
    settings : Settings, optional
        How uncertainty is computed.
    viewer, title : str
        Address of Inspect's viewer, for links to samples, and title of the page.
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
    """Put each paper's tables with the last of its tasks, and what several of them lack above all of them."""
    names = [task.task_trials.task for task in results]
    views = list(tasks)
    for replication, items in papers:
        last = max(i for i, name in enumerate(names) if name in replication.tasks)
        shared = [note for note, n in Counter(note for made in items for note in made.notes).items() if n > 1]
        rest = [replace(made, notes=tuple(n for n in made.notes if n not in shared)) for made in items]
        tables = tuple((made, html_table(made) if made.rows else None) for made in rest)
        views[last] = replace(views[last], replication=tables, paper_notes=tuple(shared))
    return tuple(views)


def extras_of(results: TaskResults) -> list[ExtraTable]:
    """Return the tables of a task beside the measures, but those with nothing to show."""
    made = [make(results) for make in (ways_table, *loaded(results.task_trials.study.tables))]
    return [extra for extra in made if not extra.frame.empty]


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
    """Return the page. ``overviews`` stand above the tasks."""
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
        glance=headline_table(headlines),
        told_apart=told_apart(headlines),
        most_compared=max((len(each.comparisons) for each in headlines), default=0),
        notices=merged_notices(tasks),
        overviews=overviews,
        models=list(styles),
        model_styles=styles,
        model_numbers={model: number for number, model in enumerate(styles)},
        shared=Markup(SHARED),  # noqa: S704 - a constant
        files=collection.files,
        skipped=collection.skipped,
        statuses=STATUSES,
        colours=Colour,
        style=Markup(page_part("style.css")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=f"sha256-{digest}",
        level=f"{settings.level:.0%}",
        n_resamples=f"{settings.n_resamples:,}",
        seed=settings.seed,
        version=version("confidence-tasks"),
    )
    # HTML puts these end tags itself, of which a page has tens of thousands.
    return re.sub("</t[dhr]>", "", share_parts(html))


def merged_notices(tasks: Sequence[TaskView]) -> list[Notice]:
    """Return the notices of all tasks, each title once, with every place where it applies; the serious first."""
    found: dict[tuple[Severity, str], list[tuple[str, Notice]]] = {}
    for task in tasks:
        for notice in task.notices:
            found.setdefault((notice.severity, notice.title), []).append((task.title, notice))
    merged = []
    for (severity, title), its in found.items():
        meanings = {notice.meaning for _, notice in its}
        where = [
            f"{task}: {text}"
            for task, notice in its
            for text in ((notice.meaning,) if len(meanings) > 1 else ()) + notice.where
        ]
        merged.append(Notice(severity, title, min(meanings) if len(meanings) == 1 else "", tuple(where)))
    return in_order_of_severity(merged)


# Files --------------------------------------------------------------------------------------------------------------


def write_tables(report: Report, folder: Path) -> None:
    """Write everything as CSV, and each task's headline and the tasks side by side as LaTeX."""
    tables = {"estimates": estimates_frame(report.results), "contrasts": contrasts_frame(report.results)}
    tables |= {overview.design.name: overview.frame() for overview in report.overviews}
    tables |= {extra.name: extra.frame for extra in report.extras}
    texts = {f"{name}.csv": table.map(plain_cell).to_csv(index=False) for name, table in tables.items()}
    for each in report.overviews:
        texts[f"{each.design.name}.tex"] = _latex(each, each.models, each.columns, each.design.measures)
    for task in report.results:
        models = [model.label for model in task.models]
        texts[f"{task.task_trials.slug}.tex"] = _latex(task, models, task.conditions, task.headline)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode(errors="replace"))


def write_figures(figures: Iterable[Figure], folder: Path) -> None:
    """Write every figure as an SVG file."""
    for figure in figures:
        content = figure_svg(figure).encode(errors="xmlcharrefreplace")
        write_atomically(folder / f"{figure.name}.svg", content)


def _latex(
    of: TaskResults | Overview, models: Sequence[str], columns: Sequence[str], measures: Sequence[Measure]
) -> str:
    """Return estimates as a table for ``booktabs``, a row for each model and measure; a model ends with its trials."""
    task, contrasts = (of, of.contrasts) if isinstance(of, TaskResults) else (of.tasks[0], [])
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
        lines.append(r"\midrule")
        first = latex(model)
        for measure in measures:
            entries = [of.estimate(model, column, measure.name) for column in columns]
            decimals = decimals_for([float(each.interval.estimate) for each in entries if each is not None])
            cells = [_latex_cell(entry, decimals, stars) for entry in entries]
            lines.append(" & ".join([first, latex(measure_label(measure.name)), *cells]) + r" \\")
            first = ""
        sizes = ["--" if entry is None else f"{entry.n}" for entry in entries]
        lines.append(" & ".join(["", "Trials", *sizes]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_cell(entry: Estimated | None, decimals: int, stars: set[tuple[str, str, str]]) -> str:
    if entry is None or math.isnan(entry.interval.estimate):
        return "--"
    interval = entry.interval
    star = "^{*}" if (entry.model, entry.group, entry.measure) in stars else ""
    value, low, high = (
        # Adding 0 takes the sign off a zero.
        f"{round(float(number), decimals) + 0.0:.{decimals}f}".replace("inf", r"\infty")
        for number in (interval.estimate, interval.low, interval.high)
    )
    if math.isnan(interval.low):
        return f"${value}{star}$"
    return f"${value}{star}$ {{\\scriptsize $[{low}, {high}]$}}"
