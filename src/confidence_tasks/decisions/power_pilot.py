"""The pilot of a power analysis: the clusters and the replies of logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from confidence_tasks.report.commands.printing import print_stopped_early
from confidence_tasks.report.commands.reading import as_click_error, read_trials

if TYPE_CHECKING:
    from confidence_tasks.decisions.pilot import ClusterEffect
    from confidence_tasks.simulation.power_design import PowerDesign
    from confidence_tasks.statistics.reliability import VarianceComponents


def designs_by_study() -> Mapping[str, PowerDesign]:
    """Return the designs for power analysis; help imports none of their modules."""
    from confidence_tasks.decisions.power import power_designs

    return power_designs()


def read_pilot(
    pilot: str | None, cluster: str, study: str, measure: str, condition: str
) -> tuple[ClusterEffect | None, VarianceComponents | None]:
    """Return the effect of the clusters of a pilot, and the variance between and within its questions."""
    from confidence_tasks.decisions.pilot import pilot_clusters
    from confidence_tasks.logs.task_trials import group_by_task
    from confidence_tasks.report.reliability import pilot_replies

    if pilot is None:
        if cluster:
            raise click.UsageError(
                "--cluster needs --pilot LOGS: the design effect of clusters comes from trials with such clusters"
            )
        return None, None
    tasks = group_by_task(read_trials([pilot]).files)
    print_stopped_early(tasks)
    with as_click_error():
        design = designs_by_study()[study]
        label = design.read_condition(condition or design.condition)
        replies = pilot_replies(tasks, study, measure, label)
        try:
            return pilot_clusters(tasks, study, measure, label, cluster), replies
        except ValueError:
            if replies is None or cluster:  # without epochs, a pilot is there for its clusters
                raise
            return None, replies
