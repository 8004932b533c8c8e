"""The whole page: tasks, methods and files, with everything it needs inside."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from confidence_tasks.report.checks import Notice, Severity, in_order_of_severity
from confidence_tasks.report.collection import Collection
from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.export import LATEX
from confidence_tasks.report.figures.figure import DARK, LIGHT
from confidence_tasks.report.figures.general import ModelStyles
from confidence_tasks.report.figures.svg import SHARED, share_parts
from confidence_tasks.report.labels import STATUSES
from confidence_tasks.report.page.first_screen import (
    MOST_COMPARED,
    Headline,
    headline_table,
    told_apart,
)
from confidence_tasks.report.page.tasks import OverviewView, TaskView

_MARKS: Mapping[str, Markup] = {
    marker: Markup(shape)  # noqa: S704 - constants
    for marker, shape in {
        "": '<rect width="12" height="12" rx="2" fill="currentColor"/>',
        "o": '<circle cx="6" cy="6" r="5" fill="currentColor"/>',
        "s": '<rect x="1.5" y="1.5" width="9" height="9" fill="currentColor"/>',
        "^": '<path d="M6 1 11.5 11H.5z" fill="currentColor"/>',
        "D": '<path d="M6 0 12 6 6 12 0 6z" fill="currentColor"/>',
        "v": '<path d="M6 11 .5 1h11z" fill="currentColor"/>',
        "P": '<path d="M4 0h4v4h4v4H8v4H4V8H0V4h4z" fill="currentColor"/>',
        "X": '<path d="M3 0 6 3 9 0l3 3-3 3 3 3-3 3-3-3-3 3-3-3 3-3-3-3z" fill="currentColor"/>',
        "*": '<path d="m6 0 1.6 4H12L8.5 6.700 9.800 11 6 8.400 2.200 11l1.300-4.300L0 4h4.400z" fill="currentColor"/>',
    }.items()
}
"""The markers of figures, for text."""

_DARK_PAGE = (
    "--page: #0f1216; --card: #171b21; --line: #2b323c; --accent: #6cb6ff; --soft: #222831; --told: #1d3a30;"
    " --serious: #ff7b72; --warning: #e3b341; --note: #8b949e; --shadow: none;"
)


def page(
    tasks: Sequence[TaskView],
    headlines: Sequence[Headline],
    collection: Collection,
    styles: ModelStyles,
    settings: Settings,
    *,
    overviews: Sequence[OverviewView] = (),
    title: str = "Confidence report",
) -> str:
    """Return the page; without tasks, one that says what was found instead. ``overviews`` stand above the tasks."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["coded"] = coded
    environment.filters["breakable"] = _breakable
    script = page_part("script.js").replace("LATEX", json.dumps(LATEX, ensure_ascii=False), 1)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = environment.from_string(page_part("page.html")).render(
        title=title,
        heading=title,
        date=f"{datetime.now(UTC):%-d %B %Y}",
        facts=_facts(tasks, collection, styles),
        tasks=tasks,
        glance=headline_table(headlines),
        told_apart=told_apart(headlines),
        most_compared=MOST_COMPARED,
        notices=merged_notices(tasks),
        overviews=overviews,
        models=list(styles),
        model_styles=styles,
        model_numbers={model: number for number, model in enumerate(styles)},
        marks=_MARKS,
        shared=Markup(SHARED),  # noqa: S704 - a constant
        marker_names={marker: number for number, marker in enumerate(_MARKS)},
        files=collection.files,
        skipped=collection.skipped,
        statuses=STATUSES,
        light=LIGHT,
        dark=DARK,
        dark_page=_DARK_PAGE,
        style=Markup(page_part("style.css")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=f"sha256-{digest}",
        level=f"{settings.level:.0%}",
        n_resamples=f"{settings.n_resamples:,}",
        seed=settings.seed,
        version=version("confidence-tasks"),
    )
    return _IMPLIED.sub("", share_parts(html))


_IMPLIED = re.compile("</t[dhr]>")
"""End tags that HTML puts itself, of which a page has tens of thousands."""


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


def coded(text: str) -> Markup:
    """Set what stands between backticks as code."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    )


def _breakable(text: str) -> Markup:
    """Let a name break after its slashes."""
    return Markup("/<wbr>").join(text.split("/"))


def page_part(name: str) -> str:
    """Return the text of a file that pages are made of."""
    return (files("confidence_tasks.report.page") / name).read_text(encoding="utf-8")


def _facts(tasks: Sequence[TaskView], collection: Collection, styles: ModelStyles) -> list[tuple[str, Any]]:
    counts = {
        "models": len(styles),
        "tasks": len(tasks),
        "trials": sum(task.n_trials for task in tasks),
        "files": len(collection.files),
    }
    return [(name, f"{count:,}") for name, count in counts.items()]
