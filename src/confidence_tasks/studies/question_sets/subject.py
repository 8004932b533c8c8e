"""How a simulated subject replies to the calibration question sets."""

from __future__ import annotations

import re
from collections.abc import Callable

from confidence_tasks.simulation.answers import answer
from confidence_tasks.simulation.json_replies import said
from confidence_tasks.simulation.reply import Reply, Request
from confidence_tasks.studies.lifeeval.subject import PERCENT
from confidence_tasks.studies.question_sets.prompts import (
    boolean_reply,
    continued_reply,
    judgement_reply,
    options_reply,
)
from confidence_tasks.studies.scales.subject import report
from confidence_tasks.study.question import Question

BOOLEAN_PATTERN = re.compile(r'"Answer": "<True or False>"')
OPTIONS_PATTERN = re.compile(r"<Probability choice A is correct\.")
JUDGEMENT_PATTERN = re.compile(r"Only provide the confidence you have in your old answer")
CONTINUED_PATTERN = re.compile(r'"Confidence": "\Z')

_REASONING = "I worked it out step by step."


def respond_boolean(question: Question, request: Request) -> Reply:
    """Answer true or false and state a confidence."""
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    chosen = answer(question, correct=decision.correct, seed=request.seed)
    stated = report(decision.confidence, PERCENT, subject, *key) / 100
    said_true = decision.confidence if chosen == "yes" else 1.0 - decision.confidence
    return Reply(
        said(boolean_reply(chosen, stated, reasoning=_REASONING), subject, *key),
        decision.confidence,
        {"True": said_true, "False": 1.0 - said_true},
    )


def respond_options(question: Question, request: Request) -> Reply:
    """Answer with a letter and state a probability of every option; those not chosen share what is left."""
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    chosen = answer(question, correct=decision.correct, seed=request.seed)
    share = max(decision.confidence, 1.0 / len(question.options))
    stated = report(share, PERCENT, subject, *key) / 100
    reply = options_reply(chosen, _spread(question, chosen, stated), reasoning=_REASONING)
    behind = dict(zip(question.options, _spread(question, chosen, share), strict=True))
    return Reply(said(reply, subject, *key), share, behind)


def _spread(question: Question, chosen: str, probability: float) -> list[float]:
    """Return a probability for every option."""
    rest = round((1.0 - probability) / (len(question.options) - 1), 3)
    return [probability if letter == chosen else rest for letter in question.options]


def respond_judgement(question: Question, request: Request) -> Reply:
    """State the probability that the given answer is right."""
    return _judgement(question, request, judgement_reply)


def respond_continued(question: Question, request: Request) -> Reply:
    """State it where the prompt breaks off."""
    return _judgement(question, request, continued_reply)


def _judgement(question: Question, request: Request, form: Callable[[float], str]) -> Reply:
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    believed = answer(question, correct=decision.correct, seed=request.seed) == "yes"
    probability = decision.confidence if believed else 1.0 - decision.confidence
    stated = report(probability, PERCENT, subject, *key) / 100
    return Reply(said(form(stated), subject, *key), probability)


RESPONDERS = (
    (BOOLEAN_PATTERN, respond_boolean),
    (OPTIONS_PATTERN, respond_options),
    (JUDGEMENT_PATTERN, respond_judgement),
    (CONTINUED_PATTERN, respond_continued),
)
"""What prompts contain, and how they are replied to."""
