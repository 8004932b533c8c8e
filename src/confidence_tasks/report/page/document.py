"""The report's page as one document that needs no other file."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from markupsafe import Markup

from confidence_tasks.drawing import Colour
from confidence_tasks.drawing.page_text import SHARED, share_parts
from confidence_tasks.logs.collection import Collection
from confidence_tasks.logs.texts import without_controls
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures.general import ModelStyles
from confidence_tasks.report.labels import LATEX, page_part, rendered
from confidence_tasks.report.notices import Notice, Severity, in_order_of_severity
from confidence_tasks.report.page.first_screen import Headline, headline_table, significant_differences
from confidence_tasks.report.page.views import OverviewView, TaskView

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
        printed = any(notice.printed for _, notice in raised)
        merged.append(Notice(severity, title, shared, tuple(where), printed))
    return in_order_of_severity(merged)
