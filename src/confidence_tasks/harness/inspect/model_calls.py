"""Model calls on Inspect: caching, model roles, token log-probabilities and token counts.

Replies are cached, so that a resumed run does not pay for a call twice. The replies of model roles are stored in the
sample, so that a log can be scored again without a model. A model without token probabilities is refused if a stage
needs them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any, get_args

from inspect_ai.model import CachePolicy, GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.address import is_own_server
from confidence_tasks.harness.compat import run_settings
from confidence_tasks.harness.inspect.origin import address_of, is_cached_reply, note_origin
from confidence_tasks.harness.inspect.refused import name_server, tolerate_refusals
from confidence_tasks.study.effort import settings_of_effort
from confidence_tasks.study.parameter import did_you_mean

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
    if effort is not None and not effort.isdecimal() and effort not in _EFFORTS:
        raise ValueError(
            f"efforts: {effort!r} is neither one of {', '.join(_EFFORTS)} nor a number of reasoning tokens"
            f"{did_you_mean(effort, _EFFORTS)}"
        )
    return settings_of_effort(effort)


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


def is_simulated(model: Model) -> bool:
    """Return whether a model is a simulated subject."""
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject

    return isinstance(model.api, SimulatedSubject)
