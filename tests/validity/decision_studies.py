"""Populations of answers whose true accuracy above every confidence is known; they share no code with the package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.decisions.recalibration import FOLDS, before_and_after, recalibrated
from confidence_tasks.logs.judged_answers import JudgedAnswers
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics.acceptance import acceptance_threshold
from confidence_tasks.statistics.calibration import cross_fitted_confidence, fit_recalibration
from confidence_tasks.study.standard import BRIER

Array = NDArray[np.float64]

SIZE = 200_000
"""Answers of a population; studies draw from it with replacement."""

SUBJECTS = ("typical", "rounder", "blind", "ideal", "backwards")
"""The last is less often right at its highest confidence than below it."""

_WORDS = np.array([0.5, 0.7, 0.8, 0.9, 0.95, 1.0])


@dataclass(frozen=True, slots=True)
class Answers:
    """A population: whether each answer is right, and its confidence."""

    correct: Array
    confidence: Array

    def accuracy_from(self, threshold: float) -> float:
        """Return the accuracy of answers at or above a confidence."""
        return float(self.correct[self.confidence >= threshold].mean())

    def share_from(self, threshold: float) -> float:
        """Return the share of answers at or above a confidence."""
        return float((self.confidence >= threshold).mean())

    def largest_share(self, accuracy: float) -> float:
        """Return the share that is accepted at the lowest threshold that truly has an accuracy; 0 if none has."""
        reach = [each for each in np.unique(self.confidence) if self.accuracy_from(each) >= accuracy]
        return self.share_from(min(reach)) if reach else 0.0

    def draw(self, n: int, rng: np.random.Generator) -> Answers:
        """Return a study of n questions."""
        rows = rng.integers(0, len(self.correct), n)
        return Answers(self.correct[rows], self.confidence[rows])


@cache
def population(subject: str) -> Answers:
    """Return the population of a subject that is right five times in six."""
    rng = np.random.default_rng(SUBJECTS.index(subject))
    chance = rng.beta(5.0, 1.0, SIZE)
    felt = 1.0 / (1.0 + (1.0 - chance) / chance * np.exp(-0.5 - rng.normal(0.0, 1.0, SIZE)))
    rounded = rng.random(SIZE) < 0.7
    stated: Mapping[str, Array] = {
        "typical": np.where(rounded, np.round(felt * 20) / 20, np.round(felt, 2)),
        "rounder": _WORDS[np.abs(felt[:, np.newaxis] - _WORDS).argmin(axis=1)],
        "blind": np.round(rng.beta(8.0, 2.0, SIZE) * 20) / 20,
        "ideal": np.round(chance, 2),
        "backwards": np.round(np.where(chance > 0.97, 0.9, np.where(chance < 0.7, 1.0, 0.8 * chance)), 2),
    }
    return Answers((rng.random(SIZE) < chance).astype(np.float64), stated[subject])


def thresholds(subject: str, n: int, accuracy: float, n_studies: int) -> tuple[float, float]:
    """Return how often a threshold keeps its guarantee, and the mean share of answers that it truly accepts."""
    whole, rng = population(subject), np.random.default_rng((SUBJECTS.index(subject), n))
    accuracies: dict[float, float] = {}
    shares: dict[float, float] = {}
    found = []
    for _ in range(n_studies):
        study = whole.draw(n, rng)
        threshold = float(acceptance_threshold(study.correct, study.confidence, accuracy=accuracy).threshold)
        threshold = -1.0 if np.isnan(threshold) else threshold  # NaN is no key
        if threshold not in accuracies:
            none = threshold < 0.0
            accuracies[threshold] = 1.0 if none else whole.accuracy_from(threshold)
            shares[threshold] = 0.0 if none else whole.share_from(threshold)
        found.append(threshold)
    kept = np.mean([accuracies[each] >= accuracy for each in found])
    return float(kept), float(np.mean([shares[each] for each in found]))


def recalibrated_brier(subject: str, method: str, n: int, n_studies: int) -> tuple[float, float, float]:
    """Return what a study says about the Brier score of its map on other questions.

    These are the mean cross-fitted score minus the mean true score of the maps, the coverage of the interval for their
    mean true improvement, and for the improvement by the map of the study itself.
    """
    whole, rng = population(subject), np.random.default_rng((SUBJECTS.index(subject), n))
    stated = float(((whole.confidence - whole.correct) ** 2).mean())
    settings = Settings(n_resamples=200)
    truths, estimates, lows, highs = np.zeros((4, n_studies))
    for i in range(n_studies):
        study = whole.draw(n, rng)
        names = np.arange(n).astype(str)
        answers = JudgedAnswers("", "", "", study.correct, study.confidence, names, 0)
        after = recalibrated(answers, method, seed=0)  # type: ignore[arg-type]
        brier = before_and_after(answers, after, settings, [BRIER])["brier"]
        estimates[i], lows[i], highs[i] = (
            brier.values[0].estimate,
            brier.interval.low,
            brier.interval.high,
        )
        meaning = fit_recalibration(study.correct, study.confidence, method=method, force=True)  # type: ignore[arg-type]
        values = meaning(np.clip(whole.confidence, meaning.confidence[0], meaning.confidence[-1]))
        truths[i] = ((values - whole.correct) ** 2).mean() - stated
    mean, own = (
        float(np.mean((lows <= truth) & (truth <= highs)))
        for truth in (np.full(n_studies, truths.mean()), truths)
    )
    return float(np.mean(estimates - stated - truths)), mean, own


class Improvements(NamedTuple):
    """Cross-fitted improvements of the Brier score in many studies.

    ``deviation`` is their standard deviation and ``error`` the mean of the standard errors that ignore the fit,
    ``correlation`` that of improvement and standard error, and ``covered`` the share of the intervals, 1.96 standard
    errors wide, that contain the mean improvement.
    """

    deviation: float
    error: float
    correlation: float
    covered: float


def improvements(subject: str, method: str, n: int, n_studies: int) -> Improvements:
    """Return how well the standard error of a cross-fitted improvement tells how much it varies over studies."""
    whole, rng = population(subject), np.random.default_rng((SUBJECTS.index(subject), n, 1))
    found, errors = np.zeros((2, n_studies))
    for i in range(n_studies):
        study = whole.draw(n, rng)
        after = cross_fitted_confidence(
            study.correct,
            study.confidence,
            method=method,
            folds=FOLDS,
            seed=0,  # type: ignore[arg-type]
        )
        values = (after - study.correct) ** 2 - (study.confidence - study.correct) ** 2
        found[i], errors[i] = values.mean(), values.std(ddof=1) / math.sqrt(n)
    return Improvements(
        float(found.std()),
        float(errors.mean()),
        float(np.corrcoef(found, errors)[0, 1]),
        float(np.mean(np.abs(found - found.mean()) <= 1.96 * errors)),
    )
