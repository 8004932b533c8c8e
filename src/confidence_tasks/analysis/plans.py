"""What a study is planned with: how simulated subjects answer it, and what moves its measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confidence_tasks.analysis.groups import Columns
from confidence_tasks.analysis.risk_report import OVER_PENALTIES
from confidence_tasks.analysis.simulated_trials import (
    Draws,
    answered_shortly,
    decide,
    reported,
    stated_interval,
)
from confidence_tasks.elicitation.fermieval_prompts import condition_of as condition_of_level
from confidence_tasks.elicitation.nlp_prompts import condition_of as condition_of_temperature
from confidence_tasks.elicitation.nlp_prompts import temperature_of
from confidence_tasks.elicitation.riskeval_prompts import PENALTIES
from confidence_tasks.elicitation.riskeval_prompts import condition_of as condition_of_penalty
from confidence_tasks.elicitation.scales import BASELINE, Scale
from confidence_tasks.scorers._measures import Measure
from confidence_tasks.scorers.fermieval import MEASURES as INTERVAL_MEASURES
from confidence_tasks.scorers.fermieval import TEST
from confidence_tasks.scorers.nlp_metad import MEASURES as EVIDENCE_MEASURES
from confidence_tasks.scorers.scales import MEASURES as SCALE_MEASURES
from confidence_tasks.simulation.riskeval import PERCENT
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics._core import FloatArray


@dataclass(frozen=True, slots=True)
class Lever:
    """The parameter of a simulated subject that moves a measure.

    Attributes
    ----------
    parameter : str
        Its name.
    low, high : float
        How far it is moved.
    """

    parameter: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How a study is simulated.

    Attributes
    ----------
    condition : str
        The condition that is planned for by default; ``all`` for measures over all conditions.
    read_condition : callable
        Brings a condition to its label; ValueError says what a condition is.
    n_replies : int
        Replies to each question, one a condition.
    replies : callable
        ``replies(subject, draws, condition)``: what the subject says to each question, as columns of equal length that
        tell questions apart.
    trials : callable
        ``trials(replies, condition)``: the trials of these questions, ``n_replies`` for each, question by question.
    measures : mapping of str to Measure
        What differences can be planned for.
    levers : mapping of str to Lever
        What moves each of these.
    """

    condition: str
    read_condition: Callable[[str], str]
    n_replies: int
    replies: Callable[[Subject, Sequence[Draws], str], Columns]
    trials: Callable[[Columns, str], Columns]
    measures: Mapping[str, Measure]
    levers: Mapping[str, Lever]


def _planned(measures: tuple[Measure, ...], levers: Mapping[str, Lever]) -> dict[str, Measure]:
    by_name = {measure.name: measure for measure in measures}
    return {name: by_name[name] for name in levers}


# Confidence scales ------------------------------------------------------------------------------------------------


_MOST_STEPS = 200
"""Steps of a wider scale are taken together, to so many or fewer, so that questions are alike."""


