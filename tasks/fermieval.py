"""FermiEval, to run by path: ``inspect eval tasks/fermieval.py``."""

from typing import Any

from inspect_ai import Task, task

from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.studies.fermieval import STUDY


@task
def fermieval(**parameters: Any) -> Task:
    """Return ``confidence_tasks/fermieval`` with the parameters given by ``-T``."""
    return study_task(STUDY)(**parameters)
