"""Stated intervals for a number: coverage, width, Winkler score, conformal adjustment."""

from confidence_tasks.statistics.intervals.conformal import (
    ConformalAdjustment,
    fit_conformal,
    jackknife_conformal,
)
from confidence_tasks.statistics.intervals.scores import (
    SmallestSet,
    TemperatureFit,
    adjusted_interval,
    adjusted_interval_covariance,
    coverage,
    degenerate_share,
    empirical_distribution,
    fit_temperature,
    mean_width,
    penalized_winkler_score,
    smallest_set,
    tempered,
    tunnel_index,
    winkler_score,
)

__all__ = [
    "ConformalAdjustment",
    "SmallestSet",
    "TemperatureFit",
    "adjusted_interval",
    "adjusted_interval_covariance",
    "coverage",
    "degenerate_share",
    "empirical_distribution",
    "fit_conformal",
    "fit_temperature",
    "jackknife_conformal",
    "mean_width",
    "penalized_winkler_score",
    "smallest_set",
    "tempered",
    "tunnel_index",
    "winkler_score",
]
