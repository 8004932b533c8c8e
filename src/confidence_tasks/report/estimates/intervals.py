"""The interval of a measure from its distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import Estimate, Interval
from confidence_tasks.study.measure import Measure


def interval_of_measure(
    measure: Measure, by_name: Mapping[str, Distribution], settings: Settings
) -> Interval:
    """Return the interval of a measure, clipped to the bounds of the measure.

    A measure that differs from a proportion by a constant has the interval of that proportion, shifted by the constant.
    ``by_name`` holds the measures of the same trials.
    """
    inference = measure.inference
    distribution, proportion = by_name[measure.name], by_name.get(inference.proportion)
    if proportion is None:
        interval = distribution.interval(settings, inference.method, inference.bounds)
        if math.isnan(interval.low):
            return interval
        lowest, highest, shift = *inference.bounds, 0.0
        if inference.posterior and inference.posterior.includes_estimate:
            interval = _with_estimate(interval, float(distribution.value))
    else:
        interval = proportion.interval(settings, "wilson")
        lowest, highest = -math.inf, math.inf
        shift = float(proportion.value) - float(distribution.value)
    low, high = (
        Estimate(min(max(limit - shift, lowest), highest), limit.reason)
        for limit in (interval.low, interval.high)
    )
    return replace(interval, estimate=distribution.value, low=low, high=high)


def _with_estimate(interval: Interval, value: float) -> Interval:
    """Return the quantiles of a posterior distribution, extended to the value if its prior moved them past it.

    Jeffreys' interval of a proportion ends at 1 for the same reason if every trial is a success (Brown, Cai & DasGupta
    2001, doi:10.1214/ss/1009213286).
    """
    low, high = min(interval.low, value), max(interval.high, value)
    return replace(
        interval, low=Estimate(low, interval.low.reason), high=Estimate(high, interval.high.reason)
    )
