"""Worked examples for small and base models, which do not follow a format that they are only told."""

from __future__ import annotations

from confidence_tasks.simulation.answers import answer, ranked_guesses
from confidence_tasks.studies.scales.prompts import TOP_K, reply_in_format
from confidence_tasks.studies.scales.scale import Scale
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
    best = answer(question, correct=confidence >= 0.5, seed="fewshot")
    guesses = ranked_guesses(question, best, raw, lower=scale.lower, size=TOP_K)
    reasoning = question.metadata.get("solution", REASONING)
    return reply_in_format(question, guesses, question.metadata["elicitation"], reasoning=reasoning)
