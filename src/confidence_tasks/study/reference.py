"""References to objects that are imported when they are first used.

Inspect loads every study whenever it starts. A study therefore refers to its report by name, and no tables or figures
are imported before they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


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
