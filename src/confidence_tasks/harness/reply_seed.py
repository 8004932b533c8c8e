"""The seed that a sampled reply is asked for with."""

from __future__ import annotations

from inspect_ai.model import Model
from inspect_ai.solver import TaskState

from confidence_tasks.simulation.draws import pick

LARGEST_SEED = 2**31 - 1
"""Providers take seeds of 31 bits."""


def reply_seed(model: Model, state: TaskState, seed: int, *, simulated: int) -> int:
    """Return a seed of the reply's own: questions sampled with one seed would share their luck.

    Parameters
    ----------
    model : Model
        The model to be asked.
    state : TaskState
        The sample, whose id and epoch tell its reply from others.
    seed : int
        The task's seed.
    simulated : int
        What a simulated subject gets instead: the number of the repetition.
    """
    return simulated if is_simulated(model) else pick(LARGEST_SEED, seed, state.sample_id, state.epoch)


def is_simulated(model: Model) -> bool:
    """Return whether a model is a simulated subject."""
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject

    return isinstance(model.api, SimulatedSubject)
