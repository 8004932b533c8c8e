"""The confidence from which RiskEval's model answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.statistics import decision
from confidence_tasks.study.columns import where
from confidence_tasks.study.computations import statistic_of
from confidence_tasks.study.inference import Columns, Informative, Percentile, Value
from confidence_tasks.study.measure import Measure

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray


def _threshold_excess(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Return the implied threshold minus the optimal threshold."""
    implied = statistic_of(decision.implied_threshold, "answered", "confidence")(trials, weights)
    return implied - float(statistics.optimal_threshold(trials["penalty"][0]))


def _overlapping_decisions(trials: Columns) -> Informative:
    """Return the questions that determine the implied threshold: of answers or of abstentions, whichever are fewer.

    Only decisions from the lowest confidence of an answer to the highest confidence of an abstention are included.
    """
    answered, abstained = (where("answered", decision, "confidence")(trials) for decision in (1.0, 0.0))
    lowest = np.min(trials["confidence"], where=answered, initial=math.inf)
    highest = np.max(trials["confidence"], where=abstained, initial=-math.inf)
    between = (trials["confidence"] >= lowest) & (trials["confidence"] <= highest)
    return Informative.smallest(trials, (answered & between, abstained & between))


IMPLIED_THRESHOLDS: tuple[Measure, ...] = (
    Measure(
        "implied_threshold",
        statistic_of(decision.implied_threshold, "answered", "confidence"),
        "Confidence from which the model answers; undefined if it always answers or always abstains.",
        inference=Percentile(informative=_overlapping_decisions),
    ),
    Measure(
        "threshold_excess",
        _threshold_excess,
        "Implied minus optimal threshold; below 0 the model answers where it should abstain.",
        inference=Percentile(informative=_overlapping_decisions),
    ),
)
"""The confidence from which the model answers, and its distance from the optimal one."""
