"""Addresses ``module:name`` of studies and functions in logs, those of earlier releases among them."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

_MOVED = {
    f"confidence_tasks.studies.{before}:{name}": f"confidence_tasks.studies.{now}:{name}"
    for before, now, name in (
        ("lifeeval.trials", "lifeeval.measures", "lifeeval_summary"),
        ("question_sets", "lifeeval.question_sets", "STUDY"),
        ("question_sets.trials", "lifeeval.question_sets.measures", "question_set_summary"),
        ("question_sets.measures", "lifeeval.question_sets.measures", "question_set_summary"),
        ("logprob_metacognition.trials", "logprob_metacognition.measures", "nlp_summary"),
        ("fermieval.trials", "fermieval.summary", "fermieval_summary"),
        ("fermieval_logprob", "fermieval.logprob", "STUDY"),
        ("fermieval_logprob.trials", "fermieval.logprob.measures", "logprob_summary"),
        ("fermieval_logprob.measures", "fermieval.logprob.measures", "logprob_summary"),
        ("fermieval_sampling", "fermieval.sampling", "STUDY"),
        ("fermieval_sampling.trials", "fermieval.sampling.measures", "sampling_summary"),
        ("fermieval_sampling.measures", "fermieval.sampling.measures", "sampling_summary"),
        ("riskeval.measures", "riskeval.summary", "riskeval_summary"),
    )
}
"""Address now by that in logs of earlier releases."""


def resolve_address(address: str) -> Any:
    """Return the object that has an address, or had it in an earlier release.

    Examples
    --------
    >>> resolve_address("confidence_tasks.studies.fermieval_logprob:STUDY").name
    'fermieval_logprob'
    """
    return resolve_name(_MOVED.get(address, address))
