"""Bounds that the intervals of measures must meet, for automatic checks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.groups import BY_CONDITION
from confidence_tasks.report.labels import limits, number, why_missing
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics.core import Reason
from confidence_tasks.study.gates import parse_bound, parse_number
from confidence_tasks.study.parameter import did_you_mean


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound that a measure's whole interval must meet under ``condition``, or, if that is empty, under each."""

    measure: str
    condition: str
    below: bool
    bound: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a requirement such as ``ece<0.1``; ValueError if the text is not one.

        Examples
        --------
        >>> Requirement.parse("ece<0.1")
        Requirement(measure='ece', condition='', below=True, bound=0.1)
        >>> Requirement.parse("auroc/0-20 > .7").condition
        '0-20'
        """
        measure, condition, below, rest = parse_bound(text)
        bound = parse_number(rest)
        if bound is None:
            raise ValueError(f"{text!r} is not a requirement such as 'ece<0.1': {rest!r} is no number")
        return cls(measure, condition, below, bound)

    def __str__(self) -> str:
        where = f"/{self.condition}" if self.condition else ""
        return f"{self.measure}{where} {'<' if self.below else '>'} {self.bound:g}"

    def is_about(self, entry: Estimated) -> bool:
        """Return whether an estimate is of the measure, over all sources, under the condition if one is named."""
        return (
            entry.measure == self.measure
            and entry.by == BY_CONDITION
            and not entry.source
            and self.condition in ("", entry.group)
        )

    def outcome(self, entry: Estimated) -> str:
        """Return ``met`` or ``not met`` if the whole interval lies on one side of the bound, else ``undecided``."""
        low, high = entry.interval.low, entry.interval.high
        if math.isnan(low) or low < self.bound < high:
            return "undecided"
        return "met" if (high <= self.bound) == self.below else "not met"


def parse_requirements(texts: Iterable[str]) -> list[Requirement]:
    """Parse the requirements of a command line."""
    return [*map(Requirement.parse, texts)]


def verdicts(requirements: Sequence[Requirement], every: Sequence[TaskResults]) -> Iterator[dict[str, str]]:
    """Yield the outcome of each requirement for each task, model and condition, in words.

    ValueError if no task has the measure or the condition of a requirement.
    """
    for requirement in requirements:
        for results, entry in _entries(requirement, every):
            interval = limits(entry.interval, 3) or why_missing(entry.interval)
            is_valid = _is_valid(results, entry)
            yield {
                "requirement": str(requirement),
                "outcome": requirement.outcome(entry) if is_valid else "undecided",
                "where": f"{results.task_trials.task}, {entry.model}, {entry.group}",
                "found": f"{number(entry.interval.estimate, 3)} {interval}{'' if is_valid else _NOT_VALID}",
            }


def _entries(requirement: Requirement, every: Sequence[TaskResults]) -> list[tuple[TaskResults, Estimated]]:
    """Return the estimates that a requirement is about; ValueError if there are none."""
    known = [name for results in every for name in results.task_trials.study.measures_by_name]
    if requirement.measure not in known:
        hint = did_you_mean(requirement.measure, known)
        raise ValueError(f"{requirement}: there is no measure {requirement.measure!r}{hint}")
    entries = _estimates(requirement, every)
    if not entries:
        labels = dict.fromkeys(label for results in every for label in results.conditions)
        raise ValueError(
            f"{requirement}: no estimate under this condition; the conditions are {', '.join(labels)}"
        )
    return entries


def _estimates(requirement: Requirement, every: Sequence[TaskResults]) -> list[tuple[TaskResults, Estimated]]:
    """Return the estimates that a requirement is about.

    Of a measure of probabilities, these are not those of signals that only order answers, such as the margin between
    two options, unless the user names the signal or there are no others.
    """
    found = [(results, each) for results in every for each in results.estimates if requirement.is_about(each)]
    if requirement.condition:
        return found
    return [each for each in found if each[1].interval.estimate.reason != Reason.NO_PROBABILITY] or found


_NOT_VALID = ", whose nominal coverage does not hold, as the run stopped early"


def _is_valid(results: TaskResults, entry: Estimated) -> bool:
    """Return whether an interval has its nominal coverage: after an early stop, only a confidence sequence has."""
    has_stopped = any(model.stopped for model in results.models if model.label == entry.model)
    return not has_stopped or entry.interval.method == "confidence_sequence"
