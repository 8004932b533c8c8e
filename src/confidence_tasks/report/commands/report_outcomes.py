"""What a report must meet: the outcomes of ``--require``, and the exit status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from confidence_tasks.report.commands.printing import print_message

if TYPE_CHECKING:
    from confidence_tasks.report.build import Report
    from confidence_tasks.report.requirements import Requirement


def outcomes_of_requirements(requirements: Sequence[Requirement], result: Report) -> list[dict[str, str]]:
    """Return the outcome of each requirement; BadParameter if one names no measure or condition of the report."""
    from confidence_tasks.report.requirements import verdicts

    try:
        return list(verdicts(requirements, result.results)) if result.results else []
    except ValueError as error:
        raise click.BadParameter(f"--require {error}") from error


def exit_with_outcomes(result: Report, outcomes: Sequence[Mapping[str, str]]) -> None:
    """Print unmet requirements and lost models, and exit with 1 if there are any, or no trials."""
    if not (result.results or result.lost):
        print_message(", and no page is written", "no trials were found", "red")
        raise SystemExit(1)
    for outcome in outcomes:
        print_message("{outcome:<9}  {requirement}: {found} ({where})".format_map(outcome))
    for lost in result.lost:
        print_message(f" {lost.path}: {lost.reason}", "left out", "red")
    if result.lost or any(outcome["outcome"] != "met" for outcome in outcomes):
        raise SystemExit(1)
