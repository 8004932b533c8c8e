"""What Inspect loads at every start: the tasks and scorers of every study, and the simulated subjects.

None of the modules imported here may import scipy, pandas, datasets, matplotlib or torch before it is used; a test
measures it.
"""

from importlib import import_module

from confidence_tasks.catalogue import own_packages
from confidence_tasks.harness.inspect.simulated_provider import simulated

__all__ = ["simulated"]

for _package in own_packages():
    _study, _task = import_module(_package).STUDY, import_module(f"{_package}.task")
    _named = {name: getattr(_task, name) for name in _study.designs} | {
        _study.scorer.name: _study.scorer.load()
    }
    globals().update(_named)
    __all__ += _named
