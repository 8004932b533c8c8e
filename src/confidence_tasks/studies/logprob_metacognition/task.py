"""Log-probability metacognition as a task: short answers at several temperatures, and what their tokens say.

Cacioli (2026), arXiv:2603.25112.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.sources import Question, load
from confidence_tasks.studies.logprob_metacognition.prompts import (
    answer_prompt,
    condition_of,
    temperature_of,
)
from confidence_tasks.studies.logprob_metacognition.trials import (
    ANSWER,
    CLASSIFIER_ROLE,
    GOLD,
    logprob_measures,
    nlp_summary,
)
from confidence_tasks.study import Replies, Stage, TaskMetrics

PAPER_SIZES = {"trivia_qa": 5_000, "nq_open": 3_000}
"""Questions asked of a source when ``n`` is not given (section 3.1)."""

SHORT_ANSWERS = {"arithmetic": "arithmetic_number"}
"""Sources with options, and their form without."""

KINDS = ("text", "number")
"""What short answers may be."""

LONGEST_REPLY = 64
"""Tokens: enough for a short answer, too few for a model that reasons first."""


def logprob_questions(parameters: Mapping[str, Any]) -> Sequence[Question]:
    """Return the questions: of a source of the paper, as many as the paper's by default.

    ValueError if they have no short answers.
    """
    source, size = parameters["source"], parameters["n"]
    if size is None and source in PAPER_SIZES:
        size = PAPER_SIZES[source] + parameters["fewshot"]
    asked = {name: parameters[name] for name in ("seed", "mirror")}
    questions = load(SHORT_ANSWERS.get(source, source), n=size, **asked)
    for question in questions:
        if question.kind not in KINDS or question.gold is None:
            raise ValueError(
                f"source={source}: question {question.id} has no short answer as its key (it is of the kind "
                f"{question.kind}); nlp_metad asks questions of the kinds {' and '.join(KINDS)}, such as those of "
                "trivia_qa, nq_open and arithmetic"
            )
    return questions


def logprob_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the question and, with ``force_gold``, its key in the model's mouth."""
    common: dict[str, Any] = {"temperature": temperature_of, "logprobs": "required", "delimiter": " "}
    answer = Stage(ANSWER, _ask, max_tokens=LONGEST_REPLY, span=_answer, **common)
    gold = Stage(GOLD, _ask, given=_key, span=_after_the_lead, **common)
    return [answer, gold] if parameters["force_gold"] else [answer]


def _ask(question: Question, condition: str, replies: Replies) -> str:
    return answer_prompt(question.text)


def _key(question: Question) -> str:
    return question.gold or ""


def _answer(question: Question, reply: str) -> tuple[int, int]:
    from confidence_tasks.studies.logprob_metacognition.reader import read_short_answer

    found = read_short_answer(reply, question.kind)
    return found.begin, found.end


def _after_the_lead(question: Question, reply: str) -> tuple[int, int]:
    return len(reply) - len(_key(question)), len(reply)


def key_shown(question: Question, condition: str, number: int) -> str:
    """Return the reply of a worked example."""
    return _key(question)


def logprob_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures at every temperature, cut into ``k`` ratings on either side."""
    headline = condition_of(1.0) if condition_of(1.0) in conditions else conditions[0]
    arguments = {"conditions": list(conditions), "ratings": parameters["k"]}
    return TaskMetrics(
        nlp_summary, arguments, logprob_measures(parameters["k"]), headline, overall=(headline,)
    )


def classifier_role(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the role of the model that sorts questions into domains, where one does."""
    return [CLASSIFIER_ROLE] if parameters["domains"] == "model" else []
