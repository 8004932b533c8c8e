"""Which answers may be accepted: thresholds of confidence with a guarantee of accuracy, as a table of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from confidence_tasks.logs.judged_answers import JudgedAnswers, answers_of
from confidence_tasks.report.labels import group_label
from confidence_tasks.statistics.acceptance import Acceptance, AcceptanceCurve, acceptance_curve

if TYPE_CHECKING:
    from confidence_tasks.report.extra_tables import ExtraTable
    from confidence_tasks.report.results import TaskResults

REQUIRED = (0.9, 0.95)
"""Accuracies that thresholds of a report guarantee."""

ENOUGH = 100
"""Number of questions from which on a report has thresholds: with fewer, hardly any model has one."""

TITLE = "Which answers may be accepted"


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


def accepted_answers(results: TaskResults) -> Iterator[AcceptedAnswers]:
    """Yield the thresholds of each model and condition that has enough questions and several confidences.

    Numbers are those of the command ``threshold``. A run that stopped early is left out: how many answers it has
    depends on how right they are, and no guarantee holds.
    """
    for model in results.models:
        for answers in () if model.stopped else answers_of(results.task_trials, model):
            curve = _curve(answers, results.settings.level, results.settings.seed)
            if curve.n >= ENOUGH and len(curve.confidence) > 1:
                found = {accuracy: curve.guaranteed(accuracy) for accuracy in REQUIRED}
                yield AcceptedAnswers(model.label, answers.condition, curve, found)


def _curve(answers: JudgedAnswers, level: float, seed: int) -> AcceptanceCurve:
    units, distinct = pd.factorize(answers.units)  # numbers, which are compared faster than texts
    clusters = units if len(distinct) < len(units) else None
    return acceptance_curve(answers.correct, answers.confidence, level=level, clusters=clusters, seed=seed)


def acceptance_table(results: TaskResults) -> ExtraTable:
    """Return the thresholds of all models and conditions as a table, without rows if none has enough questions."""
    from confidence_tasks.report.extra_tables import ExtraTable

    required = " or ".join(f"{accuracy:.0%}" for accuracy in REQUIRED)
    note = (
        f"The threshold is the lowest confidence at and above which answers are right in at least {required} of all"
        f" questions of the kind, with {results.settings.level:.0%} certainty; accepted is the share of answers at or"
        " above it. This holds for one threshold of one model at a time, and as long as model, prompt and kind of"
        f" questions stay the same. Conditions with at least {ENOUGH} questions; all sources are pooled, and of"
        " several trials of a question one is drawn at random. confidence-tasks threshold takes any accuracy."
    )
    frame = pd.DataFrame([_row(each) for each in results.accepted])
    return ExtraTable(f"{results.task_trials.slug}_acceptance", TITLE, note, frame, decimals=2)


def _row(answers: AcceptedAnswers) -> dict[str, str | float]:
    row: dict[str, str | float] = {
        "model": answers.model,
        "condition": group_label(answers.condition),
        "questions": f"{answers.curve.n}",
        "accuracy of all": float(answers.curve.accuracy[-1]),
    }
    for accuracy, found in answers.found.items():
        row[f"threshold for {accuracy:g}"] = threshold_text(found)
        row[f"accepted for {accuracy:g}"] = float(found.share)
        row[f"accuracy for {accuracy:g}"] = float(found.accuracy)
    return row


def threshold_text(found: Acceptance) -> str:
    """Return a threshold, or why there is none. It is not rounded, as a lower one would accept other answers."""
    return f"{found.threshold:.15g}" if found.n_accepted else f"{found.threshold.reason}"
