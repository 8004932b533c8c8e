"""Trials and measures of any benchmark: one answer, and one confidence signal of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from confidence_tasks.harness.correctness import FURTHER_SIGNALS
from confidence_tasks.study import Question, Replies, Trial
from confidence_tasks.study.inference import UNIT
from confidence_tasks.study.measures import mean_measure, overconfidence
from confidence_tasks.study.signal_measures import SIGNAL_MEASURES, of_probabilities


class BenchmarkTrial(Trial):
    """A trial of a benchmark.

    ``source`` is the task, or its group if the harness weighs the questions of the group equally. ``condition`` is the
    signal, followed by the filter of lm-eval if there are several. ``correct`` is what the task's own metric or scorer
    says. ``confidence`` is the value if it is a probability, or else a value between 0 and 1 that ranks the answers in
    the order of the value.

    Attributes
    ----------
    answer : str
        The answer; of several options, the one with the highest score.
    task : str
        The task of the harness.
    value : float
        The signal in its own unit: a probability, or nats. Higher is surer.
    probability : float
        The value if it is meant as the probability of being right; otherwise NaN.
    option_mass : float
        Sum of the probabilities of the options, before they are divided by it; NaN for a generated reply.
    n_options : float
        Number of options; NaN for a generated reply.
    equal_options : float
        1 if two options have the same text, otherwise 0; NaN for a generated reply.
    verdict : str
        For answers in a file of the user, where it is from whether they are right: ``column NAME``, or the name of a
        comparison with the key; otherwise empty.
    """

    answer: str
    task: str
    value: float
    probability: float
    option_mass: float
    n_options: float
    equal_options: float
    verdict: str


def read_reply(question: Question, condition: str, replies: Replies) -> BenchmarkTrial:
    """Return a trial without an answer: tasks of others are graded by their own scorers."""
    return BenchmarkTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=math.nan,
        confidence=math.nan,
        status="missing_answer",
        answer="",
        task=question.source,
        value=math.nan,
        probability=math.nan,
        option_mass=math.nan,
        n_options=math.nan,
        equal_options=math.nan,
        verdict="",
    )


def asked_trials(
    confidences: Mapping[str, Any], correct: float, question_id: str = ""
) -> list[BenchmarkTrial]:
    """Return the trial of each signal of one answer.

    Parameters
    ----------
    confidences : mapping of str to float
        Confidence by signal; NaN or None where it is missing.
    correct : float
        1 for a right answer, 0 for a wrong one, NaN if neither is known.
    question_id : str, optional
        Identifier of the question.
    """
    return [
        {
            **read_reply(Question(question_id, "", "", "text", None), signal, {}),
            "correct": correct,
            "confidence": value,
            "value": value,
            "probability": value,
            "status": "missing_confidence" if math.isnan(value) else "ok",
        }
        for signal, value in zip(confidences, map(_number, confidences.values()), strict=True)
    ]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


CONDITIONS = (
    "option_probability",
    "stated",
    "0-100",
    "mean_logprob",
    "option_probability_norm",
    "option_probability_bytes",
    "option_probability_mutual_info",
    "p_true",
    "words",
    "sum_logprob",
    "min_logprob",
    "margin",
    *FURTHER_SIGNALS,
)
"""Signals, the one that models are compared on first."""


def short_condition(signal: str) -> str:
    """Return the label of a signal in the log viewer, whose column has room for 14 characters.

    Examples
    --------
    >>> short_condition("option_probability_norm"), short_condition("0-100")
    ('option norm', '0-100')
    """
    return (
        signal.replace("option_probability", "option").replace("mutual_info", "info").replace("_", " ")[:14]
    )


MEASURES = (
    of_probabilities(
        overconfidence(
            "overconfidence",
            "Mean confidence minus accuracy, above 0 is overconfident; for signals that are probabilities.",
            "correct",
            "probability",
        )
    ),
    of_probabilities(
        mean_measure(
            "confidence",
            "probability",
            "Mean confidence stated, or mean signal that is a probability.",
            bounds=UNIT,
        )
    ),
    *SIGNAL_MEASURES,
    mean_measure(
        "option_mass",
        "option_mass",
        "Mean sum of the options' probabilities: what the model gives to all other continuations is 1 minus this.",
        bounds=UNIT,
    ),
)
