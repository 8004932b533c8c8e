"""The measures of FermiEval's intervals as conformally adjusted, with and without a calibration half."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from confidence_tasks import statistics
from confidence_tasks.studies.fermieval.adjustments import ADJUSTMENTS, JACKKNIFE, within_split
from confidence_tasks.studies.fermieval.measures import (
    COVERAGE,
    POSITIVE,
    WIDTH,
    WINKLER,
    misses_of,
    within_half,
)
from confidence_tasks.studies.fermieval.replies import CALIBRATION, TEST
from confidence_tasks.study.computations import not_resampled
from confidence_tasks.study.inference import BoundedMean, Columns, Compute, Inference, Informative, Proportion
from confidence_tasks.study.measure import Better, Measure
from confidence_tasks.study.measures import proportion_measure
from confidence_tasks.study.units import units_of


def _shift(trials: Columns) -> float:
    """Return the distance by which symmetric conformal adjustment moves both ends."""
    known, new = within_split(trials, CALIBRATION), within_split(trials, TEST)
    if CALIBRATION not in trials["split"] or not len(new["level"]):
        return math.nan
    return statistics.intervals.fit_conformal(
        known["truth"],
        known["lower"],
        known["upper"],
        float(new["level"][0]),
        questions=units_of(known),
    ).above


_ADJUSTED: tuple[tuple[str, Compute, str, Better], ...] = (
    ("coverage", COVERAGE, "Coverage", "neither"),
    ("width", WIDTH, "Mean width", "neither"),
    ("winkler", WINKLER, "Winkler score", "lower"),
)
"""Name, function, description and direction of the measures of adjusted intervals."""


def _adjusted_measures(method: str) -> Iterator[Measure]:
    adjustment = ADJUSTMENTS[method]
    fitted_on = "all other questions" if method == JACKKNIFE else "the calibration half"

    def misses(trials: Columns) -> Informative:
        return misses_of(TEST)(adjustment.adjust(trials))

    inferences: Mapping[str, Inference] = {
        "coverage": Proportion(),
        "width": BoundedMean(*POSITIVE),
        "winkler": BoundedMean(*POSITIVE, informative=misses),
    }
    for name, compute, description, better in _ADJUSTED:
        by_construction = method == JACKKNIFE and name == "coverage"
        yield Measure(
            f"{method}_{name}",
            adjustment.as_fitted(compute),
            f"{description} of the test half's intervals with {adjustment.change}, fitted on {fitted_on}"
            f"{', which is the nominal coverage by construction, up to ties' if by_construction else ''}.",
            better,
            inferences[name],
            fitted=True,
            refitted=adjustment.refitted(compute),
        )


CONFORMAL_MEASURES: tuple[Measure, ...] = (
    *(measure for method in ADJUSTMENTS if method != JACKKNIFE for measure in _adjusted_measures(method)),
    Measure(
        "conformal_shift",
        not_resampled(_shift),
        "Distance by which conformal adjustment moves both ends; infinite with too few calibration questions.",
        "lower",
        fitted=True,
    ),
    proportion_measure(
        "coverage_calibration",
        within_half(CALIBRATION, COVERAGE),
        "Share of the intervals stated for the calibration half that contain the truth.",
    ),
    Measure(
        "winkler_calibration",
        within_half(CALIBRATION, WINKLER),
        "Winkler score on the calibration half.",
        "lower",
        inference=BoundedMean(*POSITIVE, informative=misses_of(CALIBRATION)),
    ),
)
"""Measures of runs with a calibration half."""


JACKKNIFE_MEASURES: tuple[Measure, ...] = tuple(_adjusted_measures(JACKKNIFE))
"""Measures of runs without a calibration half."""
