"""How FermiEval is planned with: stated intervals of one nominal coverage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from confidence_tasks.report.groups import Columns
from confidence_tasks.report.power_design import EffectParameter, PowerDesign, by_name
from confidence_tasks.report.simulated_trials import Draws
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.fermieval.prompts import condition_of as condition_of_level
from confidence_tasks.studies.fermieval.trials import MEASURES as INTERVAL_MEASURES
from confidence_tasks.studies.fermieval.trials import TEST


def stated_interval(subject: Subject, level: float, draws: Draws) -> tuple[FloatArray, FloatArray]:
    """Return the whole ends of the intervals that the subject states, as distances from the true exponent."""
    mean = subject.belief_sd * draws["belief"]
    start = ndtr(draws["tunnel"]) * (1.0 - subject.perception)
    tail = (1.0 - level) / 2.0
    lower, upper = (
        mean + subject.belief_sd * ndtri(start + quantile * subject.perception)
        for quantile in (tail, 1.0 - tail)
    )
    first, last = np.ceil(lower), np.floor(upper)
    middle = np.rint((lower + upper) / 2.0)
    none_between = first > last
    return np.where(none_between, middle, first), np.where(none_between, middle, last)


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


_PERCEPTION = EffectParameter("perception", 0.02, 1.0)
_INTERVAL_EFFECTS = dict.fromkeys(("coverage", "coverage_gap", "mean_width", "winkler"), _PERCEPTION)


POWER = PowerDesign(
    condition=condition_of_level(0.9),
    read_condition=lambda condition: condition_of_level(_level(condition)),
    n_replies=1,
    replies=_interval_replies,
    trials=_interval_trials,
    measures=by_name(INTERVAL_MEASURES, _INTERVAL_EFFECTS),
    effects=_INTERVAL_EFFECTS,
)
