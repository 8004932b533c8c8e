"""Clusters: questions that share a passage, a pair or a family, and are not independent of each other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace

from confidence_tasks.study.trial import Question

CLUSTER_KINDS: Mapping[str, str] = {
    "halueval": "pair",
    "lsat_ar": "passage",
    "sat_en": "passage",
    "boolq": "passage",
    "lifeeval": "family",
}
"""What the questions of a source share, by source. The questions of other sources are independent of each other."""

BY_SUBJECT = frozenset({"mmlu"})
"""Sources that sample questions within subjects, which are not clusters by default: the subjects are all there are."""

_ID_IN_CLUSTER = {"pair": re.compile(r"(.+)_[rh]"), "family": re.compile(r"(.+)-r\d+")}
"""Identifiers whose first group names the cluster: two answers to one question, and the radii of one person."""

_SIGNIFICANT = {"boolq": 1_000}
_BEGINNING = 200
"""Number of characters that distinguish the passages of a source: logs may lack the rest."""


def cluster_of(source: str, question_id: str, text: str = "", passage: str = "") -> str:
    """Return the cluster of a question of a source; empty if it is unknown, or if there are no clusters.

    Parameters
    ----------
    source, question_id : str
        Source and identifier of the question.
    text : str
        The question as asked. Those of LSAT-AR and SAT-EN begin with their passage.
    passage : str
        The passage of a question whose text does not contain it (BoolQ).

    Examples
    --------
    >>> cluster_of("halueval", "halueval-8178_r"), cluster_of("lifeeval", "lifeeval-male-65-r10")
    ('halueval-8178', 'lifeeval-male-65')
    >>> cluster_of("mmlu", "mmlu-00017")
    ''
    """
    kind = CLUSTER_KINDS.get(source)
    if kind in _ID_IN_CLUSTER:
        match = _ID_IN_CLUSTER[kind].fullmatch(question_id)
        return match[1] if match else ""
    shared = passage if source == "boolq" else text
    if kind is None or not shared:
        return ""
    beginning = shared[: _SIGNIFICANT.get(source, _BEGINNING)].encode(errors="replace")
    return f"{source}-{hashlib.blake2b(beginning, digest_size=6).hexdigest()}"


def with_cluster(question: Question) -> Question:
    """Return the question with the cluster of its source, unless it has one."""
    passage = str(question.metadata.get("passage", ""))
    cluster = question.cluster or cluster_of(question.source, question.id, question.text, passage)
    return replace(question, cluster=cluster) if cluster else question
