"""The questions of a run under their conditions, with the prompt of the first stage and worked examples."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.parameters import STUDY
from confidence_tasks.harness.trial import trial_from_replies
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.study.columns import columns
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import FEWSHOT, did_you_mean
from confidence_tasks.study.stage import TOKENS, ModelReply, Stage
from confidence_tasks.study.structured import STRUCTURED, is_structured
from confidence_tasks.study.trial import EFFORT, Item, Question, question_metadata


def make_items(study: Study, parameters: Mapping[str, Any], conditions: Sequence[str]) -> Iterator[Item]:
    """Yield every question under each condition, question by question, with the prompt of the first stage.

    The study's reader and measures are first tested on empty replies, so that an error in them appears before the first
    paid call. If worked examples are requested, they are the last questions of each source, which are then not asked.

    Raises ValueError if there are no questions, the first stage has several prompts, a trial lacks a column, or a
    measure reads a column that trials do not have.
    """
    fewshot, request = parameters[FEWSHOT.name], {**parameters, "conditions": conditions}
    if parameters.get("n") is not None:
        request["n"] += fewshot
    stages = study.stages_of(parameters)
    by_source: dict[str, list[Question]] = defaultdict(list)
    for question in study.questions(request):
        question = _with_form(question, parameters)
        by_source[question.source].append(question)
    if not by_source:
        raise ValueError(f"{study.name} has no questions under {dict(parameters)}")
    first, empty = stages[0], {stage.name: [ModelReply("")] * stage.samples for stage in stages}
    question = next(iter(by_source.values()))[0]
    own_conditions = _question_conditions(study, question, conditions)
    _check_measures(
        study, [trial_from_replies(study, question, each, empty, parameters) for each in own_conditions]
    )
    for questions in by_source.values():
        if fewshot >= len(questions):
            raise ValueError(f"fewshot={fewshot} must leave some of the {len(questions)} questions")
        n_asked = len(questions) - fewshot
        examples: dict[str, list[tuple[str, str]]] = defaultdict(list)
        # If each question has its own condition, all questions share the same examples.
        shared = study.condition_rules.of_question is not None
        for number, question in enumerate(questions[n_asked:]):
            for condition in _question_conditions(study, question, conditions):
                item = _make_item(study, first, question, condition)
                reply = _example_reply(study, first, item, number)
                examples["" if shared else condition].append((item.prompt, reply))
        for question in questions[:n_asked]:
            for condition in _question_conditions(study, question, conditions):
                item = _make_item(study, first, question, condition)
                yield replace(item, examples=tuple(examples["" if shared else condition]))


def _with_form(question: Question, parameters: Mapping[str, Any]) -> Question:
    """Return a question with whether its replies are JSON objects in its metadata."""
    if STRUCTURED in question.metadata:
        raise ValueError(f"metadata of question {question.id} has the reserved key {STRUCTURED}: rename it")
    return question.with_metadata(**{STRUCTURED: True}) if parameters.get(STRUCTURED) else question


def _question_conditions(study: Study, question: Question, conditions: Sequence[str]) -> Sequence[str]:
    """Return the conditions under which a question is asked."""
    of_question = study.condition_rules.of_question
    return conditions if of_question is None else [of_question(question)]


def _example_reply(study: Study, first: Stage, item: Item, number: int) -> str:
    """Return the reply of a worked example: the study's own, or that of an ideal subject."""
    if study.asking.worked_example is not None:
        return study.asking.worked_example(item.question, item.condition, number)
    # A simulated subject's wrong text reads "not Moscow", which a small model copies. So text answers are right.
    subject = make_subject("ideal", **({"d_prime": 4.0} if item.question.kind == "text" else {}))
    call = StageCall(study, item.question, item.condition, first.name, {})
    return call.reply(subject, item.prompt, seed="fewshot").text


def _check_measures(study: Study, trials: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError if a measure reads a column that trials do not have."""
    for measure in study.measures + study.pooled_measures:
        try:
            with warnings.catch_warnings(action="ignore"):
                measure.compute(columns(trials), None)
        except KeyError as error:
            name = str(error.args[0])
            raise ValueError(
                f"study {study.name}: measure {measure.name} reads {name!r}, which is not a column of its trial"
                f"{did_you_mean(name, study.column_types)}"
            ) from error


def _make_item(study: Study, first: Stage, question: Question, condition: str) -> Item:
    prompts = first.prompts(question, condition, {})
    if len(prompts) != 1:
        raise ValueError(f"the first stage, {first.name!r}, must have 1 prompt and has {len(prompts)}")
    keys = question.metadata.keys() if study.asking.metadata_keys is None else study.asking.metadata_keys
    metadata = {
        STUDY: study.address,
        **{key: question.metadata[key] for key in keys if key in question.metadata},
    }
    if is_structured(question):
        metadata[STRUCTURED] = True
    reserved = {"condition", "id", "prompt", EFFORT, *TOKENS, *question_metadata(question)}
    if clashes := sorted(metadata.keys() & reserved):
        raise ValueError(
            f"metadata of question {question.id} has the reserved keys {', '.join(clashes)}: rename them"
        )
    return Item(
        question, condition, prompts[0], system=first.system_of(question, condition), metadata=metadata
    )