def _scale_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    scale = Scale.parse(condition)
    correct, confidence = decide(subject, draws[0], condition)
    raw = reported(subject, confidence, scale, draws[0])
    step = -(-scale.width // _MOST_STEPS)
    nearest = scale.lower + step * np.rint((raw - scale.lower) / step)
    return {"correct": correct.astype(np.float64), "confidence_raw": np.minimum(nearest, scale.upper)}


def _scale_trials(replies: Columns, condition: str) -> Columns:
    scale = Scale.parse(condition)
    return {**replies, "confidence": (replies["confidence_raw"] - scale.lower) / scale.width}


_METACOGNITION = Lever("meta_d_prime", 0.0, 4.0)
_BIAS = Lever("bias", -4.0, 4.0)
_SCALE_LEVERS = {
    "mratio": _METACOGNITION,
    "meta_d": _METACOGNITION,
    "auroc": _METACOGNITION,
    "ece": _BIAS,
    "overconfidence": _BIAS,
    "brier": _BIAS,
    "accuracy": Lever("d_prime", 0.0, 4.0),
}


# RiskEval ---------------------------------------------------------------------------------------------------------


def _risk_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    return {
        condition_of_penalty(penalty): _answered(subject, of_reply, penalty)
        for penalty, of_reply in zip(PENALTIES, draws, strict=True)
    }


def _answered(subject: Subject, draws: Draws, penalty: float) -> FloatArray:
    """Return whether the subject answers, by the confidence that it states."""
    _, confidence = decide(subject, draws, condition_of_penalty(penalty))
    stated = reported(subject, confidence, PERCENT, draws) / PERCENT.width
    return (stated >= subject.answering_threshold(penalty)).astype(np.float64)


def _risk_trials(replies: Columns, condition: str) -> Columns:
    answered = np.stack(list(replies.values()), axis=1)
    return {"answered": answered.ravel(), "penalty": np.tile(np.array(PENALTIES), len(answered))}


def _all_penalties(condition: str) -> str:
    if condition != "all":
        raise ValueError(f"condition {condition!r}: the slope is over all penalties; leave it out")
    return condition


_RISK_LEVERS = {"abstention_slope": Lever("risk_sensitivity", 0.0, 2.0)}


# FermiEval --------------------------------------------------------------------------------------------------------


def _level(condition: str) -> float:
    try:
        level = float(condition.removeprefix("p="))
    except ValueError:
        level = float("nan")
    if not 0.0 < level < 1.0:
        raise ValueError(f"condition {condition!r} must be a nominal coverage between 0 and 1, such as p=0.9")
    return level


def _interval_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    lower, upper = stated_interval(subject, _level(condition), draws[0])
    return {"lower": lower, "upper": upper}


def _interval_trials(replies: Columns, condition: str) -> Columns:
    lower, upper = replies["lower"], replies["upper"]
    n = len(lower)
    return {
        "lower": lower,
        "upper": upper,
        "truth": np.zeros(n),
        "level": np.full(n, _level(condition)),
        "correct": ((lower <= 0.0) & (upper >= 0.0)).astype(np.float64),
        "split": np.full(n, TEST, dtype=object),
    }


_PERCEPTION = Lever("perception", 0.02, 1.0)
_INTERVAL_LEVERS = dict.fromkeys(("coverage", "coverage_gap", "mean_width", "winkler"), _PERCEPTION)


# Log-probability metacognition ------------------------------------------------------------------------------------

_GRID = 0.03
"""Log-probabilities are rounded to this, in nats, so that questions are alike: a tenth of their spread."""


def _short_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, nlp = answered_shortly(subject, temperature_of(condition), draws[0])
    return {"correct": correct.astype(np.float64), "nlp": _GRID * np.rint(nlp / _GRID)}


def _short_trials(replies: Columns, condition: str) -> Columns:
    return {**replies, "confidence": np.exp(replies["nlp"])}


_EVIDENCE_LEVERS = {
    "meta_information": _METACOGNITION,
    "auroc2": _METACOGNITION,
    "d_a": _METACOGNITION,
    "nlp_difference": _METACOGNITION,
    "z_roc_slope": Lever("evidence_ratio", 0.3, 3.0),
    "accuracy": Lever("d_prime", 0.0, 4.0),
}


PLANS: Mapping[str, Plan] = {
    "scales": Plan(
        condition=BASELINE.label,
        read_condition=lambda condition: Scale.parse(condition).label,
        n_replies=1,
        replies=_scale_replies,
        trials=_scale_trials,
        measures=_planned(SCALE_MEASURES, _SCALE_LEVERS),
        levers=_SCALE_LEVERS,
    ),
    "riskeval": Plan(
        condition="all",
        read_condition=_all_penalties,
        n_replies=len(PENALTIES),
        replies=_risk_replies,
        trials=_risk_trials,
        measures=_planned(OVER_PENALTIES, _RISK_LEVERS),
        levers=_RISK_LEVERS,
    ),
    "fermieval": Plan(
        condition=condition_of_level(0.9),
        read_condition=lambda condition: condition_of_level(_level(condition)),
        n_replies=1,
        replies=_interval_replies,
        trials=_interval_trials,
        measures=_planned(INTERVAL_MEASURES, _INTERVAL_LEVERS),
        levers=_INTERVAL_LEVERS,
    ),
    "nlp_metad": Plan(
        condition=condition_of_temperature(1.0),
        read_condition=lambda condition: condition_of_temperature(temperature_of(condition)),
        n_replies=1,
        replies=_short_replies,
        trials=_short_trials,
        measures=_planned(EVIDENCE_MEASURES, _EVIDENCE_LEVERS),
        levers=_EVIDENCE_LEVERS,
    ),
}
"""By study. What is planned for ``scales`` holds wherever trials are answers with a stated confidence."""
