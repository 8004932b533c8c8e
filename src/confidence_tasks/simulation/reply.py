"""What simulated models are asked, and what they give back: shared by all studies.

A subject answers. Parsers and judges, whose rates of error are known (``-M key=value`` changes one), read its replies;
all are registered as models, and studies say what they reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

from confidence_tasks.catalogue import studies
from confidence_tasks.simulation.subject import Subject, changed, pick, uniform
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.trial import Question


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
    """Reply of a simulated subject.

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
    """A call of a study, as a harness knows it, beside its prompt and the model; the question has its key."""

    study: Study
    question: Question
    condition: str
    stage: str
    replies: Replies

    def reply(self, subject: Subject, prompt: str, *, seed: str) -> Reply:
        """Return the subject's reply; ValueError if the study has no subject."""
        if self.study.simulate_reply is None:
            raise ValueError(
                f"{self.study.name} does not say how a simulated subject replies: declare its subject"
            )
        request = StageRequest(subject, prompt, self.condition, self.stage, self.replies, seed)
        reply: Reply = self.study.simulate_reply(self.question, request)
        return reply


stage_call: ContextVar[StageCall | None] = ContextVar("stage_call", default=None)
"""The call made by the current task of the event loop."""


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


def reply_tokens(reply: Reply, top: int | None = None) -> list[Token]:
    """Return the tokens of a reply, that of its answer with the ``top`` most probable alternatives; by default all."""
    tokens = [Token(text, logprob, {}) for text, logprob in token_logprobs(reply)]
    if top != 0 and (found := answer_alternatives(reply)) is not None:
        index, listed = found
        kept = listed if top is None else dict(sorted(listed.items(), key=lambda item: -item[1])[:top])
        tokens[index] = Token(tokens[index].text, listed[tokens[index].text], kept)
    return tokens


_OPPOSITE = {"yes": "no", "no": "yes"}


def answer(question: Question, *, correct: bool, seed: object) -> str:
    """Return the key of ``question``, or a wrong answer of the same kind.

    A question without a key gets a text that claims nothing.
    """
    gold = question.gold
    if gold is None:
        return "I do not know"
    if correct:
        return gold
    if question.kind == "choice":
        others = [letter for letter in question.options if letter != gold]
        return others[pick(len(others), seed, question.id, "wrong")]
    if question.kind == "number":
        return str(Decimal(gold) + 1 + pick(9, seed, question.id, "wrong"))
    return _OPPOSITE.get(gold, "not " + gold)


def ranked_guesses(
    question: Question, best: str, confidence: int, *, lower: int, size: int
) -> list[tuple[str, int]]:
    """Return ``best`` and further guesses, each with half the confidence above ``lower`` of the one before.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No", "Never"))
    >>> ranked_guesses(question, "B", 16, lower=0, size=3)
    [('B', 16), ('A', 8), ('C', 4)]
    """
    others = [letter for letter in question.options if letter != best] or [f"{best} or so"] * size
    answers = [best, *others][:size]
    return [(text, lower + (confidence - lower) // 2**rank) for rank, text in enumerate(answers)]


_LAST_NUMBER = re.compile(r"\d+\.\d+(?!.*\d+\.\d+)", re.DOTALL)

REFUSAL = "I'm sorry, but I cannot help with that."


def strayed(reply: str) -> list[str]:
    """Return other ways to write a reply in JSON; the last three leave out what was asked for."""
    return [
        f"```json\n{reply}\n```",
        f"Here is my response:\n\n{reply}\n\nI hope this helps!",
        reply.replace('"', "'"),
        reply.replace("\n}", ",\n}"),
        reply.replace('": ', '": /* so */ ', 1),
        f"{reply}\n{reply}",
        _LAST_NUMBER.sub(lambda number: f'"{float(number[0]):.0%}"', reply),
        _LAST_NUMBER.sub('"high"', reply),
        reply[: len(reply) // 2],
        REFUSAL,
    ]


def said(reply: str, subject: Subject, *key: object, otherwise: Sequence[str] = ()) -> str:
    """Return a reply in format, or ``otherwise`` as a sloppy subject says it; by default as it strays from JSON."""
    if uniform(*key, "sloppy") >= subject.sloppiness:
        return reply
    ways = otherwise or strayed(reply)
    return ways[pick(len(ways), *key, "form")]


def ways_to_say(reply: str, subject: Subject, otherwise: Sequence[str] = ()) -> list[tuple[str, float]]:
    """Return everything that :func:`said` may return, with its probability."""
    ways = otherwise or strayed(reply)
    share = subject.sloppiness / len(ways)
    every = [(reply, 1.0 - subject.sloppiness), *((text, share) for text in ways)]
    return [(text, probability) for text, probability in every if probability]


@dataclass(frozen=True, slots=True)
class Instrument:
    """A model that reads or judges replies, with its rates of error, each in [0, 1].

    Attributes
    ----------
    misreading : float
        Share of replies in which a parser takes an answer for an abstention, or an abstention for an answer.
    false_right, false_wrong : float
        Share of wrong answers that a judge finds right, and of right answers that it finds wrong.
    garbling : float
        Share of calls that are replied to in words instead of JSON.
    """

    misreading: float = 0.0
    false_right: float = 0.0
    false_wrong: float = 0.0
    garbling: float = 0.0


INSTRUMENTS: Mapping[str, Instrument] = {
    "parser": Instrument(),
    "judge": Instrument(),
    "careless_parser": Instrument(misreading=0.1),
    "careless_judge": Instrument(false_right=0.1, false_wrong=0.05),
}
"""The named instruments; the first two make no errors."""

InstrumentResponder: TypeAlias = tuple[re.Pattern[str], Callable[[Instrument, str, str], str]]
"""Text by which a prompt is recognised, and the function that replies to it from instrument, prompt and seed."""


def make_instrument(name: str, **changes: Any) -> Instrument:
    """Return a named instrument with some of its rates changed.

    ValueError if there is no such instrument or rate, or a rate is none.

    Examples
    --------
    >>> make_instrument("judge", false_right=0.2).false_right
    0.2
    """
    return changed("instrument", INSTRUMENTS, name, changes)


@cache
def instrument_responders() -> tuple[InstrumentResponder, ...]:
    """Return how simulated parsers and judges reply in every study."""
    return tuple(
        responder
        for study in studies()
        if study.simulated_roles
        for responder in study.simulated_roles.load()
    )


def assist(instrument: Instrument, prompt: str, *, seed: str) -> str:
    """Return the reply of a simulated parser or judge to ``prompt``.

    ValueError if no study asks a parser or a judge so.
    """
    for pattern, responder in instrument_responders():
        if pattern.search(prompt):
            return responder(instrument, prompt, seed)
    raise ValueError(
        "a simulated parser or judge knows only what studies of confidence_tasks ask of one; "
        f"this prompt is none of theirs: {prompt[:200]!r}"
    )
