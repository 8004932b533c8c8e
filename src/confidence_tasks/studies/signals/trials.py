"""Trials and measures of the signal study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import answer_and_key, escape_markdown
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.token_signals import MissingSignalError
from confidence_tasks.studies.signals.answered import AnsweredQuestion
from confidence_tasks.studies.signals.reader import AnswerReply
from confidence_tasks.studies.signals.table import COMBINED, SIGNALS
from confidence_tasks.study import Measure, Question, Replies, Status, Token, Trial
from confidence_tasks.study.inference import Bounded, Percentile
from confidence_tasks.study.measures import (
    Columns,
    Value,
    mean_measure,
    proportion_of,
    right_and_wrong,
    smallest_set,
    undefined,
)
from confidence_tasks.study.signal_measures import SIGNAL_MEASURES, regressor
from confidence_tasks.study.stage import calls_made, tokens_spent
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

    from confidence_tasks.statistics.core import FloatArray


class SignalTrial(Trial):
    """A trial of the signal study: one answer, and one signal of it.

    ``confidence`` is the value if it lies between 0 and 1. Otherwise it is a function of the value with the same order:
    the exponential of a log-probability or a negative entropy v, 1 / (1 - v) of a negative number v of tokens or
    meanings, v / (1 + v) of a divergence.

    Attributes
    ----------
    answer : str
        The answer, the same under every condition; empty if it is missing.
    value : float
        The signal in its own unit: a probability, nats, or a number of tokens or meanings. Higher is surer.
    probability : float
        The value if it is meant as the probability of being right; otherwise NaN.
    problem : str
        The reason why the value is missing; otherwise empty.
    samples : float
        Number of samples with an answer; NaN for a signal without samples.
    meanings : float
        Number of clusters of equal meaning among the samples; NaN for a signal without samples.
    calls : float
        Number of calls of the model, including the answer's.
    input_tokens, output_tokens : float
        Tokens of these calls; NaN if the harness does not count them.
    """

    answer: str
    value: float
    probability: float
    problem: str
    samples: float
    meanings: float
    calls: float
    input_tokens: float
    output_tokens: float


# Trials ---------------------------------------------------------------------------------------------------------


def read_signal(question: Question, condition: str, replies: Replies) -> SignalTrial:
    """Read the replies about an answer into the trial of one signal."""
    answered, signal = AnsweredQuestion(question, replies), SIGNALS[condition]
    reading, value, problem, clusters = answered.reading, math.nan, "there is no answer", []
    if reading.answer:
        try:
            value, problem = signal.read(answered), ""
        except MissingSignalError as error:
            problem = str(error)
        if "samples" in signal.stages:
            with suppress(MissingSignalError):
                clusters = answered.samples.clusters
    spent = tokens_spent(replies)
    return SignalTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases),
        confidence=signal.scale(value),
        status=_status(reading, condition, value),
        answer=reading.answer,
        value=value,
        probability=value if signal.is_probability else math.nan,
        problem=problem,
        samples=float(len(clusters)) if clusters else math.nan,
        meanings=float(len(set(clusters))) if clusters else math.nan,
        calls=float(calls_made(replies)),
        input_tokens=spent["input_tokens"],
        output_tokens=spent["output_tokens"],
    )


def explain(trial: SignalTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer."""
    return {
        **answer_and_key(trial, question),
        "Signal": f"none: {escape_markdown(trial['problem'])}"
        if trial["problem"]
        else f"{trial['value']:.4f}",
        "Calls": f"{trial['calls']:g}",
    }


def _status(reading: AnswerReply, condition: str, value: float) -> Status:
    """Return how answer and signal were read; faults of the stated confidence concern the signal ``stated`` only."""
    is_stated = condition == "stated"
    if not reading.answer:
        return reading.status if reading.status in ("refused", "missing_answer") else "unreadable"
    if math.isnan(value):
        return reading.status if is_stated and reading.status == "out_of_range" else "missing_confidence"
    return reading.status if is_stated or reading.status == "ok" else "repaired"


# Measures -------------------------------------------------------------------------------------------------------

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


# All signals together -------------------------------------------------------------------------------------------


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
        return undefined(weights), undefined(weights)

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
        inference=Bounded(0.0, 1.0, informative=smallest_set(*right_and_wrong())),
        fitted=True,
    ),
    Measure(
        f"gain_{COMBINED}",
        lambda trials, weights: sub(*_aurocs(trials, weights)),
        "auroc_combined minus the AUROC of the best single signal, which is chosen on the same trials.",
        "higher",
        inference=Percentile(-1.0, 1.0, informative=smallest_set(*right_and_wrong())),
        fitted=True,
    ),
)
"""Measures of all signals of a model together."""
