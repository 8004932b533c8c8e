"""Build the reference of what users call as HTML pages, from its docstrings.

    python docs/build_reference.py api-reference

Needs the extra ``docs``.
"""

import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pdoc

MODULES = (
    "confidence_tasks",
    "confidence_tasks.statistics",
    "confidence_tasks.sources",
    "confidence_tasks.study.question",
    "confidence_tasks.study.trial",
    "confidence_tasks.report",
    "confidence_tasks.simulation.subject",
    "confidence_tasks.simulation.profiles",
)
"""What has pages."""


def build(folder: Path) -> None:
    """Write the pages into ``folder``."""
    for name in MODULES:
        module = import_module(name)
        for public in getattr(module, "__all__", ()):
            value = getattr(module, public)
            setattr(module, public, value)  # pdoc does not see what a module imports when it is first used
            if inspect.isclass(value):
                _name_inherited_types(value)
    pdoc.render.configure(docformat="numpy", show_source=False)
    pdoc.pdoc(*MODULES, output_directory=folder)


def _name_inherited_types(cls: type) -> None:
    """Let pdoc read the annotations of inherited fields, which it looks up where the subclass is."""
    home: ModuleType = sys.modules[cls.__module__]
    for base in cls.__mro__[1:-1]:
        for name, value in vars(sys.modules[base.__module__]).items():
            if not hasattr(home, name):
                setattr(home, name, value)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
