"""The documents of an lm-eval task: the questions of a study under the task's conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.items import make_items
from confidence_tasks.harness.lm_eval.generated import stop_of
from confidence_tasks.harness.parameters import roles_needed
from confidence_tasks.harness.stored_replies import replies_from_json
from confidence_tasks.harness.trial import trial_from_replies
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import FEWSHOT
from confidence_tasks.study.stage import ModelReply, Replies
from confidence_tasks.study.trial import Item, question_from_metadata, question_metadata


def document_items(
    study: Study, parameters: Mapping[str, Any], conditions: Sequence[str], fewshot: int
) -> Sequence[Item]:
    """Return the questions under the conditions of a task, with ``fewshot`` worked examples each.

    Raises ValueError for questions that need another model or have a picture, neither of which lm-eval supports.
    """
    FEWSHOT.check(fewshot)
    items = list(make_items(study, {**parameters, FEWSHOT.name: fewshot}, conditions))
    questions = [item.question for item in items]
    if roles := roles_needed(study, parameters, questions):
        task = f"{study.module.partition('.')[0]}/{parameters['task']}"
        raise ValueError(
            f"questions of {study.name} need a model as {' and '.join(roles)}, but lm-eval calls only the "
            f"model under test: run `inspect eval {task}`, or choose parameters that need no other model"
        )
    if pictures := sum(question.image is not None for question in questions):
        raise ValueError(f"{pictures} questions of {study.name} have a picture, which lm-eval cannot send")
    if not study.asking.repeats_parameter:
        return items
    return [
        replace(item, metadata={**item.metadata, "id": f"{item.id}/{number}", "repeat": number})
        for item in items
        for number in range(1, parameters[study.asking.repeats_parameter] + 1)
    ]


def document(item: Item) -> dict[str, Any]:
    """Return the document of a question."""
    return {
        "id": item.id,
        "condition": item.condition,
        "system": item.system,
        "prompt": item.prompt,
        "target": item.question.gold or "",
        "cluster": item.question.cluster,  # always, as lm-eval keeps the keys of the first document only
        **question_metadata(item.question),
        **item.metadata,
    }


def document_trial(
    study: Study, doc: Mapping[str, Any], reply: Any, parameters: Mapping[str, Any], only_stage: str
) -> dict[str, Any]:
    """Return the trial of a document: of the text of its ``only_stage``, or of all stages if that is empty."""
    return trial_from_replies(
        study, question_from_metadata(doc), str(doc["condition"]), _replies(reply, only_stage), parameters
    )


def _replies(reply: Any, only_stage: str) -> Replies:
    """Return the replies of a trial by stage."""
    if only_stage:
        return {only_stage: [ModelReply(reply, stop=stop_of(reply))]}
    return replies_from_json(reply)
