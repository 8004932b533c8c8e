"""What a simulated subject is asked, and what it gives back: shared by the subjects of all studies."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

from confidence_tasks.simulation.subject import Subject
from confidence_tasks.study.definition import Study
from confidence_tasks.study.question import Question
from confidence_tasks.study.stage import Replies


@dataclass(frozen=True, slots=True)
class StageRequest:
    """One call of a study, put to a subject, with the replies of earlier stages.

    ``seed`` is the randomness of this call: equal seeds give equal replies. Above temperature zero it differs between
    samples; :func:`subject_seed` is the same in every call.
    """

    subject: Subject
    prompt: str
    condition: str
    stage: str
    replies: Replies
    seed: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a subject says.

    ``confidence``, in [0, 1], is what its token probabilities carry. ``alternatives`` has the probability of every word
    that could stand in the place of the answer, where the format has such a place. ``tokens`` are those of the reply
    with their log-probabilities, where they differ, and an end token; else they are its words.
    """

    text: str
    confidence: float
    alternatives: Mapping[str, float] = field(default_factory=dict)
    tokens: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class StageCall:
    """What a harness knows of a call of a study, beside its prompt and the model: the question has its key."""

    study: Study
    question: Question
    condition: str
    stage: str
    replies: Replies

    def reply(self, subject: Subject, prompt: str, *, seed: str) -> Reply:
        """Return the subject's reply; ValueError if the study has no subject."""
        if self.study.subject is None:
            raise ValueError(
                f"{self.study.name} does not say how a simulated subject replies: declare its subject"
            )
        request = StageRequest(subject, prompt, self.condition, self.stage, self.replies, seed)
        reply: Reply = self.study.subject(self.question, request)
        return reply


stage_call: ContextVar[StageCall | None] = ContextVar("stage_call", default=None)
"""The call that the current task of the event loop makes."""


def call_seed(seed: int, temperature: float | None, repeat: int = 0) -> str:
    """Return the randomness of one call: above temperature zero it differs between temperatures and repetitions.

    Examples
    --------
    >>> call_seed(7, None), call_seed(7, 0.7, repeat=2)
    ('7', '7/T=0.7/2')
    """
    return f"{seed}/T={temperature}/{repeat}" if temperature else str(seed)


def subject_seed(seed: str) -> str:
    """Return the part of a call's randomness that is the same in every call.

    Examples
    --------
    >>> subject_seed(call_seed(7, 0.7, repeat=2))
    '7'
    """
    return seed.partition("/")[0]


def call_temperature(seed: str) -> float:
    """Return the temperature of a call, 0 for greedy ones.

    Examples
    --------
    >>> call_temperature(call_seed(7, 0.7, repeat=2)), call_temperature("7")
    (0.7, 0.0)
    """
    stated = seed.partition("/T=")[2].partition("/")[0]
    return float(stated) if stated else 0.0


def token_logprobs(reply: Reply) -> list[tuple[str, float]]:
    """Return the tokens of a reply: by default its words, each with the log-probability that its confidence has.

    The tokens join to the reply's text, perhaps followed by an end token.
    """
    if reply.tokens:
        return list(reply.tokens)
    logprob = math.log(reply.confidence) if reply.confidence > 0 else -100.0
    return [(token, logprob) for token in re.findall(r"\s*\S+|\s+$", reply.text)]


def answer_alternatives(reply: Reply) -> tuple[int, dict[str, float]] | None:
    """Return which token of a reply is the value of ``"Answer"``, and the log-probability of each alternative to it.

    A reply that is nothing but an answer is that token itself.

    Examples
    --------
    >>> answer_alternatives(Reply('{"Answer": "A"}', 0.75, {"A": 0.75, "B": 0.25}))
    (1, {' "A"}': -0.2876820724517809, ' "B"}': -1.3862943611198906})
    """
    tokens = [token for token, _ in token_logprobs(reply)]
    if reply.text in reply.alternatives:
        return 0, {other: math.log(max(p, 1e-9)) for other, p in reply.alternatives.items()}
    for position in range(1, len(tokens)):
        word = tokens[position].strip(" \n\"'},")
        if tokens[position - 1].rstrip("'\": \n").endswith("Answer") and word in reply.alternatives:
            written = {other: tokens[position].replace(word, other) for other in reply.alternatives}
            return position, {
                written[other]: math.log(max(p, 1e-9)) for other, p in reply.alternatives.items()
            }
    return None
