"""What a simulated subject states on a scale of integers: with its habits of rounding and of ignoring the bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks.reading.integer_scale import PERCENT, Scale
from confidence_tasks.simulation.subject import Subject, decisions, uniform

if TYPE_CHECKING:
    from confidence_tasks.simulation.draws import Draws
    from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray


def report_confidence(confidence: float, scale: Scale, subject: Subject, *key: object) -> int:
    """Return the integer on ``scale`` that the subject reports for a confidence in [0, 1].

    ``key`` determines whether the subject rounds and whether it ignores the bounds.

    Examples
    --------
    >>> report_confidence(0.87, Scale(0, 20), Subject(), 0, "q-1")
    17
    >>> report_confidence(0.87, Scale(0, 100), Subject(rounding=1.0), 0, "q-1")
    85
    """
    ignores_bounds = uniform(*key, "bounds") < subject.ignores_bounds
    rounds = uniform(*key, "rounding") < subject.rounding
    return int(_to_scale(subject, confidence, PERCENT if ignores_bounds else scale, rounds))


def possible_reports(confidence: FloatArray, scale: Scale, subject: Subject) -> list[tuple[IntArray, float]]:
    """Return the reports, of shape (n,), of n confidences for each combination of habits, and its probability."""
    scales = ((PERCENT, subject.ignores_bounds), (scale, 1.0 - subject.ignores_bounds))
    roundings = ((True, subject.rounding), (False, 1.0 - subject.rounding))
    return [
        (_to_scale(subject, confidence, used_scale, rounds).astype(np.int64), p_scale * p_rounding)
        for used_scale, p_scale in scales
        for rounds, p_rounding in roundings
        if p_scale * p_rounding
    ]


def report_distribution(
    subject: Subject,
    condition: str,
    scale: Scale,
    transform: Callable[[float, bool], float] = lambda confidence, correct: confidence,
) -> dict[tuple[bool, int], float]:
    """Return the joint probability of each outcome, right or wrong, and each report on ``scale``.

    ``transform(confidence, correct)`` returns the confidence that is reported.
    """
    distribution: dict[tuple[bool, int], float] = {}
    outcomes = list(decisions(subject, condition))
    confidence = np.array([transform(confidence, correct) for correct, confidence, _ in outcomes])
    reports = possible_reports(confidence, scale, subject)
    for i, (correct, _, p_outcome) in enumerate(outcomes):
        for raw, p_report in reports:
            key = correct, int(raw[i])
            distribution[key] = distribution.get(key, 0.0) + p_outcome * p_report
    return distribution


def simulated_reports(subject: Subject, confidence: FloatArray, scale: Scale, draws: Draws) -> FloatArray:
    """Return the subject's reports on ``scale``; the normal ``draws`` determine which of them are rounded."""
    from scipy.special import ndtr

    return _to_scale(subject, confidence, scale, ndtr(draws["rounding"]) < subject.rounding)


ENOUGH_ROUND_NUMBERS = 7
"""Minimum number of round values on a scale for a subject to round; 0-20 has fewer."""


def _to_scale(
    subject: Subject, confidence: FloatArray | float, scale: Scale, rounds: BoolArray | bool
) -> FloatArray:
    """Return confidences in [0, 1] as integers on ``scale``, rounded to multiples of ``round_to`` where ``rounds``."""
    if subject.anchors:
        confidence = _nearest(np.sort(subject.anchors), confidence)
    raw = scale.lower + confidence * scale.width
    step = subject.round_to
    multiples = np.arange(-(-scale.lower // step) * step, scale.upper + 1, step, dtype=np.float64)
    if len(multiples) < ENOUGH_ROUND_NUMBERS:
        return np.rint(raw)
    return np.where(rounds, _nearest(multiples, raw), np.rint(raw))


def _nearest(grid: FloatArray, values: FloatArray | float) -> FloatArray:
    """Return the nearest entry of the ascending ``grid`` for each value; ties go to the lower entry."""
    midpoints = (grid[1:] + grid[:-1]) / 2.0
    return np.asarray(grid[np.searchsorted(midpoints, values)])
