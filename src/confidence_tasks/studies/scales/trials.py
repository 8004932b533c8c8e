"""The trial of the scale study: a reply, its answer graded and its confidence as a share of the scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from confidence_tasks.reading.answer_on_scale import read_answer_on_scale
from confidence_tasks.reading.answers import known_answers
from confidence_tasks.reading.explanation import answer_and_key, format_number
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.studies.scales.replies import Elicitation, reply_format
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.trial import Kind, Question, Reading, ReadTrial, read_trial


class ScaleTrial(ReadTrial):
    """A trial of the scale study.

    Attributes
    ----------
    confidence_raw : float
        The confidence as stated, in the units of the scale, even if it violates the bounds.
    lower, upper : float
        Bounds of the scale.
    """

    confidence_raw: float
    lower: float
    upper: float


def read_scale_reply(
    text: str, scale: Scale, *, kind: Kind, choices: Sequence[str] = (), elicitation: Elicitation = "verbal"
) -> Reading:
    r"""Read the answer and the confidence that a reply to the prompt of a kind of question and an elicitation states.

    Of the guesses of ``top_k``, the first and best one is read.

    Examples
    --------
    >>> read_scale_reply("Solution: 17 * 3 = 51\nFinal Answer: 51\nConfidence: 17", Scale(0, 20), kind="number")
    Reading(answer='51', confidence_raw=17.0, status='ok', rules=())
    """
    expected_format = reply_format(kind, elicitation)
    return read_answer_on_scale(text, scale, kind=kind, choices=choices, expected_format=expected_format)


def read_reply(question: Question, condition: str, replies: Replies) -> ScaleTrial:
    r"""Read the answer and the confidence on the scale of the condition.

    With ``strict`` in the metadata of the question, a reply that departs from the format is unreadable. The paper
    excludes replies "that do not conform to the specified format" (appendix B.3).

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply, Question
    >>> parameters = {"elicitation": "verbal", "strict": False}
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"), metadata=parameters)
    >>> trial = read_reply(question, "0-20", {"answer": [ModelReply("Answer: A\nConfidence: 17")]})
    >>> trial["correct"], trial["confidence"], trial["status"]
    (1.0, 0.85, 'ok')
    """
    scale = Scale.parse(condition)
    reading = read_scale_reply(
        replies["answer"][0].text,
        scale,
        kind=question.kind,
        choices=known_answers(question),
        elicitation=question.metadata["elicitation"],
    )
    # A refusal, or a confidence outside the bounds, does not depart from the format.
    in_format = reading.status in ("ok", "refused", *(() if reading.rules else ("out_of_range",)))
    if question.metadata["strict"] and not in_format:
        reading = replace(reading, answer="", confidence_raw=math.nan, status="unreadable")
    usable = reading.status != "out_of_range" and not math.isnan(reading.confidence_raw)
    correct = grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases)
    confidence = scale.normalise(reading.confidence_raw) if usable else math.nan
    return ScaleTrial(
        **read_trial(question, scale.label, reading, correct=correct, confidence=confidence),
        confidence_raw=reading.confidence_raw,
        lower=float(scale.lower),
        upper=float(scale.upper),
    )


def explain(trial: ScaleTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the explanation that the log viewer shows."""
    scale = Scale(int(trial["lower"]), int(trial["upper"]))
    normalised = "" if math.isnan(trial["confidence"]) else f", that is {trial['confidence']:.3f} of 1"
    confidence = f"{format_number(trial['confidence_raw'])} on {scale.label}{normalised}"
    return {**answer_and_key(trial, question), "Confidence": confidence}
