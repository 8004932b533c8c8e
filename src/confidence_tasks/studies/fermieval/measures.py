"""What reports measure of stated intervals: as stated, and conformally adjusted."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from confidence_tasks.studies.fermieval import trials
from confidence_tasks.studies.fermieval.trials import CALIBRATION
from confidence_tasks.study.measures import Measure

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.study.measures import Columns, Compute, Value


def _of_design(measure: Measure, *, calibration: bool) -> Measure:
    """Restrict a measure to trials with a calibration half, or to those without one; of others it is NaN."""

    def restricted(whole: Compute) -> Compute:
        def compute(columns: Columns, weights: FloatArray | None = None) -> Value:
            import numpy as np

            if bool((columns["split"] == CALIBRATION).any()) is calibration:
                return whole(columns, weights)
            return math.nan if weights is None else np.full(weights.shape[:-1], np.nan)

        return compute

    refitted = restricted(measure.refitted) if measure.refitted else None
    return replace(measure, compute=restricted(measure.compute), refitted=refitted)


MEASURES: tuple[Measure, ...] = (
    *trials.MEASURES,
    *(_of_design(measure, calibration=True) for measure in trials.CONFORMAL_MEASURES),
    *(_of_design(measure, calibration=False) for measure in trials.JACKKNIFE_MEASURES),
)
"""Measures of stated intervals, adjusted by the calibration half or, where none was asked, by each other."""
