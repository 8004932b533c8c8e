"""How a study is planned with, and how files of replies to it are scored, where it does not say so itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.harness.staged import STUDY, default_parameters, is_single, task_metrics
from confidence_tasks.report.groups import Columns
from confidence_tasks.report.power_design import METACOGNITION, Draws, EffectParameter, PowerDesign, decide
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm, conditions_of
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.question import Question

_STEPS = 100
"""Simulated confidence is stated in percent, so that questions are alike."""

_TRIED: Columns = {
    "correct": np.array([1.0, 0.0, 1.0, 0.0]),
    "confidence": np.array([0.9, 0.7, 0.6, 0.2]),
}


def power_designs(study: Study) -> Iterator[PowerDesign]:
    """Yield how a study is simulated for power analysis; nothing if no measure reads simulated trials.

    The simulated trials are right or wrong with a confidence. Measures that read other columns cannot be planned for.
    A measure of correctness alone is moved by the subject's sensitivity, one of which less is better by its bias, and
    any other by its metacognition.
    """
    effects = {measure.name: effect for measure in study.measures if (effect := _effect(measure)) is not None}
    if effects:
        yield PowerDesign(
            condition=study.conditions[0],
            read_condition=lambda condition: one_of(study.conditions, condition, "condition"),
            n_replies=1,
            replies=_replies,
            trials=lambda replies, condition: replies,
            measures={name: study.measure[name] for name in effects},
            effects=effects,
        )


def _replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, confidence = decide(subject, draws[0], condition)
    return {"correct": correct.astype(np.float64), "confidence": np.rint(_STEPS * confidence) / _STEPS}


def _effect(measure: Measure) -> EffectParameter | None:
    """Return what moves a measure; None if it reads other columns than simulated trials have."""
    if measure.better == "neither" or not _reads(measure, _TRIED):
        return None
    if _reads(measure, {"correct": _TRIED["correct"]}):
        return EffectParameter("d_prime", 0.0, 4.0)
    return EffectParameter("bias", -4.0, 4.0) if measure.better == "lower" else METACOGNITION


def _reads(measure: Measure, trials: Columns) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            measure.compute(trials, None)
    except KeyError:
        return False
    return True


def reply_forms(study: Study) -> Mapping[str, ReplyForm]:
    """Return how files of replies to a study are scored; none if a trial needs more than the text of one reply."""
    stages = study.stages_of(default_parameters(study))
    if not is_single(stages) or stages[0].logprobs == "required" or study.repeats:
        return {}
    several = len(study.conditions) > 1

    def item(question: Question, row: Row) -> Item:
        label = str(row["condition"]) if several else study.conditions[0]
        condition = one_of(study.conditions, label, "condition")
        about = {STUDY: study.reference, **question.metadata}
        return Item(question, condition, question.text, metadata=about)

    return {
        study.name: ReplyForm(
            fields={"condition": f"the condition: {', '.join(study.conditions)}"} if several else {},
            label="",
            item=item,
            scorer=study.make_scorer,
            metrics=lambda items: metrics_of_items(study, items),
        )
    }


def metrics_of_items(study: Study, items: Sequence[Item], **parameters: Any) -> list[Any]:
    """Return all metrics of what was asked, under the parameters given and the defaults of the others."""
    logged = task_metrics(study, {**default_parameters(study), **parameters}, conditions_of(items))
    return metrics_of(study, logged, "all")
