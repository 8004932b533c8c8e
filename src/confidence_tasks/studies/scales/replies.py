"""Files of replies on confidence scales."""

from __future__ import annotations

from collections.abc import Mapping

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm
from confidence_tasks.report.staged import metrics_of_items
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.scales.prompts import ELICITATIONS
from confidence_tasks.studies.scales.scale import Scale
from confidence_tasks.study.question import Question


def _scale(question: Question, row: Row) -> Item:
    elicitation = one_of(ELICITATIONS, str(row.get("elicitation") or "verbal"), "elicitation")
    label = Scale.parse(str(row["scale"])).label
    return Item(question, label, question.text, metadata={"elicitation": elicitation})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "scales": ReplyForm(
        {"scale": "bounds of the confidence scale, such as 0-100"},
        "",
        _scale,
        STUDY.make_scorer,
        lambda items: metrics_of_items(STUDY, items),
    ),
}
