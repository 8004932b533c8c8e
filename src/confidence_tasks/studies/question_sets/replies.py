"""Files of replies to the calibration question sets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import sha256

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm, told_apart
from confidence_tasks.report.staged import metrics_of_items
from confidence_tasks.studies.question_sets import STUDY
from confidence_tasks.studies.question_sets.prompts import QUESTION_SETS
from confidence_tasks.study.question import Question


def _member(name: str, question: Question, row: Row) -> Item:
    metadata = {"question_set": name}
    if "given" in row:
        metadata["given"] = str(row["given"])
        question = told_apart(question, row, sha256(metadata["given"].encode()).hexdigest()[:12])
    return Item(question, question.source, question.text, metadata=metadata)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    name: ReplyForm(
        {"given": "the answer to be judged"} if spec.form == "judgement" else {},
        "",
        partial(_member, name),
        STUDY.make_scorer,
        partial(metrics_of_items, STUDY, task=name),
        "choice" if spec.form == "options" else "boolean",
    )
    for name, spec in QUESTION_SETS.items()
}
