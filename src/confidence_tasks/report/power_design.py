"""What a study is planned with: how simulated subjects answer it, and what moves its measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from confidence_tasks.report.groups import Columns
from confidence_tasks.report.simulated_trials import Draws
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.study.measures import Measure


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
