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
    from confidence_tasks.studies.fermieval.task import fermieval
    from confidence_tasks.studies.fermieval_logprob.task import fermieval_logprob
    from confidence_tasks.studies.fermieval_sampling.task import fermieval_sampling
    from confidence_tasks.studies.lifeeval.task import lifeeval
    from confidence_tasks.studies.logprob_metacognition.task import nlp_metad
    from confidence_tasks.studies.question_sets.task import boolq, halueval, lsat_ar, sat_en, sciq
    from confidence_tasks.studies.riskeval.task import riskeval
    from confidence_tasks.studies.scales.task import scale_boundary, scale_granularity, scale_nonstandard

_HOMES = {
    "Question": "confidence_tasks.sources",
    "boolq": "confidence_tasks.studies.question_sets.task",
    "compare": "confidence_tasks.report.summary",
    "fermieval": "confidence_tasks.studies.fermieval.task",
    "fermieval_logprob": "confidence_tasks.studies.fermieval_logprob.task",
    "fermieval_sampling": "confidence_tasks.studies.fermieval_sampling.task",
    "halueval": "confidence_tasks.studies.question_sets.task",
    "lifeeval": "confidence_tasks.studies.lifeeval.task",
    "load": "confidence_tasks.sources",
    "lsat_ar": "confidence_tasks.studies.question_sets.task",
    "metrics": "confidence_tasks.report.summary",
    "nlp_metad": "confidence_tasks.studies.logprob_metacognition.task",
    "riskeval": "confidence_tasks.studies.riskeval.task",
    "sat_en": "confidence_tasks.studies.question_sets.task",
    "scale_boundary": "confidence_tasks.studies.scales.task",
    "scale_granularity": "confidence_tasks.studies.scales.task",
    "scale_nonstandard": "confidence_tasks.studies.scales.task",
    "sciq": "confidence_tasks.studies.question_sets.task",
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
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
