"""Which providers of Inspect send a response schema: the others ignore it silently, so that they are refused."""

from __future__ import annotations

from inspect_ai.model import Model

from confidence_tasks.harness.compat import built_in_provider

IGNORING = frozenset(
    {
        "azureai",
        "hf",
        "nnterp",
        "openai_compatible_completions",
        "openai_completions",
        "transformer_lens",
        "vllm_completions",
    }
)
"""Modules of providers that ignore a response schema."""

DEGRADING = frozenset({"deepseek"})
"""Modules of providers that ask for any JSON instead of the schema."""


def schema_problem(model: Model) -> str:
    """Return why a model's provider cannot be given a response schema; empty if it can."""
    provider = built_in_provider(model)
    if provider in IGNORING or (provider == "bedrock" and "claude" not in model.name):
        return f"the provider of {model} ignores response schemas: leave out structured"
    if provider in DEGRADING:
        return f"the provider of {model} replaces response schemas by any JSON: leave out structured"
    return ""
