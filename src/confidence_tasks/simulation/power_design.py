"""How power analysis simulates a study: replies of the subjects, and the parameter that changes each measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from confidence_tasks.simulation.draws import Draws, decide
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.study.definition import Study
from confidence_tasks.study.inference import Columns
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.trial import Question


@dataclass(frozen=True, slots=True)
class EffectParameter:
    """The parameter of a simulated subject that changes a measure, and the range in which it is varied."""

    parameter: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PowerDesign:
    """How power analysis simulates a study.

    Attributes
    ----------
    condition : str
        The default condition; ``all`` for measures over all conditions.
    read_condition : callable
        Returns the label of a condition; ValueError if there is no such condition.
    n_replies : int
        Number of replies to each question, one per condition.
    replies : callable
        ``replies(subject, draws, condition)``: the subject's replies, as columns with one row per question. Equal rows
        are simulated once.
    trials : callable
        ``trials(replies, condition)``: the trials of the questions, ``n_replies`` for each, question by question.
    effects : mapping of str to EffectParameter
        The parameter that changes each measure, for the measures that power can be computed for.
    every_measure : sequence of Measure
        All measures, including those of ``effects``.
    is_counted : callable
        ``is_counted(question)`` returns whether the measures count a question; by default every question.
    """

    condition: str
    read_condition: Callable[[str], str]
    n_replies: int
    replies: Callable[[Subject, Sequence[Draws], str], Columns]
    trials: Callable[[Columns, str], Columns]
    effects: Mapping[str, EffectParameter]
    every_measure: Sequence[Measure]
    is_counted: Callable[[Question], bool] = lambda question: True

    @property
    def measures(self) -> dict[str, Measure]:
        """The measures that power can be computed for, by name."""
        every = {measure.name: measure for measure in self.every_measure}
        return {name: every[name] for name in self.effects}


METACOGNITION = EffectParameter("meta_d_prime", 0.0, 4.0)
"""The parameter of metacognitive sensitivity, for any study of answers that are right or wrong."""


# The default design -----------------------------------------------------------------------------------------------


def default_designs(study: Study) -> Iterator[PowerDesign]:
    """Yield the default design of a study; nothing if no measure can be computed from simulated trials.

    The simulated trials have correctness and confidence only, which is also the signal of a study of signals. The
    subject's sensitivity changes a measure of correctness alone, its bias changes a measure that is better when
    lower, and its metacognition any other measure. A study of logs of others has the conditions of these logs.
    """
    conditions = study.conditions or tuple(
        study.designs
    )  # without conditions, its tasks are of different questions
    with_signals = partial(_with_signals, study)
    effects = {
        measure.name: effect
        for measure in study.measures
        if (effect := _effect(measure, with_signals)) is not None
    }
    if effects:
        yield PowerDesign(
            condition=conditions[0],
            read_condition=str
            if not study.designs
            else lambda condition: one_of(conditions, condition, "condition"),
            n_replies=1,
            replies=_percentages,
            trials=lambda replies, condition: with_signals(replies),
            effects=effects,
            every_measure=study.measures,
        )


def _percentages(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    """Return correctness, and confidence rounded to whole percents, so that many replies are equal."""
    correct, confidence = decide(subject, draws[0], condition)
    return {"correct": correct.astype(np.float64), "confidence": np.rint(100 * confidence) / 100}


def _with_signals(study: Study, trials: Columns) -> Columns:
    """Add the columns of a signal that is a probability, if a study has them."""
    columns = study.column_types.keys() & {"value", "probability"}
    return {**trials, **dict.fromkeys(columns, trials["confidence"])}


def _effect(measure: Measure, with_signals: Callable[[Columns], Columns]) -> EffectParameter | None:
    """Return the parameter that changes a measure; None if the measure cannot be computed from simulated trials."""
    correct, confidence = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.7, 0.6, 0.2])
    trials = with_signals({"correct": correct, "confidence": confidence})
    if measure.better == "neither" or measure.fitted or not _reads(measure, trials):
        return None
    if _reads(measure, {"correct": correct}):
        return EffectParameter("d_prime", 0.0, 4.0)
    return EffectParameter("bias", -4.0, 4.0) if measure.better == "lower" else METACOGNITION


def _reads(measure: Measure, trials: Columns) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            measure.compute(trials, None)
    except KeyError:
        return False
    return True
