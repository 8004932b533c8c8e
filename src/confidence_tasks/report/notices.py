"""Notices of checks, and the decorator that makes a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

from confidence_tasks.report.results import TaskResults
from confidence_tasks.study.columns import rows_of

Severity = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")


@dataclass(frozen=True, slots=True)
class Notice:
    """A problem with the trials: its title, what it means for the numbers, and where it applies.

    The terminal prints serious notices, and others if they are ``printed``.
    """

    severity: Severity
    title: str
    meaning: str
    where: tuple[str, ...]
    printed: bool = False


Check: TypeAlias = Callable[[TaskResults], Iterator[Notice]]


def notices(results: TaskResults, checks: Sequence[Check]) -> list[Notice]:
    """Run checks and return their notices, the most serious first."""
    return in_order_of_severity(notice for check in checks for notice in check(results))


def in_order_of_severity(raised: Iterable[Notice]) -> list[Notice]:
    """Return notices, the most serious first."""
    return sorted(raised, key=lambda notice: SEVERITIES.index(notice.severity))


def notice_if_any(
    severity: Severity, title: str, meaning: str, where: Iterable[str], *, printed: bool = False
) -> Iterator[Notice]:
    """Yield a notice if it applies anywhere."""
    if places := tuple(where):
        yield Notice(severity, title, meaning, places, printed)


def check(
    severity: Severity, title: str, meaning: str, *, printed: bool = False
) -> Callable[[Callable[[TaskResults], Iterable[str]]], Check]:
    """Turn a function that returns the places where a notice applies into a check."""

    def decorate(places: Callable[[TaskResults], Iterable[str]]) -> Check:
        @wraps(places)
        def notice(results: TaskResults) -> Iterator[Notice]:
            return notice_if_any(severity, title, meaning, places(results), printed=printed)

        return notice

    return decorate


def subsets_of(results: TaskResults, *names: str) -> Iterator[tuple[str, str, Mapping[str, NDArray[Any]]]]:
    """Yield the model, the condition and the trials of every subset: one condition and one source.

    The trials have the columns of the given names, by default all.
    """
    for model in results.models:
        columns = {name: model.columns[name] for name in names or model.columns}
        for condition, subsets in results.subsets[model.label].items():
            for subset in subsets:
                label = condition if len(subsets) == 1 else f"{condition}, {subset.source}"
                yield model.label, label, rows_of(columns, subset.rows)
