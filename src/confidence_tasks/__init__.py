"""Five published studies of LLM confidence, as tasks for Inspect AI and lm-evaluation-harness.

The tasks are found by the harnesses themselves: ``inspect eval confidence_tasks/scale_granularity``. From Python,
each name below is imported when it is first used, so that ``confidence_tasks.statistics`` alone stays light.

Examples
--------
>>> from confidence_tasks import scale_granularity, summary
>>> from confidence_tasks.statistics import ece
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confidence_tasks.report.summary import compare, metrics, summary
    from confidence_tasks.sources import Question, load

_HOMES = {
    "Question": "confidence_tasks.sources",
    "compare": "confidence_tasks.report.summary",
    "load": "confidence_tasks.sources",
    "metrics": "confidence_tasks.report.summary",
    "summary": "confidence_tasks.report.summary",
}

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
    "riskeval",
    "sat_en",
    "scale_boundary",
    "scale_granularity",
    "scale_nonstandard",
    "sciq",
    "summary",
]


def __getattr__(name: str) -> Any:
    if name in __all__:  # all but those that have a home are tasks
        return getattr(import_module(_HOMES.get(name, "confidence_tasks._registry")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
