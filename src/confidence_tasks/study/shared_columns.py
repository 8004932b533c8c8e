"""Columns of trials for several measures and many resamples, with what is computed from them once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray


class SharedColumns(dict[str, NDArray[Any]]):
    """Columns of the same trials for several measures; columns that these derive from them are computed once.

    The columns must not be changed afterwards.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        super().__init__(columns)
        self._derived: dict[str, NDArray[Any]] = {}

    def once(self, name: str, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return the result of ``compute``, which is called once for each name."""
        if name not in self._derived:
            self._derived[name] = compute()
        return self._derived[name]


def derived(
    columns: Mapping[str, NDArray[Any]], name: str, compute: Callable[[], NDArray[Any]]
) -> NDArray[Any]:
    """Return a column that is computed from others, once for columns that are shared.

    Examples
    --------
    >>> import numpy as np
    >>> shared, calls = SharedColumns({"x": np.ones(2)}), []
    >>> for columns in (shared, shared, dict(shared)):
    ...     column = derived(columns, "y", lambda: calls.append(1) or np.zeros(2))
    >>> len(calls)
    2
    """
    return columns.once(name, compute) if isinstance(columns, SharedColumns) else compute()
