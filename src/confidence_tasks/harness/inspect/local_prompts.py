"""Prompts that Inspect's ``hf`` provider renders on the user's machine, so that they can be checked before a call."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from inspect_ai.model import ChatMessage, ChatMessageSystem, Model
from inspect_ai.solver import TaskState

from confidence_tasks.harness.compat import hf_prompt
from confidence_tasks.harness.inspect.origin import note_fact
from confidence_tasks.harness.inspect.turns import merge_system
from confidence_tasks.harness.system_role import MOVED, SYSTEM_MESSAGE, RenderedPrompts, has_text


@dataclass(frozen=True, slots=True)
class LocalPrompts:
    """Makes sure that every system message and every condition reaches the model."""

    _rendered: RenderedPrompts = field(default_factory=RenderedPrompts)

    def reaching(
        self, model: Model, messages: list[ChatMessage], key: Hashable, state: TaskState
    ) -> list[ChatMessage]:
        """Return the messages of a call; a system message that the template drops stands before the first user turn.

        Raises ValueError if the template makes the prompts of two conditions or stages equal. ``key`` is what these
        have in common: the model and the question. Templates may drop thoughts and white space, so what the model
        said before and white space are no differences that must remain.
        """
        reaching = messages
        if isinstance(messages[0], ChatMessageSystem) and not _keeps_system(model, messages):
            reaching = merge_system(messages)
            note_fact(state, SYSTEM_MESSAGE, MOVED)
        asked = [(message.role, message.text.split()) for message in messages if message.role != "assistant"]
        self._rendered.add(key, hf_prompt(model, reaching), asked, str(state.metadata["condition"]))
        return reaching


def _keeps_system(model: Model, messages: list[ChatMessage]) -> bool:
    """Return whether the model's template keeps the system message; it may also refuse it with any error."""
    try:
        return has_text(hf_prompt(model, messages), messages[0].text)
    except Exception:
        hf_prompt(model, messages[1:])  # raises if the system message is not the reason
        return False
