"""Quirks of real model servers, by name: what they refuse, how they think, where they stop, which tokens they report.

An address such as ``http://127.0.0.1:PORT/think+top-5+half-empty/v1`` combines them; ``cut=10`` has a value, and
``half-`` before a name applies a quirk to half of the requests: the same half in every run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from tests.integration.faults.speakers import Reply, probabilities
from tests.integration.faults.wire import Behaviour, Wire, request_key


@dataclass
class Exchange:
    """A request and the reply to it, which quirks change.

    Attributes
    ----------
    attempt : int
        How many times the same was asked before.
    asked : dict
        The request as one of the chat protocol.
    reply : dict
        The good reply.
    value : str
        What stands behind ``=`` in the quirk's name.
    """

    attempt: int
    asked: dict[str, Any]
    reply: Reply
    value: str = ""

    @property
    def choices(self) -> list[dict[str, Any]]:
        return list(self.reply["choices"])

    @property
    def message(self) -> dict[str, Any]:
        found: dict[str, Any] = self.reply["choices"][0]["message"]
        return found

    @property
    def text(self) -> str:
        return str(self.message["content"] or "")

    def say(self, text: str | None, finish: str = "") -> None:
        """Change what the model says, with the probabilities of its tokens, and why it stops."""
        for choice in self.choices:
            choice["message"]["content"] = text
            choice["finish_reason"] = finish or choice["finish_reason"]
        self.report(text or "")

    def report(self, text: str) -> None:
        """Change the text whose tokens have log-probabilities, if there are any."""
        for choice in self.reported():
            choice["logprobs"] = probabilities(text, self.asked.get("top_logprobs") or 0)

    def reported(self) -> list[dict[str, Any]]:
        """Return the choices whose tokens have log-probabilities; not those of prompts that are scored."""
        return [choice for choice in self.choices if (choice.get("logprobs") or {}).get("content")]

    def tokens(self) -> Iterator[dict[str, Any]]:
        """Yield the reported tokens."""
        for choice in self.reported():
            yield from choice["logprobs"]["content"]


Quirk = Callable[[Exchange], Wire | None]
"""Changes the reply, or returns what is sent instead."""


# What is refused ----------------------------------------------------------------------------------------------------


def error(status: int, message: str, code: str = "", param: str = "") -> Callable[[Any], Wire]:
    """An error in the words of the protocol, which asks for no pause."""
    body = {"error": {"message": message, "type": "error", "param": param or None, "code": code}}
    return lambda exchange: Wire(status, json.dumps(body).encode(), headers={"retry-after-ms": "1"})


def refuses(
    name: str,
    message: str,
    unless: Callable[[Any], bool] = lambda value: False,
    status: int = 400,
    *,
    names_it: bool = True,
) -> Quirk:
    """Refuse a request that has a parameter, ``unless`` its value will do."""

    def quirk(exchange: Exchange) -> Wire | None:
        if name not in exchange.asked or unless(exchange.asked[name]):
            return None
        return error(status, message, "unsupported_parameter", name if names_it else "")(exchange)

    return quirk


def unsupported(name: str, unless: Callable[[Any], bool] = lambda value: value is None) -> Quirk:
    """Refuse a parameter as OpenAI does."""
    return refuses(name, f"Unsupported parameter: '{name}' is not supported with this model.", unless)


def every(*quirks: Quirk) -> Quirk:
    """Several quirks at once."""

    def quirk(exchange: Exchange) -> Wire | None:
        return next((wire for wire in (each(exchange) for each in quirks) if wire is not None), None)

    return quirk


_ONLY_ONE = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is."
_REFUSED: Mapping[str, Quirk] = {
    **{
        f"no-{name}": unsupported(name, lambda value: value is None or value is False)
        for name in (
            "temperature",
            "seed",
            "stop",
            "max_tokens",
            "max_completion_tokens",
            "top_logprobs",
            "n",
        )
    },
    "no-logprobs": refuses(
        "logprobs", "You are not allowed to request logprobs from this model", lambda v: not v
    ),
    "temperature-1": refuses("temperature", _ONLY_ONE, lambda value: value in (None, 1)),
    "temperature-above-0": refuses(
        "temperature", "`temperature` has to be a strictly positive float", lambda value: value != 0, 422
    ),
    "stop-not-empty": refuses(
        "stop", "'stop' must not be empty: array too short.", lambda value: value != []
    ),
    "top-5": refuses("top_logprobs", "top_logprobs must be between 0 and 5", lambda value: (value or 0) <= 5),
    "max-512": refuses("max_tokens", "max_tokens must be at most 512", lambda value: (value or 0) <= 512),
    "fixed-sampling": refuses(
        "temperature",
        "Only the default sampling is available.",
        lambda value: value in (None, 1),
        names_it=False,
    ),
    "no-reproduction": refuses("seed", "Replies cannot be reproduced here.", names_it=False),
    "no-schema": refuses("response_format", "This model does not support structured output."),
    "n-2": refuses("n", "'n' : number must be at most 2", lambda value: value in (None, 1, 2)),
    "no-system": refuses(
        "messages", "System role not supported", lambda turns: all(turn["role"] != "system" for turn in turns)
    ),
    "last-user": refuses("messages", "last message must be user", lambda turns: turns[-1]["role"] == "user"),
    "reasoning-model": every(
        unsupported("temperature", lambda value: value in (None, 1)),
        *(unsupported(name) for name in ("top_p", "top_logprobs", "presence_penalty", "max_tokens")),
        unsupported("logprobs", lambda value: not value),
        unsupported("stop", lambda value: not value),
    ),
    "rate": lambda exchange: (
        None if exchange.attempt else error(429, "Rate limit reached", "rate_limit_exceeded")(exchange)
    ),
    "quota": error(429, "You exceeded your current quota.", "insufficient_quota"),
    "error-200": lambda exchange: Wire(
        body=b'{"error": {"message": "Provider returned error", "code": 502}}'
    ),
    "html": lambda exchange: Wire(body=b"<!DOCTYPE html><h1>504 Gateway Time-out</h1>"),
    "half-a-line": lambda exchange: Wire(body=json.dumps(exchange.reply).encode()[:40]),
}


# How it thinks, and where it stops ----------------------------------------------------------------------------------

THOUGHT = (
    'Let me think. Perhaps Answer: Z\nConfidence: 5. Hmm {"Answer": "False", "Confidence": 0.05}. But no.'
)
"""A thought with drafts of answers, none of which is the reply."""


def wrapped(template: str) -> Quirk:
    """The reply with its thought, in a format of some model."""

    def quirk(exchange: Exchange) -> None:
        exchange.say(template.replace("THOUGHT", THOUGHT).replace("REPLY", exchange.text))

    return quirk


def said(content: Any, finish: str = "", **message: Any) -> Quirk:
    """Another message of the model."""

    def quirk(exchange: Exchange) -> None:
        exchange.say(content, finish)
        exchange.message.update(message)

    return quirk


def cut(exchange: Exchange) -> None:
    """Stop at the token limit after some characters, 8 by default."""
    exchange.say(exchange.text[: int(exchange.value or 8)], "length")


def thought_in(field: str, *, with_reply: bool = True) -> Quirk:
    """The thought in a field of its own, before the reply or instead of it."""

    def quirk(exchange: Exchange) -> None:
        exchange.message[field] = THOUGHT
        if not with_reply:
            exchange.say("", "length")

    return quirk


def _reply_in_the_thought(exchange: Exchange) -> None:
    exchange.message["reasoning"] = exchange.text
    exchange.say(None)


def _parts(exchange: Exchange) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
    exchange.message["content"] = [thought, {"type": "text", "text": exchange.text}]


def finish(reason: str | None) -> Quirk:
    """Another stop reason."""

    def quirk(exchange: Exchange) -> None:
        for choice in exchange.choices:
            choice["finish_reason"] = reason

    return quirk


_SAID: Mapping[str, Quirk] = {
    "think": wrapped("<think>\nTHOUGHT\n</think>\n\nREPLY"),
    "think-closed": wrapped("THOUGHT\n</think>\n\nREPLY"),
    "think-cut": said(f"<think>\n{THOUGHT}", "length"),
    "think-cut-bare": said(THOUGHT * 3, "length"),
    "channel": wrapped("<|channel>thought\nTHOUGHT<channel|>REPLY"),
    "harmony": wrapped(
        "<|channel|>analysis<|message|>THOUGHT<|end|><|start|>assistant<|channel|>final<|message|>REPLY<|return|>"
    ),
    "harmony-bare": wrapped("analysisTHOUGHTassistantfinalREPLY"),
    "reasoning": thought_in("reasoning_content"),
    "reasoning-only": thought_in("reasoning_content", with_reply=False),
    "reply-in-reasoning": _reply_in_the_thought,
    "parts": _parts,
    "empty": said("", "length"),
    "empty-stop": said("", "stop"),
    "null": said(None),
    "filter": said("", "content_filter"),
    "filter-half": lambda exchange: exchange.say(exchange.text[:8], "content_filter"),
    "refusal": said(None, refusal="I cannot help with that."),
    "refusal-in-words": said("I'm sorry, but I can't help with that."),
    "cut": cut,
    "finish-length": finish("length"),
    "finish-odd": finish("eos_token"),
    "finish-null": finish(None),
    "space": lambda exchange: exchange.say(f" \n{exchange.text}"),
    "end-token": lambda exchange: exchange.say(f"{exchange.text}<|im_end|>"),
    "echo-prompt": lambda exchange: exchange.say(
        f"{exchange.asked['messages'][-1]['content']}\n{exchange.text}"
    ),
}


# Which tokens it reports --------------------------------------------------------------------------------------------


def each_token(edit: Callable[[dict[str, Any]], Any]) -> Quirk:
    """Every reported token changed."""

    def quirk(exchange: Exchange) -> None:
        for token in list(exchange.tokens()):
            edit(token)

    return quirk


def logprobs(content: Any) -> Quirk:
    """Something else in place of the log-probabilities."""

    def quirk(exchange: Exchange) -> None:
        for choice in exchange.choices:
            choice["logprobs"] = deepcopy(content)

    return quirk


def third_token(logprob: float | None) -> Quirk:
    """Another log-probability of the third token."""

    def quirk(exchange: Exchange) -> None:
        for position, token in enumerate(exchange.tokens()):
            if position == 2:
                token["logprob"] = logprob

    return quirk


def _without_bytes(token: dict[str, Any]) -> None:
    for entry in [token, *token["top_logprobs"]]:
        del entry["bytes"]


def _legacy(exchange: Exchange) -> None:
    """The old form of log-probabilities."""
    for choice in exchange.reported():
        tokens = [token["token"] for token in choice["logprobs"]["content"]]
        choice["logprobs"] = {
            "tokens": tokens,
            "token_logprobs": [-0.1] * len(tokens),
            "top_logprobs": [{token: -0.1} for token in tokens],
            "text_offset": list(range(len(tokens))),
        }


def half_of_the_tokens(exchange: Exchange) -> None:
    for choice in exchange.reported():
        content = choice["logprobs"]["content"]
        del content[len(content) // 2 :]


def _end_token(exchange: Exchange) -> None:
    end = {"token": "<|im_end|>", "logprob": -28.7, "bytes": None, "top_logprobs": []}
    for choice in exchange.reported():
        choice["logprobs"]["content"].append(end)


_TOKENS: Mapping[str, Quirk] = {
    "lp-none": logprobs(None),
    "lp-content-null": logprobs({"content": None}),
    "lp-content-empty": logprobs({"content": []}),
    "lp-legacy": _legacy,
    "lp-half": half_of_the_tokens,
    "lp-end-token": _end_token,
    "lp-thought": lambda exchange: exchange.report(f"<think>\n{THOUGHT}\n</think>\n\n{exchange.text}"),
    "lp-third-null": third_token(None),
    "lp-third-9999": third_token(-9999.0),
    "lp-third-infinite": third_token(-math.inf),
    "lp-zero": each_token(lambda token: token.update(logprob=0.0)),
    "lp-other-tokens": each_token(lambda token: token.update(token="zebra", bytes=None)),
    "lp-ids": each_token(lambda token: token.update(token=f"token_id:{len(token['token'])}", bytes=None)),
    "top-empty": each_token(lambda token: token.update(top_logprobs=[])),
    "top-null": each_token(lambda token: token.update(top_logprobs=None)),
    "top-absent": each_token(lambda token: token.pop("top_logprobs")),
    "top-capped": each_token(lambda token: token.update(top_logprobs=token["top_logprobs"][:5])),
    "bytes-null": each_token(lambda token: token.update(bytes=None)),
    "bytes-absent": each_token(_without_bytes),
}


# Completions that score a prompt ------------------------------------------------------------------------------------


def scored(edit: Callable[[dict[str, list[Any]]], Any]) -> Quirk:
    """The log-probabilities of each prompt changed; only where these were asked for."""

    def quirk(exchange: Exchange) -> None:
        for choice in exchange.choices if exchange.asked.get("echo") else ():
            edit(choice["logprobs"])

    return quirk


def keep_last(n: int) -> Quirk:
    """Only the last tokens of each prompt."""
    return scored(lambda found: found.update({key: values[-n:] for key, values in found.items()}))


_SCORED: Mapping[str, Quirk] = {
    "generated-only": keep_last(1),
    "last-8": keep_last(8),
    "echo-none": lambda exchange: logprobs(None)(exchange) if exchange.asked.get("echo") else None,
    "echo-zero": scored(
        lambda found: found.update(token_logprobs=[None, *[0.0] * (len(found["tokens"]) - 1)])
    ),
    "echo-one-more": scored(
        lambda found: found.update({key: [values[0], *values] for key, values in found.items()})
    ),
    "echo-other-tokens": scored(lambda found: found.update(tokens=["zebra"] * len(found["tokens"]))),
    "shuffle": lambda exchange: exchange.reply["choices"].reverse(),
}


# The frame ----------------------------------------------------------------------------------------------------------


def usage(**counts: Any) -> Quirk:
    """Other counts of tokens; none without arguments."""
    return lambda exchange: exchange.reply.update(usage=counts or None)


def named(name: str) -> Quirk:
    """Another model's name."""
    return lambda exchange: exchange.reply.update(model=name)


