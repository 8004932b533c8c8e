"""The measures of intervals that token probabilities give, with and without a fitted temperature."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.studies.fermieval.adjustments import of_intervals
from confidence_tasks.studies.fermieval.logprob.distribution import read_distribution
from confidence_tasks.studies.fermieval.measures import FIGURES
from confidence_tasks.studies.fermieval.replies import CALIBRATION, TEST, condition_of, levels_of
from confidence_tasks.studies.fermieval.summary import CALIBRATED, LOGGED
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.computations import not_resampled, proportion_of
from confidence_tasks.study.inference import UNIT, Columns, Compute
from confidence_tasks.study.measure import Better, Measure
from confidence_tasks.study.measures import (
    ACCURACY,
    CONFIDENCE,
    PARSE_RATE,
    auroc,
    calibration_error,
    mean_measure,
)
from confidence_tasks.study.metrics import select_measures, values_of

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.statistics.intervals import TemperatureFit

# Sets -----------------------------------------------------------------------------------------------------------


def _with_distribution(trials: Columns, split: str) -> Columns:
    return rows_of(trials, (trials["split"] == split) & (trials["distribution"] != ""))


def _distribution_arrays(texts: Iterable[str]) -> tuple[FloatArray, FloatArray]:
    """Return the values and probabilities of distributions, both of shape (n, K)."""
    distributions = [read_distribution(text) for text in texts]
    support = sorted({value for each in distributions for value in each} or {0})
    values = np.tile(np.array(support, dtype=np.float64), (len(distributions), 1))
    probabilities = np.array([[each.get(value, 0.0) for value in support] for each in distributions])
    return values, probabilities.reshape(values.shape)


def fitted_temperature(trials: Columns, levels: Sequence[float]) -> TemperatureFit:
    """Fit the temperature with the smallest Winkler score, averaged over the levels, on the calibration half."""
    known = _with_distribution(trials, CALIBRATION)
    return _fit_temperature(tuple(known["truth"]), tuple(known["distribution"]), tuple(levels))


@lru_cache(maxsize=4)  # all measures of the same trials share the fit
def _fit_temperature(
    truth: tuple[float, ...], texts: tuple[str, ...], levels: tuple[float, ...]
) -> TemperatureFit:
    return statistics.intervals.fit_temperature(truth, *_distribution_arrays(texts), levels)


def set_intervals(trials: Columns, level: float, temperature: float = 1.0, split: str = TEST) -> Columns:
    """Return the smallest sets of a nominal coverage, for the trials of a half that have a distribution.

    A temperature above 1 flattens the distributions first, one below 1 sharpens them. The trials get ``level``, the
    span of the set in ``lower`` and ``upper``, and ``held``: 1 if the set contains the truth, else 0.
    """
    new = _with_distribution(trials, split)
    values, probabilities = _distribution_arrays(new["distribution"])
    sets = statistics.intervals.smallest_set(
        values, statistics.intervals.tempered(probabilities, temperature), level
    )
    return {
        **new,
        "level": np.full(len(values), level),
        "lower": sets.lower,
        "upper": sets.upper,
        "held": (sets.members & (values == new["truth"][:, None])).any(axis=-1).astype(np.float64),
    }


# Measures -------------------------------------------------------------------------------------------------------


_FIGURES: tuple[tuple[str, Compute, str, Better], ...] = (
    (
        "membership",
        proportion_of(lambda sets: sets["held"]),
        "Share of sets that contain the truth",
        "neither",
    ),
    *((name, compute, f"{what} that span the sets", better) for name, compute, what, better in FIGURES),
)

INTEGER_MASS = mean_measure(
    "integer_mass",
    "integer_mass",
    "Mean probability of all integers together; other tokens have the rest.",
    "higher",
    bounds=UNIT,
)


def logprob_measures(levels: Sequence[float], *, scaled: bool = True) -> tuple[Measure, ...]:
    """Return the measures of the smallest sets at some levels, without and with temperature scaling.

    On the test half, by level: ``membership``, the share of sets that contain the truth, and ``coverage``,
    ``coverage_gap``, ``mean_width`` and ``winkler`` of the intervals that span the sets. With ``scaled``, for runs with
    a calibration half, also the same measures after temperature scaling, named ``scaled_...``, and the fitted
    ``temperature``, NaN if no calibration trial has a distribution. Over all trials: ``accuracy`` of the most probable
    exponent, ``integer_mass`` and ``parse_rate``.
    """

    def temperature(trials: Columns) -> float:
        return float(fitted_temperature(trials, levels).temperature)

    def sets(prefix: str, level: float, trials: Columns) -> Columns:
        scaling = temperature(trials) if prefix else 1.0
        if math.isnan(scaling):
            return rows_of(set_intervals(trials, level), slice(0))
        return set_intervals(trials, level, scaling)

    fitted = Measure(
        "temperature/all", not_resampled(temperature), "Temperature fitted on the calibration half."
    )
    variants = {"": "without scaling"} | ({"scaled_": "after temperature scaling"} if scaled else {})
    return (
        *(replace(measure, name=f"{measure.name}/all") for measure in (ACCURACY, INTEGER_MASS, PARSE_RATE)),
        *((fitted,) if scaled else ()),
        *(
            Measure(
                f"{prefix}{name}/{condition_of(level)}",
                of_intervals(partial(sets, prefix, level), compute),
                f"{what}, at a nominal coverage of {level:g}, on the test half, {variant}.",
                better,
            )
            for prefix, variant in variants.items()
            for level in levels
            for name, compute, what, better in _FIGURES
        ),
    )


def logprob_summary(
    trials: Sequence[Mapping[str, Any]],
    levels: Sequence[float],
    *,
    scaled: bool = True,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the measures of `logprob_measures`, or those in ``names``; NaN without trials."""
    return values_of(trials, select_measures(logprob_measures(levels, scaled=scaled), names))


def logprob_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures of the sets at every level, with temperature scaling if there is a calibration half."""
    levels, scaled = levels_of(parameters["levels"]), parameters["split"] in CALIBRATED
    return TaskMetrics(
        logprob_summary,
        {"levels": levels, "scaled": scaled},
        logprob_measures(levels, scaled=scaled),
        condition_of(levels[0]),
        overall=("all", condition_of(levels[0])),
        default_measures=LOGGED,
    )


REPORTED_MEASURES: tuple[Measure, ...] = (
    ACCURACY,
    CONFIDENCE,
    calibration_error(
        "ece", "Expected calibration error of the most probable exponent’s probability, 10 bins."
    ),
    auroc(
        "auroc",
        "Probability that a right most probable exponent has a higher probability than a wrong one.",
    ),
    INTEGER_MASS,
    PARSE_RATE,
)
"""Measures of the most probable exponent; the table of methods has the intervals from the distribution."""
