"""Calls on Inspect that are repeated without the optional parameters that the server refuses.

An answer of the server that is no reply of a model is an error that names the server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from json import JSONDecodeError
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput
from inspect_ai.solver import TaskState
from pydantic import ValidationError

from confidence_tasks.harness.address import public_address
from confidence_tasks.harness.compat import run_settings
from confidence_tasks.harness.inspect.origin import address_of
from confidence_tasks.harness.inspect.turns import begins_with_system, merge_system
from confidence_tasks.harness.refusals import (
    REFUSED,
    REFUSING,
    SYSTEM,
    USUAL_TEMPERATURE,
    Refusals,
    refusals_text,
)
from confidence_tasks.study.stage import Stage

_FIELDS: Mapping[str, str] = {
    "temperature": "temperature",
    "seed": "seed",
    "logprobs": "logprobs",
    "top_logprobs": "top_logprobs",
    "max_tokens": "max_tokens",
    "stop": "stop_seqs",
    "n": "num_choices",
    "response_format": "response_schema",
}
"""Parameters of a server, with the settings of Inspect that send them."""

_NO_REPLY = (JSONDecodeError, UnicodeDecodeError, ValidationError, TypeError, AttributeError, LookupError)
"""What clients raise if they cannot read an answer: a page of HTML, half a line of JSON, an error with status 200."""


class NoReplyError(RuntimeError):
    """A server has answered a call with something that is no reply of a model."""


_needed: ContextVar[Mapping[str, str]] = ContextVar("needed", default=MappingProxyType({}))
"""Parameters that the current call cannot do without, each with what the user can do."""

_tolerated: WeakKeyDictionary[ModelAPI, Refusals] = WeakKeyDictionary()


@contextmanager
def needing(parameters: Mapping[str, str]) -> Iterator[None]:
    """Name the parameters that the calls within cannot do without, each with what the user can do."""
    token = _needed.set(parameters)
    try:
        yield
    finally:
        _needed.reset(token)


def tolerate_refusals(model: Model) -> None:
    """Make a model repeat a call without the optional parameters that its server refuses; they are noted in its output.

    The first refusal counts for all later calls. A call that needs a refused parameter raises RefusedParameterError.
    """
    api = model.api
    if api in _tolerated:
        return
    refusals = _tolerated[api] = Refusals(str(model))
    name_server(model)
    api.generate = _TolerantCalls(api.generate, refusals).generate  # type: ignore[method-assign]


Attempt = Callable[[Mapping[str, Any]], Awaitable[tuple[Any, Exception | None]]]
"""From the parameters of a call to its result, and its error, which a provider raises or returns."""


@dataclass(frozen=True)
class _TolerantCalls:
    """Makes the calls of a model without what its server refuses; ``call`` is what its provider does."""

    call: Callable[..., Awaitable[Any]]
    refusals: Refusals

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> Any:
        has_system = begins_with_system(input)
        asked = _parameters(config) | ({SYSTEM: True} if has_system else {})

        async def attempt(sent: Mapping[str, Any]) -> tuple[Any, Exception | None]:
            messages = merge_system(input) if has_system and SYSTEM not in sent else input
            try:
                result = await self.call(messages, tools, tool_choice, _with_parameters(config, sent))
            except Exception as error:
                return None, error
            output = _output(result)
            return result, output if isinstance(output, Exception) else None

        while True:
            sent, notes = self.refusals.adapt(asked)
            result, error = await attempt(sent)
            if error is None:
                return self._noted(result, sent, notes)
            if _learn(self.refusals, sent, error):
                continue
            if (found := await self._without_one(attempt, sent, error)) is not None:
                return self._noted(found, *self.refusals.adapt(asked))
            if result is None:
                raise error
            return result

    async def _without_one(self, attempt: Attempt, sent: Mapping[str, Any], error: Exception) -> Any:
        """Return the result without one parameter, which the refusal of a call does not name; None without any."""
        if getattr(error, "status_code", None) not in REFUSING:
            return None
        for refusal in self.refusals.guesses(sent, _body(error)):
            result, failed = await attempt(refusal.applied(sent))
            if failed is None:
                self.refusals.keep(refusal, _needed.get())
                return result
        return None

    def _noted(self, result: Any, sent: Mapping[str, Any], notes: list[str]) -> Any:
        """Return the result of an answered call, with the notes on its parameters."""
        output = _output(result)
        self.refusals.accept(sent)
        notes += self.refusals.note_alternatives(sent, _most_alternatives(output))
        notes += self.refusals.note_choices(sent, len(output.choices))
        if notes:
            output.metadata = {**(output.metadata or {}), REFUSED: notes}
        return result


def _output(result: Any) -> Any:
    """Return the output in the result of a provider, which may have the call beside it."""
    return result[0] if isinstance(result, tuple) else result


def _most_alternatives(output: ModelOutput) -> int:
    """Return the largest number of alternatives to a token of an output; 0 without any."""
    found = (choice.logprobs for choice in output.choices)
    tokens = (token for logprobs in found if logprobs is not None for token in logprobs.content)
    return max((len(token.top_logprobs or ()) for token in tokens), default=0)


_named: WeakSet[ModelAPI] = WeakSet()


def name_server(model: Model) -> None:
    """Make an answer of the server that is no reply of a model an error that names the server and what to check."""
    api = model.api
    if api in _named:
        return
    _named.add(api)
    generate = api.generate

    async def generate_or_name(input: Any, tools: Any, tool_choice: Any, config: GenerateConfig) -> Any:
        try:
            return await generate(input, tools, tool_choice, config)
        except _NO_REPLY as error:
            if api.should_retry(error):
                raise
            raise _no_reply(model, error) from error

    api.generate = generate_or_name  # type: ignore[method-assign]


_CHECK_ADDRESS = "Check that the address (base_url) is that of the API, and what the server's log says"
_IN_PARTS = (
    "The message came in parts: use the provider that Inspect has for this service, such as mistral/MODEL, or a server"
    " that sends the message as one text"
)
_NULL = (
    "A number in the answer is null, such as a count of tokens in its usage, which the protocol does not allow: update"
    " the server"
)
_BY_TYPE: Mapping[str, str] = {"'list'": _IN_PARTS, "'NoneType' and 'int'": _NULL}
"""What to do, by the type that a client has not expected."""


def _no_reply(model: Model, error: Exception) -> NoReplyError:
    address = public_address(address_of(model))
    server = f"the server {address}" if address else "its server"
    said = f"{type(error).__name__}: {error}"[:300]
    fix = _CHECK_ADDRESS
    if isinstance(error, TypeError):
        fix = next((fix for kind, fix in _BY_TYPE.items() if kind in said), _CHECK_ADDRESS)
    return NoReplyError(
        f"{model}: {server} answered with something that is no reply of a model ({said}). {fix}"
    )


def _learn(refusals: Refusals, sent: Mapping[str, Any], error: Exception) -> bool:
    """Return whether an error is the refusal of an optional parameter, after which the call is worth repeating."""
    if getattr(error, "status_code", None) not in REFUSING:
        return False
    return refusals.learn(sent, _body(error), _needed.get())


def _body(error: Exception) -> object:
    """Return the body of a server's refusal, or else its text."""
    return getattr(error, "body", None) or str(error)


