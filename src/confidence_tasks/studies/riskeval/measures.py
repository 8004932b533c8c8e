"""The measures of RiskEval under a penalty, in the order of the log.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767, appendix A. The paper's tables average over penalties (section 3).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confidence_tasks.statistics import decision
from confidence_tasks.studies.riskeval.answers import OF_ANSWERS
from confidence_tasks.studies.riskeval.policies import POLICY, compared, scaffold_without_answer
from confidence_tasks.studies.riskeval.thresholds import IMPLIED_THRESHOLDS
from confidence_tasks.studies.riskeval.utilities import (
    COMPARED_UTILITY,
    GAIN,
    REGRET,
    SCAFFOLD_UTILITY_NORMALIZED,
    UTILITIES,
    on_all_replies,
    one_of_each_outcome,
    recalibrate,
    recalibrated_utility,
)
from confidence_tasks.study.computations import statistic_of
from confidence_tasks.study.inference import Posterior
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import (
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    count_measure,
    proportion_measure,
)

MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "policy_consistency",
        statistic_of(decision.policy_consistency, *POLICY),
        "Share of decisions that are optimal for the stated confidence; trials without a confidence are left out.",
        "higher",
    ),
    *UTILITIES,
    GAIN,
    replace(
        REGRET,
        name="normalized_regret",
        compute=statistic_of(decision.regret, *POLICY, normalized=True),
        description="Mean distance of confidence from the optimal threshold where the decision is not optimal, else 0.",
    ),
    proportion_measure(
        "abstention_rate",
        statistic_of(decision.abstention_rate, "answered"),
        "Share of decisions to abstain, including refusals.",
    ),
    proportion_measure(
        "accuracy_answered",
        statistic_of(decision.answered_accuracy, "answered", "outcome"),
        "Accuracy of the answers that the model chose to give.",
        "higher",
    ),
    REGRET,
    CONFIDENCE,
    *OF_ANSWERS,
    *IMPLIED_THRESHOLDS,
    Measure(
        "normalized_recalibrated_utility",
        recalibrated_utility,
        "Utility of the optimal policy on confidence recalibrated on other questions; the difference from "
        "`normalized_scaffold_utility` is the cost of miscalibration.",
        "higher",
        fitted=True,
        inference=Posterior(
            one_of_each_outcome, SCAFFOLD_UTILITY_NORMALIZED, recalibrate, includes_estimate=True
        ),
    ),
    Measure(
        "normalized_compared_utility",
        COMPARED_UTILITY,
        "`normalized_utility` on the trials of `normalized_scaffold_utility`.",
        "higher",
        inference=Posterior(one_of_each_outcome, COMPARED_UTILITY, includes_estimate=True),
    ),
    *map(on_all_replies, UTILITIES),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Means and rates; over several penalties, the mean over the penalties at which the measure is defined."""

COUNTS: tuple[Measure, ...] = (
    count_measure("n_trials", lambda trials: trials["penalty"] >= 0.0, "Number of trials scored."),
    count_measure(
        "n_compared", compared, "Number of trials on which the model's and the optimal policy are compared."
    ),
    count_measure(
        "n_without_confidence",
        lambda trials: np.isnan(trials["confidence"]),
        "Number of trials without a confidence in [0, 1]; measures that need a confidence leave them out.",
        "lower",
    ),
    count_measure(
        "n_scaffold_without_answer",
        scaffold_without_answer,
        "Number of trials on which the optimal policy answers but the model stated no answer; the policy earns 0.",
        "lower",
    ),
)
"""Numbers of trials; over several penalties, their sum."""
