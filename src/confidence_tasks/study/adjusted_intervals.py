"""Intervals with ends that are adjusted by a fit to other trials, and measures of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from confidence_tasks.statistics.intervals.conformal import refit_jackknife
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.inference import Columns, Compute, Value
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.intervals.conformal import Ends

Rows: TypeAlias = Callable[[Columns], "NDArray[np.bool_]"]
"""Function that says which trials belong to a set."""

Refit: TypeAlias = Callable[[Columns, Columns, float, "FloatArray"], "tuple[list[Ends], IntArray]"]
"""Function ``refit(known, new, level, weights)``, which fits an adjustment once for each row of integer weights.

It returns a list of the distinct adjusted ends of ``new``, and for each row of weights the position of its ends in that
list.
"""


@dataclass(frozen=True, slots=True)
class AdjustedIntervals:
    """An adjustment of stated intervals; all trials have the same level.

    Trials have the columns ``lower``, ``upper`` and ``level``.

    Attributes
    ----------
    known, new : callable
        ``known(columns)`` and ``new(columns)`` return masks, shape (n,), of the trials that the adjustment is fitted
        to, and of those whose intervals are adjusted.
    refit : callable
        ``refit(known, new, level, weights)`` fits the adjustment to trials with each row of weights; see ``Refit``.

    Examples
    --------
    >>> def refit(known, new, level, weights):  # each interval is moved so far that it contains the largest truth
    ...     return [(new["lower"], np.maximum(new["upper"], known["truth"].max()))], np.zeros(len(weights), dtype=int)
    >>> complete = lambda trials: ~np.isnan(trials["lower"])
    >>> to_the_largest = AdjustedIntervals(complete, complete, refit)
    >>> trials = {"truth": [3, 9], "lower": [1, 2], "upper": [4, 5], "level": [0.9, 0.9]}
    >>> to_the_largest.adjust({name: np.array(column, dtype=float) for name, column in trials.items()})["upper"]
    array([9., 9.])
    """

    known: Rows
    new: Rows
    refit: Refit

    def adjust(self, trials: Columns) -> Columns:
        """Return the trials with adjusted intervals, which are infinite if the level needs more questions."""
        ((adjusted, _),) = self._by_outcome(trials, np.ones((1, len(trials["lower"]))))
        return adjusted

    def as_fitted(self, compute: Compute) -> Compute:
        """Return a measure of adjusted intervals that keeps the fit to all trials under resampling."""

        def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
            return compute(self.adjust(trials), None if weights is None else weights[..., self.new(trials)])

        return computed

    def refitted(self, compute: Compute) -> Compute:
        """Return a measure of adjusted intervals that fits the adjustment to each row of weights."""

        def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
            if weights is None:
                return compute(self.adjust(trials), None)
            values, new = np.empty(len(weights)), self.new(trials)
            for adjusted, rows in self._by_outcome(trials, weights):
                values[rows] = compute(adjusted, weights[rows][:, new])
            return values

        return computed

    def _by_outcome(self, trials: Columns, weights: FloatArray) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """Yield each distinct set of adjusted trials with a mask of the rows of weights that lead to it."""
        fitted_on = self.known(trials)
        known, new = rows_of(trials, fitted_on), rows_of(trials, self.new(trials))
        if not len(new["level"]):
            yield new, np.ones(len(weights), dtype=np.bool_)
            return
        outcomes, outcome_of_row = self.refit(known, new, float(new["level"][0]), weights[:, fitted_on])
        for number, (lower, upper) in enumerate(outcomes):
            yield {**new, "lower": lower, "upper": upper}, outcome_of_row == number


def refit_by_others(
    known: Columns, new: Columns, level: float, weights: FloatArray
) -> tuple[list[Ends], IntArray]:
    """Adjust both ends of each question's interval by the same distance, which all other questions give.

    The trials of a question share its distance. ``known`` and ``new`` are the same trials.
    """
    ends = new["truth"], new["lower"], new["upper"]
    return refit_jackknife(ends, level, weights, units_of(new))
