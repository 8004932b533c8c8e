"""Calls of models and their replies: cached, those that help to score by role, kept in the sample, never paid twice.

The cache survives a killed run, and what was said is kept in the sample's store, so that a log can be scored again
without a model. Where token probabilities are needed, a model that has none is refused.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, get_args
from weakref import WeakKeyDictionary

from anyio import to_thread
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Logprob,
    Logprobs,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    get_model,
    model_roles,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import Store, concurrency

from confidence_tasks.harness.compat import hf_parts, hf_prompt
from confidence_tasks.reading.token_probabilities import decode_tokens, scored_tokens
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.stage import TOKENS, Token

_RUN_HERE = frozenset(
    {
        "HuggingFaceAPI",
        "LlamaCppPythonAPI",
        "OllamaAPI",
        "SGLangAPI",
        "SimulatedInstrument",
        "SimulatedSubject",
        "TransformerLensAPI",
        "VLLMAPI",
    }
)
"""Class names of providers, Inspect's and this package's, whose models run on the user's own machine."""


def call_cache(model: Model, *, per_epoch: bool, attempt: int = 0) -> CachePolicy | bool:
    """Return how calls of a model are cached: for ever, apart from those of a model made with other arguments.

    Models that run here are not cached: their replies are not paid for, and what is behind their name may change, a
    subject with this package and weights with the next step of training. With ``per_epoch`` each epoch calls anew, as
    it must where the model is under test. ``attempt`` cached replies to the same call cannot be used.
    """
    if type(model.api).__name__ in _RUN_HERE:
        return False
    arguments = json.dumps(model.model_args, sort_keys=True, default=repr)
    again = {"attempt": str(attempt)} if attempt else {}
    return CachePolicy(expiry=None, per_epoch=per_epoch, scopes={"model_args": arguments, **again})


_EFFORTS = [
    name
    for kind in get_args(GenerateConfig.model_fields["reasoning_effort"].annotation)
    for name in get_args(kind)
]


def effort_settings(effort: str | None) -> dict[str, Any]:
    """Return the settings of generation that an effort stands for: a name, or a number of tokens to think in.

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> effort_settings("low"), effort_settings("8192"), effort_settings(None)
    ({'reasoning_effort': 'low'}, {'reasoning_tokens': 8192}, {})
    """
    if effort is None:
        return {}
    if effort.isdecimal():
        return {"reasoning_tokens": int(effort)}
    if effort not in _EFFORTS:
        raise ValueError(
            f"efforts: {effort!r} is neither one of {', '.join(_EFFORTS)} nor a number of tokens to think in"
            f"{did_you_mean(effort, _EFFORTS)}"
        )
    return {"reasoning_effort": effort}


async def ask_once(
    state: TaskState,
    generate: Generate,
    cache: bool,
    usable: Callable[[ModelOutput], bool] = lambda output: True,
    **settings: Any,
) -> TaskState:
    """Ask the model under test, unless the cache has a usable reply already.

    A reply out of the cache that is not ``usable`` was kept by an earlier run, and is asked for anew; so is a reply
    without choices, which a provider in trouble may send and the cache would keep for ever. A call of a tool, though
    there are none, is a reply; Inspect would ask again for as long as the model calls. ``settings`` are those of
    generation.
    """
    messages = list(state.messages)
    for attempt in itertools.count():
        keep = cache and call_cache(get_model(), per_epoch=True, attempt=attempt)
        try:
            state = await generate(state, tool_calls="none", cache=keep, **settings)
        except IndexError:
            if state.output.choices:
                raise
            return await generate(state, tool_calls="none", cache=False, **settings)
        if usable(state.output) or not _came_from_cache():
            break
        state.messages = list(messages)
    return state


def _came_from_cache() -> bool:
    """Return whether the last reply of a model in this sample is one that an earlier run kept."""
    calls = (event for event in reversed(transcript().events) if isinstance(event, ModelEvent))
    return next((call.cache == "read" for call in calls), False)


@solver
def require_roles(roles: list[str]) -> Solver:
    """Refuse to start, before anything is paid for, while a role that scoring needs has no model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if missing := missing_roles(roles):
            raise RoleError(missing)
        return state

    return solve


class RoleError(RuntimeError):
    """A model role that scoring needs is not bound."""

    def __init__(self, roles: Iterable[str]) -> None:
        flags = " ".join(f"--model-role {role}=PROVIDER/MODEL" for role in roles)
        super().__init__(f"scoring needs a model for {', '.join(roles)}: add {flags}")


def missing_roles(roles: Iterable[str]) -> list[str]:
    """Return those of ``roles`` that no model is bound to."""
    bound = model_roles()
    return [role for role in roles if role not in bound]


def can_ask(role: str, store: Store) -> bool:
    """Return whether a role can be asked: a model is bound to it, or the sample's store has its reply."""
    return not missing_roles([role]) or store.get(f"{role}_reply") is not None


