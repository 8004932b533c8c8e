"""FermiEval, to run by path: ``inspect eval tasks/fermieval.py``."""

from typing import Any

from inspect_ai import Task, task

from confidence_tasks.studies.fermieval import task as study


@task
def fermieval(**parameters: Any) -> Task:
    """Return ``confidence_tasks/fermieval`` with the parameters given by ``-T``."""
    return study.fermieval(**parameters)
