"""The earlier name of `harness.inspect.task`, for one release."""

import warnings
from typing import Any

from confidence_tasks.harness.inspect import task


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and hasattr(task, name):
        message = f"{__name__}.{name} is {task.__name__}.{name}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(task, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
