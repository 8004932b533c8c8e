"""Calls of a question that several conditions share are made once."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio
from inspect_ai.model import ModelOutput


@dataclasses.dataclass
class QuestionCalls:
    """The calls of one question. Equal calls are made once; later ones wait for the reply."""

    n_pending: int
    locks: dict[object, anyio.Lock] = dataclasses.field(default_factory=lambda: defaultdict(anyio.Lock))
    outputs: dict[object, ModelOutput] = dataclasses.field(default_factory=dict)

    async def __call__(self, key: object, call: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        """Return the output of a call, which is made unless an equal one was."""
        async with self.locks[key]:
            if key not in self.outputs:
                self.outputs[key] = await call()
            return self.outputs[key]


@dataclasses.dataclass
class SharedCalls:
    """The calls of all questions. A question's calls are dropped when all its conditions have been asked."""

    n_conditions: int
    questions: dict[object, QuestionCalls] = dataclasses.field(default_factory=dict)

    @contextmanager
    def for_question(self, key: object) -> Iterator[QuestionCalls]:
        """Yield the calls of a question under all of its conditions; the last one forgets them."""
        calls = self.questions.setdefault(key, QuestionCalls(self.n_conditions))
        try:
            yield calls
        finally:
            calls.n_pending -= 1
            if not calls.n_pending:
                self.questions.pop(key, None)
