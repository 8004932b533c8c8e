"""Calls of the models that help to score: by role, cached, kept in the sample, never paid for twice.

The cache survives a killed run, and what was said is kept in the sample's store, so that a log can be scored again
without a model.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    model_roles,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import Store, concurrency

from confidence_tasks.harness.inspect.reply import tokens_used, with_tokens

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
"""Classes of Inspect's providers, and of this package's, of models that run on one's own machine."""


def call_cache(model: Model, *, per_epoch: bool, attempt: int = 0) -> CachePolicy | bool:
    """Return how calls of a model are cached: for ever, apart from those of a model made with other arguments.

    Models that run here are not cached: their replies are not paid for, and what is behind their name may change, a
    subject with this package and weights with the next step of training.

    Parameters
    ----------
    model : Model
        The model to be called.
    per_epoch : bool
        Whether each epoch calls anew, as it must where the model is under test.
    attempt : int
        How many cached replies to the same call cannot be used.
    """
    if type(model.api).__name__ in _RUN_HERE:
        return False
    arguments = json.dumps(model.model_args, sort_keys=True, default=repr)
    again = {"attempt": str(attempt)} if attempt else {}
    return CachePolicy(expiry=None, per_epoch=per_epoch, scopes={"model_args": arguments, **again})


async def ask_once(
    state: TaskState,
    generate: Generate,
    cache: bool,
    usable: Callable[[ModelOutput], bool] = lambda output: True,
    **settings: Any,
) -> TaskState:
    """Ask the model under test, unless the cache has a usable reply already.

    A reply without choices, which a provider in trouble may send and the cache would keep for ever, is asked for anew.
    A call of a tool, though there are none, is a reply; Inspect would ask again for as long as the model calls.

    Parameters
    ----------
    state : TaskState
        The sample.
    generate : Generate
        Inspect's way to ask.
    cache : bool
        Whether replies are kept.
    usable : callable
        Whether a reply out of the cache will do; one that will not was kept by an earlier run, and is asked for anew.
    settings
        Settings of generation.
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
    return not missing_roles([role]) or store.get(_kept_as(role)) is not None


async def ask_role(role: str, system: str, prompt: str, state: TaskState, *, cache: bool = True) -> str:
    """Ask the model of a role, unless the sample's store or the cache has its reply already.

    Equal questions from samples that run at the same time wait for each other, so that one of them is paid for.

    Parameters
    ----------
    role : str
        Name of the role.
    system, prompt : str
        The two messages.
    state : TaskState
        The sample. Its store keeps the reply with a digest of what was asked, and its metadata count the tokens.
    cache : bool, default True
        Whether replies are cached.

    Returns
    -------
    str
        The reply.

    Raises
    ------
    RoleError
        If the role is not bound and must be asked.
    """
    digest = blake2b(f"{system}\x1f{prompt}".encode(errors="surrogatepass"), digest_size=16).hexdigest()
    key = _kept_as(role)
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


def _kept_as(role: str) -> str:
    return f"{role}_reply"
