"""The best signal, chosen on one half of the questions and tested on the other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from confidence_tasks.statistics import auroc2, auroc2_interval
from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray
from confidence_tasks.studies.signals.measures import SignalTable, signal_table
from confidence_tasks.study.inference import Columns
from confidence_tasks.study.score_measures import stretched
from confidence_tasks.study.units import halves, units_of

FEWEST_VALUES = 0.9
"""Proportion of the answers of a half that must have a signal which is chosen there."""


class Choice(NamedTuple):
    """A signal chosen on one half of the questions.

    Attributes
    ----------
    signal : str
        The signal with the highest AUROC on that half.
    there : float
        Its AUROC there, which is too high because of the choice.
    auroc, low, high : float
        Its AUROC on the other half, with a 95% interval.
    baseline : float
        AUROC of ``stated`` on the other half; NaN without values.
    n : int
        Number of answers of the other half that have the signal.
    """

    signal: str
    there: float
    auroc: float
    low: float
    high: float
    baseline: float
    n: int


def chosen_by_halves(trials: Columns, seed: int = 0) -> list[Choice]:
    """Choose the signal with the highest AUROC on each half of the questions, and compute its AUROC on the other half.

    Questions of a cluster are in the same half. Signals without a value for more than a tenth of the answers of a half
    are not chosen there. A half without such signals, or without right and wrong answers, gives no choice.
    """
    table = signal_table(trials)
    names = units_of(trials)[table.trial]
    unit, half = np.unique(names, return_inverse=True)[1], halves(names, seed)
    choices = [_choice(table, unit, half == side) for side in (0, 1)]
    return [choice for choice in choices if choice is not None]


def _choice(table: SignalTable, unit: IntArray, here: BoolArray) -> Choice | None:
    """Return the signal with the highest AUROC on some of the answers, tested on the others."""
    if not here.any():
        return None
    regressors, _, correct = table
    columns = {str(name): regressors[name].to_numpy() for name in regressors}
    areas = {
        name: _area(correct[here], column[here])
        for name, column in columns.items()
        if np.isfinite(column[here]).mean() >= FEWEST_VALUES
    }
    known = {name: area for name, area in areas.items() if not math.isnan(area)}
    if not known:
        return None
    best = max(known, key=known.__getitem__)
    kept = ~here & ~np.isnan(columns[best])
    low, high = auroc2_interval(correct[kept], stretched(columns[best][kept]), questions=unit[kept])
    return Choice(
        best,
        known[best],
        _area(correct[kept], columns[best][kept]),
        float(low),
        float(high),
        _area(correct[~here], columns["stated"][~here]) if "stated" in columns else math.nan,
        int(kept.sum()),
    )


def _area(correct: FloatArray, values: FloatArray) -> float:
    known = ~np.isnan(values)
    return float(auroc2(correct[known], stretched(values[known])))
