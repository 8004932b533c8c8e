"""The simulated subject's one entry: recognise what the prompt asks for, and reply as the subject would."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import TypeAlias

from confidence_tasks.catalogue import studies
from confidence_tasks.simulation.profiles import Instrument, InstrumentResponder
from confidence_tasks.simulation.reply import Reply, Request, StageRequest
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.study.question import Question
from confidence_tasks.study.stage import Replies

Responder: TypeAlias = tuple[re.Pattern[str], Callable[[Question, Request], Reply]]
"""What a prompt contains, and how it is replied to."""


@cache
def responders() -> tuple[Responder, ...]:
    """Return the responders of every study; the first whose pattern is found in a prompt replies to it."""
    return tuple(
        responder for study in studies() if study.responders for responder in study.responders.load()
    )


def respond(subject: Subject, question: Question, prompt: str, *, seed: str) -> Reply:
    """Return the subject's reply to a prompt that asks a question.

    Raises
    ------
    ValueError
        If the prompt has the format of no study.
    """
    for pattern, responder in responders():
        if match := pattern.search(prompt):
            return responder(question, Request(subject, prompt, match, seed))
    raise ValueError(f"no study's format is recognised in the prompt {prompt[:200]!r}")


@cache
def instrument_responders() -> tuple[InstrumentResponder, ...]:
    """Return how simulated parsers and judges reply in every study."""
    return tuple(
        responder for study in studies() if study.instruments for responder in study.instruments.load()
    )


def assist(instrument: Instrument, prompt: str, *, seed: str) -> str:
    """Return the reply of a simulated parser or judge to ``prompt``.

    Raises
    ------
    ValueError
        If no study asks a parser or a judge so.
    """
    for pattern, responder in instrument_responders():
        if pattern.search(prompt):
            return responder(instrument, prompt, seed)
    raise ValueError(
        "a simulated parser or judge knows only what studies of confidence_tasks ask of one; "
        f"this prompt is none of theirs: {prompt[:200]!r}"
    )


@dataclass(frozen=True, slots=True)
class StageCall:
    """What a simulated subject is told of a call of a study of stages, beside its prompt.

    Attributes
    ----------
    question : Question
        What is asked, with its key.
    condition, stage : str
        The condition, and the name of the stage.
    replies : mapping of str to sequence of ModelReply
        The replies of earlier stages.
    study : str
        Where the study is (:attr:`~confidence_tasks.study.Study.reference`).
    """

    question: Question
    condition: str
    stage: str
    replies: Replies
    study: str


stage_call: ContextVar[StageCall | None] = ContextVar("stage_call", default=None)
"""The call that the current task of the event loop makes."""


def respond_to_stage(subject: Subject, prompt: str, call: StageCall, *, seed: str) -> Reply:
    """Return the subject's reply to a call of a study of stages; ValueError if the study has no subject."""
    study = resolve_name(call.study)
    if study.subject is None:
        raise ValueError(f"{study.name} does not say how a simulated subject replies: declare its subject")
    request = StageRequest(subject, prompt, call.condition, call.stage, call.replies, seed)
    reply: Reply = study.subject(call.question, request)
    return reply
