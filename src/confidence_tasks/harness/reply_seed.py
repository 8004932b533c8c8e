"""The seed that a sampled reply is asked for with."""

from __future__ import annotations

from inspect_ai.model import Model

LARGEST_SEED = 2**31 - 1
"""Providers take seeds of 31 bits."""


def is_simulated(model: Model) -> bool:
    """Return whether a model is a simulated subject."""
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject

    return isinstance(model.api, SimulatedSubject)
