"""Who answered on Inspect: the server's address, the model that it served, and the age of replies from the cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import CachePolicy, Model, get_model
from inspect_ai.solver import TaskState

from confidence_tasks.harness.address import ORIGIN, public_address
from confidence_tasks.harness.compat import cached_since

UNDER_TEST = "model"
"""Name of the model under test among those of the roles."""


def address_of(model: Model) -> str:
    """Return the address that a model's provider calls; empty if the provider does not tell it."""
    api: Any = model.api
    return str(api.base_url or getattr(getattr(api, "client", None), "base_url", None) or "")


def _model_events() -> Iterator[ModelEvent]:
    """Yield the calls of the current sample, the last first."""
    return (event for event in reversed(transcript().events) if isinstance(event, ModelEvent))


def is_cached_reply() -> bool:
    """Return whether the last reply in this sample was read from the cache."""
    return next((call.cache == "read" for call in _model_events()), False)


def note_origin(state: TaskState, *, role: str | None = None, policy: CachePolicy | bool = False) -> None:
    """Write into a sample's metadata who gave the last reply.

    The address of the server is without credentials. The served model is that which the reply names, where that is
    another name. Replies from the
    cache are counted, with the time of the oldest.

    Parameters
    ----------
    state : TaskState
        The sample.
    role : str or None
        The role of the model; None for the model under test.
    policy : CachePolicy or bool
        With which the model was called.
    """
    model = get_model(role=role) if role else get_model()
    origins: dict[str, dict[str, Any]] = dict(state.metadata.get(ORIGIN, {}))
    found = dict(origins.get(role or UNDER_TEST, {}))
    if address := public_address(address_of(model)):
        found["base_url"] = address
    if (call := next(_model_events(), None)) is not None:
        found |= _served(model, call)
        found |= _age(model, call, policy, found)
    if found:
        state.metadata = {**state.metadata, ORIGIN: {**origins, role or UNDER_TEST: found}}


def note_fact(state: TaskState, name: str, value: str) -> None:
    """Write a fact about the model under test into a sample's metadata."""
    origins = dict(state.metadata.get(ORIGIN, {}))
    state.metadata = {
        **state.metadata,
        ORIGIN: {**origins, UNDER_TEST: {**origins.get(UNDER_TEST, {}), name: value}},
    }


def _served(model: Model, call: ModelEvent) -> dict[str, Any]:
    name = call.output.model
    return {} if f"/{name}/" in f"/{model}/" else {"served": name}


def _age(
    model: Model, call: ModelEvent, policy: CachePolicy | bool, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the number of cached replies and the time of the oldest, after a call."""
    if call.cache != "read" or not isinstance(policy, CachePolicy):
        return {}
    count, written = {"cached": known.get("cached", 0) + 1}, cached_since(model, call, policy)
    if written is None:
        return count
    since = written.isoformat(timespec="seconds")
    return {**count, "cached_since": min(known.get("cached_since", since), since)}
