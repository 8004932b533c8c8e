"""How a confidence scale is planned with; it holds wherever trials are answers with a stated confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from confidence_tasks.report.groups import Columns
from confidence_tasks.report.power_design import METACOGNITION, EffectParameter, PowerDesign, by_name
from confidence_tasks.report.simulated_trials import Draws, decide
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.scales.scale import BASELINE, Scale
from confidence_tasks.studies.scales.subject import ENOUGH_ROUND_NUMBERS
from confidence_tasks.studies.scales.trials import MEASURES as SCALE_MEASURES

_MOST_STEPS = 200
"""Steps of a wider scale are taken together, to so many or fewer, so that questions are alike."""


def reported(subject: Subject, confidence: FloatArray, scale: Scale, draws: Draws) -> FloatArray:
    """Return the integers on ``scale`` that the subject states, with its habits."""
    if subject.anchors:
        confidence = _nearest(np.sort(subject.anchors), confidence)
    raw = scale.lower + confidence * scale.width
    whole = np.rint(raw)
    step = subject.round_to
    multiples = np.arange(-(-scale.lower // step) * step, scale.upper + 1, step, dtype=np.float64)
    if not subject.rounding or len(multiples) < ENOUGH_ROUND_NUMBERS:
        return whole
    return np.where(ndtr(draws["rounding"]) < subject.rounding, _nearest(multiples, raw), whole)


def _nearest(grid: FloatArray, values: FloatArray) -> FloatArray:
    """Return for each value the entry of the ascending ``grid`` that is nearest; of two, the lower."""
    middles = (grid[1:] + grid[:-1]) / 2.0
    return np.asarray(grid[np.searchsorted(middles, values)])


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


_BIAS = EffectParameter("bias", -4.0, 4.0)
_SCALE_EFFECTS = {
    "mratio": METACOGNITION,
    "meta_d": METACOGNITION,
    "auroc": METACOGNITION,
    "ece": _BIAS,
    "overconfidence": _BIAS,
    "brier": _BIAS,
    "accuracy": EffectParameter("d_prime", 0.0, 4.0),
}


POWER = PowerDesign(
    condition=BASELINE.label,
    read_condition=lambda condition: Scale.parse(condition).label,
    n_replies=1,
    replies=_scale_replies,
    trials=_scale_trials,
    measures=by_name(SCALE_MEASURES, _SCALE_EFFECTS),
    effects=_SCALE_EFFECTS,
)
