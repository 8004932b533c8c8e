"""From logs to trials, tables, tests, figures and reports.

Each name below is imported when it is first used: pandas is not needed to name a command.

Examples
--------
>>> from confidence_tasks.report import trials
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confidence_tasks.logs.collection import Collection, collect
    from confidence_tasks.report.build import Report, report_of
    from confidence_tasks.report.read_trials import trials

_HOMES = {
    **dict.fromkeys(("Collection", "collect"), "confidence_tasks.logs.collection"),
    "trials": "confidence_tasks.report.read_trials",
    **dict.fromkeys(("Report", "report_of"), "confidence_tasks.report.build"),
}

__all__ = ["Collection", "Report", "collect", "report_of", "trials"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
