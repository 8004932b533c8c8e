"""Confidence scales, to run by path: ``inspect eval tasks/scales.py@scale_granularity``."""

from typing import Any

from inspect_ai import Task, task

import confidence_tasks


@task
def scale_granularity(**parameters: Any) -> Task:
    """Return ``confidence_tasks/scale_granularity`` with the parameters given by ``-T``."""
    return confidence_tasks.scale_granularity(**parameters)


@task
def scale_boundary(**parameters: Any) -> Task:
    """Return ``confidence_tasks/scale_boundary`` with the parameters given by ``-T``."""
    return confidence_tasks.scale_boundary(**parameters)


@task
def scale_nonstandard(**parameters: Any) -> Task:
    """Return ``confidence_tasks/scale_nonstandard`` with the parameters given by ``-T``."""
    return confidence_tasks.scale_nonstandard(**parameters)
