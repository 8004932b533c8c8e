"""LifeEval, to run by path: ``inspect eval tasks/lifeeval.py``."""

from typing import Any

from inspect_ai import Task, task

from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.studies.lifeeval import STUDY


@task
def lifeeval(**parameters: Any) -> Task:
    """Return ``confidence_tasks/lifeeval`` with the parameters given by ``-T``."""
    return study_task(STUDY)(**parameters)
