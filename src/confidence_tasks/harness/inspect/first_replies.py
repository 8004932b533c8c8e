"""The first replies of each model of a task: the run stops if none can be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from inspect_ai.model import Model, ModelAPI, ModelOutput

from confidence_tasks.harness.compat import running_eval
from confidence_tasks.harness.first_replies import FirstReplies, UnfinishedError, more_room
from confidence_tasks.harness.inspect.model_replies import reply_text, why_stopped


@dataclass(frozen=True)
class FirstRepliesOfModels:
    """The first replies of each model in a run, in each of its roles; the model under test has the role ``""``.

    A task may run again, with another limit.
    """

    _found: WeakKeyDictionary[ModelAPI, dict[tuple[str, str], FirstReplies]] = field(
        default_factory=WeakKeyDictionary
    )

    def check(self, model: Model, role: str = "") -> None:
        """Raise UnfinishedError if none of the first replies of the model could be used."""
        if fault := self._of(model, role).fault:
            raise UnfinishedError(fault)

    def note(
        self, model: Model, output: ModelOutput, role: str = "", *, problem: str = "", question: str = ""
    ) -> None:
        """Note whether a reply can be used; UnfinishedError if it is the last of too many that cannot.

        ``problem`` says why a reply of a role to a ``question`` cannot be used although it has a text. No study uses a
        role's reply that was cut off.
        """
        stop = why_stopped(output)
        problem = problem or (stop if role else "")
        self._of(model, role).note(reply_text(output), stop, problem, question)
        self.check(model, role)

    def _of(self, model: Model, role: str) -> FirstReplies:
        of_roles = self._found.setdefault(model.api, {})
        return of_roles.setdefault((running_eval(), role), FirstReplies(**_named(model, role)))


def _named(model: Model, role: str) -> Mapping[str, Any]:
    """Return how messages name a model, and what its user can do."""
    if not role:
        return {"model": str(model), "fix": more_room("--max-tokens 8192")}
    return {
        "model": f"{model}, the model of the role {role},",
        "wanted": "can be used",
        "fix": (
            f"Choose another model, --model-role {role}=PROVIDER/MODEL, or give a reasoning model more room,"
            f" --model-role '{role}={{model: {model}, max_tokens: 8192}}'"
        ),
    }
