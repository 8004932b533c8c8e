"""The tables that a report has for every study, beside those of its measures."""

from __future__ import annotations

from confidence_tasks.report.acceptance_table import acceptance_table
from confidence_tasks.report.extra_tables import MakeTable, variants_table
from confidence_tasks.report.model_reliability import model_reliability_table
from confidence_tasks.report.reliability import reliability_table

GENERAL: tuple[MakeTable, ...] = (
    variants_table,
    acceptance_table,
    reliability_table,
    model_reliability_table,
)
"""Functions that make them, in the order of the page."""
