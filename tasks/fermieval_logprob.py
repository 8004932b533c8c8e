"""FermiEval by token probabilities, to run by path: ``inspect eval tasks/fermieval_logprob.py``."""

from typing import Any

from inspect_ai import Task, task

import confidence_tasks


@task
def fermieval_logprob(**parameters: Any) -> Task:
    """Return ``confidence_tasks/fermieval_logprob`` with the parameters given by ``-T``."""
    return confidence_tasks.fermieval_logprob(**parameters)
