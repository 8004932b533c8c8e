"""Studies written for version 0.1, for one release: references to objects of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def loaded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a report of version 0.1 with the objects that their references name.

    Examples
    --------
    >>> loaded({"figures": (LazyModule("string").digits, ("a", "b"))})
    {'figures': ('0123456789', 'a', 'b')}
    """
    return {name: _loaded(name, value) for name, value in fields.items()}


_SEVERAL = frozenset({"checks", "figures", "tables", "power", "overviews"})


def _loaded(name: str, value: Any) -> Any:
    if isinstance(value, Reference) and name != "grouping":
        value = value.load()
    if name not in _SEVERAL:
        return value
    return tuple(_flattened(() if value is None else value if isinstance(value, tuple) else (value,)))


def _flattened(entries: Iterable[Any]) -> Iterable[Any]:
    for entry in entries:
        found = entry.load() if isinstance(entry, Reference) else entry
        yield from found if isinstance(found, tuple) else (found,)
