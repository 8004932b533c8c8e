"""What a hypothesis or a robustness check of the log-probability study comes to, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates import Distribution, Settings
from confidence_tasks.statistics.inference.limits import PROPORTION, Bounds, Method
from confidence_tasks.studies.logprob_metacognition.tables import (
    PRIMARY,
    TEMPERATURE,
    ConditionCounts,
    LogprobResampler,
)
from confidence_tasks.studies.logprob_metacognition.trials import FEWEST_OF_A_CLASS, MEASURES

Verdict: TypeAlias = Literal["supported", "not supported", "cannot be tested"]

Test: TypeAlias = Mapping[str, Any]
"""A test that goes into a verdict: ``what`` was tested, ``estimate``, ``low``, ``high``, and whether it ``passes``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What became of a hypothesis or a robustness check.

    Attributes
    ----------
    name, title : str
        Its number and what it is about.
    claim, rule : str
        What it says, and when it is taken to hold.
    verdict : {"supported", "not supported", "cannot be tested"}
        What the trials say.
    why : str
        The verdict's reason, in a sentence.
    about : str
        What the estimate is of: the case that decides.
    estimate, low, high : float
        The estimate and its interval; NaN where nothing was tested.
    level : float
        Nominal coverage of the interval.
    n : int
        Number of trials that were used.
    tests : DataFrame
        One row a test that went into the verdict, with ``estimate``, ``low``, ``high`` and ``passes``.
    rows : DataFrame
        The data of its figure, one row a point, with ``value``, ``low`` and ``high``.
    """

    name: str
    title: str
    claim: str
    rule: str
    verdict: Verdict
    why: str
    about: str = ""
    estimate: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    level: float = float("nan")
    n: int = 0
    tests: pd.DataFrame
    rows: pd.DataFrame


def outcome(
    name: str,
    title: str,
    claim: str,
    rule: str,
    *,
    verdict: Verdict,
    why: str,
    tests: Sequence[Test] = (),
    rows: Sequence[Mapping[str, Any]] = (),
    deciding: Test | None = None,
    level: float = float("nan"),
    n: int = 0,
) -> Outcome:
    """Make an outcome whose estimate is that of the test that decides."""
    decided: dict[str, Any] = {}
    if deciding is not None:
        decided = {limit: float(deciding[limit]) for limit in ("estimate", "low", "high")}
        decided |= {"about": str(deciding["what"]), "level": level}
    return Outcome(
        name=name,
        title=title,
        claim=claim,
        rule=rule,
        verdict=verdict,
        why=why,
        n=n,
        tests=pd.DataFrame(list(tests)),
        rows=pd.DataFrame(list(rows)),
        **decided,
    )


def limits(
    found: Distribution,
    settings: Settings,
    level: float | None = None,
    method: Method = "percentile",
    bounds: Bounds = PROPORTION,
) -> dict[str, float]:
    """Return a number and its interval as the columns of a test."""
    interval = found.interval(settings if level is None else replace(settings, level=level), method, bounds)
    return {
        "estimate": float(interval.estimate),
        "low": float(interval.low),
        "high": float(interval.high),
    }


def limits_of(cell: ConditionCounts, measure: str, settings: Settings) -> dict[str, float]:
    """Return a measure of a cell and its interval, read off the resamples as in all tables of the report."""
    method, bounds = _METHODS.get(measure, ("percentile", PROPORTION))
    return limits(cell.measure(measure), settings, method=method, bounds=bounds)


_METHODS: Mapping[str, tuple[Method, Bounds]] = {
    measure.name: (measure.interval, measure.bounds) for measure in MEASURES
}


def point(cell: ConditionCounts, measure: str, settings: Settings, **labels: Any) -> dict[str, Any]:
    """Return a measure of a cell as a row of a figure."""
    found = limits_of(cell, measure, settings)
    return {**labels, "measure": measure, "value": found.pop("estimate"), **found, "n": cell.n}


def enough_of_both(
    experiment: LogprobResampler, source: str, *, temperature: float = TEMPERATURE, binning: str = PRIMARY
) -> dict[str, ConditionCounts]:
    """Return the models with enough right and wrong answers, and their cells."""
    found = {
        model: experiment.get(model, source, temperature=temperature, binning=binning)
        for model in experiment.models
    }
    return {
        model: cell
        for model, cell in found.items()
        if cell is not None and cell.smaller_class >= FEWEST_OF_A_CLASS
    }


ENOUGH = f"at T = {TEMPERATURE:g} with {FEWEST_OF_A_CLASS} right and {FEWEST_OF_A_CLASS} wrong questions"
"""What a cell needs, in words."""


def largest(tests: Sequence[Test]) -> Test:
    """Return the test with the estimate that is farthest from 0; an undefined one only if all are."""
    return max(tests, key=lambda test: -1.0 if np.isnan(test["estimate"]) else abs(test["estimate"]))


def counted(n: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "model"), counted(4, "model")
    ('1 model', '4 models')
    """
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def named(measure: str) -> str:
    """Return what a measure is called within a sentence."""
    return {"mratio_v1": "M-ratio", "meta_information": "meta-information", "auroc2": "AUROC₂"}[measure]
