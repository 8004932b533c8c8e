"""Measures of confidence signals: of any signal that orders answers, and of those that are probabilities.

The columns are ``confidence``, which orders answers as the signal does, ``value`` in the signal's own unit, and
``probability``, the value if it is meant as the probability of being right.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from confidence_tasks.statistics import calibration, information, selective
from confidence_tasks.statistics.core import FloatArray, Reason, undefined
from confidence_tasks.study.columns import right_and_wrong, smallest_of
from confidence_tasks.study.computations import StatisticCall, inverted_test_of, statistic_of
from confidence_tasks.study.inference import UNIT, Bounded, Columns, Inverted, Percentile, Value
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import ACCURACY, PARSE_RATE, auroc, calibration_error, mean_measure
from confidence_tasks.study.shared_columns import derived
from confidence_tasks.study.units import units_of


def regressor(trials: Columns) -> FloatArray:
    """Return the predictor of logistic regressions: the logit of a clipped probability, or the value in nats."""
    from scipy.special import logit

    value, probability = trials["value"], trials["probability"]
    clip = calibration.recalibration.DEFAULT_CLIP
    logits = logit(np.clip(probability, clip, 1.0 - clip))
    return np.where(np.isnan(probability), value, logits)


def _with_recalibrated(trials: Columns) -> Columns:
    """Add the column ``recalibrated``, the cross-fitted probability of being right."""
    return {**trials, "recalibrated": derived(trials, "recalibrated", lambda: _recalibrated_column(trials))}


def _recalibrated_column(trials: Columns) -> FloatArray:
    x, correct = regressor(trials), trials["correct"]
    usable = ~np.isnan(x) & ~np.isnan(correct)
    recalibrated = np.full(len(x), np.nan)
    recalibrated[usable] = calibration.cross_fitted_logistic(
        correct[usable], x[usable, np.newaxis], clusters=units_of(trials)[usable]
    )
    return recalibrated


def _recalibrated(measure: Measure) -> Measure:
    """Return a measure of the column ``recalibrated``; resamples keep the recalibration of all trials."""
    inference = replace(measure.inference, informative=smallest_of(*_CLASSES))
    if isinstance(inference, Inverted):
        test_of = inference.test_of
        inference = replace(
            inference, test_of=lambda trials, questions: test_of(_with_recalibrated(trials), questions)
        )
    return replace(
        measure,
        compute=lambda trials, weights: measure.compute(_with_recalibrated(trials), weights),
        inference=inference,
        fitted=True,
    )


def of_probabilities(measure: Measure) -> Measure:
    """Return a measure of the column ``probability`` whose reason says so where a signal is no probability."""
    assert isinstance(measure.compute, StatisticCall)

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        values = measure.compute(trials, weights)
        if np.ndim(values) or not np.isnan(values) or not orders_only(trials):
            return values
        return undefined(Reason.NO_PROBABILITY)

    return replace(measure, compute=replace(measure.compute, run=compute))


def orders_only(trials: Columns) -> bool:
    """Return True if the signal of some trials has values and none of them is a probability."""
    return bool(np.isnan(trials["probability"]).all() and not np.isnan(trials["value"]).all())


_CLASSES = right_and_wrong()
_VALUES = ("correct", "confidence")

SIGNAL_MEASURES: tuple[Measure, ...] = (
    auroc("auroc", "Chance that a right answer has a surer signal than a wrong one; ties count one half."),
    Measure(
        "prr",
        statistic_of(selective.prediction_rejection_ratio, *_VALUES),
        "Prediction rejection ratio: gain of rejecting by the signal, relative to rejecting wrong answers first.",
        "higher",
        inference=Percentile(-math.inf, 1.0, informative=smallest_of(*_CLASSES)),
    ),
    Measure(
        "prr_50",
        statistic_of(selective.prediction_rejection_ratio, *_VALUES, max_rejection=0.5),
        "Prediction rejection ratio up to a rejection of half of the answers.",
        "higher",
        inference=Percentile(-math.inf, 1.0, informative=smallest_of(*_CLASSES)),
    ),
    Measure(
        "auarc",
        statistic_of(selective.auarc, *_VALUES),
        "Area under the accuracy-rejection curve: mean accuracy of the n surest answers over all n.",
        "higher",
        inference=Bounded(*UNIT, informative=smallest_of(*_CLASSES)),
    ),
    Measure(
        "meta_information",
        statistic_of(information.meta_information, "correct", "value", by_unit=True),
        "Share of the uncertainty about correctness that the signal removes, corrected for bias.",
        "higher",
        inference=Inverted(
            inverted_test_of(information.InformationTables, "correct", "value"),
            informative=smallest_of(*_CLASSES),
        ),
    ),
    of_probabilities(
        calibration_error(
            "ece",
            "Expected calibration error, 10 bins; for signals that are probabilities.",
            "correct",
            "probability",
        )
    ),
    of_probabilities(
        mean_measure(
            "brier",
            statistic_of(calibration.brier, "correct", "probability"),
            "Mean squared difference from the outcome; for signals that are probabilities.",
            "lower",
            bounds=UNIT,
        )
    ),
    _recalibrated(
        calibration_error(
            "ece_recalibrated",
            "Expected calibration error after recalibration by a logistic curve fitted to other questions.",
            "correct",
            "recalibrated",
        )
    ),
    _recalibrated(
        mean_measure(
            "brier_recalibrated",
            statistic_of(calibration.brier, "correct", "recalibrated"),
            "Mean squared difference from the outcome after the same recalibration.",
            "lower",
            bounds=UNIT,
        )
    ),
    ACCURACY,
    PARSE_RATE,
)
"""Measures of signals: of those that order answers, then of those that are probabilities, also recalibrated."""
