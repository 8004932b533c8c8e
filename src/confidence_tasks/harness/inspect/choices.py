"""Samples of a prompt that one call requests, as its choices."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

from inspect_ai.model import Model, ModelAPI, ModelOutput
from inspect_ai.util import concurrency

from confidence_tasks.harness.inspect.local_model import is_local
from confidence_tasks.study.stage import Stage


class Draw(NamedTuple):
    """The samples of a prompt that a call requests: from ``number`` on, ``n_choices`` of them."""

    number: int
    n_choices: int = 1


@dataclass(frozen=True)
class ChoicesGate:
    """Requests all samples that are missing by one call, or one of them if the server of the model gives no more.

    A server that gives one choice where several are requested is asked for single ones from then on. The first call
    that requests several is made alone, so that only one is made in vain. Models of Inspect's ``hf`` provider, which
    are seeded before each sample, are asked for single ones.
    """

    _gives_several: WeakKeyDictionary[ModelAPI, bool] = field(default_factory=WeakKeyDictionary)

    async def __call__(
        self, model: Model, stage: Stage, number: int, call: Callable[[Draw], Awaitable[ModelOutput]]
    ) -> ModelOutput:
        """Await ``call`` for the samples of a stage from ``number`` on, and return its result."""
        several = Draw(number, stage.samples - number)
        if not stage.one_request or several.n_choices == 1 or is_local(model):
            return await call(Draw(number))
        if model.api not in self._gives_several:
            async with concurrency(f"choices {id(model.api)}", 1, visible=False):
                if model.api not in self._gives_several:
                    output = await call(several)
                    self._gives_several[model.api] = len(output.choices) > 1
                    return output
        return await call(several if self._gives_several[model.api] else Draw(number))
