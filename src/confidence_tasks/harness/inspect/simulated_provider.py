"""Inspect's provider of simulated subjects: ``--model simulated/overconfident -M meta_d_prime=0.8``."""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="simulated")
def simulated() -> type[ModelAPI]:
    """Return the model's class, which is imported when a subject is asked for and not at every start of Inspect."""
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject

    return SimulatedSubject
