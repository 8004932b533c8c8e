"""FermiEval by repeated samples, to run by path: ``inspect eval tasks/fermieval_sampling.py``."""

from typing import Any

from inspect_ai import Task, task

import confidence_tasks


@task
def fermieval_sampling(**parameters: Any) -> Task:
    """Return ``confidence_tasks/fermieval_sampling`` with the parameters given by ``-T``."""
    return confidence_tasks.fermieval_sampling(**parameters)
