"""Model calls on Inspect: caching, model roles, token log-probabilities and token counts.

Replies are cached, so that a resumed run does not pay for a call twice. The replies of model roles are stored in the
sample, so that a log can be scored again without a model. A model without token probabilities is refused if a stage
needs them.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, get_args
from weakref import WeakKeyDictionary

from anyio import to_thread
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
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

from confidence_tasks.harness.address import is_own_server
from confidence_tasks.harness.compat import hf_parts, hf_prompt, run_settings
from confidence_tasks.harness.inspect.origin import address_of, is_cached_reply, note_origin
from confidence_tasks.harness.inspect.refused import name_server, note_refusals, tolerate_refusals
from confidence_tasks.harness.refusals import REFUSED, RefusedParameterError
from confidence_tasks.harness.staged import as_continuation
from confidence_tasks.reading.thoughts import strip_thoughts, without_thoughts
from confidence_tasks.reading.token_probabilities import decode_tokens, scored_tokens
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.stage import TOKENS, ModelReply, Stage, Stop, Token

_IN_PROCESS = frozenset({"HuggingFaceAPI", "SimulatedInstrument", "SimulatedSubject"})
"""Class names of the providers whose models run in this process, without a server that could refuse a parameter."""

_LOCAL_PROVIDERS = frozenset(
    {
        "HuggingFaceAPI",
        "LlamaCppPythonAPI",
        "OllamaAPI",
        "SGLangAPI",
        "TransformerLensAPI",
        "VLLMAPI",
    }
)
"""Class names of Inspect's providers whose models run on the user's machine."""

_SIMULATED = frozenset({"SimulatedInstrument", "SimulatedSubject"})
"""Class names of this package's providers, whose replies depend on more than the prompt."""


def call_cache(
    model: Model, wanted: bool | None = None, *, per_epoch: bool, attempt: int = 0
) -> CachePolicy | bool:
    """Return the cache policy for calls of a model: no expiry, separate entries for other model arguments.

    By default (``wanted`` None), calls of models that run on the user's own machines are not cached: they cost nothing,
    and other weights may have the same name. Calls of simulated subjects are never cached. ``per_epoch`` separates the
    entries of epochs, which the model under test needs. ``attempt`` is the number of cached replies to this call that
    were unusable.
    """
    provider = type(model.api).__name__
    is_own = provider in _LOCAL_PROVIDERS or is_own_server(address_of(model))
    if provider in _SIMULATED or not (wanted if wanted is not None else not is_own):
        return False
    scopes = {"model_args": json.dumps(model.model_args, sort_keys=True, default=repr)}
    if attempt:
        scopes["attempt"] = str(attempt)
    return CachePolicy(expiry=None, per_epoch=per_epoch, scopes=scopes)


_EFFORTS = [
    name
    for kind in get_args(GenerateConfig.model_fields["reasoning_effort"].annotation)
    for name in get_args(kind)
]


def effort_settings(effort: str | None) -> dict[str, Any]:
    """Return the generation settings for an effort, which is a name or a number of reasoning tokens.

    Raises
    ------
    ValueError
        If the effort is neither.

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
            f"efforts: {effort!r} is neither one of {', '.join(_EFFORTS)} nor a number of reasoning tokens"
            f"{did_you_mean(effort, _EFFORTS)}"
        )
    return {"reasoning_effort": effort}


async def ask_once(
    state: TaskState,
    generate: Generate,
    cache: bool | None,
    usable: Callable[[ModelOutput], bool] = lambda output: True,
    **settings: Any,
) -> TaskState:
    """Call the model under test, or return a usable reply from the cache.

    A cached reply that is not ``usable`` comes from an earlier run, and the model is called again. The model is also
    called again, without the cache, after a reply without choices, which a failing provider may return and which would
    stay in the cache. ``tool_calls="none"`` accepts a call of a tool as the reply, although there are no tools: Inspect
    would otherwise repeat the call as long as the model calls tools. ``settings`` are generation settings.
    """
    messages = list(state.messages)
    for attempt in itertools.count():
        policy = call_cache(get_model(), cache, per_epoch=True, attempt=attempt)
        try:
            state = await generate(state, tool_calls="none", cache=policy, **settings)
        except IndexError:
            if state.output.choices:
                raise
            state = await generate(state, tool_calls="none", cache=False, **settings)
            break
        if usable(state.output) or not is_cached_reply():
            break
        state.messages = list(messages)
    note_origin(state, policy=policy)
    return state


@solver
def require_roles(roles: list[str]) -> Solver:
    """Return a solver that raises RoleError before the first paid call if a role that scoring needs has no model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if missing := missing_roles(roles):
            raise RoleError(missing)
        return state

    return solve


