"""Requests to simulated models and their replies, shared by all studies.

A simulated subject answers questions. Simulated parsers and judges, whose error rates are known, read its replies. All
of them are registered as models, and ``-M key=value`` changes one of their parameters. A study defines what they reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

from confidence_tasks.catalogue import studies
from confidence_tasks.simulation.subject import Subject, make_from_profile, pick, uniform
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.structured import is_structured
from confidence_tasks.study.trial import Question


@dataclass(frozen=True, slots=True)
class StageRequest:
    """One model call that a simulated subject replies to.

    Attributes
    ----------
    subject : Subject
        The simulated subject.
    prompt, condition, stage : str
        Prompt, label of the condition and name of the stage.
    replies : mapping
        Replies of the subject in earlier stages.
    seed : str
        Random seed of this call: equal seeds give equal replies. Above temperature zero it differs between samples.
        :func:`subject_seed` returns the part that all calls share.
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

    Attributes
    ----------
    text : str
        Text of the reply.
    confidence : float
        Confidence in [0, 1]: the probability of each token, unless ``tokens`` are given.
    alternatives : mapping of str to float
        Probability of every word that the subject could have given as the answer; empty if the format has no position
        for one.
    tokens : tuple of (str, float)
        Tokens of the reply with their log-probabilities, with or without an end token. By default the tokens are the
        words of the text.
    reasoning : tuple of Token
        Tokens of the reasoning, which servers list before those of the text.
    """

    text: str
    confidence: float
    alternatives: Mapping[str, float] = field(default_factory=dict)
    tokens: tuple[tuple[str, float], ...] = ()
    reasoning: tuple[Token, ...] = ()


ANSWER_OF_OTHERS = "answer"
"""Stage of the answer to a question of another task."""


@dataclass(frozen=True, slots=True)
class StageCall:
    """One model call as a harness describes it, without its prompt and the model. The question has its key."""

    study: Study
    question: Question
    condition: str
    stage: str
    replies: Replies

    def reply(self, subject: Subject, prompt: str, *, seed: str) -> Reply:
        """Return the reply of a simulated subject; ValueError if the study has none."""
        if self.study.simulation.reply is None:
            raise ValueError(
                f"{self.study.name} has no simulated subject: declare simulation=Simulation(reply=...) in its Study"
            )
        if is_structured(self.question):  # a schema leaves no other format
            subject = replace(subject, sloppiness=0.0)
        request = StageRequest(subject, prompt, self.condition, self.stage, self.replies, seed)
        reply: Reply = self.study.simulation.reply(self.question, request)
        return reply


stage_call: ContextVar[StageCall | None] = ContextVar("stage_call", default=None)
"""The model call that the current task of the event loop makes."""


def call_seed(seed: int, temperature: float | None, repeat: int = 0) -> str:
    """Return the random seed of one call: above temperature zero it differs between temperatures and repetitions.

    Examples
    --------
    >>> call_seed(7, None), call_seed(7, 0.7, repeat=2)
    ('7', '7/T=0.7/2')
    """
    return f"{seed}/T={temperature}/{repeat}" if temperature else str(seed)


def n_tokens(text: str) -> int:
    """Return the number of tokens of a text, as simulated subjects count them: a quarter of its characters.

    Examples
    --------
    >>> n_tokens("Answer: Lima")
    3
    """
    return len(text) // 4


def subject_seed(seed: str) -> str:
    """Return the part of the seed of a call that is the same in all calls.

    Examples
    --------
    >>> subject_seed(call_seed(7, 0.7, repeat=2))
    '7'
    """
    return seed.partition("/")[0]


def call_temperature(seed: str) -> float:
    """Return the temperature of a call from its seed; 0 for a greedy call.

    Examples
    --------
    >>> call_temperature(call_seed(7, 0.7, repeat=2)), call_temperature("7")
    (0.7, 0.0)
    """
    stated = seed.partition("/T=")[2].partition("/")[0]
    return float(stated) if stated else 0.0


def token_logprobs(reply: Reply) -> list[tuple[str, float]]:
    """Return the tokens of a reply with their log-probabilities: by default its words, with that of the confidence.

    The joined tokens are the text of the reply, or the text and an end token.
    """
    if reply.tokens:
        return list(reply.tokens)
    logprob = math.log(reply.confidence) if reply.confidence > 0 else -100.0
    return [(token, logprob) for token in re.findall(r"\s*\S+|\s+$", reply.text)]


def answer_alternatives(reply: Reply) -> tuple[int, dict[str, float]] | None:
    """Return the position of the token that holds the answer, and the log-probability of each alternative to it.

    The answer is the value of ``"Answer"`` or ``"answer"``, or the whole reply.

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
        if (
            tokens[position - 1].rstrip("'\": \n").casefold().endswith("answer")
            and word in reply.alternatives
        ):
            written = {other: tokens[position].replace(word, other) for other in reply.alternatives}
            return position, {
                written[other]: math.log(max(p, 1e-9)) for other, p in reply.alternatives.items()
            }
    return None


