"""The confidence-scale study as three tasks: granularity, boundary placement and non-standard ranges.

Dai (2026), arXiv:2603.09309.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.inspect.samples import listed, with_key
from confidence_tasks.simulation.answers import answer, ranked_guesses
from confidence_tasks.sources import load
from confidence_tasks.studies.scales.prompts import TOP_K, Scale, reply_in_format, scale_prompt
from confidence_tasks.study import Replies, Stage
from confidence_tasks.study.question import Question

SHOWN_CONFIDENCE = (0.95, 0.3, 0.85, 0.1, 0.7, 0.55, 0.4, 1.0)
"""Confidences of the examples, in turn. Those below one half come with a wrong answer, so that the examples show what
a low confidence is for and favour no end of the scale."""

REASONING = "I considered what the question asks and chose accordingly."
"""What stands for the reasoning where a source gives no worked solution."""


def worked_example(question: Question, condition: str, number: int) -> str:
    """Return a reply in format to a question on a scale."""
    scale, confidence = Scale.parse(condition), SHOWN_CONFIDENCE[number % len(SHOWN_CONFIDENCE)]
    raw = round(scale.lower + confidence * scale.width)
    right = confidence >= 0.5 or question.kind == "text"  # a wrong text says what the answer is not
    best = answer(question, correct=right, seed="fewshot")
    guesses = ranked_guesses(question, best, raw, lower=scale.lower, size=TOP_K)
    reasoning = question.metadata.get("solution", REASONING)
    return reply_in_format(question, guesses, question.metadata["elicitation"], reasoning=reasoning)


PAPER_SIZES = {"mmlu": 1000}
"""Questions asked of a source when ``n`` is not given; other sources are asked whole."""


def scale_questions(parameters: Mapping[str, Any]) -> Iterator[Question]:
    """Yield the questions of every source."""
    names: set[str] = set()
    for source in listed(parameters["sources"], "sources"):
        size = parameters["n"]
        if size is None and source in PAPER_SIZES:
            size = PAPER_SIZES[source] + parameters["fewshot"]
        questions = with_key(
            load(source, n=size, seed=parameters["seed"], mirror=parameters["mirror"]), source
        )
        name = questions[0].source
        if name in names:
            raise ValueError(
                f"{source} and another of the sources are both named {name}: rename one of the files"
            )
        names.add(name)
        for question in questions:
            yield replace(question, metadata={**question.metadata, "elicitation": parameters["elicitation"]})


def scale_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call."""

    def ask(question: Question, condition: str, replies: Replies) -> str:
        return scale_prompt(question, Scale.parse(condition), parameters["elicitation"], parameters["prompt"])

    return [Stage("answer", ask)]
