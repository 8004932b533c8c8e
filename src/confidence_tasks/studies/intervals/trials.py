"""Trials of stated intervals for numbers in any unit, and their measures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks.statistics import intervals
from confidence_tasks.study import Question, Replies, Trial
from confidence_tasks.study.adjusted_intervals import AdjustedIntervals, refit_by_others
from confidence_tasks.study.columns import smallest_of
from confidence_tasks.study.computations import proportion_of, statistic_of
from confidence_tasks.study.inference import (
    BoundedMean,
    Columns,
    Compute,
    Informative,
    InformativeOf,
    Shifted,
)
from confidence_tasks.study.measure import Better, Measure
from confidence_tasks.study.measures import proportion_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray


class StatedIntervalTrial(Trial):
    """A trial of stated intervals; ``correct`` is 1 if the interval contains the truth.

    ``confidence`` is the nominal coverage, and ``condition`` its label, such as ``p=0.9``.

    Attributes
    ----------
    lower, upper : float
        Ends of the interval, in the unit of the truth; NaN if none was stated.
    truth : float
        The true value.
    level : float
        Nominal coverage, in (0, 1).
    """

    lower: float
    upper: float
    truth: float
    level: float


def read_reply(question: Question, condition: str, replies: Replies) -> StatedIntervalTrial:
    """Return a trial without an interval: the study has no prompt, and its trials come from columns."""
    return StatedIntervalTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=math.nan,
        confidence=math.nan,
        status="missing_answer",
        lower=math.nan,
        upper=math.nan,
        truth=math.nan,
        level=math.nan,
    )


_COVERAGE = statistic_of(intervals.coverage, "truth", "lower", "upper")
_WIDTH = statistic_of(intervals.mean_width, "lower", "upper")
_WINKLER = statistic_of(intervals.winkler_score, "truth", "lower", "upper", "level")

_ENOUGH_MISSES = 4
"""Minimum number of misses for an interval of the Winkler score, as in FermiEval."""


def _missed(trials: Columns) -> NDArray[Any]:
    return np.asarray((trials["truth"] < trials["lower"]) | (trials["truth"] > trials["upper"]))


_misses = smallest_of(_missed, enough=_ENOUGH_MISSES)


_POSITIVE = (0.0, math.inf)


def _complete(trials: Columns) -> NDArray[np.bool_]:
    columns = [trials[name] for name in ("truth", "lower", "upper", "level")]
    return np.asarray(~np.isnan(columns).any(axis=0))


_CONFORMAL = AdjustedIntervals(_complete, _complete, refit_by_others)
"""The complete trials, each with the interval that the other questions adjust."""


def _misses_of_adjusted(trials: Columns) -> Informative:
    return _misses(_CONFORMAL.adjust(trials))


def _conformal(
    name: str, compute: Compute, description: str, better: Better, informative: InformativeOf | None = None
) -> Measure:
    return Measure(
        f"conformal_{name}",
        _CONFORMAL.as_fitted(compute),
        f"{description} after the other questions moved both ends of each interval by the same distance (jackknife+).",
        better,
        inference=BoundedMean(*_POSITIVE, informative=informative),
        fitted=True,
        refitted=_CONFORMAL.refitted(compute),
    )


MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "coverage", _COVERAGE, "Share of the intervals that contain the truth, ends included."
    ),
    Measure(
        "coverage_gap",
        proportion_of(lambda trials: trials["correct"] - trials["level"]),
        "Observed minus nominal coverage; below 0 is overconfident.",
        inference=Shifted("coverage"),
    ),
    Measure(
        "width",
        _WIDTH,
        "Mean width of the intervals, in the unit of the truth.",
        inference=BoundedMean(*_POSITIVE),
    ),
    Measure(
        "winkler",
        _WINKLER,
        "Winkler score: width, plus 2/alpha times the distance by which the truth is missed.",
        "lower",
        inference=BoundedMean(*_POSITIVE, informative=_misses),
    ),
    _conformal("width", _WIDTH, "Mean width", "neither"),
    _conformal("winkler", _WINKLER, "Winkler score", "lower", _misses_of_adjusted),
)