class RoleError(RuntimeError):
    """A model role that scoring needs is not bound to a model."""

    def __init__(self, roles: Iterable[str]) -> None:
        flags = " ".join(f"--model-role {role}=PROVIDER/MODEL" for role in roles)
        super().__init__(f"scoring needs a model for {', '.join(roles)}: add {flags}")


def missing_roles(roles: Iterable[str]) -> list[str]:
    """Return the roles that are not bound to a model."""
    bound = model_roles()
    return [role for role in roles if role not in bound]


def can_ask(role: str, store: Store) -> bool:
    """Return whether `ask_role` has a reply for a role: it is bound to a model, or the sample's store has its reply."""
    return not missing_roles([role]) or store.get(f"{role}_reply") is not None


async def ask_role(
    role: str, system: str, prompt: str, state: TaskState, *, cache: bool | None = None
) -> ModelReply:
    """Return the reply of a role's model, from the sample's store, the cache or a call of the model.

    If several samples make the same call at the same time, one of them calls the model and the others wait for its
    cached reply. The reply is stored in the sample with a digest of the messages, and the tokens are added to the
    sample's metadata.

    Raises RoleError if a call is needed and the role is not bound.
    """
    digest = blake2b(f"{system}\x1f{prompt}".encode(errors="surrogatepass"), digest_size=16).hexdigest()
    key = f"{role}_reply"
    stored = state.store.get(key)
    if stored is None or stored["asked"] != digest:
        if missing := missing_roles([role]):
            raise RoleError(missing)
        model = asked_model(role)
        messages: list[ChatMessage] = [ChatMessageSystem(content=system), ChatMessageUser(content=prompt)]
        policy = call_cache(model, cache, per_epoch=False)
        async with concurrency(f"{role}-{digest}", 1, visible=False):
            output = await model.generate(messages, cache=policy)
        note_origin(state, role=role, policy=policy)
        stored = {"asked": digest, "reply": reply_text(output), "stop": why_stopped(output)}
        state.store.set(key, stored)
        note_refusals(state, [output])
        state.metadata = with_tokens(state.metadata, tokens_used(output.usage))
    return ModelReply(str(stored["reply"]), stop=stored.get("stop", ""))


async def ask_stage_role(
    role: str, messages: list[ChatMessage], config: GenerateConfig, state: TaskState, cache: bool | None
) -> ModelOutput:
    """Return the reply of a role's model to a stage, from the cache or a call of the model."""
    model = asked_model(role)
    policy = call_cache(model, cache, per_epoch=True)
    output = await model.generate(messages, config=config, cache=policy)
    note_origin(state, role=role, policy=policy)
    return output


def asked_model(role: str = "") -> Model:
    """Return the model of a role, or the one under test, which leaves out optional parameters that its server refuses.

    A role's model has its own temperature, else that of the run, which is 0 unless the user sets it.
    """
    if role:
        temperature = run_settings().temperature or 0.0
        model = get_model(role=role, required=True, config=GenerateConfig(temperature=temperature))
    else:
        model = get_model()
    if type(model.api).__name__ not in _IN_PROCESS:
        tolerate_refusals(model)
    return model


@solver
def named_server() -> Solver:
    """Return a solver after which an answer that is no reply of a model is an error that names the server."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if type(get_model().api).__name__ not in _IN_PROCESS:
            name_server(get_model())
        return state

    return solve


_STOPS: Mapping[str, Stop] = {"max_tokens": "length", "model_length": "length", "content_filter": "filter"}
"""Inspect's reasons to stop before the model has finished; ``model_length`` is the context of the model."""


def why_stopped(output: ModelOutput) -> Stop:
    """Return why a reply ended before the model had finished; empty if it ended by itself, or nobody knows.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput
    >>> why_stopped(ModelOutput.from_content("m", "Answer: B"))
    ''
    >>> why_stopped(ModelOutput.from_content("m", "Answer:", stop_reason="max_tokens"))
    'length'
    """
    if not output.choices:
        return ""
    content = output.message.content
    has_reasoning = isinstance(content, list) and any(isinstance(part, ContentReasoning) for part in content)
    is_thought = has_reasoning and not output.completion.strip()
    return _STOPS.get(output.stop_reason, "thought" if is_thought else "")


