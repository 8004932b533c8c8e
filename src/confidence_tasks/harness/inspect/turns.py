"""Conversations on Inspect as a later stage goes on with them."""

from __future__ import annotations

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

from confidence_tasks.harness.conversation import visible_turn


def start_conversation(system: str, prompt: str) -> list[ChatMessage]:
    """Return a new conversation that ends in a prompt."""
    return append_prompt([ChatMessageSystem(content=system)] if system else [], prompt)


def append_prompt(conversation: list[ChatMessage], prompt: str) -> list[ChatMessage]:
    """Return a conversation that goes on with a prompt."""
    return [*map(_without_thought, conversation), ChatMessageUser(content=prompt)]


def _without_thought(message: ChatMessage) -> ChatMessage:
    """Return a turn without its thought, which Inspect would send again as a text or a field of its own."""
    if not isinstance(message, ChatMessageAssistant):
        return message
    visible = visible_turn(message.text)
    return message if message.content == visible else message.model_copy(update={"content": visible})
