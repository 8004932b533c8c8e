"""Confidence signals, to run by path: ``inspect eval tasks/signals.py``."""

from typing import Any

from inspect_ai import Task, task

from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.studies.signals import STUDY


@task
def signals(**parameters: Any) -> Task:
    """Return ``confidence_tasks/signals`` with the parameters given by ``-T``."""
    return study_task(STUDY)(**parameters)
