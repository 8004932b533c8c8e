"""The measures of the log-probability study, those of version 1 of the paper among them.

arXiv:2603.25112.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from confidence_tasks.statistics import information, sdt, selective
from confidence_tasks.statistics.core import Reason
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.columns import right_and_wrong, smallest_of
from confidence_tasks.study.computations import StatisticCall, inverted_test_of, proportion_of, statistic_of
from confidence_tasks.study.inference import (
    Bounded,
    Columns,
    Compute,
    Inverted,
    Percentile,
    Proportion,
    Student,
    Value,
)
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import ACCURACY, ACCURACY_OF_ALL, PARSE_RATE, auroc, calibration_error
from confidence_tasks.study.metrics import select_measures, summarise
from confidence_tasks.study.standard import BRIER, with_stable_d_prime, withheld

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray

RATINGS = 4
"""The paper's K: the evidence is cut into 2K ratings (section 3.2)."""

PADDING: Final = "hautus"
"""Padding of count tables: the paper adds 0.5 to each cell (section 3.2)."""

LARGEST_RATIO = 10.0
"""Absolute M-ratio above which a draw is dropped from an interval and counted (section 3.2)."""

COVERAGES = (0.5, 0.8)
"""Coverages at which accuracy is measured; the paper compares models at the first (section 5.1)."""


_EVIDENCE = ("correct", "mean_logprob")
"""Columns of most measures: correctness and evidence."""

_CLASSES = right_and_wrong(confidence="mean_logprob")
"""Right and wrong answers with evidence."""

FEWEST_OF_A_CLASS = 50
"""Minimum number of right and of wrong answers for version 1's M-ratio (section 4.1), below which padding dominates."""


def _padding_dominates(trials: Columns) -> Reason | None:
    """Return the reason to withhold version 1's M-ratio of few right or few wrong answers, or None."""
    few = min(members(trials).sum() for members in _CLASSES) < FEWEST_OF_A_CLASS
    return Reason.FEW_INFORMATIVE if few else None


def drop_large_ratios(m_ratio: Value) -> FloatArray:
    """Replace M-ratios beyond ``LARGEST_RATIO`` by NaN."""
    return np.where(np.abs(m_ratio) > LARGEST_RATIO, np.nan, m_ratio)


def _without_large_ratios(m_ratio: Compute) -> Compute:
    """Drop large M-ratios of resamples, and keep the estimate as it is."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        value = m_ratio(trials, weights)
        return value if weights is None else drop_large_ratios(value)

    return StatisticCall(_EVIDENCE, compute)


def _m_ratio_of_version_1(ratings: int) -> Compute:
    """Return version 1's M-ratio, withheld if its d' is small or its padding dominates."""
    options: dict[str, Any] = {"padding": PADDING, "n_ratings": ratings}
    m_ratio = withheld(
        _without_large_ratios(statistic_of(sdt.m_ratio_ratings, *_EVIDENCE, **options)), _padding_dominates
    )
    return with_stable_d_prime(m_ratio, statistic_of(sdt.d_prime_ratings, *_EVIDENCE, **options))


def nlp_metad_measures(ratings: int = RATINGS) -> tuple[Measure, ...]:
    """Return the study's measures; those of count tables cut the evidence into ``2 * ratings`` ratings."""
    cut: dict[str, Any] = {"n_ratings": ratings}
    return (
        Measure(
            "meta_information",
            statistic_of(information.meta_information, *_EVIDENCE, by_unit=True),
            "Share of the uncertainty about correctness that the answer's log-probability removes, corrected for bias; "
            "valid for any distributions.",
            "higher",
            inference=Inverted(
                inverted_test_of(information.InformationTables, "correct", "mean_logprob"),
                informative=smallest_of(*_CLASSES),
            ),
        ),
        auroc(
            "auroc2",
            "Chance that a right answer has a higher log-probability than a wrong one; ties count one half.",
        ),
        Measure(
            "z_roc_slope",
            statistic_of(sdt.z_roc_slope, *_EVIDENCE, **cut),
            "Ratio of the standard deviations of wrong and right answers' evidence; 1 is equal variance.",
            inference=Bounded(0.0, math.inf, informative=smallest_of(*_CLASSES)),
        ),
        Measure(
            "d_a",
            statistic_of(sdt.d_a, *_EVIDENCE, **cut),
            "Distance of right from wrong answers' evidence in root-mean-square standard deviations.",
            "higher",
            inference=Student(informative=smallest_of(*_CLASSES)),
        ),
        ACCURACY,
        ACCURACY_OF_ALL,
        PARSE_RATE,
        calibration_error(
            "ece", "Expected calibration error of exp(mean log-probability), 10 bins of equal width."
        ),
        replace(BRIER, description="Mean squared difference of exp(mean log-probability) and correctness."),
        Measure(
            "mean_logprob",
            proportion_of(lambda trials: trials["mean_logprob"]),
            "Mean log-probability a token of the answers, in nats.",
        ),
        Measure(
            "mean_logprob_difference",
            statistic_of(sdt.mean_difference, *_EVIDENCE),
            "Mean log-probability of right answers minus that of wrong ones, in nats a token.",
            "higher",
            inference=Student(informative=smallest_of(*_CLASSES)),
        ),
        *(
            Measure(
                f"accuracy_{round(100 * coverage)}",
                statistic_of(selective.accuracy_at_coverage, "correct", "confidence", coverage=coverage),
                f"Accuracy of the {coverage:.0%} of answers with the highest log-probability.",
                "higher",
                inference=Proportion(),
            )
            for coverage in COVERAGES
        ),
        Measure(
            "d_prime_v1",
            statistic_of(sdt.d_prime_ratings, *_EVIDENCE, padding=PADDING, **cut),
            "d' of right against wrong answers at the median of the evidence (version 1).",
            "higher",
            inference=Percentile(informative=smallest_of(*_CLASSES, enough=2 * FEWEST_OF_A_CLASS)),
        ),
        Measure(
            "meta_d_v1",
            statistic_of(sdt.meta_d_ratings, *_EVIDENCE, padding=PADDING, **cut),
            "Version 1's meta-d', computed from the same table as d': see mratio_v1.",
            inference=Percentile(informative=smallest_of(*_CLASSES, enough=FEWEST_OF_A_CLASS)),
        ),
        Measure(
            "mratio_v1",
            _m_ratio_of_version_1(ratings),
            "Version 1's meta-d' / d', for replication only. Warning: both come from one table, so it is 1 by "
            "construction under equal variance, whatever the metacognition, and changes with the ratio of variances "
            "and the base rate. The author withdrew it. Bins are quantiles of the condition, in the report of T = 1. "
            "Withheld if d' is below 0.5, or with fewer than 50 right or wrong answers.",
            inference=Percentile(informative=smallest_of(*_CLASSES, enough=FEWEST_OF_A_CLASS)),
        ),
    )


MEASURES: tuple[Measure, ...] = nlp_metad_measures()


def nlp_metad_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    conditions: Sequence[str],
    ratings: int = RATINGS,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the measures of the given names, by default all, at every temperature."""
    return summarise(trials, select_measures(nlp_metad_measures(ratings), names), conditions)


def nlp_metad_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures at every temperature, with ``k`` ratings on either side; T = 1 is the headline."""
    headline = "T=1" if "T=1" in conditions else conditions[0]
    arguments = {"conditions": list(conditions), "ratings": parameters["k"]}
    return TaskMetrics(
        nlp_metad_summary, arguments, nlp_metad_measures(parameters["k"]), headline, overall=(headline,)
    )
