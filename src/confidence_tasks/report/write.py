"""The tables and figures of a report as files in CSV, LaTeX and SVG."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from confidence_tasks.logs.texts import without_controls
from confidence_tasks.report.build import Report
from confidence_tasks.report.figures import Figure, figure_svg
from confidence_tasks.report.labels import plain_csv
from confidence_tasks.report.latex_tables import latex_table
from confidence_tasks.report.result_tables import contrasts_frame, estimates_frame
from confidence_tasks.sources.source import write_atomically

# Files --------------------------------------------------------------------------------------------------------------


def write_tables(report: Report, folder: Path) -> None:
    """Write all tables as CSV, and the headline measures of tasks and overviews also as LaTeX."""
    tables = {"estimates": estimates_frame(report.results), "contrasts": contrasts_frame(report.results)}
    tables |= {overview.design.name: overview.frame() for overview in report.overviews}
    tables |= {extra.name: extra.frame for extra in report.extras}
    texts = {f"{name}.csv": plain_csv(table) for name, table in tables.items()}
    for overview in report.overviews:
        name, measures = overview.design.name, overview.design.measures
        texts[f"{name}.tex"] = latex_table(overview, overview.models, overview.columns, measures)
    for task in report.results:
        models = [model.label for model in task.models]
        texts[f"{task.task_trials.slug}.tex"] = latex_table(task, models, task.conditions, task.headline)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode(errors="replace"))


def write_figures(figures: Iterable[Figure], folder: Path) -> None:
    """Write every figure as an SVG file."""
    for figure in figures:
        content = without_controls(figure_svg(figure)).encode()
        write_atomically(folder / f"{figure.name}.svg", content)
