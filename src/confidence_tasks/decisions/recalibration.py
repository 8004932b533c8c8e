"""What recalibration changes: measures of calibration before and after, and the map with a band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confidence_tasks.logs.judged_answers import JudgedAnswers
from confidence_tasks.report.estimates.compare import compared_measures
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.paired_trials import FIRST, SECOND
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import calibration
from confidence_tasks.statistics.calibration.maps import Recalibration
from confidence_tasks.statistics.calibration.recalibration import FITS, RecalibrationMethod
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.study.columns import GRADED
from confidence_tasks.study.computations import statistic_of
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import mean_measure
from confidence_tasks.study.standard import BRIER, ECE

CLIP = 0.005
"""The log score counts a confidence of 0 or 1 as half a percentage point less extreme: it would be infinite."""

LOG_SCORE = mean_measure(
    "log_loss",
    statistic_of(calibration.log_loss, *GRADED, clip=CLIP),
    "Mean negative log-probability of what came true, with confidence clipped to [0.005, 0.995].",
    "lower",
    bounds=(0.0, np.inf),
)
MEASURES = (ECE, BRIER, LOG_SCORE)


FOLDS = 20
"""Number of folds: with five, the maps of the folds are worse than the map of all answers by a noticeable amount."""


def recalibrated(answers: JudgedAnswers, method: RecalibrationMethod, seed: int) -> FloatArray:
    """Return the cross-fitted confidence of answers: no answer enters the map that is applied to it."""
    return calibration.cross_fitted_confidence(
        answers.correct, answers.confidence, method=method, clusters=answers.units, folds=FOLDS, seed=seed
    )


def before_and_after(
    answers: JudgedAnswers,
    confidence: FloatArray,
    settings: Settings,
    measures: Sequence[Measure] = MEASURES,
) -> dict[str, Contrast]:
    """Compare measures of calibration of another confidence (after) with those of the stated one (before).

    Answers without the other confidence are left out of both. Differences are after minus before, paired by question;
    they are of the given confidence, and do not contain the error of the map that it comes from.
    """
    known = ~np.isnan(confidence)
    units, n = answers.units[known].astype(object), int(known.sum())
    columns = {
        "question_id": np.tile(units, 2),
        "source": np.full(2 * n, "answers", dtype=object),
        "correct": np.tile(answers.correct[known], 2),
        "confidence": np.concatenate([confidence[known], answers.confidence[known]]),
    }
    side = np.repeat([FIRST, SECOND], n)
    return {each.measure: each for each in compared_measures(columns, side, measures, settings)}


N_REFITS = 500


def band(answers: JudgedAnswers, meaning: Recalibration, settings: Settings) -> FloatArray:
    """Return pointwise limits of a map at its knots, (2, k): percentiles of maps fitted to resampled questions."""
    knots = np.array(meaning.confidence)
    _, question = np.unique(answers.units, return_inverse=True)
    order = np.argsort(question, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(question))[:-1])
    rng = settings.generator("recalibration")
    fits = []
    for _ in range(N_REFITS):
        drawn = rng.integers(0, len(rows_of), len(rows_of))
        rows = np.concatenate([rows_of[each] for each in drawn])
        fits.append(FITS[meaning.method](answers.correct[rows], answers.confidence[rows], knots))
    tail = (1.0 - settings.level) / 2.0
    limits: FloatArray = np.quantile(fits, [tail, 1.0 - tail], axis=0)
    return limits
