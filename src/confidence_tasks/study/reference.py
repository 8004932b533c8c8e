"""References to parts of a study that are imported when they are first used.

Inspect loads every study at each start. A study therefore names its report, its simulated subject and its lm-eval tasks
by reference, so that no statistics, tables or figures are imported before they are needed. ``np`` is NumPy, imported
when it is first used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from confidence_tasks.study.parameter import meant

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        def __getattr__(self, name: str) -> Any:
            return self.__dict__.setdefault(name, getattr(import_module("numpy"), name))

    np = _NumPy()

__all__ = ["LazyModule", "Reference", "check_statistic", "loaded", "np", "statistic"]


@dataclass(frozen=True, slots=True)
class Reference:
    """An object named by its module; calling the reference calls the object.

    Examples
    --------
    >>> Reference("math", "sqrt")(9.0)
    3.0
    """

    module: str
    name: str

    def load(self) -> Any:
        """Import the module and return the object."""
        return getattr(import_module(self.module), self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object."""
        return self.load()(*args, **kwargs)


class LazyModule:
    """A module whose attributes are references.

    Examples
    --------
    >>> LazyModule("math").sqrt
    Reference(module='math', name='sqrt')
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Reference:
        if name.startswith("__"):
            raise AttributeError(name)
        return Reference(self._module, name)


def loaded(entries: Iterable[Any]) -> list[Any]:
    """Load the references among some entries; the entries of a tuple take its place.

    Examples
    --------
    >>> loaded([Reference("string", "digits"), ("a", "b")])
    ['0123456789', 'a', 'b']
    """
    found: list[Any] = []
    for entry in entries:
        value = entry.load() if isinstance(entry, Reference) else entry
        found += value if isinstance(value, tuple) else [value]
    return found


_STATISTICS = Path(__file__).parents[1] / "statistics"

_GIVEN = frozenset({"weights", "questions"})
"""Arguments that a measure passes itself."""


def statistic(name: str) -> Any:
    """Return a function or class of ``confidence_tasks.statistics``, whatever its family.

    Examples
    --------
    >>> statistic("mce")([1, 1, 0, 1], [0.9, 0.9, 0.9, 0.5])
    0.5
    """
    return getattr(import_module(_definitions()[name][0]), name)


def check_statistic(name: str, n_columns: int, options: Iterable[str], method: str = "") -> None:
    """Check a call of a function of ``confidence_tasks.statistics``, or of a class method, with columns and options.

    Columns are positional, options are keywords. ValueError if there is no such function, it has no such option, or it
    takes fewer columns.

    Examples
    --------
    >>> check_statistic("auroc", 2, [])
    Traceback (most recent call last):
    ...
    ValueError: there is no statistic 'auroc'; did you mean 'auroc2'?
    >>> check_statistic("ece", 2, ["n_bins"])
    Traceback (most recent call last):
    ...
    ValueError: statistic 'ece' has no option 'n_bins'; did you mean 'bins'?
    """
    definitions = _definitions()
    if name not in definitions:
        raise ValueError(f"there is no statistic {name!r}{meant(name, definitions)}")
    taken = _parameters(name, method)
    columns = [each.arg for each in (*taken.posonlyargs, *taken.args) if each.arg != "cls"]
    known = {*columns[n_columns:], *(each.arg for each in taken.kwonlyargs)} - _GIVEN
    for option in options:
        if option not in known and taken.kwarg is None:
            raise ValueError(f"statistic {name!r} has no option {option!r}{meant(option, known)}")
    if n_columns > len(columns) and taken.vararg is None:
        raise ValueError(f"statistic {name!r} takes {len(columns)} columns at most, not {n_columns}")


@cache
def _definitions() -> dict[str, tuple[str, str, int]]:
    """Return the module of each statistic by its name, the module's text, and where in it the definition begins.

    They are read off the files: importing them would import NumPy and SciPy at every start.
    """
    found: dict[str, tuple[str, str, int]] = {}
    for path in sorted(_STATISTICS.rglob("*.py")):
        parts = path.relative_to(_STATISTICS.parent).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        for head in re.finditer(r"\n(?:class|def) ([A-Za-z]\w*)", text):
            found[head[1]] = ".".join(("confidence_tasks", *parts)), text, head.start() + 1
    return found


@cache
def _parameters(name: str, method: str) -> ast.arguments:
    """Return the parameters of a function, or of a method of a class.

    Only the head of the definition is parsed: whole modules would take a tenth of a second of every start.
    """
    _, text, start = _definitions()[name]
    start = text.index(f"    def {method}(", start) if method else start
    head = dedent(text[start : text.index(":\n", start)])
    function = ast.parse(f"{head}: ...").body[0]
    if not isinstance(function, ast.FunctionDef):
        raise ValueError(f"statistic {name!r} is a class, which a measure cannot call")
    return function.args
