"""Stages: the model calls of a trial, as data that both harnesses run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from confidence_tasks.study.structured import Structured, is_structured
from confidence_tasks.study.trial import Question


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a reply.

    Attributes
    ----------
    text : str
        Text of the token, with its white space.
    logprob : float
        Natural logarithm of the token's probability.
    alternatives : mapping of str to float
        The most probable tokens at this position, with their log-probabilities.
    """

    text: str
    logprob: float
    alternatives: Mapping[str, float]


Stop: TypeAlias = Literal["", "length", "filter", "thought"]
"""Why a reply is not what the model meant to say: cut off at a token limit or at the model's context, stopped by a
content filter, or without a visible reply after the reasoning. Empty for a reply that ended by itself."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """Reply of a model to one prompt.

    Attributes
    ----------
    text : str
        Text of the reply; empty if there was no output.
    tokens : tuple of Token
        Tokens of the reply, if the stage requested log-probabilities and the provider returned them.
    input_tokens, output_tokens, reasoning_tokens : float
        Number of tokens that the call used; output tokens include reasoning tokens. NaN if the harness does not report
        them. Inspect's ``hf`` provider counts padding.
    problem : str
        Reason why the text or requested tokens are missing; empty otherwise.
    stop : {"", "length", "filter", "thought"}
        Why the reply ended too early, as far as the server tells; empty for a reply that ended by itself.
    reasoning : tuple of Token
        Tokens of the reasoning, with the tags around it, as far as the provider lists them. They are separated from
        those of the reply when a study reads it.
    choice : int
        Number of the reply among the choices of its call, from 0. The reply with the number 0 has the token counts of
        the call, and the others have counts of 0.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    input_tokens: float = math.nan
    output_tokens: float = math.nan
    problem: str = ""
    reasoning_tokens: float = math.nan
    stop: Stop = ""
    reasoning: tuple[Token, ...] = ()
    choice: int = 0


Replies: TypeAlias = Mapping[str, Sequence[ModelReply]]
"""Replies by the name of the stage, ordered by prompt and then by sample. A skipped stage has none."""

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")


def tokens_spent(replies: Replies) -> dict[str, float]:
    """Return the number of tokens of all calls of a trial, by kind; NaN if the harness does not report them.

    Examples
    --------
    >>> tokens_spent({"answer": [ModelReply("Paris", input_tokens=7.0, output_tokens=1.0)] * 2})
    {'input_tokens': 14.0, 'output_tokens': 2.0, 'reasoning_tokens': nan}
    """
    flat = [reply for of_stage in replies.values() for reply in of_stage]
    return {kind: math.fsum(getattr(reply, kind) for reply in flat) for kind in TOKENS}


def calls_made(replies: Replies) -> int:
    """Return the number of calls of a trial; several choices of a call are one call.

    Examples
    --------
    >>> calls_made({"samples": [ModelReply("Paris"), ModelReply("Lyon", choice=1)], "judge": [ModelReply("no")]})
    2
    """
    return sum(reply.choice == 0 for of_stage in replies.values() for reply in of_stage)


