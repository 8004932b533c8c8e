"""Files of replies to RiskEval."""

from __future__ import annotations

from collections.abc import Mapping

from confidence_tasks.report.reply_forms import ReplyForm
from confidence_tasks.report.score_replies import Row
from confidence_tasks.studies.riskeval import STUDY
from confidence_tasks.studies.riskeval.replies import condition_of, penalty_of
from confidence_tasks.study.trial import Item, Question


def _risk_item(question: Question, row: Row) -> Item:
    penalty = penalty_of(str(row["penalty"]))
    return Item(question, condition_of(penalty), question.text, metadata={"penalty": penalty})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "riskeval": ReplyForm(
        STUDY,
        {"penalty": "penalty for a wrong answer"},
        _risk_item,
        "lambda=",
        scoring={"parser": "rules", "judge": "rules"},
    )
}
