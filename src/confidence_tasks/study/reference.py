"""References to parts of a study that are imported when they are first used.

Inspect loads every study at each start. A study therefore names its report, its simulated subject and its lm-eval tasks
by reference, so that no statistics, tables or figures are imported before they are needed.
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
from typing import Any

from confidence_tasks.statistics import FAMILIES
from confidence_tasks.study.parameter import meant


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


STATISTICS = "confidence_tasks.statistics"
_PACKAGE = Path(__file__).parents[1]

_GIVEN = frozenset({"weights", "questions"})
"""What a measure passes itself."""


def statistic(name: str) -> Any:
    """Return a function or class of ``confidence_tasks.statistics``, whatever its family.

    Examples
    --------
    >>> statistic("mce")([1, 1, 0, 1], [0.9, 0.9, 0.9, 0.5])
    0.5
    """
    return getattr(import_module(_homes()[name]), name)


def check_statistic(name: str, n_columns: int, options: Iterable[str], method: str = "") -> None:
    """Check that a function of ``confidence_tasks.statistics``, or a class method of a class, can be called so.

    It is given so many columns by position, and keyword options. ValueError if there is no such function, it has no
    such option, or it takes fewer columns.

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
    homes = _homes()
    if name not in homes:
        raise ValueError(f"there is no statistic {name!r}{meant(name, homes)}")
    taken = _parameters(homes[name], name, method)
    if taken is None:
        return  # an alias, whose parameters only its module knows
    columns = [each.arg for each in (*taken.posonlyargs, *taken.args) if each.arg != "cls"]
    known = {*columns[n_columns:], *(each.arg for each in taken.kwonlyargs)} - _GIVEN
    for option in options:
        if option not in known and taken.kwarg is None:
            raise ValueError(f"statistic {name!r} has no option {option!r}{meant(option, known)}")
    if n_columns > len(columns) and taken.vararg is None:
        raise ValueError(f"statistic {name!r} takes {len(columns)} columns at most, not {n_columns}")


@cache
def _homes() -> dict[str, str]:
    """Return the module of each public statistic by its name, read off the files of the families."""
    homes: dict[str, str] = {}
    for family in FAMILIES:
        module = f"{STATISTICS}.{family}"
        if not _path(module).is_dir():
            homes |= dict.fromkeys(re.findall(r"^(?:class|def) ([A-Za-z]\w*)", _source(module), re.M), module)
            continue
        for node in ast.parse(_source(module)).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                homes |= dict.fromkeys((alias.name for alias in node.names), node.module)
    return homes


def _path(module: str) -> Path:
    # Not importlib's find_spec, which imports the packages around a module, and NumPy and SciPy with them.
    return _PACKAGE.parent.joinpath(*module.split("."))


@cache
def _source(module: str) -> str:
    path = _path(module)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.read_text(encoding="utf-8")


@cache
def _parameters(module: str, name: str, method: str) -> ast.arguments | None:
    """Return the parameters of a function, or of a method of a class; None if its module does not define it.

    Only the head of the definition is parsed: whole modules would take a tenth of a second of every start.
    """
    text = _source(module)
    start = re.search(rf"^(?:class|def) {name}\b", text, re.M)
    if start and method:
        start = re.compile(rf"^    def {method}\b", re.M).search(text, start.start())
    if start is None:
        return None
    head = dedent(text[start.start() : text.index(":\n", start.start())])
    function = ast.parse(f"{head}: ...").body[0]
    return function.args if isinstance(function, ast.FunctionDef) else None
