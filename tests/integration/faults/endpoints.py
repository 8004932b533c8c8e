"""The endpoints of OpenAI's protocol as forms of one: requests become chat requests, chat replies become theirs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from tests.integration.faults.speakers import Reply, Speaker, completion, tokens_of

Prompt = str | list[int]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A form of request and reply.

    Attributes
    ----------
    shape : callable
        From the chat reply to the one that is sent.
    scored : callable or None
        From a request and the speaker to the good reply, where that is not just what the speaker says.
    """

    shape: Callable[[Reply], Reply] = dict
    scored: Callable[[Mapping[str, Any], Speaker], Reply] | None = None


def as_chat(body: Mapping[str, Any], tokenizer: Any = None) -> dict[str, Any]:
    """Return a request with ``messages``, whatever its endpoint; a completions request also has its ``prompts``."""
    if "messages" in body:
        return dict(body)
    if "input" in body:
        messages = [{"role": turn["role"], "content": text_of(turn["content"])} for turn in body["input"]]
        logprobs = any("logprobs" in part for part in body.get("include") or [])
        return {**body, "messages": messages, "logprobs": logprobs}
    prompts = [_decoded(prompt, tokenizer) for prompt in _prompts(body["prompt"])]
    return {**body, "messages": [{"role": "user", "content": prompts[0]}], "prompts": prompts}


def text_of(content: Any) -> str:
    """Return the text of a turn, which may be a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def _prompts(prompt: Any) -> list[Prompt]:
    """Return the prompts of a completions request: one, or a list; each a text, or token ids."""
    return [prompt] if isinstance(prompt, str) or isinstance(prompt[0], int) else prompt


def _decoded(prompt: Prompt, tokenizer: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    if tokenizer is None:
        return " ".join(map(str, prompt))
    return str(tokenizer.decode(prompt, skip_special_tokens=False))


def _chat(asked: Mapping[str, Any], speak: Speaker) -> Reply:
    """Return a reply with as many choices as are asked for; each says what a request with the next seed would get."""
    whole = speak(asked)
    for number in range(1, asked.get("n") or 1):
        other = speak({**asked, "seed": (asked.get("seed") or 0) + number})
        whole["choices"].append({**other["choices"][0], "index": number})
        for name in ("completion_tokens", "total_tokens"):
            whole["usage"][name] += other["usage"]["completion_tokens"]
    return whole


def _completions(asked: Mapping[str, Any], speak: Speaker) -> Reply:
    """Return a reply with one choice for each prompt: the probabilities of its tokens where they are asked for."""
    whole = completion("")
    whole["choices"] = []
    for number, (prompt, text) in enumerate(zip(_prompts(asked["prompt"]), asked["prompts"], strict=True)):
        alone = {**asked, "messages": [{"role": "user", "content": text}], "logprobs": False}
        (choice,) = speak(alone)["choices"]
        tokens = [str(token) for token in prompt] if isinstance(prompt, list) else tokens_of(text)
        logprobs = scored_prompt(tokens) if asked.get("echo") else None
        whole["choices"].append({**choice, "index": number, "logprobs": logprobs})
    return whole


def scored_prompt(tokens: list[str]) -> dict[str, Any]:
    """Return the log-probabilities of a prompt's tokens and of one more, as a completions endpoint with ``echo``."""
    values: list[float | None] = [None]
    for token in tokens[1:]:  # not those before it, so that a thought changes nothing
        digest = blake2b(token.encode(), digest_size=2).digest()
        values.append(-5 - (int.from_bytes(digest) % 300) / 100)
    every, values = [*tokens, "x"], [*values, math.log(0.6)]
    tops = [None if value is None else {token: value} for token, value in zip(every, values, strict=True)]
    return {
        "tokens": every,
        "token_logprobs": values,
        "top_logprobs": tops,
        "text_offset": list(range(len(every))),
    }


def _as_completions(reply: Reply) -> Reply:
    choices = [
        {
            "index": choice["index"],
            "text": choice["message"]["content"],
            "finish_reason": choice["finish_reason"],
            "logprobs": choice.get("logprobs"),
        }
        for choice in reply["choices"]
    ]
    return {**reply, "object": "text_completion", "choices": choices}


_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def _as_responses(reply: Reply) -> Reply:
    """Return a reply of the responses endpoint; a reasoning field of the message becomes an item of its own."""
    (choice,) = reply["choices"]
    message, reason = choice["message"], _INCOMPLETE.get(choice["finish_reason"])
    logprobs = (choice.get("logprobs") or {}).get("content") or []
    text = {
        "type": "output_text",
        "text": message["content"] or "",
        "annotations": [],
        "logprobs": logprobs,
    }
    said = {"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": [text]}
    thought = [{"type": "reasoning", "id": "r", "summary": []}] if "reasoning_content" in message else []
    usage = reply["usage"] or dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"))
    return {
        **dict.fromkeys(("error", "instructions", "max_output_tokens")),
        "id": "resp",
        "object": "response",
        "created_at": 0,
        "model": reply["model"],
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [*thought, *([said] if message["content"] else [])],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage["total_tokens"],
        },
    }


ENDPOINTS: Mapping[str, Endpoint] = {
    "chat/completions": Endpoint(scored=_chat),
    "completions": Endpoint(_as_completions, _completions),
    "responses": Endpoint(_as_responses),
}
"""By the end of the address."""
