"""The tasks in which a study was asked under a condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confidence_tasks.logs.task_trials import TaskTrials, in_order

ALL = "all"
"""The condition of measures over all conditions."""


def asked_tasks(tasks: Sequence[TaskTrials], study: str, condition: str) -> list[TaskTrials]:
    """Return the tasks of a study; ValueError if there are none, or none has the condition."""
    found = [task for task in tasks if task.study.name == study]
    if not found:
        others = ", ".join(sorted({task.study.name for task in tasks}))
        raise ValueError(f"the pilot has no trials of {study}, but of {others or 'no study'}")
    labels = np.concatenate([model.columns["condition"] for task in found for model in task.models])
    if condition not in (ALL, *labels.tolist()):
        raise ValueError(
            f"the pilot has no trials of {study} under {condition}, but under {', '.join(in_order(labels))}:"
            " choose one of these conditions"
        )
    return found
