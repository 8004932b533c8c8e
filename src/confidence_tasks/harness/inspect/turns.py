"""Conversations on Inspect as a later stage goes on with them."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentText,
)

from confidence_tasks.harness.conversation import visible_turn


def start_conversation(system: str, prompt: str) -> list[ChatMessage]:
    """Return a new conversation that ends in a prompt."""
    return append_prompt([ChatMessageSystem(content=system)] if system else [], prompt)


def append_prompt(conversation: list[ChatMessage], prompt: str) -> list[ChatMessage]:
    """Return a conversation that goes on with a prompt."""
    return [*map(_without_thought, conversation), ChatMessageUser(content=prompt)]


def begins_with_system(conversation: Sequence[ChatMessage]) -> bool:
    """Return whether a conversation begins with a system message before a turn of the user."""
    roles = [message.role for message in conversation[:2]]
    return roles == ["system", "user"]


def merge_system(conversation: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return a conversation whose system message stands before the first user turn."""
    system, first, *others = conversation
    text = f"{system.text}\n\n"
    content = (
        text + first.content if isinstance(first.content, str) else [ContentText(text=text), *first.content]
    )
    return [first.model_copy(update={"content": content}), *others]


def _without_thought(message: ChatMessage) -> ChatMessage:
    """Return a turn without its thought, which Inspect would send again as a text or a field of its own."""
    if not isinstance(message, ChatMessageAssistant):
        return message
    visible = visible_turn(message.text)
    return message if message.content == visible else message.model_copy(update={"content": visible})
