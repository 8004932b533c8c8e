"""Measures of adjusted intervals with the adjustment fitted for each row of weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from confidence_tasks.study.measures import rows_of

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.intervals.conformal import Ends
    from confidence_tasks.study.measures import Columns, Compute, Value

Refit: TypeAlias = "Callable[[Columns, Columns, float, FloatArray], tuple[list[Ends], IntArray]]"
"""Adjusts judged trials of a level by fitted ones with weights: the distinct outcomes, and which is each row's."""


def refitted(compute: Compute, refit: Refit, fitted: str, judged: str) -> Compute:
    """Make a measure of adjusted intervals that fits the adjustment for each row of weights.

    Parameters
    ----------
    compute : callable
        The measure of intervals.
    refit : callable
        The adjustment.
    fitted, judged : str
        Values of ``split``: of the trials that the adjustment is fitted to, and of those whose intervals are judged.
    """

    def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
        import numpy as np

        rows = np.ones((1, len(trials["split"]))) if weights is None else weights
        stated = ~np.isnan(trials["lower"])
        known, new = (stated & (trials["split"] == split) for split in (fitted, judged))
        of_known, of_new = (rows_of(trials, kept) for kept in (known, new))
        own = of_new["level"]
        levels = np.unique(own)
        found = [
            refit(
                rows_of(of_known, of_known["level"] == level),
                rows_of(of_new, own == level),
                float(level),
                rows[:, known][:, of_known["level"] == level],
            )
            for level in levels
        ]
        outcomes, which = np.unique(
            np.array([row_outcome for _, row_outcome in found]).T, axis=0, return_inverse=True
        )
        values = np.empty(len(rows))
        for number, outcome in enumerate(outcomes):
            lower, upper = of_new["lower"].copy(), of_new["upper"].copy()
            for level, (ends, _), chosen in zip(levels, found, outcome, strict=True):
                lower[own == level], upper[own == level] = ends[chosen]
            its = which.ravel() == number
            values[its] = compute({**of_new, "lower": lower, "upper": upper}, rows[its][:, new])
        return values if weights is not None else float(values[0])

    return computed


def conformal_refit(**options: bool) -> Refit:
    """Make the adjustment by the calibration half."""

    def refit(known: Columns, new: Columns, level: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
        from confidence_tasks.statistics.intervals.conformal import refit_conformal

        intervals = known["truth"], known["lower"], known["upper"]
        return refit_conformal(intervals, (new["lower"], new["upper"]), level, weights, **options)

    return refit


def jackknife_refit(
    known: Columns, new: Columns, level: float, weights: FloatArray
) -> tuple[list[Ends], IntArray]:
    """Adjust each interval by the others; the trials fitted are those judged."""
    from confidence_tasks.statistics.intervals.conformal import refit_jackknife

    return refit_jackknife((new["truth"], new["lower"], new["upper"]), level, weights)
