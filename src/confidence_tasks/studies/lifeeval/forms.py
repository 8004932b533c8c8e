"""Files of replies to LifeEval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from confidence_tasks.report.reply_forms import ReplyForm, whole_number_in, with_id_suffix
from confidence_tasks.report.score_replies import Row
from confidence_tasks.sources.generated import SEXES, SHIPPED_LAST_AGE
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.studies.lifeeval.replies import CONDITIONS
from confidence_tasks.study.trial import Item, Question


def _life(question: Question, row: Row) -> Item:
    sex, age = str(row["sex"]), whole_number_in(row, "age", 0, SHIPPED_LAST_AGE)
    radius = whole_number_in(row, "radius", 1, 100)
    if sex not in SEXES:
        raise ValueError(f"sex={sex!r} is neither male nor female")
    metadata = {"sex": sex, "age": age, "radius": radius, "window": "half_open", "table": ""}
    question = with_id_suffix(replace(question, gold=None), row, f"{sex}-{age}-{radius}")
    return Item(question, CONDITIONS.label(radius), question.text, metadata=metadata)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "lifeeval": ReplyForm(
        STUDY,
        {"sex": "male or female", "age": "minimum age in years", "radius": "radius in years"},
        _life,
        CONDITIONS.prefix,
        key="",
    )
}