def reply_text(output: ModelOutput) -> str:
    """Return the text of a reply; empty if a content filter stopped it.

    For a filtered reply, providers return no text, a part of the text, or a notice that is unrelated to the question.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput
    >>> reply_text(ModelOutput.from_content("m", "Answer: B"))
    'Answer: B'
    >>> reply_text(ModelOutput.from_content("m", "Policy 7.", stop_reason="content_filter"))
    ''
    """
    return "" if why_stopped(output) == "filter" else output.completion


def model_reply(output: ModelOutput, tokens: Sequence[Token] = (), problem: str = "") -> ModelReply:
    """Return a reply with its tokens, its token counts and the reason why it ended."""
    counts: dict[str, Any] = {**tokens_used(output.usage)}
    return ModelReply(reply_text(output), tuple(tokens), problem=problem, stop=why_stopped(output), **counts)


def reply_tokens(output: ModelOutput) -> list[Token]:
    """Return the tokens of the first choice; empty if the provider returned no log-probabilities.

    If the provider returns the tokens' bytes, the texts join to the reply even where tokens split a character.
    """
    if not output.choices or output.choices[0].logprobs is None:
        return []
    content = output.choices[0].logprobs.content
    return [
        Token(text, item.logprob, _alternatives(item))
        for text, item in zip(_token_texts(content), content, strict=True)
    ]


def _alternatives(item: Logprob) -> dict[str, float]:
    """Return the log-probabilities of the listed top tokens; the maximum if a token is listed twice."""
    logprobs: dict[str, float] = {}
    for top in item.top_logprobs or []:
        logprobs[top.token] = max(logprobs.get(top.token, top.logprob), top.logprob)
    return logprobs


def _token_texts(content: Sequence[Logprob]) -> list[str]:
    tokens = [item.token for item in content]
    if all(text.isascii() and "\\x" not in text for text in tokens):
        return tokens
    try:
        return decode_tokens(
            [item.token.encode() if item.bytes is None else bytes(item.bytes) for item in content]
        )
    except ValueError:  # Inspect's hf provider returns code points of vocabulary entries instead of bytes.
        return tokens


def stage_reply(stage: Stage, output: ModelOutput) -> ModelReply:
    """Return the reply to a stage, with its tokens if the stage needs them, or the reason why there are none."""
    tokens = reply_tokens(output) if stage.logprobs else []
    if not stage.logprobs or tokens:
        return model_reply(output, tokens)
    refusals = (output.metadata or {}).get(REFUSED, ())
    refused = next((note for note in refusals if note.startswith("logprobs")), "")
    return model_reply(output, tokens, refused or "the provider returned no log-probabilities")


def tokens_used(usage: ModelUsage | None) -> dict[str, float]:
    """Return the token counts reported for a call; the input tokens include those in the provider's prompt cache."""
    if usage is None:
        return {}
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    counts = (usage.input_tokens + cached, usage.output_tokens, usage.reasoning_tokens)
    return {kind: float(count) for kind, count in zip(TOKENS, counts, strict=True) if count is not None}


def with_tokens(metadata: Mapping[str, Any], used: Mapping[str, float]) -> dict[str, Any]:
    """Return a sample's metadata with the token counts of a further call added.

    A count that is unknown for either is left out.

    Examples
    --------
    >>> with_tokens({"condition": "plain", "input_tokens": 7.0, "reasoning_tokens": 2.0}, {"input_tokens": 5.0})
    {'condition': 'plain', 'input_tokens': 12.0}
    """
    others = {key: value for key, value in metadata.items() if key not in TOKENS}
    both = metadata.keys() & used.keys()
    return {**others, **{kind: metadata[kind] + used[kind] for kind in TOKENS if kind in both}}


ZEROS_OF_A_RUN = 20
"""Number of tokens at the start of a run after which log-probabilities that are all exactly 0 were not measured.

A few tokens of a very sure model may all be rounded to 0.
"""

EMPTY_REPLIES = 3
"""Number of consecutive empty replies at the start of a run after which the model is refused."""


