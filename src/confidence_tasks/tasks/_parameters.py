"""A parameter that a task does not have is refused, where Inspect would warn and run the whole study without it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, NoReturn, TypeVar

from inspect_ai import Task

TaskFunction = TypeVar("TaskFunction", bound=Callable[..., Task])


def no_other_parameters(function: TaskFunction) -> TaskFunction:
    """Have a task refuse parameters that it does not have; goes under ``@task``.

    Inspect drops what is not in a task's signature, unless that takes any keyword: so the signature says that it does.

    Raises
    ------
    ValueError
        When the task is called, if it has no parameter of that name; it lists those it has.

    Examples
    --------
    >>> @no_other_parameters
    ... def arithmetic(questions: int = 10) -> Task:
    ...     return Task()
    >>> arithmetic(question=20)
    Traceback (most recent call last):
    ...
    ValueError: arithmetic has no parameter 'question'; did you mean 'questions'? It has questions
    """
    own = signature(function)

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Task:
        for name in given:
            if name not in own.parameters:
                raise ValueError(unknown_parameter(function.__name__, name, own.parameters))
        return function(*args, **given)

    others = Parameter("unknown", Parameter.VAR_KEYWORD, annotation=NoReturn)
    checked.__signature__ = own.replace(parameters=[*own.parameters.values(), others])  # type: ignore[attr-defined]
    return checked  # type: ignore[return-value]


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
