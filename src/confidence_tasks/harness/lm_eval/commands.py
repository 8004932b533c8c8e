"""What ``lm_eval`` says on the command line of a user's mistakes, and the command ``confidence-tasks lm-eval-path``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import PurePath

import click

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import say_errors
from confidence_tasks.harness.lm_eval.groups import stub_folder, task_groups
from confidence_tasks.sources.source import SourceError
from confidence_tasks.study.parameter import meant


@click.command("lm-eval-path")
def lm_eval_path() -> None:
    """Print the folder for ``lm_eval --include_path``, where its start-up hook is switched off.

    The folder lies in the user's cache; it is written when it is first asked for.
    """
    click.echo(stub_folder(studies()))


_NOT_FOUND = "Tasks not found: "
_NO_KEY = "API key not found"
_NO_MODEL = re.compile(r"Attempted to load model '(.*)', but .* Supported model names: (.*)")
"""How messages of lm-eval begin, and what they list."""

_EXTRA = frozenset({"torch", "transformers", "accelerate"})
"""Modules that ``--model hf`` needs."""


def say_mistakes() -> None:
    """Have the command ``lm_eval`` end with a line on what the user must put right, where it would with a traceback."""
    say_errors(lambda error: said_in_a_line(error) if _is_command(sys.argv) else "")


def _is_command(arguments: list[str]) -> bool:
    """Return whether Python runs lm-eval, by its script or as a module, and not a script of the user's."""
    path = PurePath(arguments[0] if arguments else "")
    return path.stem in ("lm_eval", "lm-eval") or path.parent.name == "lm_eval"


def said_in_a_line(error: BaseException) -> str:
    """Return what an error of the command ``lm_eval`` says to the user; empty if it is none of the user's.

    Examples
    --------
    >>> said_in_a_line(ValueError("Tasks not found: riskevl"))
    "there is no task 'riskevl'; did you mean 'riskeval'?"
    >>> said_in_a_line(ModuleNotFoundError("No module named 'torch'", name="torch"))
    "No module named 'torch': pip install 'confidence-tasks[hf]'"
    """
    text = str(error)
    if isinstance(error, SourceError) or text.startswith(_NO_KEY):
        return text
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA:
        return f"{text}: pip install 'confidence-tasks[hf]'"
    if text.startswith(_NOT_FOUND):
        return _nearest(text.removeprefix(_NOT_FOUND).split(", "))
    if no_model := _NO_MODEL.match(text):
        name, known = no_model.groups()
        return f"there is no model {name!r}{meant(name, known.split(', ')) or f'. There are {known}'}"
    return ""


def _nearest(missing: Iterable[str]) -> str:
    """Say which tasks of ours were probably meant; empty if none is near, as then those of lm-eval may be meant."""
    known = [name for group in task_groups(studies()) for name, _ in group.configurations()]
    hints = [f"there is no task {name!r}{near}" for name in missing if (near := meant(name, known))]
    return ". ".join(hints)
