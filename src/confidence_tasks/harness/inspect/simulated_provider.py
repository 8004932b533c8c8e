"""Inspect's providers of simulated models.

Subjects are ``--model simulated/overconfident -M meta_d_prime=0.8``, and the parsers and judges that help to score are
``--model-role judge=simulated_instrument/careless_judge``.
"""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="simulated")
def simulated() -> type[ModelAPI]:
    """Return the model's class, which is imported when a subject is asked for and not at every start of Inspect."""
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject

    return SimulatedSubject


@modelapi(name="simulated_instrument")
def simulated_instrument() -> type[ModelAPI]:
    """Return the class of simulated parsers and judges, imported when one is asked for."""
    from confidence_tasks.harness.inspect.simulated import SimulatedInstrument

    return SimulatedInstrument
