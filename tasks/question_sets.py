"""The calibration question sets, to run by path: ``inspect eval tasks/question_sets.py@boolq``."""

from typing import Any

from inspect_ai import Task, task

import confidence_tasks


@task
def boolq(**parameters: Any) -> Task:
    """Return ``confidence_tasks/boolq`` with the parameters given by ``-T``."""
    return confidence_tasks.boolq(**parameters)


@task
def sciq(**parameters: Any) -> Task:
    """Return ``confidence_tasks/sciq`` with the parameters given by ``-T``."""
    return confidence_tasks.sciq(**parameters)


@task
def lsat_ar(**parameters: Any) -> Task:
    """Return ``confidence_tasks/lsat_ar`` with the parameters given by ``-T``."""
    return confidence_tasks.lsat_ar(**parameters)


@task
def sat_en(**parameters: Any) -> Task:
    """Return ``confidence_tasks/sat_en`` with the parameters given by ``-T``."""
    return confidence_tasks.sat_en(**parameters)


@task
def halueval(**parameters: Any) -> Task:
    """Return ``confidence_tasks/halueval`` with the parameters given by ``-T``."""
    return confidence_tasks.halueval(**parameters)
