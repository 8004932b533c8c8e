"""Files of replies to FermiEval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from confidence_tasks.report.reply_forms import ReplyForm, number_in, whole_number_in
from confidence_tasks.report.score_replies import Row
from confidence_tasks.sources.fermi import LARGEST_EXPONENT
from confidence_tasks.studies.fermieval import STUDY
from confidence_tasks.studies.fermieval.replies import CALIBRATION, LARGEST_KEY, TEST, condition_of
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.trial import Item, Question


def _interval_item(question: Question, row: Row) -> Item:
    level = number_in(row, "level", 0.0, 1.0)
    if level in (0.0, 1.0):
        raise ValueError(f"level={row['level']!r} must lie between 0 and 1, such as 0.95")
    limited = row.get("max_exponent") is not None
    largest = LARGEST_KEY if limited else LARGEST_EXPONENT
    try:
        key = whole_number_in(row, "exponent", -largest, largest)
    except ValueError as error:
        raise ValueError(f"{error}{'' if limited else '; max_exponent leaves larger ones out'}") from error
    question = replace(question, gold=str(key))
    split = one_of((CALIBRATION, TEST), str(row.get("split") or TEST), "split")
    metadata: dict[str, Any] = {"level": level, "split": split}
    if limited:
        metadata["max_exponent"] = number_in(row, "max_exponent", 1.0, LARGEST_KEY)
    return Item(question, condition_of(level), question.text, metadata=metadata)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "fermieval": ReplyForm(
        STUDY,
        {
            "exponent": "the key, a power of ten: 3 for a truth of 1,000",
            "level": "nominal coverage, such as 0.95; split may be calibration or test, and max_exponent the largest "
            "exponent that is not left out, 100 in the paper's figures",
        },
        _interval_item,
        "p=",
        "number",
        key="exponent",
        optional=("split", "max_exponent"),
        parameters=lambda items: {
            "split": "all" if any(item.metadata["split"] == CALIBRATION for item in items) else TEST
        },
    ),
}
