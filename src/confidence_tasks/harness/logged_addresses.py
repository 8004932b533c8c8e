"""Addresses ``module:name`` of studies and functions in logs, those of earlier releases among them."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

_STUDIES = "confidence_tasks.studies."

_MOVED = {
    "fermieval.trials:fermieval_summary": "fermieval.summary:fermieval_summary",
    "fermieval_logprob.measures:logprob_summary": "fermieval.logprob.measures:logprob_summary",
    "fermieval_logprob.trials:logprob_summary": "fermieval.logprob.measures:logprob_summary",
    "fermieval_logprob:STUDY": "fermieval.logprob:STUDY",
    "fermieval_sampling.measures:sampling_summary": "fermieval.sampling.measures:sampling_summary",
    "fermieval_sampling.trials:sampling_summary": "fermieval.sampling.measures:sampling_summary",
    "fermieval_sampling:STUDY": "fermieval.sampling:STUDY",
    "lifeeval.trials:lifeeval_summary": "lifeeval.measures:lifeeval_summary",
    "logprob_metacognition.measures:nlp_summary": "logprob_metacognition.measures:nlp_metad_summary",
    "logprob_metacognition.trials:nlp_summary": "logprob_metacognition.measures:nlp_metad_summary",
    "question_sets.measures:question_set_summary": "lifeeval.question_sets.measures:question_set_summary",
    "question_sets.trials:question_set_summary": "lifeeval.question_sets.measures:question_set_summary",
    "question_sets:STUDY": "lifeeval.question_sets:STUDY",
    "riskeval.measures:riskeval_summary": "riskeval.summary:riskeval_summary",
}
"""Address now by that in logs of earlier releases, both within the package of studies."""


def resolve_address(address: str) -> Any:
    """Return the object that has an address, or had it in an earlier release.

    Examples
    --------
    >>> resolve_address("confidence_tasks.studies.fermieval_logprob:STUDY").name
    'fermieval_logprob'
    """
    if address.startswith(_STUDIES):
        within = address.removeprefix(_STUDIES)
        address = _STUDIES + _MOVED.get(within, within)
    return resolve_name(address)
