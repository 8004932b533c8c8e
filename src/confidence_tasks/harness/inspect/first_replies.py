"""The first replies of each model of a task: the run stops if none has a text."""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from inspect_ai.model import Model, ModelAPI, ModelOutput

from confidence_tasks.harness.first_replies import FirstReplies, UnfinishedError
from confidence_tasks.harness.inspect.model_replies import reply_text, why_stopped


@dataclass(frozen=True)
class FirstRepliesOfModels:
    """The first replies of each model."""

    _found: WeakKeyDictionary[ModelAPI, FirstReplies] = field(default_factory=WeakKeyDictionary)

    def check(self, model: Model) -> None:
        """Raise UnfinishedError if the first replies of the model had no text."""
        if fault := self._of(model).fault:
            raise UnfinishedError(fault)

    def note(self, model: Model, output: ModelOutput) -> None:
        """Note whether a reply has a text after its thoughts; UnfinishedError if it is the last of too many without."""
        self._of(model).note(reply_text(output), why_stopped(output))
        self.check(model)

    def _of(self, model: Model) -> FirstReplies:
        return self._found.setdefault(model.api, FirstReplies(str(model), "--max-tokens 8192"))
