"""Start-up hook that lets ``lm_eval --tasks riskeval`` find the studies without ``--include_path``.

lm-eval finds tasks only in its own folder and in ``--include_path``; it reads no entry points. So this file is
installed beside the package as ``_confidence_tasks_lm_eval.py``, together with a ``.pth`` file. At every start of
Python, the ``.pth`` file adds an import finder that waits for ``lm_eval.tasks``. When that module is imported, the
finder imports this module, which adds all studies in the catalogue, including those of other packages, and the
simulated model to lm-eval. From Python 3.15 on, a ``.start`` file (PEP 829) calls `install` instead. The environment
variable ``CONFIDENCE_TASKS_LM_EVAL=0`` disables the hook.

This module must not import the package before lm-eval is imported. An error in this module must not stop lm-eval: if
lm-eval has changed too much, the hook logs one warning; if the package is uninstalled, it does nothing.
"""

import os
import sys

TYPE_CHECKING = False  # avoids importing typing, because Python 3.15 imports this module at every start
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
    """Install this module as an import finder."""
    sys.meta_path.insert(0, sys.modules[__name__])


def find_spec(
    name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
) -> "ModuleSpec | None":
    """Return the extended spec of ``lm_eval.tasks``; None for every other module."""
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
    """Return the module's normal spec, whose loader adds the studies after executing the module."""
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
    """Add the studies, the simulated model and short error messages to lm-eval."""
    for add in (_add_studies, _add_model, _shorten_tracebacks):
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
    from confidence_tasks.harness.lm_eval.groups import configurations

    yield from configurations(studies())


def _add_model() -> None:
    from confidence_tasks.harness.compat import register_lm_eval_model

    register_lm_eval_model("simulated", "confidence_tasks.harness.lm_eval.simulated:SimulatedLM")


def _shorten_tracebacks() -> None:
    from confidence_tasks.harness.lm_eval.mistakes import shorten_lm_eval_tracebacks

    shorten_lm_eval_tracebacks()


def _warn(error: Exception) -> None:
    """Log once that the studies are missing, and how to add them."""
    global _warned
    if not _warned:
        _warned = True
        import logging

        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        logging.getLogger("confidence_tasks").warning(
            "confidence_tasks could not add its tasks to this version of lm-eval (%s): add "
            '--include_path "$(confidence-tasks lm-eval-path)"',
            reason,
        )
