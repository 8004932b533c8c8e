"""The trial of a question: its replies read by the study, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confidence_tasks.harness.parameters import default_stages
from confidence_tasks.harness.stopped import FinishedReplies, status_with
from confidence_tasks.reading.cleaning import marks_of_reply
from confidence_tasks.reading.thoughts import cleaned_replies
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.stage import Replies
from confidence_tasks.study.trial import RULES, Question


def trial_from_replies(
    study: Study, question: Question, condition: str, replies: Replies, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Read replies into a trial, using the study's own options among the given ones; unfinished ones are not read.

    The study gets texts and tokens that begin after the model's thoughts. The trial records it in its ``rules``.

    Raises ValueError if a column that the study declares is missing, undeclared or of another type.
    """
    if study.scoring.options:
        question = question.with_metadata(**{name: options[name] for name in study.scoring.options})
    finished = FinishedReplies(study, default_stages(study), question, condition).of(replies)
    cleaned = cleaned_replies(finished)
    trial: dict[str, Any] = {**study.read(question, condition, cleaned)}
    if missing := [name for name in study.column_types if name not in trial]:
        raise ValueError(f"study {study.name}: read returns a trial without {', '.join(missing)}")
    for name, value in trial.items():
        kind = study.column_types.get(name)
        if kind is None:
            raise ValueError(
                f"study {study.name}: read returns {name!r}, which is not a column of its trial"
                f"{did_you_mean(name, study.column_types)}"
            )
        if not isinstance(value, str if kind is str else int | float):
            raise ValueError(
                f"study {study.name}: read returns {name}={value!r}, which is not of type {kind.__name__}"
                + ("; use NaN for a missing number" if kind is float else "; use '' for a missing text")
            )
    for of_stage, of_stage_cleaned in zip(list(finished.values())[:1], cleaned.values(), strict=False):
        record_marks(trial, of_stage[0].text, of_stage_cleaned[0].text)
    return {**trial, "status": status_with(finished, trial["status"])}


def record_marks(trial: dict[str, Any], text: str, visible: str) -> None:
    """Add to the rules of a trial that a thought was removed from its reply, or that control tokens are left in it.

    The trial of a study without rules gets this column only then, and keeps its status.
    """
    has_rules = RULES in trial
    rules = list(filter(None, str(trial.get(RULES, "")).split("+")))
    new = [name for name in marks_of_reply(text, visible) if name not in rules]
    if new:
        trial[RULES] = "+".join((*new, *rules))
    if new and has_rules and trial["status"] == "ok":
        trial["status"] = "repaired"
