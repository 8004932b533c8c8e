"""Signal detection theory: type-1 sensitivity, meta-d', unequal variances, confidence split at a threshold."""

import warnings
from typing import Any

from confidence_tasks.statistics.sdt.count_tables import correctness_table, quantile_edges, two_choice_table
from confidence_tasks.statistics.sdt.hierarchical import (
    HierarchicalMetaD,
    PosteriorDraws,
    hierarchical_meta_d,
)
from confidence_tasks.statistics.sdt.meta_d import MetaD, fit_meta_d
from confidence_tasks.statistics.sdt.meta_d_of_trials import (
    d_prime_2afc,
    m_ratio_2afc,
    m_ratio_ratings,
    meta_d_2afc,
    meta_d_ratings,
)
from confidence_tasks.statistics.sdt.metacognition import (
    FiellerInterval,
    Metacognition,
    fieller_interval,
    stable_m_ratio,
)
from confidence_tasks.statistics.sdt.sensitivity import (
    TypeOne,
    UnequalVarianceSDT,
    d_a,
    d_prime_ratings,
    fit_uv_sdt,
    mean_difference,
    type1,
    z_roc_slope,
)
from confidence_tasks.statistics.sdt.threshold import (
    ThresholdMetaD,
    d_prime_threshold,
    fit_meta_d_threshold,
    m_ratio_threshold,
    meta_d_threshold,
    threshold_incomparable,
    threshold_influence,
    threshold_table,
)

__all__ = [
    "FiellerInterval",
    "HierarchicalMetaD",
    "MetaD",
    "Metacognition",
    "PosteriorDraws",
    "ThresholdMetaD",
    "TypeOne",
    "UnequalVarianceSDT",
    "correctness_table",
    "d_a",
    "d_prime_2afc",
    "d_prime_ratings",
    "d_prime_threshold",
    "fieller_interval",
    "fit_meta_d",
    "fit_meta_d_threshold",
    "fit_uv_sdt",
    "hierarchical_meta_d",
    "m_ratio_2afc",
    "m_ratio_ratings",
    "m_ratio_threshold",
    "mean_difference",
    "meta_d_2afc",
    "meta_d_ratings",
    "meta_d_threshold",
    "quantile_edges",
    "stable_m_ratio",
    "threshold_incomparable",
    "threshold_influence",
    "threshold_table",
    "two_choice_table",
    "type1",
    "z_roc_slope",
]


def __getattr__(name: str) -> Any:
    """Return `PosteriorDraws` under its earlier name, for one release."""
    if name == "Posterior":
        warnings.warn(f"{__name__}.Posterior is PosteriorDraws", DeprecationWarning, stacklevel=2)
        return PosteriorDraws
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
