"""Files of replies to the confidence-scale study."""

from __future__ import annotations

from collections.abc import Mapping

from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.report.reply_forms import ReplyForm
from confidence_tasks.report.score_replies import Row
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.scales.replies import ELICITATIONS
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.trial import Item, Question


def _scale(question: Question, row: Row) -> Item:
    elicitation = one_of(ELICITATIONS, str(row.get("elicitation") or "verbal"), "elicitation")
    label = Scale.parse(str(row["scale"])).label
    return Item(question, label, question.text, metadata={"elicitation": elicitation})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "scales": ReplyForm(STUDY, {"scale": "bounds of the confidence scale, such as 0-100"}, _scale)
}
