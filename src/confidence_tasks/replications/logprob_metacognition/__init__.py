"""Cacioli (2026), arXiv:2603.25112, on log-probabilities as evidence of correctness: both versions of the paper."""

from confidence_tasks.replications.logprob_metacognition import version_1, version_2

REPLICATIONS = (version_1.REPLICATION, version_2.REPLICATION)
