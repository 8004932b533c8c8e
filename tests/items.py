"""What a task asks, as items that both harnesses turn into samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.items import make_items
from confidence_tasks.harness.parameters import chosen_conditions, complete_parameters
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.simulation.reply import Reply, StageRequest
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.riskeval import STUDY as RISKEVAL
from confidence_tasks.studies.riskeval.replies import PENALTIES
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study.definition import Study
from confidence_tasks.study.trial import Item, Question


def items_of(study: Study, task: str = "", **given: Any) -> list[Item]:
    """Return the items of a task with the parameters given."""
    task = task or study.first_task
    parameters = {**complete_parameters(task, given, study.task_parameters(task)), "task": task}
    conditions = chosen_conditions(study, parameters)
    return list(make_items(study, parameters, conditions))


def items_asking(study: Study, questions: Sequence[Question], task: str = "", **given: Any) -> list[Item]:
    """Return the items of a task with other questions than its own."""
    return items_of(replace(study, questions=lambda parameters: questions), task, **given)


def reply_to(
    study: Study, question: Question, condition: str, subject: Subject, seed: str = "1", prompt: str = ""
) -> Reply:
    """Return what a subject says to the only call of a study under a condition."""
    reply: Reply = study.simulation.reply(  # type: ignore[misc]
        question, StageRequest(subject, prompt, condition, "", {}, seed)
    )
    return reply


def scale_items(scales: Iterable[Scale], sources: Sequence[str], **given: Any) -> list[Item]:
    """Return the items of the scale study on some scales."""
    return items_of(SCALES, scales=[scale.label for scale in scales], sources=list(sources), **given)


def riskeval_items(
    questions: Sequence[Question], penalties: Iterable[float] = PENALTIES, **given: Any
) -> list[Item]:
    """Return the items of RiskEval that ask some questions under some penalties."""
    return items_asking(RISKEVAL, questions, penalties=list(map(str, penalties)), **given)