Ask: TypeAlias = Callable[[Question, str, Replies], str | Sequence[str] | None]
"""``ask(question, condition, replies)``, given the replies of earlier stages, returns a prompt, several, or None."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of a trial: one model call, or several calls for several prompts or samples.

    Stages run in the order in which a study declares them. If calls of a question under different conditions are equal
    (same stage, messages and sample number), one call is made and its reply is used under all these conditions.

    Attributes
    ----------
    name : str
        Name of the stage, the key of its replies in ``replies``.
    ask : callable
        ``ask(question, condition, replies)`` returns the prompt, several prompts, or None to skip the stage under this
        condition. ``replies[stage][sample]`` is a :class:`ModelReply` of an earlier stage. The first stage has exactly
        one prompt and is never skipped.
    samples : int
        Number of replies per prompt, each from a call of its own.
    one_request : bool
        Whether all samples of a prompt are requested by one call, as its choices. What a provider does not give at once
        is requested by further calls. lm-eval does so on chat endpoints, and otherwise makes a call for each sample.
    temperature : float or callable, optional
        Sampling temperature, or ``temperature(condition)`` that returns it; by default that of the run, which is 0
        unless the user sets it. With a function, conditions do not share calls. Set 0.0 for a greedy reply next to
        sampled ones; Inspect's ``hf`` provider then decodes greedily, too.
    providers_temperature : bool
        Whether no temperature is sent, unless the user sets one, so that the provider's default applies. Only for a
        study with a single call, without a ``temperature``, and on Inspect: lm-eval always sends one.
    max_tokens : int, optional
        Maximum length of the reply; by default that of the run.
    system : str or callable
        System message of a new conversation, or ``system(question, condition)`` that returns it; empty for none.
    follows : str
        Name of an earlier stage whose conversation this stage continues. That stage has one prompt and one sample.
        Empty for a new conversation.
    role : str
        Model role that is called, such as ``judge``; empty for the model under test. lm-eval has no roles and refuses
        a study with roles before the first call.
    forced_reply : callable, optional
        ``forced_reply(question)`` returns a text whose tokens are scored as a reply to the first prompt. The model
        generates nothing. On Inspect only the ``hf`` provider can do this.
    logprobs : {"", "wanted", "required"}
        Whether log-probabilities of the reply's tokens are requested. If a provider returns none, ``required`` stops
        the run at the first reply, and ``wanted`` continues with replies that have no tokens.
    top_logprobs : int
        Number of alternatives requested for each token, 0 to 20. On lm-eval only ``hf`` models and chat endpoints have
        any.
    span : callable, optional
        ``span(question, reply)`` returns the start and the end of the part of the reply whose tokens the study uses, in
        characters, or ``(0, 0)`` for no part; by default the whole reply. Where lm-eval needs a further call for
        log-probabilities, it computes that of this part only and divides it equally among its tokens.
    options : callable, optional
        ``options(question)`` returns the possible answers, each with the words that express it. On lm-eval the
        alternatives to the first token of the ``span``, or of the first word without one, are then all tokens of the
        vocabulary that begin such a word.
    candidates : sequence of str
        Possible replies. lm-eval scores each of them and generates no reply, except from chat endpoints: they are
        alternatives to a single token.
    delimiter : str
        Text that lm-eval inserts between a prompt and its reply in plain-text prompts.
    problem : callable, optional
        ``problem(reply)`` returns why the tokens of a :class:`ModelReply` cannot be used, empty if they can; by default
        they can if there are any. If log-probabilities are required, a problem of the first reply stops the run. For a
        stage with a role, it returns why the text cannot be used; a run stops if none of the first ten can.
    complete : callable, optional
        ``complete(question, condition, text)`` returns whether a reply that was cut off at a token limit still holds
        all that the study reads of it. By default, a study with a single call reads such a reply if its exact format
        stands at the end, and a study with several calls reads none: the study gets an empty reply, and the trial the
        status ``truncated``.
    structured : Structured, optional
        What the stage asks for if the user wants replies that are JSON objects; by default it has only texts.

    Examples
    --------
    >>> stage = Stage("answer", lambda question, condition, replies: question.text)
    >>> stage.prompts(Question("q-1", "demo", "Is the sky blue?", "boolean", "yes"), "plain", {})
    ('Is the sky blue?',)
    """

    name: str
    ask: Ask
    samples: int = 1
    one_request: bool = False
    temperature: float | Callable[[str], float] | None = None
    providers_temperature: bool = False
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
    problem: Callable[[ModelReply], str] | None = None
    complete: Callable[[Question, str, str], bool] | None = None
    structured: Structured | None = None

    def structured_for(self, question: Question) -> Structured | None:
        """Return what the stage asks for if replies to a question are JSON objects; None if they are texts."""
        return self.structured if is_structured(question) else None

    def prompts(self, question: Question, condition: str, replies: Replies) -> tuple[str, ...]:
        """Return the prompts of one question under one condition; none if the stage is skipped."""
        structured = self.structured_for(question)
        ask = structured.ask if structured and structured.ask else self.ask
        prompts = ask(question, condition, replies)
        if prompts is None:
            return ()
        return (prompts,) if isinstance(prompts, str) else tuple(prompts)

    def temperature_in(self, condition: str) -> float | None:
        """Return the temperature under one condition; None for the temperature of the run."""
        return self.temperature(condition) if callable(self.temperature) else self.temperature

    def system_of(self, question: Question, condition: str) -> str:
        """Return the system message of one question under one condition."""
        return self.system if isinstance(self.system, str) else self.system(question, condition)


def check_stages(stages: Sequence[Stage]) -> None:
    """Raise ValueError if there are no stages, two have the same name, or a stage has an impossible value."""
    if not stages:
        raise ValueError("it has no stage")
    earlier: dict[str, Stage] = {}
    for stage in stages:
        for wrong, problem in (
            (stage.name in earlier, "is declared twice"),
            (
                not earlier and bool(stage.role),
                "is the first one, which calls the model under test, not a role",
            ),
            (stage.samples < 1, f"has samples={stage.samples}, which must be 1 or more"),
            (not 0 <= stage.top_logprobs <= 20, f"has top_logprobs={stage.top_logprobs}, not 0 to 20"),
            (bool(stage.top_logprobs) and not stage.logprobs, "has top_logprobs but no logprobs"),
            (
                bool(stage.follows) and stage.follows not in earlier,
                f"follows {stage.follows!r}, which is not an earlier stage",
            ),
            (
                bool(stage.follows) and bool(stage.system),
                "has a system message, which only a new conversation has",
            ),
            (
                stage.providers_temperature and not _is_left_to_the_provider(stages),
                "has the provider's temperature, beside another temperature or another stage",
            ),
        ):
            if wrong:
                raise ValueError(f"stage {stage.name!r} {problem}")
        earlier[stage.name] = stage


def _is_left_to_the_provider(stages: Sequence[Stage]) -> bool:
    """Return whether a single call has no temperature of its own."""
    return [stage.temperature for stage in stages] == [None]
