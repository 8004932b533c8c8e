"""Replies as objects that JSON can represent, as logs hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from confidence_tasks.study.stage import ModelReply, Replies, Token


def replies_to_json(replies: Replies) -> dict[str, list[dict[str, Any]]]:
    """Return replies as objects that JSON can represent, as the model gave them: reasoning is among the tokens."""
    return {name: [_to_store(reply) for reply in stage_replies] for name, stage_replies in replies.items()}


def _to_store(reply: ModelReply) -> dict[str, Any]:
    omitted = {"reasoning"} if reply.choice else {"reasoning", "choice"}
    return {name: value for name, value in asdict(reply).items() if name not in omitted}


def replies_from_json(stored: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[ModelReply]]:
    """Return the replies that :func:`replies_to_json` converted.

    Examples
    --------
    >>> replies = {"answer": [ModelReply("Paris", input_tokens=7.0, output_tokens=1.0)]}
    >>> replies_from_json(replies_to_json(replies)) == replies
    True
    """
    return {
        name: [_stored_reply(fields) for fields in stage_replies] for name, stage_replies in stored.items()
    }


_FILTERED = "I cannot answer this question."
"""Text that logs without ``stop`` hold instead of a reply that a content filter stopped."""


def _stored_reply(fields: Mapping[str, Any]) -> ModelReply:
    stored = {**fields, "tokens": tuple(Token(**token) for token in fields["tokens"])}
    if "stop" not in fields and fields["text"] == _FILTERED:
        stored |= {"text": "", "stop": "filter"}
    return ModelReply(**stored)
