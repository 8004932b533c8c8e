"""Where names of ``confidence_tasks.study.measures`` are now. For one release they are found there, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

MOVED: Mapping[str, str] = {
    name: module
    for module, names in {
        "columns": ("GRADED", "columns", "rows_of", "smallest_set", "unfinished", "where"),
        "computations": (
            "StatisticCall",
            "expand_influence",
            "incomparable_by",
            "not_resampled",
            "restrict_to",
            "undefined",
        ),
        "inference": ("Influence", "Informative", "InformativeOf", "Posterior"),
        "metrics": ("select_measures", "summarise", "values_of"),
    }.items()
    for name in names
}
"""Module of ``confidence_tasks.study`` by former name."""

RENAMED: Mapping[str, str] = {"smallest_set": "smallest_of", "undefined": "nan_for"}
"""Name now by former name, where it has changed."""


def moved_name(name: str) -> Any:
    """Return what has a name in another module now; AttributeError if there was none of that name."""
    if name not in MOVED:
        raise AttributeError(f"module 'confidence_tasks.study.measures' has no attribute {name!r}")
    module, now = f"confidence_tasks.study.{MOVED[name]}", RENAMED.get(name, name)
    warnings.warn(
        f"{name} of confidence_tasks.study.measures is not supported from the next release: write "
        f"from {module} import {now}",
        DeprecationWarning,
        stacklevel=3,
    )
    return getattr(import_module(module), now)
