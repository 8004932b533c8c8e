"""Trials and measures of the signal study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from confidence_tasks.reading.explanation import answer_and_key, escape_markdown
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.token_signals import MissingSignalError
from confidence_tasks.studies.signals.answered import AnsweredQuestion
from confidence_tasks.studies.signals.reader import AnswerReply
from confidence_tasks.studies.signals.table import SIGNALS
from confidence_tasks.study import Question, Replies, Status, Token, Trial
from confidence_tasks.study.stage import calls_made, tokens_spent


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
