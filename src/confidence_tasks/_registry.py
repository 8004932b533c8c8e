"""What Inspect loads at every start: the tasks and scorers of every study, and the simulated models.

None of the modules imported here may import scipy, pandas, datasets, matplotlib or torch before it is used; a test
measures it.
"""

import re
import sys
from pathlib import PurePath

from inspect_ai.model import ModelAPI, modelapi

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import model_providers, say_errors
from confidence_tasks.harness.inspect.metrics import study_metrics
from confidence_tasks.harness.inspect.staged import study_task
from confidence_tasks.study.parameter import did_you_mean

__all__ = ["simulated", "simulated_instrument", "study_metrics"]


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


for _study in studies():
    # Of other packages too: Inspect knows them by the name of their package.
    _named = {_name: study_task(_study, _name) for _name in _study.designs}
    _named[_study.scorer_name] = _study.make_scorer
    globals().update(_named)
    __all__ += _named


def _said_in_a_line(error: BaseException) -> str:
    """Return what Inspect's error of a misspelt ``--model`` says to the user; empty of any other error."""
    text = str(error)
    if text.startswith("Model name "):
        return text
    misspelt = re.match(r"Model API (.*) of model .* not recognized", text)
    if not misspelt:
        return ""
    return f"there is no model provider {misspelt[1]!r}{did_you_mean(misspelt[1], model_providers())}"


# Inspect says of a task that it does not find no more than that there is none, and of a model in a traceback.
if PurePath(sys.argv[0] if sys.argv else "").stem == "inspect" and sys.argv[1:2] in (["eval"], ["eval-set"]):
    say_errors(_said_in_a_line)
    for _argument in sys.argv[2:]:
        _package, _, _name = _argument.partition("/")
        if _package == "confidence_tasks" and _name not in __all__:
            print(f"there is no task {_argument}{did_you_mean(_name, __all__)}", file=sys.stderr)
