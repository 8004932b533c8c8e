"""What Inspect loads at every start: the tasks and scorers of every study, and the simulated models.

None of the modules imported here may import scipy, pandas, datasets, matplotlib or torch before it is used; a test
measures it.
"""

from importlib import import_module

from confidence_tasks.catalogue import own_packages, studies
from confidence_tasks.harness.inspect.metrics import study_metrics
from confidence_tasks.harness.inspect.simulated_provider import simulated, simulated_instrument
from confidence_tasks.harness.inspect.staged import study_task

__all__ = ["simulated", "simulated_instrument", "study_metrics"]

_own = set(own_packages())
for _study in studies():
    if _study.stages:
        # Of other packages too: Inspect knows them by the name of their package.
        _named = {_study.name: study_task(_study), _study.scorer_name: _study.make_scorer}
    elif _study.module in _own:
        _task = import_module(f"{_study.module}.task")
        _named = {name: getattr(_task, name) for name in _study.designs}
        _named[_study.scorer_name] = _study.make_scorer
    else:
        continue
    globals().update(_named)
    __all__ += _named
