"""A task's parameters are checked first: their names, where Inspect would warn and go on, and their types."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature
from types import MappingProxyType, NoneType
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from inspect_ai import Task

from confidence_tasks.harness.errors import as_usage_error
from confidence_tasks.harness.inspect.metrics import logging
from confidence_tasks.study.parameter import METRICS

TaskFunction = TypeVar("TaskFunction", bound=Callable[..., Task])


def validate_parameters(function: TaskFunction) -> TaskFunction:
    """Have a task refuse parameters that it does not have, and values of other types; goes under ``@task``.

    The task has a parameter more, ``metrics``: which measures its log has as metrics.

    Inspect drops what is not in a task's signature, unless that takes any keyword: so the signature says that it does.

    Raises
    ------
    ValueError
        When the task is called, if it has no parameter of that name; it lists those it has. Or if a value is not what
        the parameter's annotation says: a seed that is a text would end the run only when all is paid for.

    Examples
    --------
    >>> @validate_parameters
    ... def sums(terms: int = 10) -> Task:
    ...     return Task()
    >>> sums(term=20)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    confidence_tasks.harness.errors.UsageError: sums has no parameter 'term'; did you mean 'terms'? It has terms, ...
    >>> sums(terms="ten")
    Traceback (most recent call last):
    ...
    confidence_tasks.harness.errors.UsageError: terms='ten' must be a whole number
    """
    own = signature(function)

    @wraps(function)
    def checked(*args: Any, metrics: str = METRICS.default, **given: Any) -> Task:
        with as_usage_error():
            for name in given:
                if name not in own.parameters:
                    raise ValueError(
                        unknown_parameter(function.__name__, name, [*own.parameters, METRICS.name])
                    )
            allowed = get_type_hints(function)
            for name, value in own.bind(*args, **given).arguments.items():
                check_value(name, value, allowed[name])
            with logging(metrics):
                return function(*args, **given)

    which = Parameter("metrics", Parameter.KEYWORD_ONLY, default=METRICS.default, annotation=METRICS.type)
    others = Parameter("unknown", Parameter.VAR_KEYWORD, annotation=NoReturn)
    checked.__signature__ = own.replace(parameters=[*own.parameters.values(), which, others])  # type: ignore[attr-defined]
    return checked  # type: ignore[return-value]


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

_LEAST: Mapping[str, int] = MappingProxyType(
    {"seed": 0, "question_seed": 0, "temperature": 0, "fewshot": 0, "samples": 2, "k": 2}
)

_MOST: Mapping[str, int] = MappingProxyType({"temperature": 2})


def check_value(name: str, value: Any, annotation: Any) -> None:
    """Raise ValueError for a value that is not of a type of ``annotation``, no number, or beyond its limits.

    Examples
    --------
    >>> check_value("seed", -1, int)
    Traceback (most recent call last):
    ...
    ValueError: seed=-1 must be 0 or more
    >>> check_value("penalties", True, str | list[str] | float)
    Traceback (most recent call last):
    ...
    ValueError: penalties=True must be a text or a list or a number
    """
    kinds = [_KINDS[get_origin(kind) or kind] for kind in get_args(annotation) or (annotation,)]
    types = {each for allowed, _ in kinds for each in allowed}
    if type(value) not in types or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{name}={value!r} must be {' or '.join(called for _, called in kinds if called)}")
    if name in _LEAST and value is not None and value < _LEAST[name]:
        raise ValueError(f"{name}={value} must be {_LEAST[name]} or more")
    if name in _MOST and value is not None and value > _MOST[name]:
        raise ValueError(f"{name}={value} must be {_MOST[name]} or less")


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
