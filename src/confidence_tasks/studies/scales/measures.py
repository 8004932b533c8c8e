"""The measures of the scale study.

Dai (2026), arXiv:2603.09309, section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from confidence_tasks.statistics import discretization
from confidence_tasks.study.computations import statistic_of
from confidence_tasks.study.inference import ANY, UNIT, Bounds, PointOnly
from confidence_tasks.study.measure import Better, Measure
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    calibration_error,
    proportion_measure,
)
from confidence_tasks.study.standard import (
    AUROC,
    BRIER,
    ECE,
    M_RATIO,
    META_INFORMATION,
    OVERCONFIDENCE,
    threshold_measure,
)


def _of_reports(
    name: str,
    statistic: Callable[..., Any],
    description: str,
    better: Better = "neither",
    *,
    bounds: Bounds = ANY,
    **options: Any,
) -> Measure:
    """Make a measure of the confidences as stated, inside the bounds or not."""
    compute = statistic_of(statistic, "confidence_raw", **options)
    return Measure(
        name,
        compute,
        description,
        better,
        inference=PointOnly(*bounds),
    )


MEASURES: tuple[Measure, ...] = (
    M_RATIO,
    AUROC,
    ECE,
    ACCURACY,
    ACCURACY_OF_ALL,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    OVERCONFIDENCE,
    BRIER,
    CONFIDENCE,
    calibration_error("ece_15", "Expected calibration error, 15 bins of equal width.", bins=15),
    calibration_error("ece_20", "Expected calibration error, 20 bins of equal width.", bins=20),
    calibration_error(
        "ece_mass", "Expected calibration error, 10 bins of equal numbers.", binning="equal_mass"
    ),
    threshold_measure(
        "meta_d",
        "meta_d",
        "Sensitivity of an ideal observer with the same type-2 hit and false-alarm rates, split at 0.9.",
    ),
    threshold_measure("meta_d_95", "meta_d", "meta_d with confidence split at 0.95.", 0.95),
    threshold_measure("mratio_95", "m_ratio", "meta-d' / d' with the split at 0.95.", 0.95),
    META_INFORMATION,
    _of_reports("top1_share", discretization.top_share, "Share of the most frequent report.", bounds=UNIT),
    _of_reports(
        "top3_share", discretization.top_share, "Share of the three most frequent reports.", bounds=UNIT, k=3
    ),
    _of_reports("distinct", discretization.distinct_values, "Number of different reports."),
    _of_reports("entropy", discretization.confidence_entropy, "Shannon entropy of the reports in bits."),
    proportion_measure(
        "round_share",
        statistic_of(discretization.round_share, "confidence_raw", constants=("lower", "upper")),
        "Share of reports that are multiples of five within the bounds.",
    ),
    proportion_measure(
        "violation_rate",
        statistic_of(discretization.violation_share, "confidence_raw", constants=("lower", "upper")),
        "Share of reports that exceed a bound of the scale by more than 5% of its width.",
        "lower",
    ),
    _of_reports(
        "utilization",
        discretization.scale_utilization,
        "Distance between the 5th and the 95th percentile of reports, as a share of the scale's width.",
        "higher",
        constants=("lower", "upper"),
    ),
)
