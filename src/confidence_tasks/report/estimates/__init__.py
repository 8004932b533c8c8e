"""From a table of trials to estimates and contrasts.

Names that were in `report.estimates` before it was a folder are found here for one release.
"""

import warnings
from importlib import import_module
from typing import Any

_HOMES = {
    "Settings": "settings",
    "Distribution": "distribution",
    "Distributions": "distributions",
    "distributions": "distributions",
    "combined": "averages",
    "mean": "averages",
    "interval_of_measure": "intervals",
    "Estimated": "estimated",
    "estimates": "estimated",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        home = f"{__name__}.{_HOMES[name]}"
        warnings.warn(f"{__name__}.{name} is {home}.{name}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
