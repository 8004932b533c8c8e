"""The measures of FermiEval's intervals, as stated and as conformally adjusted.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks.statistics import intervals
from confidence_tasks.studies.fermieval.replies import TEST
from confidence_tasks.studies.fermieval.trials import EXCLUDED
from confidence_tasks.study.columns import smallest_of, unfinished
from confidence_tasks.study.computations import proportion_of, restrict_to, statistic_of
from confidence_tasks.study.inference import BoundedMean, Columns, Compute, InformativeOf, Shifted, Value
from confidence_tasks.study.measure import Better, Measure
from confidence_tasks.study.measures import PARSE_RATE, PARSE_RATE_STRICT, count_measure, proportion_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray


def within_half(split: str, compute: Compute) -> Compute:
    """Restrict a measure to one half of the questions."""
    return restrict_to(lambda trials: trials["split"] == split, compute)


def _without_excluded(measure: Measure) -> Measure:
    return replace(
        measure,
        compute=restrict_to(lambda trials: trials["split"] != EXCLUDED, measure.compute),
        description=f"{measure.description} Replies counted by `n_excluded` are left out.",
    )


COVERAGE = statistic_of(intervals.coverage, "truth", "lower", "upper")


WIDTH = statistic_of(intervals.mean_width, "lower", "upper")


WINKLER = statistic_of(intervals.winkler_score, "truth", "lower", "upper", "level")


_ENOUGH_MISSES = 4
"""Minimum number of misses for an interval of the Winkler score. With fewer misses, the score is too low and its
interval lies below the true value. A higher minimum would select studies whose score is too high. See
``docs/reliability.md``."""


def misses_of(split: str) -> InformativeOf:
    """Return the rule that finds the questions of one half whose interval misses the truth."""

    def missed(trials: Columns) -> NDArray[Any]:
        outside = (trials["truth"] < trials["lower"]) | (trials["truth"] > trials["upper"])
        return np.asarray(outside & (trials["split"] == split))

    return smallest_of(missed, enough=_ENOUGH_MISSES)


def _covered_if_missing(trials: Columns) -> NDArray[Any]:
    """Return whether each interval contains the truth: 0 without an interval, NaN for an unfinished reply."""
    return np.where(unfinished(trials), np.nan, trials["correct"] == 1.0)


POSITIVE = (0.0, math.inf)
"""Range of widths and scores."""


MEASURES: tuple[Measure, ...] = (
    Measure(
        "coverage_gap",
        within_half(TEST, proportion_of(lambda trials: trials["correct"] - trials["level"])),
        "Observed minus nominal coverage on the test half; below 0 is overconfident.",
        inference=Shifted("coverage"),
    ),
    proportion_measure(
        "coverage",
        within_half(TEST, COVERAGE),
        "Share of the intervals stated for the test half that contain the truth.",
    ),
    proportion_measure(
        "coverage_of_all",
        within_half(TEST, proportion_of(_covered_if_missing)),
        "Coverage on the test half if a reply without an interval counts as a miss. Replies that were cut off, "
        "filtered or hold only reasoning are left out.",
    ),
    Measure(
        "mean_width",
        within_half(TEST, WIDTH),
        "Mean width of the intervals for the test half, in orders of magnitude.",
        inference=BoundedMean(*POSITIVE),
    ),
    Measure(
        "winkler",
        within_half(TEST, WINKLER),
        "Winkler score on the test half: width, plus 2/alpha times the distance by which the truth is missed.",
        "lower",
        inference=BoundedMean(*POSITIVE, informative=misses_of(TEST)),
    ),
    proportion_measure(
        "degenerate_share",
        within_half(TEST, statistic_of(intervals.degenerate_share, "lower", "upper")),
        "Share of the intervals for the test half that are a single exponent.",
    ),
    _without_excluded(PARSE_RATE),
    _without_excluded(PARSE_RATE_STRICT),
    count_measure(
        "n_excluded",
        lambda trials: trials["split"] == EXCLUDED,
        "Number of replies in either half that are left out because the truth or an end lies beyond `max_exponent`.",
    ),
)
"""Measures of the intervals as stated, on the test half; the last three are over both halves."""


def _coverage_gap(intervals: Columns, weights: FloatArray | None = None) -> Value:
    level = float(intervals["level"][0]) if len(intervals["level"]) else math.nan
    return COVERAGE(intervals, weights) - level


FIGURES: tuple[tuple[str, Compute, str, Better], ...] = (
    ("coverage", COVERAGE, "Share of the intervals that contain the truth", "neither"),
    ("coverage_gap", _coverage_gap, "Observed minus nominal coverage", "neither"),
    ("mean_width", WIDTH, "Mean width of the intervals", "neither"),
    ("winkler", WINKLER, "Winkler score of the intervals", "lower"),
)
"""Name, function, description and direction of the measures of the intervals of one method at one level."""
