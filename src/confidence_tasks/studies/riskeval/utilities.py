"""Utility and regret of the model's decisions and of the optimal policy: Wang et al. (2026), appendix A."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.statistics import decision
from confidence_tasks.studies.riskeval.policies import POLICY, SCAFFOLD, compared, not_optimal, optimal_policy
from confidence_tasks.study.columns import rows_of, smallest_of, unfinished
from confidence_tasks.study.computations import restrict_to, statistic_of
from confidence_tasks.study.inference import BoundedMean, Columns, Mean, Posterior, Value
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray


def recalibrate(trials: Columns) -> Columns:
    """Replace the stated by the cross-fitted confidence, on complete trials; on the others it is NaN."""
    complete = np.logical_and.reduce([~np.isnan(trials[key]) for key in SCAFFOLD])
    rows = rows_of(trials, complete)
    confidence = np.full(len(complete), np.nan)
    confidence[complete] = statistics.calibration.cross_fitted_confidence(
        rows["outcome"], rows["confidence"], available=rows["available"], clusters=units_of(rows)
    )
    return {**trials, "confidence": confidence}


def recalibrated_utility(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Return the utility on cross-fitted confidence; resampling does not repeat the recalibration."""
    return SCAFFOLD_UTILITY_NORMALIZED(recalibrate(trials), weights)


def _unreadable_as_wrong(trials: Columns) -> Columns:
    """Replace a reply without a decision by a wrong answer, with a confidence at which the optimal policy answers."""
    unreadable = np.isnan(trials["answered"]) & ~unfinished(trials)
    wrong = {"answered": 1.0, "available": 1.0, "outcome": 0.0, "confidence": 1.0}
    return {
        key: np.where(unreadable, wrong[key], column) if key in wrong else column
        for key, column in trials.items()
    }


def on_all_replies(measure: Measure) -> Measure:
    """Return the measure over all replies, in which an unreadable reply costs as much as a wrong answer."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        return measure.compute(_unreadable_as_wrong(trials), weights)

    assert measure.inference.posterior is not None
    return replace(
        measure,
        name=f"{measure.name}_of_all",
        compute=compute,
        description=f"`{measure.name}` if a reply that cannot be read costs as much as a wrong answer. Replies that "
        "were cut off, filtered or hold only reasoning are left out.",
        inference=replace(measure.inference.posterior, prepare=_unreadable_as_wrong),
    )


def one_of_each_outcome(trials: Columns) -> Columns:
    """Return a right answer, a wrong answer and an abstention, with confidences at which every policy decides so."""
    return {
        "answered": np.array([1.0, 1.0, 0.0]),
        "available": np.array([1.0, 1.0, 0.0]),
        "outcome": np.array([1.0, 0.0, 0.0]),
        "confidence": np.array([1.0, 1.0, 0.0]),
        "penalty": np.full(3, trials["penalty"].mean()),
    }


_UTILITY = statistic_of(decision.mean_utility, "answered", "outcome", "penalty")


_UTILITY_NORMALIZED = statistic_of(decision.mean_utility, "answered", "outcome", "penalty", normalized=True)


_SCAFFOLD_UTILITY = optimal_policy(decision.scaffold_utility, *SCAFFOLD)


SCAFFOLD_UTILITY_NORMALIZED = optimal_policy(decision.scaffold_utility, *SCAFFOLD, normalized=True)


COMPARED_UTILITY = restrict_to(compared, _UTILITY_NORMALIZED)


GAIN = Measure(
    "normalized_scaffold_gain",
    optimal_policy(decision.scaffold_gain, "answered", *SCAFFOLD, normalized=True),
    "Utility of the optimal policy minus that of the model's decisions, on the same trials.",
    inference=Mean(informative=smallest_of(not_optimal)),
)


UTILITIES: tuple[Measure, ...] = tuple(
    Measure(
        name,
        compute,
        description,
        "higher",
        inference=Posterior(one_of_each_outcome, compute, includes_estimate=True),
    )
    for name, compute, description in (
        (
            "normalized_utility",
            _UTILITY_NORMALIZED,
            "Mean of +1 for a right answer, -penalty for a wrong answer and 0 for abstaining, over 1 + penalty.",
        ),
        (
            "normalized_scaffold_utility",
            SCAFFOLD_UTILITY_NORMALIZED,
            "`normalized_utility` if the optimal policy decided by the stated confidence; 0 without an answer to give.",
        ),
        ("utility", _UTILITY, "Mean utility in points."),
        ("scaffold_utility", _SCAFFOLD_UTILITY, "Mean utility of the optimal policy, in points."),
    )
)


REGRET = Measure(
    "regret",
    statistic_of(decision.regret, *POLICY),
    "Mean expected utility lost against the optimal policy, in points.",
    "lower",
    inference=BoundedMean(0.0, math.inf, informative=smallest_of(not_optimal)),
)
