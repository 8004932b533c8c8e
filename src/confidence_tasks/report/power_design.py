"""What a study is planned with: how simulated subjects answer it, and what moves its measures.

They answer a hundred thousand questions at once, without words: the observer of :mod:`confidence_tasks.simulation` on
arrays. Habits that make a reply hard to read are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from confidence_tasks.harness.inspect.samples import one_of
from confidence_tasks.report.groups import Columns
from confidence_tasks.simulation.subject import STRONGEST, Subject
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure

Draws: TypeAlias = Mapping[str, FloatArray]
"""Standard normal numbers by what they decide, one a question."""

OF_QUESTION = ("outcome", "evidence", "belief", "difficulty")
"""What a question does to a subject: it may do much the same to another."""

OF_REPLY = ("noise", "rounding", "tunnel")
"""What is drawn anew for every reply."""


def paired_draws(
    log2_n: int, correlation: float, rng: np.random.Generator, n_replies: int = 1
) -> tuple[list[Draws], list[Draws]]:
    """Draw for two subjects that are asked the same 2 ** log2_n questions, evenly rather than independently.

    What a question does to one and to the other correlates: 0 for models that have nothing in common, 1 for one
    model asked twice. Each subject has draws for ``n_replies`` replies to a question, one a condition.

    References
    ----------
    Sobol' points, scrambled: Owen (1998), doi:10.1006/jcom.1998.0487.
    """
    # What matters most comes first, where the points are most even.
    names = [(subject, name) for name in OF_QUESTION for subject in (0, 1)]
    names += [(subject, f"{name}/{i}") for i in range(n_replies) for name in OF_REPLY for subject in (0, 1)]
    from scipy.stats import qmc  # takes half a second, and reports import this module without drawing

    points = qmc.Sobol(len(names), rng=rng).random_base2(log2_n)
    drawn = dict(zip(names, ndtri(np.clip(points, _TINY, 1.0 - _TINY)).T, strict=True))
    rest = np.sqrt(1.0 - correlation**2)
    for name in OF_QUESTION:
        drawn[1, name] = correlation * drawn[0, name] + rest * drawn[1, name]

    def of(subject: int) -> list[Draws]:
        shared = {name: drawn[subject, name] for name in OF_QUESTION}
        return [
            {**shared, **{name: drawn[subject, f"{name}/{i}"] for name in OF_REPLY}} for i in range(n_replies)
        ]

    return of(0), of(1)


_TINY = 2.0**-40
"""A point of the unit cube may lie on its edge, where there is no normal number."""


def decide(subject: Subject, draws: Draws, condition: str = "") -> tuple[BoolArray, FloatArray]:
    """Return whether the subject is right about each question, and its confidence, as ``Subject.decide``."""
    accuracy = accuracy_of(subject, draws)
    correct = ndtr(draws["outcome"]) < accuracy
    meta = np.clip(subject.meta_d_prime * subject.scale_gain.get(condition, 1.0), -STRONGEST, STRONGEST)
    mean = np.where(correct, meta / 2, -meta / 2)
    below = ndtr(-mean)
    quantile = np.minimum(below + ndtr(draws["evidence"]) * (1.0 - below), 1.0 - 1e-16)
    calibrated = meta * (mean + ndtri(quantile)) + logit(accuracy) + log_ndtr(-meta / 2) - log_ndtr(meta / 2)
    return correct, expit(subject.bias + subject.noise * draws["noise"] + subject.gain * calibrated)


def accuracy_of(subject: Subject, draws: Draws) -> FloatArray:
    """Return the chance that the subject is right about each question."""
    d_prime = subject.d_prime + subject.difficulty_spread * draws["difficulty"]
    return np.asarray(ndtr(np.clip(d_prime, -STRONGEST, STRONGEST) / 2))


@dataclass(frozen=True, slots=True)
class EffectParameter:
    """The parameter of a simulated subject that moves a measure, and how far it is moved."""

    parameter: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PowerDesign:
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
    effects : mapping of str to EffectParameter
        What moves each of these.
    """

    condition: str
    read_condition: Callable[[str], str]
    n_replies: int
    replies: Callable[[Subject, Sequence[Draws], str], Columns]
    trials: Callable[[Columns, str], Columns]
    measures: Mapping[str, Measure]
    effects: Mapping[str, EffectParameter]


def by_name(measures: tuple[Measure, ...], names: Iterable[str]) -> dict[str, Measure]:
    """Return some measures by name, in the order of the names."""
    every = {measure.name: measure for measure in measures}
    return {name: every[name] for name in names}


METACOGNITION = EffectParameter("meta_d_prime", 0.0, 4.0)
"""Moves what confidence knows, in any study of answers that are right or wrong."""


# A study that says nothing of its own -----------------------------------------------------------------------------


_STEPS = 100
"""Simulated confidence is stated in percent, so that questions are alike."""

_TRIED: Columns = {
    "correct": np.array([1.0, 0.0, 1.0, 0.0]),
    "confidence": np.array([0.9, 0.7, 0.6, 0.2]),
}


def power_designs(study: Study) -> Iterator[PowerDesign]:
    """Yield how a study is simulated for power analysis; nothing if no measure reads simulated trials.

    The simulated trials are right or wrong with a confidence. Measures that read other columns cannot be planned for.
    A measure of correctness alone is moved by the subject's sensitivity, one of which less is better by its bias, and
    any other by its metacognition.
    """
    effects = {measure.name: effect for measure in study.measures if (effect := _effect(measure)) is not None}
    if effects:
        yield PowerDesign(
            condition=study.conditions[0],
            read_condition=lambda condition: one_of(study.conditions, condition, "condition"),
            n_replies=1,
            replies=_replies,
            trials=lambda replies, condition: replies,
            measures={name: study.measure[name] for name in effects},
            effects=effects,
        )


def _replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, confidence = decide(subject, draws[0], condition)
    return {"correct": correct.astype(np.float64), "confidence": np.rint(_STEPS * confidence) / _STEPS}


def _effect(measure: Measure) -> EffectParameter | None:
    """Return what moves a measure; None if it reads other columns than simulated trials have."""
    if measure.better == "neither" or not _reads(measure, _TRIED):
        return None
    if _reads(measure, {"correct": _TRIED["correct"]}):
        return EffectParameter("d_prime", 0.0, 4.0)
    return EffectParameter("bias", -4.0, 4.0) if measure.better == "lower" else METACOGNITION


def _reads(measure: Measure, trials: Columns) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            measure.compute(trials, None)
    except KeyError:
        return False
    return True
