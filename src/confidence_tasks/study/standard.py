"""Standard measures of answers that are right or wrong and have a confidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from confidence_tasks.statistics import calibration, information, sdt
from confidence_tasks.statistics.core import FloatArray, Reason, undefined
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.study.columns import GRADED, right_and_wrong, smallest_of
from confidence_tasks.study.computations import (
    StatisticCall,
    incomparable_by,
    influence_of,
    inverted_test_of,
    statistic_of,
)
from confidence_tasks.study.inference import (
    Columns,
    Compute,
    Informative,
    Inverted,
    Posterior,
    Proportion,
    Value,
)
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import ACCURACY, CONFIDENCE, auroc, calibration_error, overconfidence

HIGH_CONFIDENCE = 0.9
"""Threshold that splits confidence into high and low for meta-d' (arXiv:2603.09309, section 3.3)."""

PADDING = "hautus"
"""Correction for empty cells: one half is added to each cell, as in the paper (section 3.3)."""

_PRIOR = 0.75
"""Number of prior trials of each outcome for the posterior distribution of meta-d', halfway between Jeffreys' 0.5 and
Laplace's 1. If three confident wrong answers are expected, one study in twenty has none, and with a prior of 0.5 its
interval lies above the true value. If half a one is expected, hardly any interval does (``docs/reliability.md``)."""


def _outcomes(trials: Columns) -> Columns:
    """Return a right and a wrong answer on either side of every threshold."""
    return {"correct": np.array([1.0, 1.0, 0.0, 0.0]), "confidence": np.array([1.0, 0.0, 1.0, 0.0])}


def withheld(compute: Compute, reason_of: Callable[[Columns], Reason | None]) -> Compute:
    """Make ``Measure.compute`` that is undefined for trials for which ``reason_of(columns)`` returns a reason.

    Resamples and draws keep their values.
    """

    def unless_withheld(trials: Columns, weights: FloatArray | None = None) -> Value:
        value = compute(trials, weights)
        if weights is not None or np.isnan(value):
            return value
        reason = reason_of(trials)
        return undefined(reason) if reason else value

    return StatisticCall(compute.columns if isinstance(compute, StatisticCall) else (), unless_withheld)


FEWEST_OF_A_CLASS = 5
"""Minimum number of questions with right and with wrong answers for meta-d' and M-ratio, as for intervals of other
measures that compare the two. Simulated with an M-ratio of 0.8 and an accuracy of 0.75: with four wrong answers, 98 of
100 intervals contain 0 and 44 are ten or more wide; with ten wrong answers, it is 72 and none
(``docs/reliability.md``). The counts are those of the classes, not of
high and low confidence within a class: these are low whenever meta-d' is high by chance."""


def with_enough_of_each_class(compute: Compute) -> Compute:
    """Withhold a measure of type-2 sensitivity if fewer than five questions have right, or wrong, answers.

    Resamples and draws keep their values.
    """

    def few(trials: Columns) -> Reason | None:
        masks = [members(trials) for members in right_and_wrong()]
        if "question_id" in trials:
            fewest = Informative.smallest(trials, masks).count
        else:
            fewest = min(mask.sum() for mask in masks)
        return Reason.FEW_INFORMATIVE if fewest < FEWEST_OF_A_CLASS else None

    return withheld(compute, few)


def with_stable_d_prime(m_ratio: Compute, d_prime: Compute) -> Compute:
    """Withhold the M-ratio of trials whose d' is below 0.5; resamples and draws keep theirs.

    ``m_ratio`` and ``d_prime`` are made of the same columns by
    :func:`~confidence_tasks.study.computations.statistic_of`.
    """

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        value = m_ratio(trials, weights)
        if weights is not None:
            return value
        return sdt.stable_m_ratio(as_estimate(value), as_estimate(d_prime(trials, None)))

    columns = m_ratio.columns if isinstance(m_ratio, StatisticCall) else ()
    return StatisticCall(columns, compute)


