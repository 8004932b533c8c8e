"""Functions that Inspect calls with the parameters that a study declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import Parameter


def signature_of(
    declared: Sequence[Parameter], returned: Any, *others: inspect.Parameter
) -> inspect.Signature:
    """Return the signature with the declared parameters as keywords, and the others, by which Inspect calls."""
    kind = inspect.Parameter.KEYWORD_ONLY
    keywords = [
        inspect.Parameter(each.name, kind, default=each.default, annotation=each.type) for each in declared
    ]
    return inspect.Signature([*keywords, *others], return_annotation=returned)


def set_name(function: Callable[..., Any], study: Study, name: str) -> None:
    """Set the name and the module by which Inspect registers a function."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = study.module
