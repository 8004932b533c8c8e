"""Meta-information: the information about correctness in confidence; entropy of answers."""

from confidence_tasks.statistics.information.estimates import (
    MetaInformation,
    meaning_clusters,
    meta_information,
    meta_information_test,
    semantic_entropy,
    token_entropy,
)
from confidence_tasks.statistics.information.interval import (
    InformationTables,
    meta_information_interval,
    usable_bins,
)

__all__ = [
    "InformationTables",
    "MetaInformation",
    "meaning_clusters",
    "meta_information",
    "meta_information_interval",
    "meta_information_test",
    "semantic_entropy",
    "token_entropy",
    "usable_bins",
]
