"""Files of replies to the calibration question sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm, conditions_of, told_apart
from confidence_tasks.studies.question_sets import STUDY
from confidence_tasks.studies.question_sets.prompts import QUESTION_SETS
from confidence_tasks.studies.question_sets.trials import question_set_scorer, question_set_summary
from confidence_tasks.study.question import Question


def _member(name: str, question: Question, row: Row) -> Item:
    metadata = {"question_set": name}
    if "given" in row:
        metadata["given"] = str(row["given"])
        question = told_apart(question, row, sha256(metadata["given"].encode()).hexdigest()[:12])
    return Item(question, question.source, question.text, metadata=metadata)


def _set_metrics(name: str, items: Sequence[Item]) -> list[Any]:
    return metrics_of(STUDY, question_set_summary, task=name, conditions=conditions_of(items))


REPLY_FORMS: Mapping[str, ReplyForm] = {
    name: ReplyForm(
        {"given": "the answer to be judged"} if spec.form == "judgement" else {},
        "",
        partial(_member, name),
        question_set_scorer,
        partial(_set_metrics, name),
        "choice" if spec.form == "options" else "boolean",
    )
    for name, spec in QUESTION_SETS.items()
}
