"""Efforts of reasoning that a provider does not take are refused before the first call."""

from __future__ import annotations

from inspect_ai.model import Model

from confidence_tasks.harness.compat import built_in_provider

_WITHOUT_EFFORT = frozenset({"azureai", "hf", "nnterp", "transformer_lens"})
"""Inspect's providers that ignore the reasoning effort."""

_WITH_BUDGET = ("anthropic", "bedrock", "google", "openrouter")
"""Inspect's providers that use a number of reasoning tokens."""


def refuse_effort(model: Model, effort: str | None) -> None:
    """Raise ValueError if a model's provider is known to ignore the effort, so that the replies would not differ."""
    provider = built_in_provider(model)
    if effort is None or not provider:
        return
    if provider in _WITHOUT_EFFORT:
        raise ValueError(
            f"efforts: Inspect's {provider} provider ignores the effort for {model}: leave efforts out, or use "
            "another provider"
        )
    # mockllm, which is for tests, accepts any setting.
    if effort.isdecimal() and provider not in (*_WITH_BUDGET, "mockllm"):
        raise ValueError(
            f"efforts: Inspect's {provider} provider ignores a number of reasoning tokens for {model}; "
            f"{', '.join(_WITH_BUDGET)} use it: name efforts, such as low,high"
        )
