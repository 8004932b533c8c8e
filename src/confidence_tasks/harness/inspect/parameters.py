"""Checks of the values of parameters that both harnesses make, and what is said of unknown ones."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_origin

_KINDS: Mapping[type, tuple[tuple[type, ...], str]] = MappingProxyType(
    {
        bool: ((bool,), "true or false"),
        int: ((int,), "a whole number"),
        float: ((int, float), "a number"),
        str: ((str,), "a text"),
        list: ((list, tuple), "a list"),
        NoneType: ((NoneType,), ""),
    }
)
"""What may be given for a type, and how to call it."""


def check_value(name: str, value: Any, annotation: Any) -> None:
    """Raise ValueError for a value that is not of a type of ``annotation``, or no number.

    Examples
    --------
    >>> check_value("penalties", True, str | list[str] | float)
    Traceback (most recent call last):
    ...
    ValueError: penalties=True must be a text or a list or a number
    """
    kinds = [_KINDS[get_origin(kind) or kind] for kind in get_args(annotation) or (annotation,)]
    types = {each for allowed, _ in kinds for each in allowed}
    if type(value) not in types or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{name}={value!r} must be {' or '.join(called for _, called in kinds if called)}")


def unknown_parameter(task: str, name: str, known: Iterable[str]) -> str:
    """Say that a task has no such parameter, which it has, and which of them was probably meant.

    Examples
    --------
    >>> unknown_parameter("riskeval", "penalty", ["n", "penalties"])
    "riskeval has no parameter 'penalty'; did you mean 'penalties'? It has n, penalties"
    """
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"{task} has no parameter {name!r}{hint} It has {', '.join(known)}"
