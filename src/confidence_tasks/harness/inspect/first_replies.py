"""A run stops if none of a model's first replies has a text, before the others are paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from inspect_ai.model import Model, ModelAPI, ModelOutput

from confidence_tasks.harness.inspect.model_replies import reply_text, why_stopped
from confidence_tasks.harness.refusals import FIRST_REPLIES, StopError
from confidence_tasks.harness.stopped import PROBLEMS
from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.thoughts import strip_thoughts


class UnfinishedError(StopError):
    """None of the first replies of a model has a text."""


_FIX = (
    "A reasoning model needs more room, such as --max-tokens 8192, or less reasoning; a server that returns nothing but"
    " reasoning may need its reasoning parser"
)


@dataclass(frozen=True)
class FirstReplies:
    """Counts the first replies of each model that were empty or reasoning only, until one has a text.

    Replies that a content filter stopped are not counted: they depend on the question.
    """

    _unread: WeakKeyDictionary[ModelAPI, float] = field(default_factory=WeakKeyDictionary)
    _faults: WeakKeyDictionary[ModelAPI, str] = field(default_factory=WeakKeyDictionary)

    def check(self, model: Model) -> None:
        """Raise UnfinishedError if the first replies of the model had no text."""
        if fault := self._faults.get(model.api):
            raise UnfinishedError(fault)

    def note(self, model: Model, output: ModelOutput) -> None:
        """Note whether a reply has a text after its thoughts; UnfinishedError if it is the last of too many without."""
        stop = why_stopped(output)
        if strip_thoughts(truncate_reply(reply_text(output))).strip():
            self._unread[model.api] = math.inf
        elif stop != "filter":
            self._count(model, f"the last one was {PROBLEMS[stop]}" if stop else "the last one was empty")

    def _count(self, model: Model, problem: str) -> None:
        n_unread = self._unread[model.api] = self._unread.get(model.api, 0.0) + 1
        if n_unread == FIRST_REPLIES:
            self._faults[model.api] = (
                f"none of the first {FIRST_REPLIES} replies of {model} has a text, so the run stops before more are"
                f" paid for ({problem}). {_FIX}"
            )
            self.check(model)
