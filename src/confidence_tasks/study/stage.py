"""Stages: the calls of a model that one trial is made of, as data that both harnesses run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from confidence_tasks.study.trial import Question


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a reply as it stands there, with its spaces.

    ``logprob`` is the natural logarithm of its probability; ``alternatives`` are the most probable tokens in its place
    with theirs.
    """

    text: str
    logprob: float
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ModelReply:
    """Output of a model for one prompt; the text is empty if there was none.

    Attributes
    ----------
    tokens : tuple of Token
        If the stage asked for log-probabilities and the provider gave them.
    input_tokens, output_tokens, reasoning_tokens : float
        Tokens that the call used; the last are part of the output. NaN if the harness does not tell. Inspect's ``hf``
        provider counts padding.
    problem : str
        Why there are no tokens; empty if there are, or if they were not asked for.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    input_tokens: float = math.nan
    output_tokens: float = math.nan
    problem: str = ""
    reasoning_tokens: float = math.nan


Replies: TypeAlias = Mapping[str, Sequence[ModelReply]]
"""The replies of each stage by its name, in the order of prompts and then of samples; none for a skipped stage."""

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")


def tokens_spent(replies: Replies) -> dict[str, float]:
    """Return the tokens of all calls that a trial is made of, by kind; NaN if the harness does not tell.

    Examples
    --------
    >>> said = [ModelReply("Paris", input_tokens=7.0, output_tokens=1.0)] * 2
    >>> tokens_spent({"answer": said})
    {'input_tokens': 14.0, 'output_tokens': 2.0, 'reasoning_tokens': nan}
    """
    said = [reply for its in replies.values() for reply in its]
    return {kind: math.fsum(getattr(reply, kind) for reply in said) for kind in TOKENS}


Ask: TypeAlias = Callable[[Question, str, Replies], str | Sequence[str] | None]
"""``ask(question, condition, replies)`` with the replies of earlier stages: one prompt, several, or None for none."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A call of a model, or several equal or similar ones.

    Stages run in the order in which a study declares them. Calls of different conditions of a question that are equal
    (same stage, messages and number of the sample) are made once, and all these conditions get the reply.

    Attributes
    ----------
    name : str
        Its key in ``replies``.
    ask : callable
        ``ask(question, condition, replies)`` returns the prompt, several prompts, or None to skip the stage under this
        condition. ``replies[stage][sample]`` is a :class:`ModelReply` of an earlier stage. The first stage is never
        skipped and has one prompt.
    samples : int
        How often each prompt is asked.
    temperature : float or callable, optional
        Temperature of sampling, or ``temperature(condition)`` that returns it, whereby each condition has calls of its
        own; by default that of the run, which is 0 unless the user sets another. A study that also samples sets 0.0
        where it needs the most probable reply: Inspect's ``hf`` provider then decodes greedily, too.
    max_tokens : int, optional
        Limit of the reply's length; by default that of the run.
    system : str or callable
        System message of a new conversation, or ``system(question, condition)`` that returns it; empty for none.
    follows : str
        Name of an earlier stage of one prompt and one sample whose conversation this stage continues; empty for a new
        conversation.
    role : str
        Model role that is asked, such as ``judge``; empty for the model under test. lm-eval has no roles and refuses
        such a study before the first call.
    forced_reply : callable, optional
        ``forced_reply(question)`` returns a text whose tokens are scored as a reply to the first prompt. The model
        generates nothing. On Inspect only the ``hf`` provider can do this.
    logprobs : {"", "wanted", "required"}
        Whether the log-probabilities of the reply's tokens are asked for. Without them, ``required`` stops the run at
        the first reply; ``wanted`` goes on and gives replies without tokens.
    top_logprobs : int
        Number of alternatives returned for each token, 0 to 20. On lm-eval models other than ``hf`` give none.
    span : callable, optional
        ``span(question, reply)``: the part of a reply whose tokens the study looks at, from its first character to
        before another, twice 0 for none; by default all. lm-eval, where scoring takes calls, scores no others, and
        gives each the mean of the part's.
    options : callable, optional
        ``options(question)``: what the reply may answer, with the words that stand for each. On lm-eval all tokens of
        the vocabulary that write an option, or begin to, are then alternatives to the first token of the ``span``.
    candidates : sequence of str
        Replies of which lm-eval scores each, in place of a reply: alternatives to one token. Nothing is generated then.
    delimiter : str
        What lm-eval puts between a prompt and the reply to it in plain text.

    Examples
    --------
    >>> stage = Stage("answer", lambda question, condition, replies: question.text)
    >>> stage.prompts(Question("q-1", "demo", "Is the sky blue?", "boolean", "yes"), "plain", {})
    ('Is the sky blue?',)
    """

    name: str
    ask: Ask
    samples: int = 1
    temperature: float | Callable[[str], float] | None = None
    max_tokens: int | None = None
    system: str | Callable[[Question, str], str] = ""
    follows: str = ""
    role: str = ""
    forced_reply: Callable[[Question], str] | None = None
    logprobs: Literal["", "wanted", "required"] = ""
    top_logprobs: int = 0
    span: Callable[[Question, str], tuple[int, int]] | None = None
    options: Callable[[Question], Mapping[str, Sequence[str]]] | None = None
    candidates: Sequence[str] = ()
    delimiter: str = "\n\n"

    def prompts(self, question: Question, condition: str, replies: Replies) -> tuple[str, ...]:
        """Return the prompts of one question under one condition; none if the stage is skipped."""
        asked = self.ask(question, condition, replies)
        if asked is None:
            return ()
        return (asked,) if isinstance(asked, str) else tuple(asked)

    def temperature_in(self, condition: str) -> float | None:
        """Return the temperature under one condition; None for that of the run."""
        return self.temperature(condition) if callable(self.temperature) else self.temperature

    def system_of(self, question: Question, condition: str) -> str:
        """Return the system message of one question under one condition."""
        return self.system if isinstance(self.system, str) else self.system(question, condition)


def check_stages(stages: Sequence[Stage]) -> None:
    """Check that stages fit together.

    ValueError if there is none, two have one name, or a value of one is impossible; the message names the stage.
    """
    if not stages:
        raise ValueError("it has no stage")
    earlier: dict[str, Stage] = {}
    for stage in stages:
        for wrong, said in (
            (stage.name in earlier, "is declared twice"),
            (
                not earlier and bool(stage.role),
                "is the first one, which asks the model under test, not a role",
            ),
            (stage.samples < 1, f"has samples={stage.samples}, which must be 1 or more"),
            (not 0 <= stage.top_logprobs <= 20, f"has top_logprobs={stage.top_logprobs}, not 0 to 20"),
            (bool(stage.top_logprobs) and not stage.logprobs, "has top_logprobs but no logprobs"),
            (
                bool(stage.follows) and stage.follows not in earlier,
                f"follows {stage.follows!r}, which is no earlier stage",
            ),
            (
                bool(stage.follows) and bool(stage.system),
                "has a system message, which only a new conversation has",
            ),
        ):
            if wrong:
                raise ValueError(f"stage {stage.name!r} {said}")
        earlier[stage.name] = stage
