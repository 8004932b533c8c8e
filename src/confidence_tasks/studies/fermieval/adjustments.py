"""Conformal adjustment of intervals by the calibration half or, without one, by the other questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.studies.fermieval.replies import CALIBRATION, TEST
from confidence_tasks.study.adjusted_intervals import AdjustedIntervals, Refit, refit_by_others
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.inference import Columns, Compute, Value
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
class Adjustment(AdjustedIntervals):
    """A method that adjusts the intervals of the test half.

    Attributes
    ----------
    change : str
        What the method does to the ends.
    fitted_on : {"calibration", "test"}
        The half that the adjustment is fitted on. Runs with a calibration half have no intervals by a method that is
        fitted on the test half, and other runs have none by the other methods.
    """

    change: str
    fitted_on: str

    def applies_to(self, trials: Columns) -> bool:
        """Whether the trials have the half that the method needs."""
        return _fits(trials, self.fitted_on)


def _fits(trials: Columns, fitted_on: str) -> bool:
    return (CALIBRATION in trials["split"]) is (fitted_on == CALIBRATION)


def _of_test_half(change: str, fitted_on: str, refit: Refit) -> Adjustment:
    """Return an adjustment of the test half that is fitted on a half."""
    return Adjustment(
        known=lambda trials: has_interval(trials, fitted_on),
        new=lambda trials: has_interval(trials, TEST) & _fits(trials, fitted_on),
        refit=refit,
        change=change,
        fitted_on=fitted_on,
    )


def _conformal(change: str, **options: bool) -> Adjustment:
    """Return a conformal adjustment that is fitted on the calibration half.

    ``options`` are ``asymmetric`` and ``normalized`` of :func:`confidence_tasks.statistics.intervals.fit_conformal`.
    """

    def refit(known: Columns, new: Columns, level: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
        intervals = known["truth"], known["lower"], known["upper"]
        return statistics.intervals.conformal.refit_conformal(
            intervals, (new["lower"], new["upper"]), level, weights, questions=units_of(known), **options
        )

    return _of_test_half(change, CALIBRATION, refit)


JACKKNIFE = "conformal_jackknife"


ADJUSTMENTS: Mapping[str, Adjustment] = {
    "conformal": _conformal("both ends moved by the same distance"),
    "conformal_asymmetric": _conformal("each end moved by a distance of its own", asymmetric=True),
    "conformal_normalized": _conformal("both ends moved in proportion to the width", normalized=True),
    JACKKNIFE: _of_test_half("both ends moved by the same distance", TEST, refit_by_others),
}
"""Adjustments by the name of their method; the last one fits each question's interval on all other questions."""
