"""How the log-probability study is planned with: short answers at one temperature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from confidence_tasks.report.groups import Columns
from confidence_tasks.report.power_design import METACOGNITION, EffectParameter, PowerDesign, by_name
from confidence_tasks.report.simulated_trials import Draws, accuracy_of
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.studies.logprob_metacognition.prompts import condition_of as condition_of_temperature
from confidence_tasks.studies.logprob_metacognition.prompts import temperature_of
from confidence_tasks.studies.logprob_metacognition.subject import CENTRE, HIGHEST, SCALE
from confidence_tasks.studies.logprob_metacognition.trials import MEASURES as EVIDENCE_MEASURES

_GRID = 0.03
"""Log-probabilities are rounded to this, in nats, so that questions are alike: a tenth of their spread."""


def answered_shortly(subject: Subject, temperature: float, draws: Draws) -> tuple[BoolArray, FloatArray]:
    """Return whether each short answer is right, and the mean log-probability of its tokens."""
    correct = ndtr(draws["outcome"]) < accuracy_of(subject, draws)
    distance = subject.meta_d_prime + subject.temperature_gain * (temperature - 1.0)
    right = distance + subject.evidence_ratio * draws["evidence"]
    evidence = np.where(correct, right, draws["evidence"])
    mean_logprob = CENTRE + SCALE * evidence - subject.temperature_shift * (temperature - 1.0)
    return correct, np.minimum(mean_logprob, HIGHEST)


def _short_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, mean_logprob = answered_shortly(subject, temperature_of(condition), draws[0])
    return {"correct": correct.astype(np.float64), "mean_logprob": _GRID * np.rint(mean_logprob / _GRID)}


def _short_trials(replies: Columns, condition: str) -> Columns:
    return {**replies, "confidence": np.exp(replies["mean_logprob"])}


_EVIDENCE_EFFECTS = {
    "meta_information": METACOGNITION,
    "auroc2": METACOGNITION,
    "d_a": METACOGNITION,
    "mean_logprob_difference": METACOGNITION,
    "z_roc_slope": EffectParameter("evidence_ratio", 0.3, 3.0),
    "accuracy": EffectParameter("d_prime", 0.0, 4.0),
}


POWER = PowerDesign(
    condition=condition_of_temperature(1.0),
    read_condition=lambda condition: condition_of_temperature(temperature_of(condition)),
    n_replies=1,
    replies=_short_replies,
    trials=_short_trials,
    measures=by_name(EVIDENCE_MEASURES, _EVIDENCE_EFFECTS),
    effects=_EVIDENCE_EFFECTS,
)