async def ask_role(role: str, system: str, prompt: str, state: TaskState, *, cache: bool = True) -> str:
    """Ask the model of a role, unless the sample's store or the cache has its reply already, and return what it says.

    Equal questions from samples that run at the same time wait for each other, so that one of them is paid for. The
    store of the sample keeps the reply with a digest of what was asked, and its metadata count the tokens.

    RoleError if the role is not bound and must be asked.
    """
    digest = blake2b(f"{system}\x1f{prompt}".encode(errors="surrogatepass"), digest_size=16).hexdigest()
    key = f"{role}_reply"
    kept = state.store.get(key)
    if kept is None or kept["asked"] != digest:
        if missing := missing_roles([role]):
            raise RoleError(missing)
        model = get_model(role=role, required=True, config=GenerateConfig(temperature=0.0))
        messages: list[ChatMessage] = [ChatMessageSystem(content=system), ChatMessageUser(content=prompt)]
        async with concurrency(f"{role}-{digest}", 1, visible=False):
            output = await model.generate(messages, cache=cache and call_cache(model, per_epoch=False))
        kept = {"asked": digest, "reply": output.completion}
        state.store.set(key, kept)
        state.metadata = with_tokens(state.metadata, tokens_used(output.usage))
    return str(kept["reply"])


FILTERED = "I cannot answer this question."
"""Text that replaces a reply stopped by the provider's content filter; every reader reads it as a refusal."""


def reply_text(output: ModelOutput) -> str:
    """Return the text to be read: what the model said, or `FILTERED` where a content filter stopped it.

    Some providers then send nothing, some a part, some a notice of their own, which says nothing of the question.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput
    >>> reply_text(ModelOutput.from_content("m", "Answer: B"))
    'Answer: B'
    >>> reply_text(ModelOutput.from_content("m", "Policy 7.", stop_reason="content_filter")) == FILTERED
    True
    """
    return FILTERED if output.choices and output.stop_reason == "content_filter" else output.completion


def reply_tokens(output: ModelOutput) -> list[Token]:
    """Return the tokens of the first choice; none when the provider returned no log-probabilities.

    Their texts join to what was generated, also where a character is cut, if the provider tells the tokens' bytes.
    """
    if not output.choices or output.choices[0].logprobs is None:
        return []
    content = output.choices[0].logprobs.content
    return [
        Token(text, item.logprob, _alternatives(item))
        for text, item in zip(_texts(content), content, strict=True)
    ]


def _alternatives(item: Logprob) -> dict[str, float]:
    """Return the likeliest tokens; of one that is listed twice, the more probable entry."""
    listed: dict[str, float] = {}
    for top in item.top_logprobs or []:
        listed[top.token] = max(listed.get(top.token, top.logprob), top.logprob)
    return listed


def _texts(content: Sequence[Logprob]) -> list[str]:
    written = [item.token for item in content]
    if all(text.isascii() and "\\x" not in text for text in written):
        return written
    try:
        return decode_tokens(
            [item.token.encode() if item.bytes is None else bytes(item.bytes) for item in content]
        )
    except ValueError:  # Inspect's hf provider gives the code points of vocabulary entries as bytes.
        return written


def tokens_used(usage: ModelUsage | None) -> dict[str, float]:
    """Return the tokens of a call, as far as the provider tells; a prompt that it had in its cache counts, too."""
    if usage is None:
        return {}
    prompt = (usage.input_tokens, usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0)
    told = zip(TOKENS, (sum(prompt), usage.output_tokens, usage.reasoning_tokens), strict=True)
    return {kind: float(count) for kind, count in told if count is not None}


def with_tokens(metadata: Mapping[str, Any], used: Mapping[str, float]) -> dict[str, Any]:
    """Return the metadata of a sample with the tokens of a further call; what is not told of each call is left out.

    Examples
    --------
    >>> with_tokens({"condition": "plain", "input_tokens": 7.0, "reasoning_tokens": 2.0}, {"input_tokens": 5.0})
    {'condition': 'plain', 'input_tokens': 12.0}
    """
    others = {key: value for key, value in metadata.items() if key not in TOKENS}
    both = metadata.keys() & used.keys()
    return {**others, **{kind: metadata[kind] + used[kind] for kind in TOKENS if kind in both}}


EMPTY_REPLIES = 3
"""Number of empty replies in a row at the start of a run after which the model is refused."""


def has_probabilities(output: ModelOutput) -> bool:
    """Return whether a reply came with the log-probabilities of its tokens."""
    logprobs = output.choices[0].logprobs if output.choices else None
    return logprobs is not None and bool(logprobs.content)


