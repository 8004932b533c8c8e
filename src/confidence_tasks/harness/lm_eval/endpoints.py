"""Servers that lm-eval asks over HTTP: what they refuse, and whether they measure the tokens that they are given.

lm-eval repeats a refused request as it is, and does not say why it was refused. Here the first request of each kind is
sent alone, without the optional parameters that the server refuses, and the later ones follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import (
    calls_one_by_one,
    filter_payloads,
    is_endpoint,
    token_loglikelihoods,
)
from confidence_tasks.harness.refusals import REFUSED, REFUSING, Refusals

T = TypeVar("T")

_refusals: WeakKeyDictionary[LM, Refusals] = WeakKeyDictionary()

_SCORING = dict.fromkeys(
    ("logprobs", "max_tokens"),
    "lm-eval needs the log-probabilities of given tokens: use a vllm or sglang server",
)
"""Parameters without which a server cannot score given tokens, with what the user can do."""


def first_alone(
    model: LM, requests: Sequence[T], ask: Callable[[Sequence[T]], Sequence[Any]], needed: Mapping[str, str]
) -> list[Any]:
    """Return ``ask(requests)``; an endpoint is asked the first request alone, to learn what it refuses.

    ``needed`` has the parameters that cannot be left out, each with what the user can do.

    Raises
    ------
    RefusedParameterError
        If the server refuses a needed parameter.
    """
    if not is_endpoint(model) or not requests:
        return list(ask(requests)) if requests else []
    if model not in _refusals:
        _refusals[model] = Refusals(str(getattr(model, "base_url", model)))
        filter_payloads(model, partial(_as_accepted, _refusals[model]))
    with calls_one_by_one(model, partial(_is_worth_repeating, _refusals[model], needed)):
        first = list(ask(requests[:1]))
    return first + (list(ask(requests[1:])) if requests[1:] else [])


def _as_accepted(refusals: Refusals, payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload as the server takes it, without an empty list of stop sequences."""
    if not payload.get("stop", True):
        payload = {name: value for name, value in payload.items() if name != "stop"}
    return refusals.adapt(payload)[0]


def _is_worth_repeating(
    refusals: Refusals, needed: Mapping[str, str], sent: dict[str, Any], status: int, text: str
) -> bool:
    if status in REFUSING:
        return refusals.learn(sent, text, needed)
    if status < 300:
        refusals.accept(sent)
    return False


def generate(model: LM, requests: Sequence[Instance]) -> list[str]:
    """Return the model's replies; an endpoint is asked without what it refuses."""
    temperatures = {request.args[1].get("temperature") for request in requests} - {None, 0.0}
    fix = "Choose a temperature that it takes, or leave out the one in --gen_kwargs"
    needed = {"temperature": fix} if temperatures else {}
    return first_alone(model, requests, lambda part: model.generate_until(list(part)), needed)


def loglikelihoods(model: TemplateLM, pairs: Sequence[tuple[list[int], list[int]]]) -> list[float]:
    """Return the log-probability of each continuation; an endpoint is asked without what it refuses."""
    return [value for value, _ in first_alone(model, pairs, partial(token_loglikelihoods, model), _SCORING)]


def notes(model: LM) -> list[str]:
    """Return the notes on the parameters that the model's server refused."""
    return list(map(str, _refusals[model].made)) if model in _refusals else []


def note_refusals(model: LM, requests: Sequence[Instance]) -> None:
    """Add the notes to the settings of requests, which lm-eval logs with each sample."""
    if found := notes(model):
        for request in requests:
            context, settings = request.args
            request.arguments = (context, {**settings, REFUSED: found})
