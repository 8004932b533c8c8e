"""Meta-information: the information about correctness in confidence; entropy and similarity of answers."""

from confidence_tasks.statistics.information.answers import (
    cocoa,
    consistency_and_confidence,
    degree_uncertainty,
    eccentricity,
    eigenvalue_sum,
    kernel_language_entropy,
    meaning_clusters,
    monte_carlo_entropy,
    self_certainty,
    semantic_entropy,
    token_entropy,
    token_margin,
    token_negentropy,
)
from confidence_tasks.statistics.information.estimates import (
    MetaInformation,
    meta_information,
    meta_information_test,
)
from confidence_tasks.statistics.information.interval import (
    InformationTables,
    meta_information_interval,
    usable_bins,
)

__all__ = [
    "InformationTables",
    "MetaInformation",
    "cocoa",
    "consistency_and_confidence",
    "degree_uncertainty",
    "eccentricity",
    "eigenvalue_sum",
    "kernel_language_entropy",
    "meaning_clusters",
    "meta_information",
    "meta_information_interval",
    "meta_information_test",
    "monte_carlo_entropy",
    "self_certainty",
    "semantic_entropy",
    "token_entropy",
    "token_margin",
    "token_negentropy",
    "usable_bins",
]
