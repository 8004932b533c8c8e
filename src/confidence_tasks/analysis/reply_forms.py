"""What a file of replies must say for each study, and how its rows become samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

from inspect_ai.scorer import Metric, Scorer

from confidence_tasks.analysis.reply_files import Row
from confidence_tasks.elicitation.fermieval_prompts import condition_of as condition_of_level
from confidence_tasks.elicitation.question_set_prompts import QUESTION_SETS
from confidence_tasks.elicitation.riskeval_prompts import condition_of as condition_of_penalty
from confidence_tasks.elicitation.riskeval_prompts import penalty_of
from confidence_tasks.elicitation.scale_prompts import ELICITATIONS
from confidence_tasks.elicitation.scales import Scale
from confidence_tasks.questions import Question
from confidence_tasks.questions.fermi import LARGEST_EXPONENT
from confidence_tasks.questions.question import Kind
from confidence_tasks.scorers.fermieval import CALIBRATION, TEST, fermieval_metrics, fermieval_scorer
from confidence_tasks.scorers.lifeeval import lifeeval_metrics, lifeeval_scorer
from confidence_tasks.scorers.question_sets import question_set_metrics, question_set_scorer
from confidence_tasks.scorers.riskeval import riskeval_metrics, riskeval_scorer
from confidence_tasks.scorers.scales import scale_metrics, scale_scorer
from confidence_tasks.tasks._samples import Item, one_of


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """How replies to one study are scored.

    Attributes
    ----------
    fields : mapping of str to str
        The fields that a row has beside the question, its answer and the reply, and what each says. The last of them
        may also be given as ``condition``, with its label: ``lambda=10`` for a penalty of 10.
    label : str
        What a condition begins with.
    item : callable
        Makes a question and a row into what was asked; ValueError says what is wrong with a field.
    scorer : callable
        Makes the study's scorer, without a model's help.
    metrics : callable
        Makes the study's metrics of what was asked.
    kind : str, optional
        The only kind that its questions have.
    """

    fields: Mapping[str, str]
    label: str
    item: Callable[[Question, Row], Item]
    scorer: Callable[[], Scorer]
    metrics: Callable[[Sequence[Item]], Metric]
    kind: Kind | None = None

    def completed(self, row: Row) -> Row:
        """Return a row with the last field read off its condition, where only that is given."""
        name = next(reversed(list(self.fields)), "")
        if not name or name in row or "condition" not in row:
            return row
        return {**row, name: str(row["condition"]).removeprefix(self.label)}


def conditions_of(items: Iterable[Item]) -> list[str]:
    """Return the labels of the conditions, in the order in which they come."""
    return list(dict.fromkeys(item.condition for item in items))


def _scale(question: Question, row: Row) -> Item:
    elicitation = one_of(ELICITATIONS, str(row.get("elicitation") or "verbal"), "elicitation")
    label = Scale.parse(str(row["scale"])).label
    return Item(question, label, question.text, metadata={"elicitation": elicitation})


def _risk(question: Question, row: Row) -> Item:
    penalty = penalty_of(str(row["penalty"]))
    return Item(question, condition_of_penalty(penalty), question.text, metadata={"penalty": penalty})


def _interval(question: Question, row: Row) -> Item:
    level = _number(row, "level", 0.0, 1.0)
    if abs(float(question.gold or 0)) > LARGEST_EXPONENT:
        raise ValueError(f"answer={question.gold} is no exponent of ten: of 1,000 it is 3")
    split = one_of((CALIBRATION, TEST), str(row.get("split") or TEST), "split")
    metadata = {"level": level, "split": split}
    return Item(question, condition_of_level(level), question.text, metadata=metadata)


def _life(question: Question, row: Row) -> Item:
    sex, age, radius = str(row["sex"]), _number(row, "age", 0, 150), _number(row, "radius", 1, 100)
    if sex not in ("male", "female"):
        raise ValueError(f"sex={sex!r} is neither male nor female")
    case = {"sex": sex, "age": int(age), "radius": int(radius), "window": "half_open", "table": ""}
    question = _told_apart(replace(question, gold=None), row, f"{sex}-{age:g}-{radius:g}")
    return Item(question, f"radius={int(radius)}", question.text, metadata=case)


def _member(name: str, question: Question, row: Row) -> Item:
    metadata = {"question_set": name}
    if "given" in row:
        metadata["given"] = str(row["given"])
        question = _told_apart(question, row, sha256(metadata["given"].encode()).hexdigest()[:12])
    return Item(question, question.source, question.text, metadata=metadata)


def _told_apart(question: Question, row: Row, by: str) -> Question:
    """Let an id made from the text also depend on what the text may leave out."""
    return question if "id" in row else replace(question, id=f"{question.id}-{by}")


def _set_metrics(name: str, items: Sequence[Item]) -> Metric:
    return question_set_metrics(name, conditions_of(items))


def _interval_metrics(items: Sequence[Item]) -> Metric:
    levels = list(dict.fromkeys(item.metadata["level"] for item in items))
    return fermieval_metrics(levels, any(item.metadata["split"] == CALIBRATION for item in items))


def _life_metrics(items: Sequence[Item]) -> Metric:
    return lifeeval_metrics(list(dict.fromkeys(item.metadata["radius"] for item in items)))


def _number(row: Row, field: str, low: float, high: float) -> float:
    try:
        value = float(row[field])
    except (TypeError, ValueError):
        value = float("nan")
    if not low <= value <= high:
        raise ValueError(f"{field}={row[field]!r} is not a number from {low:g} to {high:g}")
    return value


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "scales": ReplyForm(
        {"scale": "bounds of the confidence scale, such as 0-100"},
        "",
        _scale,
        scale_scorer,
        lambda items: scale_metrics(conditions_of(items)),
    ),
    "lifeeval": ReplyForm(
        {"sex": "male or female", "age": "least age in years", "radius": "years that a guess may be off"},
        "radius=",
        _life,
        lifeeval_scorer,
        _life_metrics,
    ),
    "riskeval": ReplyForm(
        {"penalty": "what a wrong answer costs"},
        "lambda=",
        _risk,
        partial(riskeval_scorer, parser="rules", judge="rules"),
        lambda items: riskeval_metrics(conditions_of(items)),
    ),
    "fermieval": ReplyForm(
        {
            "level": "nominal coverage, such as 0.95; the answer is the exponent, and split may be calibration or test"
        },
        "p=",
        _interval,
        fermieval_scorer,
        _interval_metrics,
        "number",
    ),
    **{
        name: ReplyForm(
            {"given": "the answer to be judged"} if spec.form == "judgement" else {},
            "",
            partial(_member, name),
            question_set_scorer,
            partial(_set_metrics, name),
            "choice" if spec.form == "options" else "boolean",
        )
        for name, spec in QUESTION_SETS.items()
    },
}
"""By study, or by question set. The others need more than replies: token probabilities, or temperatures."""