def reply_tokens(reply: Reply, top: int | None = None) -> list[Token]:
    """Return the tokens of a reply. That of the answer has its ``top`` most probable alternatives; by default all."""
    tokens = [Token(text, logprob, {}) for text, logprob in token_logprobs(reply)]
    if top != 0 and (position_and_logprobs := answer_alternatives(reply)) is not None:
        position, logprobs = position_and_logprobs
        most_probable = dict(sorted(logprobs.items(), key=lambda item: -item[1])[:top])
        text = tokens[position].text
        tokens[position] = Token(text, logprobs[text], logprobs if top is None else most_probable)
    return tokens


_OPPOSITE = {"yes": "no", "no": "yes"}


def answer(question: Question, *, correct: bool, seed: object) -> str:
    """Return the key of ``question``, or a wrong answer of the same kind; for no key, a text without an answer."""
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
    """Return ``size`` guesses, the ``best`` one first, with confidences whose distance from ``lower`` halves each time.

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


def malformed_variants(reply: str) -> list[str]:
    """Return malformed variants of a reply in JSON. The last three cannot be read completely."""
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


def apply_sloppiness(reply: str, subject: Subject, *key: object, variants: Sequence[str] = ()) -> str:
    """Return the reply or, with probability ``subject.sloppiness``, one of its malformed variants.

    ``key`` is the random seed. By default the reply is JSON, and :func:`malformed_variants` returns the variants.
    """
    if uniform(*key, "sloppy") >= subject.sloppiness:
        return reply
    variants = variants or malformed_variants(reply)
    return variants[pick(len(variants), *key, "form")]


def reply_probabilities(
    reply: str, subject: Subject, variants: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """Return every text that :func:`apply_sloppiness` may return, with its probability."""
    variants = variants or malformed_variants(reply)
    share = subject.sloppiness / len(variants)
    texts = [(reply, 1.0 - subject.sloppiness), *((text, share) for text in variants)]
    return [(text, probability) for text, probability in texts if probability]


@dataclass(frozen=True, slots=True)
class SimulatedRole:
    """A simulated parser or judge of replies. All error rates are in [0, 1].

    Attributes
    ----------
    misreading : float
        Proportion of replies in which a parser mistakes an answer for an abstention, or an abstention for an answer.
    false_right, false_wrong : float
        Proportions of wrong answers that a judge calls right, and of right answers that it calls wrong.
    garbling : float
        Proportion of its own replies that are words instead of JSON.
    """

    misreading: float = 0.0
    false_right: float = 0.0
    false_wrong: float = 0.0
    garbling: float = 0.0


ROLES: Mapping[str, SimulatedRole] = {
    "parser": SimulatedRole(),
    "judge": SimulatedRole(),
    "careless_parser": SimulatedRole(misreading=0.1),
    "careless_judge": SimulatedRole(false_right=0.1, false_wrong=0.05),
}
"""Simulated parsers and judges by name. The first two make no errors."""

RoleResponder: TypeAlias = tuple[re.Pattern[str], Callable[[SimulatedRole, str, str], str]]
"""A pattern that recognises a prompt, and ``reply(role, prompt, seed)``, the function that replies to the prompt."""


def make_role(name: str, **changes: Any) -> SimulatedRole:
    """Return the simulated parser or judge called ``name``, with some of its error rates changed.

    ValueError if there is no such name or rate, or a rate is not in [0, 1].

    Examples
    --------
    >>> make_role("judge", false_right=0.2).false_right
    0.2
    """
    return make_from_profile("parser or judge", ROLES, name, changes)


@cache
def role_responders() -> tuple[RoleResponder, ...]:
    """Return the patterns and functions of ``simulation.roles`` of all studies."""
    return tuple(responder for study in studies() for responder in study.simulation.roles)


def reply_in_role(role: SimulatedRole, prompt: str, *, seed: str) -> str:
    """Return the reply of a simulated parser or judge to ``prompt``; ValueError if it is no prompt of a study."""
    for pattern, respond in role_responders():
        if pattern.search(prompt):
            return respond(role, prompt, seed)
    raise ValueError(
        "a simulated parser or judge replies only to prompts of the studies of confidence_tasks; "
        f"this prompt is not one of them: {prompt[:200]!r}"
    )