def has_probabilities(output: ModelOutput) -> bool:
    """Return whether a reply has the log-probabilities of its tokens."""
    logprobs = output.choices[0].logprobs if output.choices else None
    return logprobs is not None and bool(logprobs.content)


class TokenProbabilityError(RuntimeError):
    """The model under test returns no token probabilities."""


OTHER_PROVIDERS = (
    "use a provider that returns them, such as vllm, sglang, hf, llama-cpp-python, or a chat model of openai, google, "
    "grok or an openai-api server; Anthropic, Mistral, groq, bedrock and OpenAI's reasoning models return none"
)

MORE_ROOM = "a reasoning model may need a higher --max-tokens, such as 4096"


@dataclass(frozen=True)
class ProbabilityGate:
    """Makes the first call of each model alone, and the other calls only if the first reply's tokens can be used.

    So a run with a model without token probabilities stops after one call, with any number of connections and even if
    errors of samples are tolerated. A model with token probabilities needs no extra call. ``purpose`` begins the error
    message, such as ``stage 'answer' of nlp_metad needs``. ``stage`` is the stage, whose own limit of tokens may be too
    low for a reasoning model.
    """

    purpose: str
    stage: Stage
    _faults: WeakKeyDictionary[ModelAPI, str] = field(default_factory=WeakKeyDictionary)
    _zeros: WeakKeyDictionary[ModelAPI, float] = field(default_factory=WeakKeyDictionary)
    _empty: WeakKeyDictionary[ModelAPI, int] = field(default_factory=WeakKeyDictionary)

    async def __call__(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        """Await ``ask`` and return its result.

        Raises TokenProbabilityError, without calling ``ask``, if the tokens of the model are known to be useless.
        """
        if model.api not in self._faults:
            async with concurrency(f"{self.purpose} {id(model.api)}", 1, visible=False):
                if model.api not in self._faults:
                    state = await self._ask_first(model, ask)
                    self._record_fault(model, state.output)
                    self._count_zeros(model, state.output)
                    self._raise_fault(model)
                    return state
        self._raise_fault(model)
        state = await ask()
        self._count_zeros(model, state.output)
        self._raise_fault(model)
        return state

    async def _ask_first(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        try:
            return await ask()
        except RefusedParameterError as error:
            self._faults[model.api] = str(error)
            self._raise_fault(model)
            raise

    def _record_fault(self, model: Model, output: ModelOutput) -> None:
        """Record whether a model's tokens can be used; nothing yet after a filtered or an empty reply."""
        choice = output.choices[0] if output.choices else None
        has_text = bool(strip_thoughts(output.completion).strip())
        if choice is not None and choice.stop_reason == "content_filter":
            return  # the text is the provider's, not the model's
        if has_text and not has_probabilities(output):
            self._faults[model.api] = f"{model} returned none with its first reply: {OTHER_PROVIDERS}"
        elif has_text:
            reply = without_thoughts(stage_reply(self.stage, output))
            problem = self.stage.problem(reply) if self.stage.problem else ""
            fault = f"with the first reply of {model}, {problem}: {OTHER_PROVIDERS}"
            self._faults[model.api] = fault if problem else ""
        else:
            self._record_empty(model, output)

    def _count_zeros(self, model: Model, output: ModelOutput) -> None:
        """Record a fault if all tokens so far have a log-probability of exactly 0, which short replies cannot tell."""
        tokens = reply_tokens(output)
        so_far = self._zeros.get(model.api, 0)
        measured = any(token.logprob for token in tokens)
        self._zeros[model.api] = math.inf if measured else so_far + len(tokens)
        if ZEROS_OF_A_RUN <= self._zeros[model.api] < math.inf:
            self._faults[model.api] = (
                f"{model} returned a log-probability of exactly 0 for each of its first {self._zeros[model.api]:.0f}"
                f" tokens, so none was measured: {OTHER_PROVIDERS}"
            )

    def _record_empty(self, model: Model, output: ModelOutput) -> None:
        """Record a reply without text, or with reasoning only."""
        n_empty = self._empty[model.api] = self._empty.get(model.api, 0) + 1
        cut = bool(output.choices) and output.stop_reason == "max_tokens"
        limit = self.stage.max_tokens
        if cut and limit is not None and run_settings().max_tokens in (None, limit):
            self._faults[model.api] = (
                f"the first reply of {model} ended within its reasoning after {limit} tokens: {MORE_ROOM}"
            )
        elif n_empty == EMPTY_REPLIES:
            returned = "reasoning only" if has_probabilities(output) else "none, and no text,"
            self._faults[model.api] = f"{model} returned {returned} {EMPTY_REPLIES} times ({MORE_ROOM})"

    def _raise_fault(self, model: Model) -> None:
        if fault := self._faults.get(model.api):
            raise TokenProbabilityError(f"{self.purpose} token probabilities, and {fault}")


def is_local(model: Model) -> bool:
    """Return whether a model is of Inspect's ``hf`` provider, which runs in this process."""
    return type(model.api).__name__ == "HuggingFaceAPI"


def greedy_settings(model: Model) -> dict[str, Any]:
    """Return the settings with which a model decodes greedily.

    Inspect's ``hf`` provider samples depending on a model argument, not on the temperature. With ``top_k=1``, sampling
    is greedy.
    """
    if not is_local(model):
        return {"temperature": 0.0}
    return {"temperature": 1.0, "top_k": 1} if getattr(model.api, "do_sample", True) else {}


def count_own_tokens(
    model: Model, messages: Sequence[ChatMessage], output: ModelOutput, limit: int | None
) -> None:
    """Give a reply of the ``hf`` provider its own token counts, and the limit as the reason why it ended if it did.

    The provider counts the padding of a batch as tokens of every prompt and reply, and never tells why a reply ended.
    The texts are tokenised again; a reply that ended by itself has an end token in addition to its text. ``limit`` is
    the call's own limit of tokens, if it has one.
    """
    if output.usage is None or not output.choices:
        return
    limit = limit or run_settings().max_tokens or model.config.max_tokens or model.api.max_tokens()
    _, tokenizer, options = hf_parts(model)
    n_prompt = len(tokenizer(hf_prompt(model, messages), **options)["input_ids"])
    n_text = len(tokenizer(output.completion, add_special_tokens=False)["input_ids"])
    n_reply = min(n_text + 1, output.usage.output_tokens)
    output.usage = ModelUsage(input_tokens=n_prompt, output_tokens=n_reply, total_tokens=n_prompt + n_reply)
    if limit and n_text >= limit:
        output.choices[0].stop_reason = "max_tokens"


async def text_logprobs(
    model: Model, messages: Sequence[ChatMessage], text: str, alternatives: int = 0
) -> Logprobs:
    """Return the log-probabilities of a text's tokens, as the reply of an ``hf`` model to some messages.

    The provider itself reports the probability of the most probable token instead of the sampled token, and continues
    after the end of the text. So the model is run once more on the prompt and the text. The text is tokenised again,
    which may give other tokens than were sampled. ``alternatives`` is the number of top tokens listed for each token.
    """
    prompt = hf_prompt(model, messages)
    async with concurrency(f"text_logprobs {id(model.api)}", 1, visible=False):
        return await to_thread.run_sync(_score_text, model, prompt, text, alternatives)


async def replace_logprobs(
    model: Model, messages: list[ChatMessage], output: ModelOutput, alternatives: int
) -> ModelOutput:
    """Replace the log-probabilities of the ``hf`` provider by those of the tokens of the reply."""
    logprobs = await text_logprobs(model, messages, output.completion, alternatives)
    if output.choices:
        output.choices[0].logprobs = logprobs
    return output


async def score_forced_reply(model: Model, messages: list[ChatMessage], text: str) -> ModelOutput:
    """Return a given text as the model's reply, with the log-probabilities of its tokens."""
    output = ModelOutput.from_content(str(model), as_continuation(hf_prompt(model, messages), text))
    return await replace_logprobs(model, messages, output, 0)


def _score_text(model: Model, prompt: str, text: str, alternatives: int) -> Logprobs:
    import torch

    network, tokenizer, options = hf_parts(model)
    prompt_ids = tokenizer(prompt, **options)["input_ids"]
    text_ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if not text_ids:
        return Logprobs(content=[])
    with torch.inference_mode():
        logits = network(torch.tensor([prompt_ids + text_ids], device=network.device)).logits
    return as_logprobs(scored_tokens(logits[0, len(prompt_ids) - 1 : -1], tokenizer, text_ids, alternatives))


def as_logprobs(tokens: Iterable[Token]) -> Logprobs:
    """Convert tokens to Inspect's type."""
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
