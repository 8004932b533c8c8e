"""How RiskEval is planned with: abstention over all penalties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confidence_tasks.report.groups import Columns
from confidence_tasks.report.power_design import EffectParameter, PowerDesign, by_name
from confidence_tasks.report.simulated_trials import Draws, decide
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.riskeval.measures import OVER_PENALTIES
from confidence_tasks.studies.riskeval.prompts import PENALTIES
from confidence_tasks.studies.riskeval.prompts import condition_of as condition_of_penalty
from confidence_tasks.studies.riskeval.subject import PERCENT
from confidence_tasks.studies.scales.power import reported


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


_RISK_EFFECTS = {"abstention_slope": EffectParameter("risk_sensitivity", 0.0, 2.0)}


POWER = PowerDesign(
    condition="all",
    read_condition=_all_penalties,
    n_replies=len(PENALTIES),
    replies=_risk_replies,
    trials=_risk_trials,
    measures=by_name(OVER_PENALTIES, _RISK_EFFECTS),
    effects=_RISK_EFFECTS,
)
