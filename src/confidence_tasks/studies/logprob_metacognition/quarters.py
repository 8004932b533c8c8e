"""Accuracy by quarter of the log-probability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.calibration.binning import Bins, independent_trials
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.logprob_metacognition.resampling import Cell


class Quarters(NamedTuple):
    """Numbers of right answers, of all answers and of independent trials in each quarter of a cell's evidence."""

    right: FloatArray
    total: FloatArray
    independent: FloatArray

    @property
    def accuracy(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Proportion of right answers, and the limits of Wilson's interval."""
        accuracy = self.right / self.total
        low, high = wilson_interval(self.independent * accuracy, self.independent)
        return accuracy, low, high


def quarters_of(cell: Cell) -> Quarters:
    """Count the answers in each quarter of the evidence; trials with equal evidence are in the same quarter.

    The independent trials are fewer than the answers where a question was asked several times.
    """
    partition = Bins(4, "equal_mass")
    quarter = partition.assign(cell.evidence)
    right = np.bincount(quarter, cell.correct, minlength=4).astype(np.float64)
    total = np.bincount(quarter, minlength=4).astype(np.float64)
    independent = independent_trials(cell.questions, partition, cell.evidence, total)
    used = total > 0
    return Quarters(right[used], total[used], independent[used])
