"""Power design of the confidence-scale study."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.simulation.draws import Draws, decide
from confidence_tasks.simulation.power_design import METACOGNITION, EffectParameter, PowerDesign
from confidence_tasks.simulation.reports import simulated_reports
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.scales.measures import MEASURES
from confidence_tasks.studies.scales.replies import BASELINE

_MAX_STEPS = 200
"""Maximum number of distinct reports in a power simulation; wider scales are simulated on a coarser grid."""


def _scale_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    scale = Scale.parse(condition)
    correct, confidence = decide(subject, draws[0], condition)
    raw = simulated_reports(subject, confidence, scale, draws[0])
    step = -(-scale.width // _MAX_STEPS)
    on_grid = scale.lower + step * np.rint((raw - scale.lower) / step)
    return {"correct": correct.astype(np.float64), "confidence_raw": np.minimum(on_grid, scale.upper)}


def _scale_trials(replies: Columns, condition: str) -> Columns:
    scale = Scale.parse(condition)
    return {**replies, "confidence": (replies["confidence_raw"] - scale.lower) / scale.width}


POWER = PowerDesign(
    condition=BASELINE.label,
    read_condition=Scale.label_of,
    n_replies=1,
    replies=_scale_replies,
    trials=_scale_trials,
    effects={
        **dict.fromkeys(("mratio", "meta_d", "auroc"), METACOGNITION),
        **dict.fromkeys(("ece", "overconfidence", "brier"), EffectParameter("bias", -4.0, 4.0)),
        "accuracy": EffectParameter("d_prime", 0.0, 4.0),
    },
    every_measure=MEASURES,
)
