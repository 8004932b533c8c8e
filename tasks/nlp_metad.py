"""Log-probability metacognition, to run by path: ``inspect eval tasks/nlp_metad.py``."""

from typing import Any

from inspect_ai import Task, task

import confidence_tasks


@task
def nlp_metad(**parameters: Any) -> Task:
    """Return ``confidence_tasks/nlp_metad`` with the parameters given by ``-T``."""
    return confidence_tasks.nlp_metad(**parameters)
