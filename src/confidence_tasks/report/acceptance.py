"""Which answers may be accepted: thresholds of confidence with a guarantee of accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from confidence_tasks.logs.judged_answers import JudgedAnswers, answers_of
from confidence_tasks.logs.task_trials import TaskTrials
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics.acceptance import Acceptance, AcceptanceCurve, acceptance_curve

REQUIRED = (0.9, 0.95)
"""Accuracies that thresholds of a report guarantee."""

ENOUGH = 100
"""Number of questions from which on a report has thresholds: with fewer, hardly any model has one."""


@dataclass(frozen=True, slots=True)
class AcceptedAnswers:
    """Thresholds of one model under one condition.

    Attributes
    ----------
    model, condition : str
        Who was asked, and how.
    curve : AcceptanceCurve
        Share and accuracy of the answers that each confidence accepts.
    found : mapping of float to Acceptance
        What is accepted with a guarantee, for each accuracy of ``REQUIRED``.
    """

    model: str
    condition: str
    curve: AcceptanceCurve
    found: Mapping[float, Acceptance]

    @property
    def guaranteed(self) -> dict[float, Acceptance]:
        """What is accepted, for each accuracy that some threshold guarantees."""
        return {accuracy: found for accuracy, found in self.found.items() if found.n_accepted}


def accepted_answers(task: TaskTrials, settings: Settings) -> Iterator[AcceptedAnswers]:
    """Yield the thresholds of each model and condition that has enough questions and several confidences.

    Numbers are those of the command ``threshold``. A run that stopped early is left out: how many answers it has
    depends on how right they are, and no guarantee holds.
    """
    for model in task.models:
        for answers in () if model.stopped else answers_of(task, model):
            curve = _curve(answers, settings)
            if curve.n >= ENOUGH and len(curve.confidence) > 1:
                found = {accuracy: curve.guaranteed(accuracy) for accuracy in REQUIRED}
                yield AcceptedAnswers(model.label, answers.condition, curve, found)


def _curve(answers: JudgedAnswers, settings: Settings) -> AcceptanceCurve:
    units, distinct = pd.factorize(answers.units)  # numbers, which are compared faster than texts
    clusters = units if len(distinct) < len(units) else None
    return acceptance_curve(
        answers.correct, answers.confidence, level=settings.level, clusters=clusters, seed=settings.seed
    )


def threshold_text(found: Acceptance) -> str:
    """Return a threshold, or why there is none. It is not rounded, as a lower one would accept other answers."""
    return f"{found.threshold:.15g}" if found.n_accepted else f"{found.threshold.reason}"
