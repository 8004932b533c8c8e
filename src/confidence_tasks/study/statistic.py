"""Functions of ``confidence_tasks.statistics`` as measures call them: checked when the measure is made."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, TypeAlias

from confidence_tasks import statistics
from confidence_tasks.study.parameter import did_you_mean

Statistic: TypeAlias = Callable[..., Any]

_PASSED_BY_MEASURES = frozenset({"weights", "questions"})
"""Parameters of statistics that are no options, because measures pass them."""

_KEYWORD = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
_POSITIONAL = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}


def check_statistic(
    function: Statistic | str, n_columns: int, options: Iterable[str], *, method: str = ""
) -> Statistic:
    """Return a statistic, or the method of a class, after a check that it takes some columns and options.

    Columns are positional arguments, options are keyword arguments. ValueError if the function has no such option or
    takes fewer columns. A function given by its name is looked up, with a warning.

    Examples
    --------
    >>> from confidence_tasks.statistics import calibration
    >>> check_statistic(calibration.ece, 2, ["n_bins"])
    Traceback (most recent call last):
    ...
    ValueError: statistic 'ece' has no option 'n_bins'; did you mean 'bins'?
    """
    given = _by_name(function) if isinstance(function, str) else function
    name = given.__name__
    statistic: Statistic = getattr(given, method) if method else given
    parameters = signature(statistic).parameters.values()
    columns = _names(parameters, _POSITIONAL)
    if n_columns > len(columns) and not _names(parameters, {Parameter.VAR_POSITIONAL}):
        raise ValueError(f"statistic {name!r} takes {len(columns)} columns at most, not {n_columns}")
    known = {*_names(parameters, _KEYWORD)} - {*columns[:n_columns]} - _PASSED_BY_MEASURES
    unknown = [option for option in options if option not in known]
    if unknown and not _names(parameters, {Parameter.VAR_KEYWORD}):
        raise ValueError(f"statistic {name!r} has no option {unknown[0]!r}{did_you_mean(unknown[0], known)}")
    return statistic


def _names(parameters: Iterable[Parameter], kinds: Collection[Any]) -> list[str]:
    """Return the names of the parameters of some kinds."""
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def _by_name(name: str) -> Statistic:
    """Return a statistic by its name, as studies for version 0.1 give it; ValueError if there is none."""
    families = {
        each: family
        for family in statistics.FAMILIES
        for each in import_module(f"{statistics.__name__}.{family}").__all__
    }
    if name not in families:
        raise ValueError(f"there is no statistic {name!r}{did_you_mean(name, families)}")
    family = families[name]
    warnings.warn(
        f"a statistic given by its name, {name!r}, is not supported from the next release: write "
        f"`from {statistics.__name__} import {family}` and give the function, {family}.{name}",
        DeprecationWarning,
        stacklevel=4,
    )
    statistic: Statistic = getattr(import_module(f"{statistics.__name__}.{family}"), name)
    return statistic
