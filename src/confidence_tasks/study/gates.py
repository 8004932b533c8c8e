"""Gates: bounds that the mean of a measure must meet, decided while questions are still being asked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.sequential import GateTest, Side
from confidence_tasks.study.columns import GRADED, columns
from confidence_tasks.study.computations import StatisticCall
from confidence_tasks.study.definition import Study
from confidence_tasks.study.inference import UNIT, Bounds, Columns, Posterior
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.parameter import did_you_mean

Outcome: TypeAlias = Literal["met", "not met", "open"]

_BOUND = re.compile(r"(\w+)(?:/(.+?))?\s*([<>])=?\s*(\S.*)")
_FILES = (".eval", ".json", ".jsonl", ".csv", ".parquet")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")


def parse_bound(text: str) -> tuple[str, str, bool, str]:
    """Split a text such as ``auroc/0-20 > .7`` into measure, condition, whether it is an upper bound, and the bound.

    Raises
    ------
    ValueError
        If the text has another form.

    Examples
    --------
    >>> parse_bound("auroc/0-20 > .7")
    ('auroc', '0-20', False, '.7')
    """
    match = _BOUND.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a requirement such as 'overconfidence<0.1' or 'accuracy/0-20>0.7'")
    measure, condition, sign, bound = match.groups()
    return measure, condition or "", sign == "<", bound


def parse_number(text: str) -> float | None:
    """Return the number that a bound is; None if it is none."""
    return float(text) if _NUMBER.fullmatch(text) else None


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound that the mean of a measure must meet under ``condition``, or, if that is empty, under each.

    Attributes
    ----------
    measure, condition : str
        Name of the measure, and label of the condition.
    below : bool
        Whether the mean must lie below the bound.
    bound : float
        The bound; 0 if the measure is compared with an earlier log.
    earlier : str
        Path of the earlier log with whose values, question by question, the measure is compared; empty for none.
    """

    measure: str
    condition: str
    below: bool
    bound: float
    earlier: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a gate such as ``overconfidence<0.1`` or ``brier<old.eval``; ValueError if the text is not one.

        Examples
        --------
        >>> Gate.parse("utility/lambda=4>0")
        Gate(measure='utility', condition='lambda=4', below=False, bound=0.0, earlier='')
        >>> Gate.parse("brier<old.eval").earlier
        'old.eval'
        """
        measure, condition, below, rest = parse_bound(text)
        number = parse_number(rest)
        if number is not None:
            return cls(measure, condition, below, number)
        if not rest.endswith(_FILES):
            raise ValueError(
                f"{text!r} compares {measure} with {rest!r}, which is neither a number nor a file ({', '.join(_FILES)})"
            )
        return cls(measure, condition, below, 0.0, rest)

    def __str__(self) -> str:
        where = f"/{self.condition}" if self.condition else ""
        return f"{self.measure}{where}{'<' if self.below else '>'}{self.earlier or f'{self.bound:g}'}"

    def outcome(self, side: Side) -> Outcome:
        """Return whether the gate is met if the mean lies on one side of the bound."""
        if side == "open":
            return "open"
        return "met" if (side == "below") == self.below else "not met"

    def conditions(self, asked: Iterable[str]) -> list[str]:
        """Return the conditions to which the gate applies, of those that are asked; ValueError if there are none."""
        known = list(dict.fromkeys(asked))
        if self.condition and self.condition not in known:
            raise ValueError(
                f"{self}: {self.condition!r} is not asked; the conditions are {', '.join(known)}"
                f"{did_you_mean(self.condition, known)}"
            )
        return [self.condition] if self.condition else known

    def test(self, study: Study, condition: str, alpha: float) -> GateTest:
        """Return the test of the gate under a condition.

        Raises
        ------
        ValueError
            If the measure is unknown or no mean of bounded values, or the bound is not between the bounds.
        """
        low, high = bounds = value_bounds(self.measure_of(study), study, condition) or (math.nan, math.nan)
        if math.isnan(low):
            raise ValueError(f"{self}: {self._no_mean(study, condition)}")
        if self.earlier:
            bounds = low - high, high - low
        try:
            return GateTest(self.bound, bounds, alpha)
        except ValueError as error:
            raise ValueError(f"{self}: {error}") from error

    def measure_of(self, study: Study) -> Measure:
        """Return the measure of a study; ValueError if the study has none of this name."""
        known = study.measures_by_name
        if self.measure not in known:
            raise ValueError(
                f"{self}: {study.name} has no measure {self.measure!r}{did_you_mean(self.measure, known)}"
            )
        return known[self.measure]

    def _no_mean(self, study: Study, condition: str) -> str:
        means = [
            measure.name for measure in study.measures if value_bounds(measure, study, condition) is not None
        ]
        first = [name for name in _SUBSTITUTES if name in means]
        instead = ", ".join(list(dict.fromkeys([*first, *means]))[:_SHOWN])
        return (
            f"{self.measure} is no mean over questions of values with known bounds, so that it cannot be decided"
            + (f" while questions are being asked: use one of {instead}" if means else "")
        )


_SUBSTITUTES = ("overconfidence", "brier", "coverage", "utility", "accuracy")
"""Measures that are suggested first."""

_SHOWN = 6
"""Maximum number of measures that are suggested."""


def value_bounds(measure: Measure, study: Study, condition: str) -> Bounds | None:
    """Return the smallest and largest value of a single trial; None if the measure is no mean of bounded values."""
    inference = measure.inference
    if inference.posterior is not None:
        return _bounds_of_outcomes(measure, inference.posterior, study, condition)
    if not inference.is_average or measure.fitted or _orders_trials(measure):
        return None
    bounds = UNIT if inference.method == "wilson" else inference.bounds
    return bounds if all(map(math.isfinite, bounds)) else None


def _orders_trials(measure: Measure) -> bool:
    """Return True if a measure of answers and confidences depends on their order, as that of the surest half.

    A restriction to some trials, such as the answered ones, does not change whether it does.
    """
    compute = measure.compute
    while isinstance(compute, StatisticCall) and compute.unrestricted is not None:
        compute = compute.unrestricted
    if not isinstance(compute, StatisticCall) or set(compute.columns) != set(GRADED):
        return False
    confidence = np.linspace(0.05, 0.95, 16)
    probe = {"correct": (np.arange(16) % 3 == 0).astype(float), "confidence": confidence}
    return not _is_mean(replace(measure, compute=compute), probe)


def _single_values(measure: Measure, trials: Columns, n: int) -> FloatArray:
    """Return the measure of each of n trials."""
    from confidence_tasks.study.kinds import values_of_single_trials  # imports parts of SciPy

    return values_of_single_trials(measure, trials, n)


def _is_mean(measure: Measure, trials: Columns) -> bool:
    """Return True if the measure of weighted trials is the weighted mean of the measures of single trials."""
    n = len(next(iter(trials.values())))
    values, weights = _single_values(measure, trials, n), np.random.default_rng(0).random((3, n))
    return np.allclose(weights @ values / weights.sum(axis=1), measure.compute(trials, weights))


def _bounds_of_outcomes(
    measure: Measure, posterior: Posterior, study: Study, condition: str
) -> Bounds | None:
    """Return the bounds of a mean over trials with a few possible outcomes; None if the measure is no such mean."""
    fixed = study.condition_rules.columns(condition)
    try:
        outcomes = posterior.outcomes({name: np.array([value]) for name, value in fixed.items()})
        if not _is_mean(measure, outcomes):  # so it is if a single trial has no value
            return None
    except KeyError:  # the outcomes depend on more than the condition
        return None
    values = _single_values(measure, outcomes, len(next(iter(outcomes.values()))))
    return float(values.min()), float(values.max())


LEFT_OUT = None
"""Value of a trial that the measure leaves out, such as one without an answer."""

LOST = math.nan
"""Value of a sample without a trial: an error or a limit ended it. It counts as the worst case for either side."""


def trial_values(measure: Measure, trials: Columns) -> list[float | None]:
    """Return the value of each trial under one condition, as evidence; ValueError if the measure is not their mean."""
    values, value = (
        _single_values(measure, trials, len(trials["question_id"])),
        measure.compute(trials, None),
    )
    known = values[~np.isnan(values)]
    if known.size and not np.isclose(known.mean(), value):
        raise ValueError(
            f"{measure.name} is not the mean of its values of single trials, so that it can be no gate"
        )
    return [LEFT_OUT if math.isnan(value) else float(value) for value in values]


def trial_value(measure: Measure, trial: Mapping[str, Any]) -> float | None:
    """Return the value of one trial, as evidence."""
    return trial_values(measure, columns([trial]))[0]


def difference(value: float | None, earlier: float | None) -> float | None:
    """Return a value minus that of an earlier log; left out if one is missing there."""
    return LEFT_OUT if value is LEFT_OUT or earlier is LEFT_OUT else value - earlier


@dataclass(slots=True)
class GateProgress:
    """Evidence for a gate under one condition, which is taken in the planned order and never in that of completion.

    Wrong answers may take longer than right ones: the replies that come first are no random part of all. So a value
    waits until those of all questions before it have come. Of a cluster of questions the first counts, as questions of
    a cluster are not independent of each other.

    Attributes
    ----------
    planned : sequence of (str, str)
        Sample and cluster of each question, in the planned order. A question without a cluster is its own.
    test : GateTest
        The test of the gate.
    evidence : list of float
        The values that were taken so far, also after the decision.
    n_asked : int
        Number of planned questions that were taken so far.
    n_decided : int
        Number of planned questions at the decision; 0 as long as there is none.
    """

    planned: Sequence[tuple[str, str]]
    test: GateTest
    evidence: list[float] = field(default_factory=list)
    n_asked: int = 0
    n_decided: int = 0
    _arrived: dict[str, float | None] = field(default_factory=dict, repr=False)
    _clusters: set[str] = field(default_factory=set, repr=False)

    def add(self, sample: str, value: float | None) -> None:
        """Add the value of a sample; the first value of a sample counts."""
        self._arrived.setdefault(sample, value)
        while self.n_asked < len(self.planned) and self.planned[self.n_asked][0] in self._arrived:
            name, cluster = self.planned[self.n_asked]
            self.n_asked += 1
            self._take(self._arrived[name], cluster)

    def _take(self, value: float | None, cluster: str) -> None:
        if value is not LEFT_OUT and cluster not in self._clusters:
            self.evidence.append(value)
            self.test.add([value])
        self._clusters.add(cluster)
        if self.test.decision != "open" and not self.n_decided:
            self.n_decided = self.n_asked
