"""The five calibration question sets: BoolQ, SciQ, LSAT-AR, SAT-EN and HaluEval.

arXiv:2605.23909.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.reading.token_probabilities import option_span
from confidence_tasks.sources import Question, load
from confidence_tasks.studies.question_sets.prompts import HALUEVAL_PROMPTS, QUESTION_SETS, Form, QuestionSet
from confidence_tasks.studies.question_sets.trials import answers_of, measures_of, question_set_summary
from confidence_tasks.study import Replies, Stage, TaskMetrics

_KINDS: dict[Form, str] = {"boolean": "boolean", "options": "choice", "judgement": "boolean"}


_SHOWN = ("answer", "knowledge", "passage", "question")
"""What a prompt shows of a question's metadata."""


def question_set_questions(parameters: Mapping[str, Any]) -> Iterator[Question]:
    """Yield questions that can be asked in the form of the set, with the answer that is to be judged, if one is."""
    name, source = parameters["task"], parameters["source"]
    for question in load(source, n=parameters["n"], seed=parameters["seed"], mirror=parameters["mirror"]):
        _check(name, QUESTION_SETS[name].form, question)
        about = {"question_set": name, "given": question.metadata.get("answer", "")}
        yield replace(question, metadata={**question.metadata, **about})


def source_of(question: Question) -> str:
    """Return the condition of a question: its source."""
    return question.source


def question_set_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call, in the wording of the set."""
    asked = _wording(parameters)

    def ask(question: Question, condition: str, replies: Replies) -> str:
        return asked.prompt(question)

    def system(question: Question, condition: str) -> str:
        return asked.system(question)

    top = parameters.get("top_logprobs", 0)
    return [
        Stage(
            "answer",
            ask,
            system=system,
            logprobs="required" if top else "",
            top_logprobs=top,
            span=_answer,
            options=answers_of,
        )
    ]


def _answer(question: Question, reply: str) -> tuple[int, int]:
    return option_span(reply)


def _wording(parameters: Mapping[str, Any]) -> QuestionSet:
    return (
        HALUEVAL_PROMPTS[parameters["prompt"]]
        if "prompt" in parameters
        else QUESTION_SETS[parameters["task"]]
    )


def _check(name: str, form: Form, question: Question) -> None:
    """Refuse a question that does not fit the form."""
    if question.kind != _KINDS[form]:
        raise ValueError(
            f"{name} asks questions of kind {_KINDS[form]!r}, "
            f"but {question.id} of {question.source!r} is of kind {question.kind!r}"
        )
    if form == "judgement" and not question.metadata.get("answer"):
        raise ValueError(
            f"{name} needs an answer to judge in the question's metadata; {question.id} has none"
        )
    for key in _SHOWN:
        if not isinstance(question.metadata.get(key, ""), str):
            raise ValueError(f"{name}: {key!r} in the metadata of {question.id} must be a text")


LOGGED = ("ece", "accuracy", "overconfidence", "auroc")
"""What a log has by default; the mean confidence is accuracy and overconfidence together."""


def question_set_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures of the set's form; a judgement of a given answer has no token probabilities."""
    task = parameters["task"]
    form = QUESTION_SETS[task].form
    tokens = bool(parameters.get("top_logprobs"))
    arguments = {"task": task, "conditions": list(conditions), "token_probabilities": tokens}
    measures = measures_of(form, token_probabilities=tokens)
    return TaskMetrics(question_set_summary, arguments, measures, conditions[0], names=LOGGED)
