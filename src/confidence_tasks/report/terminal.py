"""What a report says in the terminal: headline measures, a simulated subject's true values, and requirements."""

from __future__ import annotations

import math
import re
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

from rich.markup import escape

from confidence_tasks.report.console import errors, print_table
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.groups import BY_CONDITION
from confidence_tasks.report.labels import group_label, limits, measure_label, number, why_missing
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import ModelTrials
from confidence_tasks.simulation.profiles import make_subject
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.study.parameter import meant

_DECIMALS = 3
_SIMULATED = "simulated"
_PARAMETERS = frozenset(field.name for field in fields(Subject))


def subject_of(model: ModelTrials) -> Subject | None:
    """Return the simulated subject whose trials these are, on either harness; None if they are of another model."""
    setup = model.files[0].setup
    provider, _, profile = model.name.partition("/")
    if provider != _SIMULATED or not profile:
        if setup.get("backend") != _SIMULATED:
            return None
        profile = setup.get("subject", "ideal")
    try:
        changes = {name: literal_eval(value) for name, value in setup.items() if name in _PARAMETERS}
        return make_subject(profile, **changes)
    except (ValueError, SyntaxError):  # of another version, which had other subjects
        return None


def true_values(results: TaskResults, model: ModelTrials, condition: str) -> Mapping[str, float]:
    """Return what the measures of a model are in the long run, if it is a simulated subject; by name."""
    study, subject = results.task_trials.study, subject_of(model)
    if subject is None or study.true_values is None:
        return {}
    try:
        return study.true_values(subject, condition, results.task_trials.task, model.files[0].setup)
    except (ValueError, KeyError):  # a condition or a task of the user's own
        return {}


def print_headlines(every: Iterable[TaskResults]) -> None:
    """Print the headline measures of each task and model under one condition, beside the true values of subjects.

    The condition is the one that models are compared on, or of a simulated subject one that has true values.
    """
    for results in every:
        for model in results.models:
            shown = [results.reference, *results.conditions]
            known = ((label, true_values(results, model, label)) for label in shown)
            condition, truth = next((each for each in known if each[1]), (results.reference, {}))
            heading = ", ".join((results.task_trials.task, model.label, group_label(condition)))
            errors.print(escape(heading), highlight=False)
            rows = [
                _headline_row(entry, truth)
                for measure in results.headline
                if (entry := results.estimate(model.label, condition, measure.name))
            ]
            print_table(rows, frozenset({"value", "true"}), errors)


def _headline_row(entry: Estimated, truth: Mapping[str, float]) -> dict[str, str]:
    true = {"true": number(truth.get(entry.measure, math.nan), _DECIMALS)} if truth else {}
    return {
        "measure": measure_label(entry.measure),
        "value": number(entry.interval.estimate, _DECIMALS),
        **true,
        f"{entry.interval.level:.0%} interval": limits(entry.interval, _DECIMALS)
        or why_missing(entry.interval),
    }


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a measure must be below or above, with all of its interval, under a condition, or if empty under each."""

    measure: str
    condition: str
    below: bool
    bound: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a requirement; ValueError if it is none.

        Examples
        --------
        >>> Requirement.parse("ece<0.1")
        Requirement(measure='ece', condition='', below=True, bound=0.1)
        >>> Requirement.parse("auroc/0-20 > .7").condition
        '0-20'
        """
        read = _REQUIREMENT.fullmatch(text.strip())
        if read is None:
            raise ValueError(f"{text!r} is no requirement, such as 'ece<0.1' or 'auroc/0-20>0.7'")
        measure, condition, sign, bound = read.groups()
        return cls(measure, condition or "", sign == "<", float(bound))

    def __str__(self) -> str:
        where = f"/{self.condition}" if self.condition else ""
        return f"{self.measure}{where} {'<' if self.below else '>'} {self.bound:g}"

    def outcome(self, entry: Estimated) -> str:
        """Say whether a measure is ``met``, ``not met`` or ``undecided``, as its interval lies on either side."""
        low, high = entry.interval.low, entry.interval.high
        if math.isnan(low) or low < self.bound < high:
            return "undecided"
        return "met" if (high <= self.bound) == self.below else "not met"


_REQUIREMENT = re.compile(r"(\w+)(?:/(.+?))?\s*([<>])=?\s*([-+]?(?:\d+\.?\d*|\.\d+))")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a requirement, in words; ``outcome`` is ``met``, ``not met`` or ``undecided``."""

    requirement: str
    outcome: str
    where: str
    found: str


def verdicts(requirements: Sequence[Requirement], every: Sequence[TaskResults]) -> Iterator[Verdict]:
    """Hold the measures of each task, model and condition against requirements.

    Raises
    ------
    ValueError
        If no task has a measure or a condition that is named: a gate that nothing passes through is left open.
    """
    for requirement in requirements:
        known = [name for results in every for name in results.task_trials.study.measure]
        if requirement.measure not in known:
            raise ValueError(
                f"{requirement}: there is no measure {requirement.measure!r}{meant(requirement.measure, known)}"
            )
        entries = [
            (results, entry)
            for results in every
            for entry in results.estimates
            if entry.measure == requirement.measure
            and entry.by == BY_CONDITION
            and not entry.source
            and requirement.condition in ("", entry.group)
        ]
        if not entries:
            labels = dict.fromkeys(label for results in every for label in results.conditions)
            raise ValueError(f"{requirement}: nothing was measured; the conditions are {', '.join(labels)}")
        for results, entry in entries:
            value = number(entry.interval.estimate, _DECIMALS)
            told = limits(entry.interval, _DECIMALS) or why_missing(entry.interval)
            where = ", ".join((results.task_trials.task, entry.model, entry.group))
            yield Verdict(str(requirement), requirement.outcome(entry), where, f"{value} {told}")
