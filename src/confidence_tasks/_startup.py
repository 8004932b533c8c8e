"""What lets ``lm_eval --tasks riskeval`` find our tasks without a flag.

lm-eval (0.4.12, 0.4.13) looks for tasks in its own folder and in ``--include_path``. Until it reads the entry points
of the group ``lm_eval.tasks``, this file is installed beside the package, as ``_confidence_tasks_lm_eval.py``. A
``.pth`` file has every start of Python watch for the import of lm-eval's task manager; only then is this module
imported, and adds our folder and our simulated model. From Python 3.15 on, a ``.start`` file (PEP 829) calls
`install` instead.
``CONFIDENCE_TASKS_LM_EVAL=0`` in the environment switches it off.

Nothing here may import the package, and whatever goes wrong here stays silent: lm-eval must start without us.
"""

import os
import sys

TYPE_CHECKING = False  # as a start of Python 3.15 imports this, without the cost of importing typing
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

SWITCH = "CONFIDENCE_TASKS_LM_EVAL"
_TARGET = "lm_eval.tasks.manager"

_searching = False


def install() -> None:
    """Watch for the import of lm-eval's task manager: this module is the import finder."""
    sys.meta_path.insert(0, sys.modules[__name__])


def find_spec(
    name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
) -> "ModuleSpec | None":
    """Let every module pass but lm-eval's task manager, which gets our folder."""
    global _searching
    if name != _TARGET or _searching or os.environ.get(SWITCH) == "0":
        return None
    _searching = True
    try:
        return _spec_with_our_folder(name)
    except Exception:
        return None
    finally:
        _searching = False


def _spec_with_our_folder(name: str) -> "ModuleSpec | None":
    """Find the module as usual, with our folder added once it has been executed."""
    from contextlib import suppress
    from importlib import util

    spec = util.find_spec(name)
    if spec is None or spec.loader is None:
        return spec
    execute = spec.loader.exec_module

    def exec_module(module: "ModuleType") -> None:
        execute(module)
        with suppress(Exception):
            _add_our_folder(module)
            _add_our_model()

    spec.loader.exec_module = exec_module  # type: ignore[method-assign]
    return spec


def _add_our_folder(manager: "ModuleType") -> None:
    """Index our folder between lm-eval's own and the user's, unless it is indexed already.

    It is there already when lm-eval has learnt to read our entry point, or when the user includes it.
    """
    from importlib import util
    from pathlib import Path

    package = util.find_spec("confidence_tasks")
    if package is None or not package.submodule_search_locations:
        return
    ours = Path(package.submodule_search_locations[0], "harness", "lm_eval")
    builtin = Path(manager.__file__ or "").parent
    build = manager.TaskIndex.build

    def build_with_ours(paths: "Sequence[Path]", **options: object) -> object:
        paths = list(paths)
        if builtin in paths and ours.resolve() not in [path.resolve() for path in paths]:
            paths.insert(paths.index(builtin) + 1, ours)
        return build(paths, **options)

    manager.TaskIndex.build = staticmethod(build_with_ours)


def _add_our_model() -> None:
    """Make ``--model simulated`` known, unless lm-eval has found its entry point itself."""
    # lm-eval registers its own models only while there are none: they must come first.
    import lm_eval.models  # noqa: F401
    from lm_eval.api.registry import model_registry

    if "simulated" not in model_registry:
        model_registry.register("simulated", target="confidence_tasks.harness.lm_eval.simulated:SimulatedLM")
