"""Power design of the log-probability study."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.simulation.draws import Draws, accuracy_of
from confidence_tasks.simulation.power_design import METACOGNITION, EffectParameter, PowerDesign
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES
from confidence_tasks.studies.logprob_metacognition.replies import CONDITIONS
from confidence_tasks.studies.logprob_metacognition.simulated_replies import draw_mean_logprob

_GRID = 0.03
"""Step in nats to which log-probabilities are rounded, a tenth of their spread, so that many questions are alike."""


def simulate_answers(subject: Subject, temperature: float, draws: Draws) -> tuple[BoolArray, FloatArray]:
    """Return whether each short answer is right, and the mean log-probability of its tokens."""
    correct = ndtr(draws["outcome"]) < accuracy_of(subject, draws)
    return correct, draw_mean_logprob(subject, correct, temperature, draws["evidence"])


def _simulate_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, mean_logprob = simulate_answers(subject, CONDITIONS.number(condition), draws[0])
    return {"correct": correct.astype(np.float64), "mean_logprob": _GRID * np.rint(mean_logprob / _GRID)}


POWER = PowerDesign(
    condition="T=1",
    read_condition=CONDITIONS.label_of,
    n_replies=1,
    replies=_simulate_replies,
    trials=lambda replies, condition: {**replies, "confidence": np.exp(replies["mean_logprob"])},
    effects={
        **dict.fromkeys(("meta_information", "auroc2", "d_a", "mean_logprob_difference"), METACOGNITION),
        "z_roc_slope": EffectParameter("evidence_ratio", 0.3, 3.0),
        "accuracy": EffectParameter("d_prime", 0.0, 4.0),
    },
    every_measure=MEASURES,
)
