"""What lets ``lm_eval --tasks riskeval`` find the studies without a flag.

lm-eval looks for tasks in its own folder and in ``--include_path``, and reads no entry points. So this file is
installed beside the package, as ``_confidence_tasks_lm_eval.py``. A ``.pth`` file has every start of Python watch for
the import of ``lm_eval.tasks``; only then is this module imported, and adds to lm-eval's index of tasks every study in
the catalogue, those of other packages among them, and the simulated model. From Python 3.15 on, a ``.start`` file
(PEP 829) calls `install` instead. ``CONFIDENCE_TASKS_LM_EVAL=0`` in the environment switches it off.

Nothing here may import the package before lm-eval is imported. lm-eval must start whatever goes wrong here: a version
that has changed too much costs one line of warning, and an uninstalled package nothing.
"""

import os
import sys

TYPE_CHECKING = False  # as a start of Python 3.15 imports this, without the cost of importing typing
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

SWITCH = "CONFIDENCE_TASKS_LM_EVAL"
_TARGET = "lm_eval.tasks"

_searching = False
_warned = False


def install() -> None:
    """Watch for the import of lm-eval's tasks: this module is the import finder."""
    sys.meta_path.insert(0, sys.modules[__name__])


def find_spec(
    name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
) -> "ModuleSpec | None":
    """Let every module pass but lm-eval's tasks, which get ours."""
    global _searching
    if name != _TARGET or _searching or os.environ.get(SWITCH) == "0":
        return None
    _searching = True
    try:
        return _extended_spec(name)
    except Exception:
        return None
    finally:
        _searching = False


def _extended_spec(name: str) -> "ModuleSpec | None":
    """Find the module as usual, and add the studies once it has been executed."""
    from importlib import util

    spec = util.find_spec(name)
    if spec is None or spec.loader is None or util.find_spec("confidence_tasks") is None:
        return spec
    execute = spec.loader.exec_module

    def exec_module(module: "ModuleType") -> None:
        execute(module)
        _extend()

    spec.loader.exec_module = exec_module  # type: ignore[method-assign]
    return spec


def _extend() -> None:
    """Add the studies and the simulated model to lm-eval, once its tasks have been imported; say mistakes in a line."""
    for add in (_add_studies, _add_model, _say_mistakes):
        try:
            add()
        except Exception as error:
            _warn(error)


def _add_studies() -> None:
    from confidence_tasks.harness.compat import extend_lm_eval_index

    extend_lm_eval_index(_configurations, _warn)


def _configurations() -> "Iterable[tuple[str, dict[str, Any]]]":
    """Yield the name and the configuration of each task and group of every study."""
    from confidence_tasks.catalogue import studies
    from confidence_tasks.harness.lm_eval.groups import task_groups

    for group in task_groups(studies()):
        yield from group.configurations()


def _add_model() -> None:
    from confidence_tasks.harness.compat import register_lm_eval_model

    register_lm_eval_model("simulated", "confidence_tasks.harness.lm_eval.simulated:SimulatedLM")


def _say_mistakes() -> None:
    from confidence_tasks.harness.lm_eval.groups import say_mistakes

    say_mistakes()


def _warn(error: Exception) -> None:
    """Say once what lm-eval goes without, and what helps."""
    global _warned
    if not _warned:
        _warned = True
        import logging

        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        logging.getLogger("confidence_tasks").warning(
            "confidence_tasks could not add its tasks to this version of lm-eval (%s): add "
            '--include_path "$(confidence-tasks lm-eval-path)"',
            said,
        )
