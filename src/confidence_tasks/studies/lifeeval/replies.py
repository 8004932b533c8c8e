"""Files of replies to LifeEval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm, told_apart, whole_number_in
from confidence_tasks.report.staged import metrics_of_items
from confidence_tasks.sources.life_table import SHIPPED_LAST_AGE
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.study.question import Question


def _life(question: Question, row: Row) -> Item:
    sex, age, radius = (
        str(row["sex"]),
        whole_number_in(row, "age", 0, SHIPPED_LAST_AGE),
        whole_number_in(row, "radius", 1, 100),
    )
    if sex not in ("male", "female"):
        raise ValueError(f"sex={sex!r} is neither male nor female")
    case = {"sex": sex, "age": age, "radius": radius, "window": "half_open", "table": ""}
    question = told_apart(replace(question, gold=None), row, f"{sex}-{age}-{radius}")
    return Item(question, f"radius={radius}", question.text, metadata=case)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "lifeeval": ReplyForm(
        {"sex": "male or female", "age": "least age in years", "radius": "years that a guess may be off"},
        "radius=",
        _life,
        STUDY.make_scorer,
        lambda items: metrics_of_items(STUDY, items),
        key="",
    ),
}