def rejects_logprobs(error: RuntimeError) -> bool:
    """Return whether a provider rejected a request because it asks for log-probabilities."""
    return "logprob" in str(getattr(error, "provider_message", "")).lower()


class TokenProbabilityError(RuntimeError):
    """The model under test gives no token probabilities, or wrong ones."""


@dataclass(frozen=True)
class ProbabilityGate:
    """Lets the first reply of each model through alone; the others only if it came with token probabilities.

    So a run with a model that gives none stops at once, whatever the number of connections and even where errors of
    samples are tolerated, and one with a model that does pays for no extra call. ``purpose`` says what needs them, as
    the beginning of a sentence: ``stage 'answer' of nlp_metad needs``.
    """

    purpose: str
    _faults: WeakKeyDictionary[ModelAPI, str] = field(default_factory=WeakKeyDictionary)
    _empty: WeakKeyDictionary[ModelAPI, int] = field(default_factory=WeakKeyDictionary)

    async def __call__(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        """Return what ``ask`` returns.

        TokenProbabilityError if the model is known to give none: before ``ask`` is called, but for the first time.
        """
        if model.api not in self._faults:
            async with concurrency(f"{self.purpose} {id(model.api)}", 1, visible=False):
                if model.api not in self._faults:
                    state = await self._first(model, ask)
                    self._judge(model, state.output)
                    self._refuse(model)
                    return state
        self._refuse(model)
        return await ask()

    async def _first(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        """Return what ``ask`` returns; a provider that rejects the very request for probabilities is refused."""
        try:
            return await ask()
        except RuntimeError as error:
            if rejects_logprobs(error):
                self._faults[model.api] = f"{model} rejects requests for them"
                self._refuse(model)
            raise

    def _judge(self, model: Model, output: ModelOutput) -> None:
        choice = output.choices[0] if output.choices else None
        if has_probabilities(output):
            self._faults[model.api] = ""
        elif choice is not None and choice.stop_reason == "content_filter":
            return  # a notice of the provider's, not a reply of the model
        elif output.completion:
            self._faults[model.api] = f"{model} returned none with its first reply"
        else:
            self._empty[model.api] = self._empty.get(model.api, 0) + 1
            if self._empty[model.api] == EMPTY_REPLIES:
                self._faults[model.api] = (
                    f"{model} returned none, and no text, {EMPTY_REPLIES} times (a reasoning model may need a higher "
                    "--max-tokens)"
                )

    def _refuse(self, model: Model) -> None:
        if fault := self._faults.get(model.api):
            raise TokenProbabilityError(
                f"{self.purpose} token probabilities, and {fault}: use a model and provider that give them, such as "
                "vllm, sglang, hf, llama-cpp-python, or a chat model of openai, google, grok or an openai-api server; "
                "Anthropic's and Mistral's interfaces, groq, bedrock and OpenAI's reasoning models have none"
            )


def is_local(model: Model) -> bool:
    """Return whether a model is one of Inspect's ``hf`` provider, which runs in this process."""
    return type(model.api).__name__ == "HuggingFaceAPI"


async def text_logprobs(
    model: Model, messages: Sequence[ChatMessage], text: str, alternatives: int = 0
) -> Logprobs:
    """Return the tokens of a text with their log-probabilities as the reply of a model of the ``hf`` provider.

    The provider reports, at each step, the probability of the most probable token in place of the sampled one, and goes
    on after the end. So the text is put through the model once more, after the tokens of the prompt that it was given.
    It is tokenised anew: a sampled text may have been made of other tokens. So many of the most probable
    ``alternatives`` are listed for each token.
    """
    prompt = hf_prompt(model, messages)
    async with concurrency(f"text_logprobs {id(model.api)}", 1, visible=False):
        return await to_thread.run_sync(_scored, model, prompt, text, alternatives)


def _scored(model: Model, prompt: str, text: str, alternatives: int) -> Logprobs:
    import torch

    network, tokenizer, options = hf_parts(model)
    before = tokenizer(prompt, **options)["input_ids"]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if not ids:
        return Logprobs(content=[])
    with torch.inference_mode():
        logits = network(torch.tensor([before + ids], device=network.device)).logits
    return as_logprobs(scored_tokens(logits[0, len(before) - 1 : -1], tokenizer, ids, alternatives))


def as_logprobs(tokens: Iterable[Token]) -> Logprobs:
    """Return tokens as Inspect has them."""
    return Logprobs(
        content=[
            Logprob(
                token=token.text,
                logprob=token.logprob,
                top_logprobs=[
                    TopLogprob(token=text, logprob=value) for text, value in token.alternatives.items()
                ]
                or None,
            )
            for token in tokens
        ]
    )