def threshold_measure(
    name: str, quantity: str, description: str, threshold: float = HIGH_CONFIDENCE
) -> Measure:
    """Make a measure of type-2 sensitivity with confidence split into high and low.

    ``quantity`` is ``meta_d`` or ``m_ratio``; ``threshold``, in (0, 1), is the smallest high confidence.
    """
    function = {"meta_d": sdt.meta_d_threshold, "m_ratio": sdt.m_ratio_threshold}[quantity]
    compute = statistic_of(function, *GRADED, threshold=threshold, padding=PADDING)
    if quantity == "m_ratio":
        d_prime = statistic_of(sdt.d_prime_threshold, *GRADED, threshold=threshold, padding=PADDING)
        compute = with_stable_d_prime(compute, d_prime)
    return Measure(
        name,
        with_enough_of_each_class(compute),
        description,
        "higher",
        inference=Posterior(
            _outcomes,
            statistic_of(function, *GRADED, threshold=threshold, padding="none"),
            prior=_PRIOR,
            influence=influence_of(
                sdt.threshold_influence, *GRADED, quantity=quantity, threshold=threshold, padding=PADDING
            ),
            incomparable=incomparable_by(
                sdt.threshold_incomparable, *GRADED, quantity=quantity, threshold=threshold
            ),
        ),
    )


def _informative_for_meta_information(trials: Columns) -> Informative:
    """Return the right or the wrong answers, whichever are fewer.

    Their weight is the proportion of trials that do not have the most frequent confidence.
    """
    stated = trials["confidence"][~np.isnan(trials["confidence"])]
    _, counts = np.unique(stated, return_counts=True)
    top_share = counts.max(initial=0) / max(len(stated), 1)
    return replace(smallest_of(*right_and_wrong())(trials), weight=float(1.0 - top_share))


AUROC = auroc(
    "auroc", "Chance that a right answer has more confidence than a wrong one; ties count one half."
)
ECE = calibration_error("ece", "Expected calibration error, 10 bins of equal width.")
BRIER = Measure(
    "brier",
    statistic_of(calibration.brier, *GRADED),
    "Mean squared difference of confidence and correctness.",
    "lower",
    inference=Proportion(informative=smallest_of(*right_and_wrong())),
)
OVERCONFIDENCE = overconfidence("overconfidence", "Mean confidence minus accuracy; above 0 is overconfident.")
META_INFORMATION = Measure(
    "meta_information",
    statistic_of(information.meta_information, *GRADED, by_unit=True),
    "Share of the uncertainty about correctness that confidence removes, corrected for bias.",
    "higher",
    inference=Inverted(
        inverted_test_of(information.InformationTables, *GRADED),
        informative=_informative_for_meta_information,
    ),
)
M_RATIO = threshold_measure(
    "mratio",
    "m_ratio",
    "meta-d' / d' with confidence split at 0.9: 1 is ideal, less is lost; withheld if d' is below 0.5.",
)

STANDARD: tuple[Measure, ...] = (
    ACCURACY,
    CONFIDENCE,
    OVERCONFIDENCE,
    ECE,
    BRIER,
    AUROC,
    META_INFORMATION,
    M_RATIO,
)
"""Measures that :func:`confidence_tasks.summary` shows by default."""

NEED_OUTCOMES = frozenset({AUROC.name, META_INFORMATION.name, M_RATIO.name})
"""Names of the measures that compare right with wrong answers. They are undefined if ``correct`` is a probability."""


def computable(measures: Sequence[Measure], correct: FloatArray) -> list[Measure]:
    """Return the measures that are defined: without those that compare outcomes, if correctness is a probability."""
    if np.isin(correct[~np.isnan(correct)], [0.0, 1.0]).all():
        return list(measures)
    return [
        replace(each, inference=replace(each.inference, informative=None))
        for each in measures
        if each.name not in NEED_OUTCOMES
    ]
