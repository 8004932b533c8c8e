"""Names of version 0.1, for one release: they moved to `logs.task_trials` and `report.groups`."""

import warnings
from typing import Any

from confidence_tasks.logs import task_trials
from confidence_tasks.report import groups


def __getattr__(name: str) -> Any:
    for module in (groups, task_trials):
        if not name.startswith("_") and hasattr(module, name):
            message = f"{__name__}.{name} is {module.__name__}.{name}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
