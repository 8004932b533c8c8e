"""Conformal adjustment of intervals by the calibration half or, without one, by the other questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.studies.fermieval.replies import CALIBRATION, TEST
from confidence_tasks.study.measures import Columns, Compute, Value, rows_of
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.intervals.conformal import Ends


def has_interval(trials: Columns, split: str) -> NDArray[np.bool_]:
    """Return which trials belong to a half and state an interval."""
    rows: NDArray[np.bool_] = (trials["split"] == split) & ~np.isnan(trials["lower"])
    return rows


def within_split(trials: Columns, split: str) -> Columns:
    """Return the trials of one half that state an interval."""
    return rows_of(trials, has_interval(trials, split))


def of_intervals(make: Callable[[Columns], Columns], compute: Compute) -> Compute:
    """Return a measure that computes ``compute`` on the intervals that ``make`` derives from trials.

    ``make`` gets the trials with a column ``row``, their position, which it must keep: under resampling an interval has
    the weight of the trial at that position.
    """

    def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
        intervals = make({**trials, "row": np.arange(len(trials["split"]))})
        return compute(intervals, None if weights is None else weights[..., intervals["row"]])

    return computed


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A method that adjusts the intervals of the test half; all trials have the same level.

    Attributes
    ----------
    change : str
        What the method does to the ends.
    fitted_on : {"calibration", "test"}
        The half that the adjustment is fitted on. Runs with a calibration half have no intervals by a method that is
        fitted on the test half, and other runs have none by the other methods.
    refit : callable
        ``refit(known, new, level, weights)`` fits the adjustment to the trials ``known``, once for each row of integer
        weights. It returns a list of the distinct adjusted ends of the trials ``new``, and for each row of
        weights the position of its ends in that list.
    """

    change: str
    fitted_on: str
    refit: Callable[[Columns, Columns, float, FloatArray], tuple[list[Ends], IntArray]]

    def applies_to(self, trials: Columns) -> bool:
        """Whether the trials have the half that the method needs."""
        return (CALIBRATION in trials["split"]) is (self.fitted_on == CALIBRATION)

    def adjust(self, trials: Columns) -> Columns:
        """Return the trials of the test half that state an interval, with adjusted ``lower`` and ``upper``.

        Ends are infinite if there are too few questions for the level.
        """
        ((adjusted, _),) = self._by_outcome(trials, np.ones((1, len(trials["split"]))))
        return adjusted

    def refitted(self, compute: Compute) -> Compute:
        """Return a measure of adjusted intervals that refits the adjustment for each row of weights."""

        def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
            if weights is None:
                return compute(self.adjust(trials), None)
            values, new = np.empty(len(weights)), self._adjusted(trials)
            for adjusted, rows in self._by_outcome(trials, weights):
                values[rows] = compute(adjusted, weights[rows][:, new])
            return values

        return computed

    def _adjusted(self, trials: Columns) -> NDArray[np.bool_]:
        return has_interval(trials, TEST) & self.applies_to(trials)

    def _by_outcome(self, trials: Columns, weights: FloatArray) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """Yield each distinct set of adjusted trials with a mask of the rows of weights that lead to it."""
        fitted_on = has_interval(trials, self.fitted_on)
        known, new = rows_of(trials, fitted_on), rows_of(trials, self._adjusted(trials))
        if not len(new["level"]):
            yield new, np.ones(len(weights), dtype=np.bool_)
            return
        outcomes, outcome_of_row = self.refit(known, new, float(new["level"][0]), weights[:, fitted_on])
        for number, (lower, upper) in enumerate(outcomes):
            yield {**new, "lower": lower, "upper": upper}, outcome_of_row == number


def _conformal(change: str, **options: bool) -> Adjustment:
    """Return a conformal adjustment that is fitted on the calibration half.

    ``options`` are ``asymmetric`` and ``normalized`` of :func:`confidence_tasks.statistics.intervals.fit_conformal`.
    """

    def refit(known: Columns, new: Columns, level: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
        intervals = known["truth"], known["lower"], known["upper"]
        return statistics.intervals.conformal.refit_conformal(
            intervals, (new["lower"], new["upper"]), level, weights, questions=units_of(known), **options
        )

    return Adjustment(change, CALIBRATION, refit)


JACKKNIFE = "conformal_jackknife"


ADJUSTMENTS: Mapping[str, Adjustment] = {
    "conformal": _conformal("both ends moved by the same distance"),
    "conformal_asymmetric": _conformal("each end moved by a distance of its own", asymmetric=True),
    "conformal_normalized": _conformal("both ends moved in proportion to the width", normalized=True),
    JACKKNIFE: Adjustment(
        "both ends moved by the same distance",
        TEST,
        lambda known, new, level, weights: statistics.intervals.conformal.refit_jackknife(
            (new["truth"], new["lower"], new["upper"]), level, weights, units_of(new)
        ),
    ),
}
"""Adjustments by the name of their method; the last one fits each question's interval on all other questions."""
