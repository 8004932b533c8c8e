"""Figures and tables of the question sets: tables 3 and 4 of the paper, and its figures over all sets.

arXiv:2605.23909, section 7 and appendix. The report shows tables and figures over all sets, including LifeEval, with
the first question set.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import sha256

from confidence_tasks.report.extra_tables import OverviewDesign, Side
from confidence_tasks.report.reply_forms import ReplyForm, with_id_suffix
from confidence_tasks.report.score_replies import Row
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.studies.lifeeval.question_sets import STUDY
from confidence_tasks.studies.lifeeval.question_sets.replies import KINDS, QUESTION_SETS
from confidence_tasks.study.trial import Item, Question

_ANSWER_MEASURES = ("ece", "accuracy", "confidence", "overconfidence")

ALL_QUESTION_SETS = OverviewDesign(
    name="all_question_sets",
    title="All question sets",
    question="On which kinds of questions is each model’s confidence calibrated?",
    note="Accuracy and confidence are of the stated answer. For LifeEval, accuracy is the score over all radii asked; a"
    " score is the probability that a guess is within the radius. For HaluEval, accuracy is the share of the given"
    " answers that are right, which is the same for all models that judge all of them.",
    sides=(
        Side("question_sets", names={name: f"answer_{name}" for name in _ANSWER_MEASURES}),
        Side("lifeeval", "all", {"accuracy": "score"}),
    ),
    measures=tuple(STUDY.measures_by_name[name] for name in (*_ANSWER_MEASURES, "round_share")),
)
"""Tables 3 and 4 of arXiv:2605.23909, and figure 2, its overconfidence."""

OVERVIEWS = (ALL_QUESTION_SETS,)


def _item(name: str, question: Question, row: Row) -> Item:
    metadata = {"question_set": name}
    if "given" in row:
        metadata["given"] = str(row["given"])
        question = with_id_suffix(question, row, sha256(metadata["given"].encode()).hexdigest()[:12])
    return Item(question, question.source, question.text, metadata=metadata)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    name: ReplyForm(
        STUDY,
        {"given": "the answer to judge"} if question_set.form == "judgement" else {},
        partial(_item, name),
        kind=KINDS[question_set.form],
        parameters=lambda items: {"task": items[0].metadata["question_set"]},
    )
    for name, question_set in QUESTION_SETS.items()
}


REPORT = StudyReport(
    replication="confidence_tasks.replications.lifeeval:REPLICATION",
    overviews=OVERVIEWS,
    reply_forms=REPLY_FORMS,
)
