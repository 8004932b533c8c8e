"""The tables that a report has for every study, beside those of its measures."""

from __future__ import annotations

from confidence_tasks.report.acceptance_table import acceptance_table
from confidence_tasks.report.extra_tables import ExtraTable, MakeTable, variants_table
from confidence_tasks.report.model_reliability import model_reliability_table
from confidence_tasks.report.reliability import reliability_table
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import study_report

GENERAL: tuple[MakeTable, ...] = (
    variants_table,
    acceptance_table,
    reliability_table,
    model_reliability_table,
)
"""Functions that make them, in the order of the page."""


def extra_tables(results: TaskResults) -> list[ExtraTable]:
    """Return the tables of a task beside the measures, without empty ones."""
    study = results.task_trials.study
    report = study_report(study)
    of_papers = (make for paper in report.replications for make in paper.tables.get(study.name, ()))
    tables = [make(results) for make in (*GENERAL, *report.tables, *of_papers)]
    return [table for table in tables if not table.frame.empty]
