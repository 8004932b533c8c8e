"""Error messages of the command ``lm_eval``: what a user got wrong, without a traceback."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import PurePath

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import shorten_tracebacks
from confidence_tasks.harness.lm_eval.groups import configurations
from confidence_tasks.harness.refusals import StopError
from confidence_tasks.sources import SourceError
from confidence_tasks.study.parameter import did_you_mean

_NOT_FOUND = "Tasks not found: "


_NO_KEY = "API key not found"


_NO_MODEL = re.compile(r"Attempted to load model '(.*)', but .* Supported model names: (.*)")
"""Parts of lm-eval's messages about an unknown task, a missing key and an unknown model."""


_EXTRA = frozenset({"torch", "transformers", "accelerate"})
"""Modules that ``--model hf`` needs."""


def shorten_lm_eval_tracebacks() -> None:
    """Make the command ``lm_eval`` print one line instead of a traceback for a user's mistake."""
    shorten_tracebacks(lambda error: describe_mistake(error) if _is_command(sys.argv) else "")


def _is_command(arguments: list[str]) -> bool:
    """Return whether Python runs the command ``lm_eval``, as a script or as a module."""
    path = PurePath(arguments[0] if arguments else "")
    return path.stem in ("lm_eval", "lm-eval") or path.parent.name == "lm_eval"


def describe_mistake(error: BaseException) -> str:
    """Return a message for an error of the command ``lm_eval``; empty if the error is not a user's mistake.

    Examples
    --------
    >>> describe_mistake(ValueError("Tasks not found: riskevl"))
    "there is no task 'riskevl'; did you mean 'riskeval'?"
    >>> describe_mistake(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "No module named 'torch': pip install 'confidence-tasks[hf]'"
    """
    text = str(error)
    if isinstance(error, SourceError | StopError) or text.startswith(_NO_KEY):
        return text
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA:
        return f"{text}: pip install 'confidence-tasks[hf]'"
    if text.startswith(_NOT_FOUND):
        return _suggest_tasks(text.removeprefix(_NOT_FOUND).split(", "))
    if no_model := _NO_MODEL.match(text):
        name, known = no_model.groups()
        return f"there is no model {name!r}{did_you_mean(name, known.split(', ')) or f'. There are {known}'}"
    return ""


def _suggest_tasks(missing: Iterable[str]) -> str:
    """Suggest tasks of this package with a similar name; empty if there are none, as lm-eval's may be meant."""
    known = [name for name, _ in configurations(studies())]
    hints = [f"there is no task {name!r}{hint}" for name in missing if (hint := did_you_mean(name, known))]
    return ". ".join(hints)
