"""Models of a run that have a role, such as parser or judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
    model_roles,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import Store, concurrency

from confidence_tasks.harness.inspect.first_replies import FirstRepliesOfModels
from confidence_tasks.harness.inspect.model_calls import asked_model, call_cache
from confidence_tasks.harness.inspect.model_replies import reply_text, tokens_used, why_stopped, with_tokens
from confidence_tasks.harness.inspect.origin import note_origin
from confidence_tasks.harness.inspect.refused import note_refusals
from confidence_tasks.study.stage import ModelReply

_first_replies = FirstRepliesOfModels()
"""The first replies of the roles that scorers ask."""


@solver
def require_roles(roles: list[str]) -> Solver:
    """Return a solver that raises an error before a call that scoring could not use.

    RoleError if a role that scoring needs has no model; UnfinishedError if none of the first replies of a role's model
    could be used.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if missing := missing_roles(roles):
            raise RoleError(missing)
        for role in model_roles():
            _first_replies.check(get_model(role=role), role)
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
    role: str,
    system: str,
    prompt: str,
    state: TaskState,
    *,
    cache: bool | None = None,
    problem: Callable[[str], str] = lambda text: "",
) -> ModelReply:
    """Return the reply of a role's model, from the sample's store, the cache or a call of the model.

    If several samples make the same call at the same time, one of them calls the model and the others wait for its
    cached reply. The reply is stored in the sample with a digest of the messages, and the tokens are added to the
    sample's metadata.

    ``problem(text)`` returns why a reply cannot be used; empty if it can.

    Raises RoleError if a call is needed and the role is not bound, and UnfinishedError if none of the first replies of
    its model can be used; stored replies are not counted.
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
            _first_replies.check(model, role)
            output = await model.generate(messages, cache=policy)
        note_origin(state, role=role, policy=policy)
        stored = {"asked": digest, "reply": reply_text(output), "stop": why_stopped(output)}
        state.store.set(key, stored)
        note_refusals(state, [output])
        state.metadata = with_tokens(state.metadata, tokens_used(output.usage))
        _first_replies.note(
            model, output, role, problem=problem(stored["reply"]), question=state.metadata["question_id"]
        )
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