def few_choices(exchange: Exchange) -> None:
    """Give fewer choices than are asked for: one by default."""
    del exchange.reply["choices"][int(exchange.value or 1) :]


_FRAME: Mapping[str, Quirk] = {
    "other-model": named("fallback-model-7b"),
    "usage-none": usage(),
    "usage-null": usage(prompt_tokens=None, completion_tokens=None, total_tokens=None),
    "usage-zero": usage(prompt_tokens=0, completion_tokens=0, total_tokens=0),
    "space-before": lambda exchange: Wire(body=b"\n \n" + json.dumps(exchange.reply).encode()),
    "choices": few_choices,
    "text": lambda exchange: exchange.say(exchange.value),
    "slow": lambda exchange: Wire(body=exchange.reply, delay=float(exchange.value or 1)),
}


PLAIN: Mapping[str, Quirk] = {"plain": lambda exchange: None}

QUIRKS: Mapping[str, Quirk] = PLAIN | _REFUSED | _SAID | _TOKENS | _SCORED | _FRAME
"""All quirks by name."""

HALF = "half-"


def quirky(names: str) -> Behaviour:
    """Return the behaviour of a server with some quirks, joined by ``+``; KeyError for an unknown one."""
    found = [_quirk(*part.partition("=")[::2]) for part in names.split("+")]

    def behaviour(attempt: int, asked: dict[str, Any], reply: Reply) -> Wire:
        exchange = Exchange(attempt, asked, reply)
        for quirk, exchange.value in found:
            if (wire := quirk(exchange)) is not None:
                return wire
        return Wire(body=exchange.reply)

    return behaviour


def _quirk(name: str, value: str) -> tuple[Quirk, str]:
    if name in QUIRKS:
        return QUIRKS[name], value
    quirk = QUIRKS[name.removeprefix(HALF)]
    return lambda exchange: quirk(exchange) if in_half(exchange.asked) else None, value


def in_half(asked: Mapping[str, Any]) -> bool:
    """Return whether a request is of the half that the quirks named ``half-...`` disturb."""
    return int(request_key(asked), 16) % 2 == 0
