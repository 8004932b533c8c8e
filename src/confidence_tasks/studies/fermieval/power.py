"""Power analysis of FermiEval: simulated intervals of one nominal coverage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.simulation.draws import Draws
from confidence_tasks.simulation.power_design import EffectParameter, PowerDesign
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.fermieval.measures import MEASURES as INTERVAL_MEASURES
from confidence_tasks.studies.fermieval.replies import CONDITIONS, TEST, level_of
from confidence_tasks.studies.fermieval.subject import stated_interval


def _interval_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    return dict(zip(("lower", "upper"), stated_interval(subject, level_of(condition), draws[0]), strict=True))


def _interval_trials(replies: Columns, condition: str) -> Columns:
    lower, upper = replies["lower"], replies["upper"]
    n = len(lower)
    return {
        "lower": lower,
        "upper": upper,
        "truth": np.zeros(n),
        "level": np.full(n, level_of(condition)),
        "correct": ((lower <= 0.0) & (upper >= 0.0)).astype(np.float64),
        "split": np.full(n, TEST, dtype=object),
    }


POWER = PowerDesign(
    condition="p=0.9",
    read_condition=CONDITIONS.label_of,
    n_replies=1,
    replies=_interval_replies,
    trials=_interval_trials,
    effects=dict.fromkeys(
        ("coverage", "coverage_gap", "mean_width", "winkler"), EffectParameter("perception", 0.02, 1.0)
    ),
    every_measure=INTERVAL_MEASURES,
    is_counted=lambda question: question.metadata["split"] == TEST,
)
