"""The files that the command ``report`` writes, and its record in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.report.commands.printing import print_message
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.report.build import Report


def page_text(result: Report, page_format: str, title: str) -> str:
    """Return the page of a report in a format."""
    from confidence_tasks.report.markdown import markdown_report, model_card
    from confidence_tasks.report.page.document import merged_notices

    if page_format == "html":
        return result.html
    if page_format == "model-card":
        return model_card(result.results)
    return markdown_report(result.results, merged_notices(result.tasks), title=title)


def track_report(tracker: str | None, result: Report, output: Path) -> None:
    """Write the main measures and the page into a tracker, if one is named."""
    from confidence_tasks.report.tracking import track

    if tracker is not None:
        track(tracker, result.results, output)


@contextmanager
def _told_if_full() -> Iterator[None]:
    """Turn an error of writing, such as of a full disk, into a message."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(
            f"{error.strerror or error}: not every file of the report could be written; those that were are whole."
            " Free space or name another folder, and run the command again"
        ) from error


@_told_if_full()
def write_files(
    result: Report, output: Path, page: str, tables: Path | None, figures: Path | None, paper: Path | None
) -> None:
    """Write the page, and the tables and figures into the folders that are given."""
    from confidence_tasks.report.paper.files import write_paper
    from confidence_tasks.report.write import write_figures, write_tables

    write_atomically(output, page.encode(errors="xmlcharrefreplace"))
    if tables is not None:
        write_tables(result, tables)
    if figures is not None:
        write_figures(result.figures, figures)
    if paper is not None:
        write_paper(result.papers, paper)
        items = [item for _, paper_items in result.papers for item in paper_items]
        n_filled = sum(item.is_filled for item in items)
        print_message(
            f"{n_filled} of {len(items)} tables and figures of the papers; paper.tex says what the others lack"
        )


def report_record(
    result: Report, outcomes: Sequence[Mapping[str, str]], collection: Collection
) -> dict[str, Any]:
    """Return a report for JSON."""
    from confidence_tasks.report.result_tables import contrasts_frame, estimates_frame

    return {
        "estimates": estimates_frame(result.results).to_dict("records"),
        "contrasts": contrasts_frame(result.results).to_dict("records"),
        "notices": [
            {
                "task": results.task_trials.task,
                "severity": notice.severity,
                "title": notice.title,
                "where": list(notice.where),
            }
            for results, task in zip(result.results, result.tasks, strict=True)
            for notice in task.notices
        ],
        "paper": [
            {
                "study": replication.name,
                "item": item.title,
                "filled": item.is_filled,
                "notes": list(item.notes),
            }
            for replication, items in result.papers
            for item in items
        ],
        "requirements": list(outcomes),
        "skipped": [asdict(file) for file in (*collection.skipped, *result.lost)],
    }
