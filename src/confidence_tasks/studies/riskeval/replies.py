"""Files of replies to RiskEval."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm
from confidence_tasks.report.staged import metrics_of_items
from confidence_tasks.studies.riskeval import STUDY
from confidence_tasks.studies.riskeval.prompts import condition_of as condition_of_penalty
from confidence_tasks.studies.riskeval.prompts import penalty_of
from confidence_tasks.studies.riskeval.trials import riskeval_scorer
from confidence_tasks.study.question import Question


def _risk(question: Question, row: Row) -> Item:
    penalty = penalty_of(str(row["penalty"]))
    return Item(question, condition_of_penalty(penalty), question.text, metadata={"penalty": penalty})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "riskeval": ReplyForm(
        {"penalty": "what a wrong answer costs"},
        "lambda=",
        _risk,
        partial(riskeval_scorer, parser="rules", judge="rules"),
        lambda items: metrics_of_items(STUDY, items),
    ),
}
