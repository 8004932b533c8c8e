"""The measures of one signal, and of all signals of a question together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.studies.signals.table import COMBINED, SIGNALS
from confidence_tasks.study import Measure, TaskMetrics
from confidence_tasks.study.columns import right_and_wrong, smallest_of
from confidence_tasks.study.computations import nan_for, proportion_of
from confidence_tasks.study.inference import Bounded, Columns, Percentile, Value
from confidence_tasks.study.measures import mean_measure
from confidence_tasks.study.signal_measures import SIGNAL_MEASURES, regressor
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

    from confidence_tasks.statistics.core import FloatArray

MEASURES: tuple[Measure, ...] = (
    *SIGNAL_MEASURES,
    mean_measure("calls", "calls", "Mean number of calls per question.", "lower"),
    mean_measure(
        "tokens",
        proportion_of(lambda trials: trials["input_tokens"] + trials["output_tokens"]),
        "Mean number of tokens per question, prompts and replies.",
        "lower",
    ),
)


class SignalTable(NamedTuple):
    """Signals of the graded answers.

    ``regressors`` has a row for each answer and a column for each signal, with NaN where a signal is missing. ``trial``
    is the position of one trial of each answer, and ``correct`` is 1 or 0.
    """

    regressors: DataFrame
    trial: NDArray[Any]
    correct: FloatArray


def signal_table(trials: Columns) -> SignalTable:
    """Return the table of signals; a question asked in several epochs has several answers.

    If a signal of an answer is there twice, the last one counts.
    """
    import pandas as pd

    answer = ["question_id", "epoch"]
    frame = pd.DataFrame({"epoch": 1.0, **trials, "regressor": regressor(trials)})
    frame["trial"] = frame.index
    # A file of trials may have other conditions.
    frame = frame[frame["condition"].isin(SIGNALS) & frame["correct"].notna()]
    answers = frame.groupby(answer, sort=False)[["trial", "correct"]].last()
    frame = frame.drop_duplicates([*answer, "condition"], keep="last")
    signals = frame.pivot(index=answer, columns="condition", values="regressor")
    signals = signals.reindex(index=answers.index, columns=list(SIGNALS)).dropna(axis=1, how="all")
    return SignalTable(
        signals.reset_index(drop=True), answers["trial"].to_numpy(), answers["correct"].to_numpy()
    )


def _aurocs(trials: Columns, weights: FloatArray | None) -> tuple[Value, Value]:
    """Return the AUROC of the combination, and of the single signal with the highest AUROC on all trials.

    NaN with fewer than two signals.
    """
    table, trial, correct = signal_table(trials)
    regressors = table.to_numpy()
    combination = np.full(len(correct), np.nan)
    if regressors.shape[1] > 1:
        combination = statistics.calibration.cross_fitted_logistic(
            correct, regressors, clusters=units_of(trials)[trial]
        )
    if not len(combination) or np.isnan(combination).any():
        return nan_for(weights), nan_for(weights)

    def auroc_of(column: FloatArray, weights: FloatArray | None) -> Value:
        known = ~np.isnan(column)
        ranks = np.unique(column[known], return_inverse=True)[1]
        known_weights = None if weights is None else weights[..., trial[known]]
        result: Value = statistics.auroc2(
            correct[known], ranks / max(ranks.max(initial=0), 1), weights=known_weights
        )
        return result

    singles = [float(auroc_of(column, None)) for column in regressors.T]
    best = combination if np.isnan(singles).all() else regressors[:, np.nanargmax(singles)]
    return auroc_of(combination, weights), auroc_of(best, weights)


POOLED: tuple[Measure, ...] = (
    Measure(
        f"auroc_{COMBINED}",
        lambda trials, weights: _aurocs(trials, weights)[0],
        "AUROC of a logistic regression on all signals, cross-fitted over questions.",
        "higher",
        inference=Bounded(0.0, 1.0, informative=smallest_of(*right_and_wrong())),
        fitted=True,
    ),
    Measure(
        f"gain_{COMBINED}",
        lambda trials, weights: sub(*_aurocs(trials, weights)),
        "auroc_combined minus the AUROC of the best single signal, which is chosen on the same trials.",
        "higher",
        inference=Percentile(-1.0, 1.0, informative=smallest_of(*right_and_wrong())),
        fitted=True,
    ),
)
"""Measures of all signals of a model together."""


def signal_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the metrics of a log: all headline measures of the first signal, and the AUROC of the others."""
    arguments = {"study": f"{__package__}:STUDY", "conditions": list(conditions)}
    return TaskMetrics(None, arguments, MEASURES, conditions[0], overall=(conditions[0],))
