"""Entry point of Inspect, loaded at every start: the tasks and scorers of all studies, and the simulated models.

The modules imported here must import scipy, pandas, datasets, matplotlib and torch only inside functions; a test
measures the cost.
"""

import re
import sys
from pathlib import PurePath
from typing import Any

from inspect_ai.model import ModelAPI, modelapi
from inspect_ai.util import display_type
from rich.markup import render

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import (
    add_short_name,
    model_providers,
    prerequisite_error,
    shorten_tracebacks,
)
from confidence_tasks.harness.inspect.metrics import study_metrics
from confidence_tasks.harness.inspect.scoring import make_scorer
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.studies.benchmark.tasks import with_confidence
from confidence_tasks.study.parameter import did_you_mean

__all__ = ["simulated", "simulated_instrument", "study_metrics", "with_confidence"]


@modelapi(name="simulated")
def simulated() -> type[ModelAPI]:
    """Return the class of simulated subjects, imported on first use instead of at every start of Inspect."""
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject

    return SimulatedSubject


@modelapi(name="simulated_instrument")
def simulated_instrument() -> type[ModelAPI]:
    """Return the class of simulated parsers and judges, imported on first use."""
    from confidence_tasks.harness.inspect.simulated import SimulatedInstrument

    return SimulatedInstrument


for _study in studies():
    # Includes studies of other packages, which Inspect registers under the name of their package.
    _objects: dict[str, Any] = {_name: study_task(_study, _name) for _name in _study.designs}
    _objects[_study.scorer_name] = make_scorer(_study)
    # Logs hold the name without the package, and `inspect score LOG` looks for that.
    add_short_name(_objects[_study.scorer_name], _study.scorer_name)
    globals().update(_objects)
    __all__ += _objects


def _describe_mistake(error: BaseException) -> str:
    """Return what Inspect's error on a misspelt ``--model`` means, or a refusal that it does not print; else empty.

    Inspect prints refusals by the console that ``--display none`` silences.
    """
    if isinstance(error, prerequisite_error()) and display_type() == "none":
        return render(str(getattr(error, "message", ""))).plain.removeprefix("ERROR: ")
    text = str(error)
    if text.startswith("Model name "):
        return text
    if misspelt := re.match(r"Model API (.*) of model .* not recognized", text):
        return f"there is no model provider {misspelt[1]!r}{did_you_mean(misspelt[1], model_providers())}"
    return ""


_command = sys.argv[1:2] if PurePath(sys.argv[0] if sys.argv else "").stem == "inspect" else []
if _command in (["eval"], ["eval-set"], ["eval-retry"], ["score"]):
    shorten_tracebacks(_describe_mistake)
# Inspect's own message on an unknown task suggests no name, and that on an unknown model is a traceback.
if _command in (["eval"], ["eval-set"]):
    for _argument in sys.argv[2:]:
        _package, _, _name = _argument.partition("/")
        if _package == "confidence_tasks" and _name not in __all__:
            print(f"there is no task {_argument}{did_you_mean(_name, __all__)}", file=sys.stderr)
