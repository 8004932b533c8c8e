"""The utility of a threshold on confidence that is fitted on half of the questions, on the other half.

The optimal threshold of RiskEval's scaffold, penalty / (1 + penalty), assumes that confidence is calibrated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import extra_table, interval_cells
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import optimal_threshold
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.decision import fitted_threshold, mean_utility
from confidence_tasks.studies.riskeval.policies import compared_trials
from confidence_tasks.studies.riskeval.replies import penalty_of
from confidence_tasks.studies.riskeval.summary import interval_over_questions
from confidence_tasks.study.columns import rows_of, smallest_of
from confidence_tasks.study.inference import Columns, Mean, Value
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.units import halves, units_of

_utility = partial(mean_utility, normalized=True)


def _gain(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Return the utility of the decisions by the fitted threshold minus that of the model's own."""
    outcome, penalty = trials["outcome"], trials["penalty"]
    return _utility(trials["fitted"], outcome, penalty, weights=weights) - _utility(
        trials["answered"], outcome, penalty, weights=weights
    )


_GAIN = Measure(
    "gain",
    _gain,
    "Utility with the fitted threshold minus that of the model's own decisions.",
    inference=Mean(informative=smallest_of(lambda trials: trials["fitted"] != trials["answered"])),
)


@extra_table(
    "fitted_threshold",
    "A threshold that is fitted on half of the questions",
    "The confidence from which answers had the highest utility on one half of the questions, and the normalised utility"
    " on the other half: of the model’s own decisions, of the optimal policy, whose threshold is penalty / (1 +"
    " penalty), and of the fitted threshold. The gain over the own decisions has an interval over questions. The trials"
    " of all sources are pooled; inf is a threshold that no answer reaches.",
)
def fitted_thresholds(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return a row for each model and penalty with trials in both halves."""
    for model in results.models:
        for label in results.conditions:
            row = _row(model, label, results.settings)
            if row:
                yield {"model": model.label, "penalty": f"{penalty_of(label):g}", **row}


def _row(model: ModelTrials, label: str, settings: Settings) -> dict[str, Any]:
    """Return the thresholds and utilities of a model under one penalty; empty without trials in a half."""
    trials = compared_trials(rows_of(model.columns, model.columns["condition"] == label))
    half = halves(units_of(trials), settings.seed)
    known, new = rows_of(trials, half == 0), rows_of(trials, half == 1)
    if not (len(known["penalty"]) and len(new["penalty"])):
        return {}
    threshold = fitted_threshold(*(known[name] for name in ("outcome", "confidence", "penalty", "available")))
    optimal = float(optimal_threshold(penalty_of(label)))
    new = {**new, "fitted": _decisions(new, threshold), "optimal": _decisions(new, optimal)}
    own, best, fitted = (
        float(_utility(new[policy], new["outcome"], new["penalty"]))
        for policy in ("answered", "optimal", "fitted")
    )
    options = {name: getattr(settings, name) for name in ("n_resamples", "level", "seed")}
    return {
        "optimal threshold": optimal,
        "fitted threshold": threshold,
        "own": own,
        "optimal": best,
        "fitted": fitted,
        **interval_cells("gain", interval_over_questions(_GAIN, new, **options)),
        "n fitted": len(known["penalty"]),
        "n": len(new["penalty"]),
    }


def _decisions(trials: Columns, threshold: float) -> FloatArray:
    """Return 1 where there is an answer whose confidence reaches a threshold, else 0."""
    reaches = trials["confidence"] >= threshold - 1e-9
    return np.asarray(reaches * trials["available"], dtype=np.float64)
