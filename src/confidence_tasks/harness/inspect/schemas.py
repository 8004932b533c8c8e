"""Response schemas: which providers of Inspect send one, and whether the server behind a provider follows it.

A provider that ignores schemas is refused before the first call. Other providers send them to servers of anybody, such
as those of OpenAI's protocol, of which nothing is known before the first reply.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from inspect_ai.model import Model, ModelAPI, ModelOutput, ResponseSchema, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema, concurrency

from confidence_tasks.harness.compat import built_in_provider, prerequisite_error
from confidence_tasks.harness.parameters import is_single
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.study.stage import Stage
from confidence_tasks.study.structured import is_structured
from confidence_tasks.study.trial import Item, Question

IGNORING = frozenset(
    {
        "azureai",
        "hf",
        "nnterp",
        "openai_compatible_completions",
        "transformer_lens",
        "vllm_completions",
    }
)
"""Modules of providers that ignore a response schema."""

IGNORING_CLASSES = frozenset({"TogetherRESTAPI"})
"""Classes that ignore a response schema in a module with another one that sends it."""

DEGRADING = frozenset({"deepseek"})
"""Modules of providers that ask for any JSON instead of the schema."""

FOLLOWING = frozenset({"anthropic", "bedrock", "google", "grok", "groq", "mistral", "openai", "sagemaker"})
"""Modules of providers that send a response schema to servers that are known to follow it, or to refuse it."""


def schema_problem(model: Model) -> str:
    """Return why a model's provider cannot be given a response schema; empty if it can."""
    provider = built_in_provider(model)
    is_ignored = provider in IGNORING or type(model.api).__name__ in IGNORING_CLASSES
    if is_ignored or (provider == "bedrock" and "claude" not in model.name):
        return f"structured: the provider of {model} ignores response schemas: leave out structured"
    if provider in DEGRADING:
        return (
            f"structured: the provider of {model} replaces response schemas by any JSON: leave out structured"
        )
    return ""


def refuse_schemas(model: Model, question: Question | None = None) -> None:
    """Raise an error, which Inspect prints without a traceback, for a provider that cannot be given a schema.

    A question whose replies are texts needs none.
    """
    if question is not None and not is_structured(question):
        return
    if problem := schema_problem(model):
        raise prerequisite_error()(problem)


@solver
def refuse_without_schemas() -> Solver:
    """Return a solver that refuses the model under test if its provider cannot be given a schema."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        refuse_schemas(get_model())
        return state

    return solve


def response_schema(schema: Mapping[str, Any], name: str = "reply") -> ResponseSchema:
    """Return a JSON schema as a setting of generation."""
    return ResponseSchema(
        name=name,
        description="The reply",  # a missing one is sent as null, which servers refuse
        json_schema=JSONSchema.model_validate(dict(schema)),
        strict=True,
    )


def schema_setting(stage: Stage, question: Question, condition: str) -> dict[str, Any]:
    """Return the setting of generation that makes a reply a JSON object; empty for a text."""
    structured = stage.structured_for(question)
    if structured is None:
        return {}
    return {"response_schema": response_schema(structured.schema(question, condition), stage.name)}


def shared_schema(stages: Sequence[Stage], items: Sequence[Item]) -> dict[str, Any]:
    """Return the response schema that all calls of a task share, so that the header of the log shows it."""
    if not is_single(stages):
        return {}
    first, *others = (schema_setting(stages[0], item.question, item.condition) for item in items)
    return first if all(other == first for other in others) else {}


class SchemaError(RuntimeError):
    """The server of the model under test does not follow response schemas."""


@dataclass(frozen=True)
class SchemaGate:
    """Makes the first call of a model alone, and the others if its reply is a JSON object.

    Models whose servers are known to follow schemas need no such first call.
    """

    _faults: WeakKeyDictionary[ModelAPI, str] = field(default_factory=WeakKeyDictionary)

    async def __call__(self, model: Model, call: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        """Await ``call`` and return its result; SchemaError if the first reply of the model was no JSON object."""
        if built_in_provider(model) not in FOLLOWING and model.api not in self._faults:
            async with concurrency(f"response schema {id(model.api)}", 1, visible=False):
                if model.api not in self._faults:
                    return self._recorded(model, await call())
        self._raise_fault(model)
        return await call()

    def _recorded(self, model: Model, output: ModelOutput) -> ModelOutput:
        """Record what a reply says about its server: nothing if it is empty or unfinished."""
        text = strip_thoughts(output.completion).strip() if output.choices else ""
        if text and output.stop_reason == "stop":
            self._faults[model.api] = "" if _is_object(text) else text[:80]
            self._raise_fault(model)
        return output

    def _raise_fault(self, model: Model) -> None:
        if fault := self._faults.get(model.api):
            raise SchemaError(
                f"structured: the server of {model} does not follow response schemas, as its first reply is no JSON"
                f" object: {fault!r}. Leave out structured, or use a server with structured output"
            )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
