"""RiskEval, to run by path: ``inspect eval tasks/riskeval.py``."""

from typing import Any

from inspect_ai import Task, task

import confidence_tasks


@task
def riskeval(**parameters: Any) -> Task:
    """Return ``confidence_tasks/riskeval`` with the parameters given by ``-T``."""
    return confidence_tasks.riskeval(**parameters)
