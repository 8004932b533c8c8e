"""Measures that studies share, and functions that make measures of their kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics import calibration, discretization, discrimination
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.study.columns import has_status, right_and_wrong, smallest_of
from confidence_tasks.study.computations import (
    influence_of,
    inverted_test_of,
    mean_of,
    proportion_of,
    statistic_of,
)
from confidence_tasks.study.inference import (
    ANY,
    UNIT,
    Bounded,
    Bounds,
    Columns,
    Compute,
    Count,
    Inverted,
    Mean,
    Proportion,
    Value,
)
from confidence_tasks.study.measure import Better, Measure
from confidence_tasks.study.moved_measures import moved_name
from confidence_tasks.study.trial import READABLE

if not TYPE_CHECKING:  # a type checker refuses names that are elsewhere

    def __getattr__(name: str) -> Any:
        """Return a name by which version 0.1 had something here, with a warning."""
        return moved_name(name)


def proportion_measure(
    name: str, compute: Compute | str, description: str, better: Better = "neither"
) -> Measure:
    """Make the measure of a proportion. ``compute`` may be the name of a column that is 0, 1 or NaN."""
    compute = mean_of(compute) if isinstance(compute, str) else compute
    return Measure(name, compute, description, better, inference=Proportion())


def mean_measure(
    name: str, compute: Compute | str, description: str, better: Better = "neither", *, bounds: Bounds = ANY
) -> Measure:
    """Make the measure of a mean over trials. ``compute`` may be the name of a column."""
    compute = mean_of(compute) if isinstance(compute, str) else compute
    return Measure(
        name,
        compute,
        description,
        better,
        inference=Mean(*bounds),
    )


def count_measure(
    name: str, condition: Callable[[Columns], NDArray[Any]], description: str, better: Better = "neither"
) -> Measure:
    """Make the measure of the number of trials for which ``condition(columns)`` is true."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        counted = condition(trials).astype(float)
        return float(counted.sum()) if weights is None else weights @ counted

    return Measure(name, compute, description, better, inference=Count())


MIN_QUESTIONS_OF_MEAN = 2
"""Minimum number of right and of wrong answers for an interval of overconfidence, which itself adds two of each."""


def auroc(name: str, description: str, correct: str = "correct", confidence: str = "confidence") -> Measure:
    """Make the measure of the area under the type-2 ROC curve of the trials that have both columns."""
    return Measure(
        name,
        statistic_of(discrimination.auroc2, correct, confidence),
        description,
        "higher",
        inference=Bounded(
            0.0,
            1.0,
            informative=smallest_of(*right_and_wrong(correct, confidence)),
            influence=influence_of(discrimination.auroc2_influence, correct, confidence),
        ),
    )


def calibration_error(
    name: str,
    description: str,
    correct: str = "correct",
    confidence: str = "confidence",
    *,
    graded: bool = False,
    **options: Any,
) -> Measure:
    """Make the measure of an expected calibration error of the trials that have both columns.

    If ``graded``, ``correct`` holds probabilities of being right; otherwise an interval needs five right and five wrong
    answers. ``options`` are those of :func:`confidence_tasks.statistics.ece`, such as the number of bins.
    """
    return Measure(
        name,
        statistic_of(calibration.ece, correct, confidence, **options),
        description,
        "lower",
        inference=Inverted(
            inverted_test_of(calibration.BinnedTrials, correct, confidence, **options),
            informative=None if graded else smallest_of(*right_and_wrong(correct, confidence)),
        ),
    )


def rounded_share(confidence: str) -> Measure:
    """Make the measure of how often the confidence in a column is rounded, as in tables 2 to 4 of arXiv:2605.23909."""
    return proportion_measure(
        "round_share",
        statistic_of(discretization.round_share, confidence, lower=0.0, upper=1.0, step=0.05),
        "Share of stated confidences that are multiples of .05.",
    )


def extra_bin_error(*, graded: bool = False) -> Measure:
    """Make the measure of the calibration error by the bins that the text of arXiv:2605.23909 describes."""
    return calibration_error(
        "ece_extra_bin",
        "Expected calibration error, bins closed on the left and an eleventh bin for a confidence of exactly 1.",
        graded=graded,
        edges="extra_bin",
    )


def overconfidence(
    name: str, description: str, correct: str = "correct", confidence: str = "confidence"
) -> Measure:
    """Make the measure of mean confidence minus accuracy of the trials that have both columns."""
    return Measure(
        name,
        statistic_of(calibration.overconfidence, correct, confidence),
        description,
        inference=Mean(
            -1.0,
            1.0,
            informative=smallest_of(*right_and_wrong(correct, confidence), enough=MIN_QUESTIONS_OF_MEAN),
        ),
    )


def _wrong_if_missing(trials: Columns) -> NDArray[Any]:
    """Return correctness: 0 for a reply without an answer, NaN for an unfinished reply or a question without a key."""
    missing = has_status("missing_answer", "unreadable", "refused")(trials)
    return np.where(missing & np.isnan(trials["correct"]), 0.0, trials["correct"])


ACCURACY = proportion_measure(
    "accuracy",
    "correct",
    "Mean correctness of the answers given; replies without an answer are left out.",
    "higher",
)

ACCURACY_OF_ALL = proportion_measure(
    "accuracy_of_all",
    proportion_of(_wrong_if_missing),
    "The same where a reply without an answer is wrong. Replies that were cut off, filtered or hold only reasoning are "
    "left out.",
    "higher",
)

PARSE_RATE = proportion_measure(
    "parse_rate",
    proportion_of(has_status(*READABLE)),
    "Share of replies with a readable answer and a confidence within what was asked.",
    "higher",
)

PARSE_RATE_STRICT = proportion_measure(
    "parse_rate_strict",
    proportion_of(has_status("ok")),
    "Share of replies that keep to the letter of the format.",
    "higher",
)

CONFIDENCE = mean_measure(
    "confidence", "confidence", "Mean confidence of the replies that state one.", bounds=UNIT
)
