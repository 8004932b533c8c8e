"""Five published studies of LLM confidence, and one of signals, for Inspect AI and lm-evaluation-harness.

Both harnesses find the tasks by name: ``inspect eval confidence_tasks/scale_granularity``. In Python, each public name
is imported on first use, so that ``confidence_tasks.statistics`` alone imports quickly.

Examples
--------
>>> import confidence_tasks as ct
>>> ct.statistics.ece([1, 0], [0.9, 0.9])
0.4
"""

import sys
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confidence_tasks.reading.confidence import read_confidence
    from confidence_tasks.report.differences import compare
    from confidence_tasks.report.metrics import metrics
    from confidence_tasks.report.summary import summary
    from confidence_tasks.sources import Question, load
    from confidence_tasks.studies.benchmark.wrapping import with_confidence

_MODULES = {
    "Question": "confidence_tasks.sources",
    "compare": "confidence_tasks.report.differences",
    "load": "confidence_tasks.sources",
    "metrics": "confidence_tasks.report.metrics",
    "read_confidence": "confidence_tasks.reading.confidence",
    "summary": "confidence_tasks.report.summary",
    "with_confidence": "confidence_tasks.studies.benchmark.wrapping",
}

_PACKAGES = ("report", "statistics")

__all__ = [
    "Question",
    "boolq",
    "compare",
    "fermieval",
    "fermieval_logprob",
    "fermieval_sampling",
    "halueval",
    "lifeeval",
    "load",
    "lsat_ar",
    "metrics",
    "nlp_metad",
    "read_confidence",
    "riskeval",
    "sat_en",
    "scale_boundary",
    "scale_granularity",
    "scale_nonstandard",
    "sciq",
    "signals",
    "summary",
    "with_confidence",
]


def __getattr__(name: str) -> Any:
    if name in __all__:  # the names that are not in _MODULES are tasks
        return getattr(import_module(_MODULES.get(name, "confidence_tasks._registry")), name)
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name == "__version__":
        return version("confidence-tasks")
    # With name and obj, Python suggests a similar name.
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
    )


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", *_PACKAGES])
