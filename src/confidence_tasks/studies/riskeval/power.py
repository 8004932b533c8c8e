"""Power analysis of RiskEval: simulated decisions under all penalties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.simulation.draws import Draws, decide
from confidence_tasks.simulation.power_design import EffectParameter, PowerDesign
from confidence_tasks.simulation.reports import simulated_reports
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.riskeval.replies import PENALTIES, condition_of
from confidence_tasks.studies.riskeval.summary import OVER_PENALTIES


def _risk_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    """Return whether the subject answers under each penalty, by the confidence that it states."""
    replies = {}
    for penalty, reply_draws in zip(PENALTIES, draws, strict=True):
        label = condition_of(penalty)
        _, confidence = decide(subject, reply_draws, label)
        stated = simulated_reports(subject, confidence, PERCENT, reply_draws) / PERCENT.width
        replies[label] = (stated >= subject.answering_threshold(penalty)).astype(np.float64)
    return replies


def _risk_trials(replies: Columns, condition: str) -> Columns:
    answered = np.stack(list(replies.values()), axis=1)
    return {"answered": answered.ravel(), "penalty": np.tile(np.array(PENALTIES), len(answered))}


def _all_penalties(condition: str) -> str:
    if condition != "all":
        raise ValueError(f"condition {condition!r}: the slope is over all penalties; leave the condition out")
    return condition


POWER = PowerDesign(
    condition="all",
    read_condition=_all_penalties,
    n_replies=len(PENALTIES),
    replies=_risk_replies,
    trials=_risk_trials,
    effects={"abstention_slope": EffectParameter("risk_sensitivity", 0.0, 2.0)},
    every_measure=OVER_PENALTIES,
)
