"""What an endpoint is sent, and what it sends: the text of a reply and why it ended, or why there is no reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confidence_tasks.harness.lm_eval.chat import merge_system
from confidence_tasks.harness.lm_eval.generated import UNCOUNTED, Generated, Used, read_usage
from confidence_tasks.harness.lm_eval.listed_tokens import most_alternatives, read_tokens
from confidence_tasks.harness.refusals import SYSTEM, Refusals, quoted, read_refusal
from confidence_tasks.harness.stopped import STOPS

_THOUGHTS = ("reasoning_content", "reasoning")
"""Fields of a message that hold its thought."""

_FILTERED = ("content_filter", "content_policy_violation")
"""Codes of a server that refuses a prompt because of its content."""


def with_system(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload with its system message as one of its parameters, if it has one."""
    system = {SYSTEM: True} if _begins_with_system(payload.get("messages")) else {}
    return {**payload, **system}


def _begins_with_system(turns: object) -> bool:
    roles = [turn.get("role") for turn in turns[:2]] if isinstance(turns, list) else []
    return roles == ["system", "user"]


def as_posted(payload: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return a payload of `with_system` as it is posted: merged, if its system message was left out.

    Examples
    --------
    >>> turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    >>> as_posted(with_system({"messages": turns}))["messages"] == turns
    True
    >>> as_posted({"messages": turns})["messages"]
    [{'role': 'user', 'content': 'Be brief.\n\nHi'}]
    """
    posted = {name: value for name, value in payload.items() if name != SYSTEM}
    turns: Any = payload.get("messages")
    if SYSTEM not in payload and _begins_with_system(turns):
        posted["messages"] = merge_system(turns)
    return posted


def read_body(text: str, n_replies: int) -> tuple[dict[str, Any], str]:
    """Return the JSON of a server's reply to ``n_replies`` prompts, and why it holds no such replies.

    Examples
    --------
    >>> read_body("<!DOCTYPE html><h1>504", 1)
    ({}, 'it answered HTML instead of JSON: “<!DOCTYPE html><h1>504”')
    >>> read_body('{"choices": [{"mess', 1)
    ({}, 'it answered something that is not JSON: “{"choices": [{"mess”')
    >>> read_body('{"error": {"message": "Overloaded"}}', 1)
    ({}, 'it answered without a reply: “Overloaded”')
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        kind = "HTML instead of" if text.lstrip().startswith("<") else "something that is not"
        return {}, f"it answered {kind} JSON: {quoted(text)}"
    replies = body.get("choices", body.get("content")) if isinstance(body, dict) else None
    # Anthropic's endpoint answers with a list of parts.
    if not isinstance(replies, list) or len(replies) < n_replies or not all(map(_is_object, replies)):
        return {}, f"it answered without a reply: {quoted(read_refusal(text)[0])}"
    return body, ""


def _is_object(part: object) -> bool:
    return isinstance(part, dict)


def is_filtered_prompt(text: str) -> bool:
    """Return whether a server refuses a prompt because of its content.

    Examples
    --------
    >>> is_filtered_prompt('{"error": {"message": "filtered", "code": "content_filter"}}')
    True
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return False
    inner = body.get("error") if isinstance(body, dict) else None
    return isinstance(inner, dict) and inner.get("code") in _FILTERED


def filtered_replies(n_replies: int) -> dict[str, Any]:
    """Return what a server would answer to filtered prompts if it did not refuse them."""
    return {
        "choices": [
            {"index": i, "finish_reason": "content_filter", "text": "", "message": {"content": ""}}
            for i in range(n_replies)
        ]
    }


def generations(output: dict[str, Any], parse: Callable[[Any], Sequence[str | None]]) -> list[Generated]:
    """Return the replies in the JSON of a server, with the reasons why they ended.

    ``parse(output)`` is lm-eval's own function, which takes a message only if it is a text.
    """
    choices, used = output.get("choices"), read_usage(output.get("usage"))
    if not isinstance(choices, list):
        stop = STOPS.get(str(output.get("stop_reason")), "")
        return [Generated(text or "", stop, used=used) for text in parse(output)]
    ordered = sorted(choices, key=lambda choice: choice.get("index", 0))
    numbered = [_with_text({**choice, "index": i}) for i, choice in enumerate(ordered)]
    texts = parse({**output, "choices": numbered})
    used = used if len(ordered) == 1 else UNCOUNTED  # a server counts all prompts of a call together
    return [_generated(text or "", choice, used) for text, choice in zip(texts, ordered, strict=True)]


def with_choices(replies: Sequence[Generated], output: Mapping[str, Any]) -> Generated:
    """Return the first choice of a call, which has the counts of the call and the other choices."""
    first, *others = replies
    first.used, first.choices = read_usage(output.get("usage")), tuple(others)
    for other in others:
        other.used = Used(*(0.0 * count for count in first.used))  # NaN stays NaN
    return first


def lowered(output: Mapping[str, Any], sent: Mapping[str, Any], refusals: Refusals) -> list[str]:
    """Return the notes on parameters that a server lowers without a word."""
    n_choices = len(output.get("choices", ()))
    return [
        *refusals.note_alternatives(sent, most_alternatives(output)),
        *refusals.note_choices(sent, n_choices),
    ]


def _with_text(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice whose message is a text: the content, its parts of text, or the words of a refusal."""
    message = choice.get("message")
    if not isinstance(message, dict):
        return {**choice, "text": _text(choice.get("text"))}
    text = _text(message.get("content")) or _text(message.get("refusal"))
    return {**choice, "message": {**message, "content": text}}


def _text(content: object) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if _is_object(part) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _generated(text: str, choice: Mapping[str, Any], used: Used) -> Generated:
    stop = STOPS.get(str(choice.get("finish_reason")), "")
    if stop == "filter":
        return Generated("", stop, used=used)  # the text is the provider's, not the model's
    is_thought = not text.strip() and _has_thought(choice.get("message"))
    return Generated(text, stop or ("thought" if is_thought else ""), used=used, tokens=read_tokens(choice))


def _has_thought(message: object) -> bool:
    if not isinstance(message, dict):
        return False
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    is_part = any(_is_object(part) and part.get("type") != "text" for part in parts)
    return is_part or any(message.get(name) for name in _THOUGHTS)