def _parameters(config: GenerateConfig) -> dict[str, Any]:
    values = {name: getattr(config, attribute) for name, attribute in _FIELDS.items()}
    return {name: value for name, value in values.items() if value is not None}


def _with_parameters(config: GenerateConfig, sent: Mapping[str, Any]) -> GenerateConfig:
    """Return settings that send the given parameters in place of their own."""
    changed: dict[str, Any] = {attribute: sent.get(name) for name, attribute in _FIELDS.items()}
    others = {name: value for name, value in sent.items() if name not in (*_FIELDS, SYSTEM)}
    if others:
        changed["extra_body"] = {**(config.extra_body or {}), **others}
    return config.model_copy(update=changed)


def user_settings(task: GenerateConfig) -> dict[str, float]:
    """Return the temperature and the limit of tokens that the user gave for a run, in place of those of the task."""
    run = run_settings()
    values = {name: getattr(run, name) for name in ("temperature", "max_tokens")}
    return {
        name: value for name, value in values.items() if value is not None and value != getattr(task, name)
    }


def needs_temperature(stage: Stage, condition: str) -> bool:
    """Return whether a stage cannot do without its temperature: another one than that of servers that are sent none.

    A greedy stage asks for its temperature, too, but only to have the same reply again.
    """
    temperature = stage.temperature_in(condition)
    if callable(stage.temperature):
        return temperature != USUAL_TEMPERATURE
    return temperature not in (None, 0.0, USUAL_TEMPERATURE)


def note_refusals(state: TaskState, outputs: Iterable[ModelOutput]) -> None:
    """Add the notes on refused parameters of some calls to a sample's metadata."""
    notes = [note for output in outputs for note in (output.metadata or {}).get(REFUSED, ())]
    if notes:
        state.metadata = {**state.metadata, REFUSED: refusals_text(notes, state.metadata.get(REFUSED))}
