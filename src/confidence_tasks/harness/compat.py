"""The private parts of Inspect AI and lm-eval that the package uses; no other module touches any.

Each function says what it needs of a harness, and the versions that it was tested on. A harness is imported by the
functions that need it, so that this module can be imported beside a harness that has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import getattr_static
from pathlib import Path
from typing import Any


def extend_lm_eval_index(
    configurations: Callable[[], Iterable[tuple[str, Mapping[str, Any]]]], warn: Callable[[Exception], object]
) -> None:
    """Add tasks and groups to every index of lm-eval that has lm-eval's own tasks.

    A name that lm-eval or the user's ``--include_path`` has already keeps its meaning.

    Needs ``lm_eval.tasks.manager.TaskIndex`` with two static methods: ``build``, which returns the index, a dictionary
    of entries with a ``yaml_path``, and ``process_cfg(configuration, path, index)``, which adds an entry. Tested on
    lm-eval 0.4.12 and 0.4.13.

    Parameters
    ----------
    configurations : callable
        Returns the name and the configuration of each task and group. It is called when an index is built.
    warn : callable
        Called with what prevents an index from being extended; lm-eval goes on with its own tasks.

    Raises
    ------
    Exception
        If ``TaskIndex`` is missing or different.
    """
    manager = import_module("lm_eval.tasks.manager")
    built_in = Path(str(manager.__file__)).parent
    index_type = manager.TaskIndex
    build, process = (getattr_static(index_type, name) for name in ("build", "process_cfg"))
    if not (isinstance(build, staticmethod) and isinstance(process, staticmethod)):
        raise TypeError("TaskIndex.build and TaskIndex.process_cfg are not both static methods")

    def build_extended(*args: Any, **options: Any) -> Any:
        index = build(*args, **options)
        try:
            paths = (entry.yaml_path for entry in index.values())
            if any(path is not None and built_in in path.parents for path in paths):
                for name, configuration in configurations():
                    if name not in index:
                        process(_with_lazy_class(configuration), None, index)
        except Exception as error:
            warn(error)
        return index

    index_type.build = staticmethod(build_extended)


def _with_lazy_class(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration whose class is imported when its task is made.

    lm-eval passes the configuration to a class whose ``__init__`` has a parameter ``config``. Tested on lm-eval 0.4.12
    and 0.4.13.
    """
    if "class" not in configuration:
        return dict(configuration)
    make = configuration["class"]

    class LazyTask:
        def __new__(cls, config: Mapping[str, Any]) -> Any:
            return make(config=config)

        def __init__(self, config: Mapping[str, Any]) -> None:
            """Take a configuration; never called, for `__new__` returns a task of another class."""

    return {**configuration, "class": LazyTask}


def register_lm_eval_model(name: str, target: str) -> None:
    """Make a model known to ``lm_eval --model``, unless lm-eval has found its entry point itself.

    Needs ``lm_eval.api.registry.model_registry``. lm-eval registers its own models only while there are none, so
    they must come first. Tested on lm-eval 0.4.12 and 0.4.13.

    Parameters
    ----------
    name : str
        Name of the model.
    target : str
        Its module and class, separated by a colon.
    """
    import_module("lm_eval.models")
    registry = import_module("lm_eval.api.registry").model_registry
    if name not in registry:
        registry.register(name, target=target)
