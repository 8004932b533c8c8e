"""Trials of stated intervals for numbers in any unit, and their measures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks.statistics import intervals
from confidence_tasks.study import Question, Replies, Trial
from confidence_tasks.study.inference import BoundedMean, Shifted
from confidence_tasks.study.measures import (
    Better,
    Columns,
    Compute,
    Informative,
    InformativeOf,
    Measure,
    Value,
    proportion_measure,
    proportion_of,
    rows_of,
    smallest_set,
    statistic_of,
)
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray


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


_misses = smallest_set(_missed, enough=_ENOUGH_MISSES)


def _misses_of_adjusted(trials: Columns) -> Informative:
    return _misses(_adjusted(trials))


_POSITIVE = (0.0, math.inf)


def _complete(trials: Columns) -> NDArray[np.bool_]:
    columns = [trials[name] for name in ("truth", "lower", "upper", "level")]
    return np.asarray(~np.isnan(columns).any(axis=0))


def _adjusted_by_row(trials: Columns, weights: FloatArray) -> tuple[list[Columns], NDArray[Any]]:
    """Return the distinct sets of adjusted intervals, and for each row of weights the position of its set."""
    ends = trials["truth"], trials["lower"], trials["upper"]
    outcomes, row_outcome = intervals.conformal.refit_jackknife(
        ends, float(trials["level"][0]), weights, units_of(trials)
    )
    adjusted: list[Columns] = [{**trials, "lower": lower, "upper": upper} for lower, upper in outcomes]
    return adjusted, row_outcome


def _adjusted(trials: Columns) -> Columns:
    """Return the complete trials, each with the interval that the other questions adjust."""
    known = rows_of(trials, _complete(trials))
    if not len(known["level"]):
        return known
    (adjusted,), _ = _adjusted_by_row(known, np.ones((1, len(known["level"]))))
    return adjusted


def _of_adjusted(compute: Compute) -> Compute:
    """Return a measure of adjusted intervals, which keeps the adjustment of all trials under resampling."""

    def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
        return compute(_adjusted(trials), None if weights is None else weights[..., _complete(trials)])

    return computed


def _refitted(compute: Compute) -> Compute:
    """Return a measure of adjusted intervals, which fits the adjustment to each row of weights."""

    def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
        keep = _complete(trials)
        if weights is None or not keep.any():
            return _of_adjusted(compute)(trials, weights)
        adjusted, row_outcome = _adjusted_by_row(rows_of(trials, keep), weights[:, keep])
        values = np.empty(len(weights))
        for number, each in enumerate(adjusted):
            rows = row_outcome == number
            values[rows] = compute(each, weights[rows][:, keep])
        return values

    return computed


def _conformal(
    name: str, compute: Compute, description: str, better: Better, informative: InformativeOf | None = None
) -> Measure:
    return Measure(
        f"conformal_{name}",
        _of_adjusted(compute),
        f"{description} after the other questions moved both ends of each interval by the same distance (jackknife+).",
        better,
        inference=BoundedMean(*_POSITIVE, informative=informative),
        fitted=True,
        refitted=_refitted(compute),
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
