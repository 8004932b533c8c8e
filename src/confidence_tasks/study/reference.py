"""References to objects that are imported when they are first used.

Inspect loads every study whenever it starts. A study therefore refers to its report and its simulated subject by name,
and no statistics, tables or figures are imported before they are needed. ``np`` is NumPy, also imported at its first
use.
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

from confidence_tasks.study.parameter import did_you_mean

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
    """The name of an object in a module. Calling the reference imports the object and calls it.

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
    """A module that is not imported: its attributes are references.

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
    """Return the entries with references replaced by their objects, and tuples replaced by their items.

    Examples
    --------
    >>> loaded([Reference("string", "digits"), ("a", "b")])
    ['0123456789', 'a', 'b']
    """
    values: list[Any] = []
    for entry in entries:
        value = entry.load() if isinstance(entry, Reference) else entry
        values += value if isinstance(value, tuple) else [value]
    return values


_STATISTICS = Path(__file__).parents[1] / "statistics"

_PASSED_BY_MEASURES = frozenset({"weights", "questions"})
"""Parameters of statistics that are no options, because measures pass them."""


def statistic(name: str) -> Any:
    """Return a function or class of ``confidence_tasks.statistics``, in whatever module it is defined.

    Examples
    --------
    >>> statistic("mce")([1, 1, 0, 1], [0.9, 0.9, 0.9, 0.5])
    0.5
    """
    return getattr(import_module(_definitions()[name][0]), name)


def check_statistic(name: str, n_columns: int, options: Iterable[str], method: str = "") -> None:
    """Check that a function of ``confidence_tasks.statistics``, or a method of a class, takes some columns and options.

    Columns are positional arguments, options are keyword arguments. ValueError if there is no such function or option,
    or the function takes fewer columns.

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
        raise ValueError(f"there is no statistic {name!r}{did_you_mean(name, definitions)}")
    parameters = _parameters(name, method)
    columns = [each.arg for each in (*parameters.posonlyargs, *parameters.args) if each.arg != "cls"]
    known = {*columns[n_columns:], *(each.arg for each in parameters.kwonlyargs)} - _PASSED_BY_MEASURES
    for option in options:
        if option not in known and parameters.kwarg is None:
            raise ValueError(f"statistic {name!r} has no option {option!r}{did_you_mean(option, known)}")
    if n_columns > len(columns) and parameters.vararg is None:
        raise ValueError(f"statistic {name!r} takes {len(columns)} columns at most, not {n_columns}")


@cache
def _definitions() -> dict[str, tuple[str, str, int]]:
    """Return for each statistic its module, the text of the module, and the position of the definition in the text.

    The files are read instead of imported, because an import would load NumPy and SciPy.
    """
    definitions: dict[str, tuple[str, str, int]] = {}
    for path in sorted(_STATISTICS.rglob("*.py")):
        parts = path.relative_to(_STATISTICS.parent).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        for head in re.finditer(r"\n(?:class|def) ([A-Za-z]\w*)", text):
            definitions[head[1]] = ".".join(("confidence_tasks", *parts)), text, head.start() + 1
    return definitions


@cache
def _parameters(name: str, method: str) -> ast.arguments:
    """Return the parameters of a function, or of a method of a class.

    Only the head of the definition is parsed. Parsing whole modules would take a tenth of a second at every start.
    """
    _, text, start = _definitions()[name]
    start = text.index(f"    def {method}(", start) if method else start
    head = dedent(text[start : text.index(":\n", start)])
    function = ast.parse(f"{head}: ...").body[0]
    if not isinstance(function, ast.FunctionDef):
        raise ValueError(f"statistic {name!r} is a class, which a measure cannot call")
    return function.args
