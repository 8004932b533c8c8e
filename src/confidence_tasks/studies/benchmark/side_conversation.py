"""A sample's conversation on Inspect as plain text, in which a question about its answer is asked."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.solver import TaskState

from confidence_tasks.harness.conversation import visible_turn


def side_conversation(state: TaskState) -> tuple[list[ChatMessage], str]:
    """Return the conversation of a sample as plain text, and the final answer if the question has to repeat it.

    Calls and results of tools become text, because providers refuse them where no tools are offered, and a call without
    its result, as a limit leaves it, is refused everywhere. Reasoning is left out. A conversation of a single answer
    needs no repetition. Of a log without messages, it is the input and the output of the sample.
    """
    messages = state.messages or _question_and_answer(state)
    turns = [_as_turn(message, text) for message in messages if (text := _plain_text(message))]
    said = [turn for turn in turns if isinstance(turn, ChatMessageAssistant)]
    is_plain = len(said) == 1 and turns[-1] is said[0] and not any(map(_uses_tools, messages))
    return turns, "" if is_plain or not state.output.choices else visible_turn(state.output.completion)


def _question_and_answer(state: TaskState) -> list[ChatMessage]:
    asked = [ChatMessageUser(content=state.input)] if isinstance(state.input, str) else state.input
    return [*asked, *([state.output.message] if state.output.choices else ())]


def _as_turn(message: ChatMessage, text: str) -> ChatMessage:
    """Return a text as a message of the same role; results of tools are messages of the user."""
    if isinstance(message, ChatMessageSystem):
        return ChatMessageSystem(content=text)
    if isinstance(message, ChatMessageAssistant):
        return ChatMessageAssistant(content=text)
    return ChatMessageUser(content=text)


def _uses_tools(message: ChatMessage) -> bool:
    return isinstance(message, ChatMessageTool) or bool(getattr(message, "tool_calls", None))


def _plain_text(message: ChatMessage) -> str:
    """Return the text of a message without a thought; a call or a result of a tool is described in words."""
    parts: Sequence[str] = [message.text]
    if isinstance(message, ChatMessageAssistant):
        calls = [
            f"[I call the tool {call.function} with {call.arguments}]" for call in message.tool_calls or ()
        ]
        parts = [visible_turn(message.text), *calls]
    if isinstance(message, ChatMessageTool):
        parts = [f"[Result of the tool {message.function or ''}]", message.text]
    return "\n".join(part for part in parts if part.strip())
