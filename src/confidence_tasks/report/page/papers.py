"""The tables of a study's paper in the section of its task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace

from markupsafe import Markup

from confidence_tasks.report.page.views import PaperView, TaskView
from confidence_tasks.report.paper import Replication
from confidence_tasks.report.paper.files import html_table
from confidence_tasks.report.paper.filled import Filled
from confidence_tasks.report.results import TaskResults


def with_papers(
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
