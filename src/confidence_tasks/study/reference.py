"""References to parts of a study that are imported when they are first used.

Inspect loads every study at each start. A study therefore names its report, its simulated subject and its lm-eval tasks
by reference, so that no statistics, tables or figures are imported before they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


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
