"""The calibration question sets, to run by path: ``inspect eval tasks/question_sets.py@boolq``."""

from typing import Any

from inspect_ai import Task, task

from confidence_tasks.studies.question_sets import task as study


@task
def boolq(**parameters: Any) -> Task:
    """Return ``confidence_tasks/boolq`` with the parameters given by ``-T``."""
    return study.boolq(**parameters)


@task
def sciq(**parameters: Any) -> Task:
    """Return ``confidence_tasks/sciq`` with the parameters given by ``-T``."""
    return study.sciq(**parameters)


@task
def lsat_ar(**parameters: Any) -> Task:
    """Return ``confidence_tasks/lsat_ar`` with the parameters given by ``-T``."""
    return study.lsat_ar(**parameters)


@task
def sat_en(**parameters: Any) -> Task:
    """Return ``confidence_tasks/sat_en`` with the parameters given by ``-T``."""
    return study.sat_en(**parameters)


@task
def halueval(**parameters: Any) -> Task:
    """Return ``confidence_tasks/halueval`` with the parameters given by ``-T``."""
    return study.halueval(**parameters)
