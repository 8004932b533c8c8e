"""Files of replies to LifeEval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm, told_apart, whole_number_in
from confidence_tasks.sources.life_table import SHIPPED_LAST_AGE
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.studies.lifeeval.trials import lifeeval_scorer, lifeeval_summary
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


def _life_metrics(items: Sequence[Item]) -> list[Any]:
    radii = list(dict.fromkeys(item.metadata["radius"] for item in items))
    return metrics_of(STUDY, lifeeval_summary, overall=["all"], radii=radii)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "lifeeval": ReplyForm(
        {"sex": "male or female", "age": "least age in years", "radius": "years that a guess may be off"},
        "radius=",
        _life,
        lifeeval_scorer,
        _life_metrics,
        key="",
    ),
}
