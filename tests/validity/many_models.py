"""Several models on the same questions whose true measures are known; the generator shares no code with the package."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.report.estimates.ranking import Ranking, rank_by_measures
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.study.standard import ACCURACY, AUROC, BRIER, ECE, OVERCONFIDENCE

Array = NDArray[np.float64]
Model = dict[str, Array]

N_DRAWS = 199
"""Permutations of each study: enough for an exact test at 5%."""

MEASURES = {each.name: each for each in (ACCURACY, OVERCONFIDENCE, BRIER, AUROC, ECE)}


def replies(
    skills: Array, n: int, rng: np.random.Generator, *, epochs: int = 1, passages: int = 0, bias: float = 0.7
) -> list[Model]:
    """Draw the replies of models with a skill to n questions, each asked in some epochs.

    The models find the same questions difficult, and so do the questions of one of several passages. Confidence is
    overconfident by ``bias`` on the logit scale and rounded to 5 percentage points.
    """
    hard = rng.normal(0.0, 1.0, n)
    units = np.arange(n)
    if passages:
        units = np.arange(n) % passages
        hard = 0.6 * hard + 0.8 * rng.normal(0.0, 1.0, passages)[units]
    models = []
    for skill in skills:
        felt = skill - hard + rng.normal(0.0, 0.7, n)
        correct = rng.random((epochs, n)) < 1.0 / (1.0 + np.exp(-felt))
        said = felt + bias + rng.normal(0.0, 0.8, (epochs, n))
        stated = np.round(np.clip(1.0 / (1.0 + np.exp(-said)), 0.02, 0.98) * 20.0) / 20.0
        trials = {
            "question_id": np.tile(np.arange(n).astype(str).astype(object), epochs),
            "source": np.full(n * epochs, "made", dtype=object),
            "correct": correct.ravel().astype(np.float64),
            "confidence": stated.ravel(),
        }
        if passages:
            trials["unit"] = np.tile(units.astype(str).astype(object), epochs)
        models.append(trials)
    return models


@cache
def true_values(skill: float) -> dict[str, float]:
    """Return the measures of a model in a population of questions."""
    (model,) = replies(np.array([skill]), 400_000, np.random.default_rng(1))
    correct, stated = model["correct"], model["confidence"]
    _, index = np.unique(stated, return_inverse=True)
    right, wrong = (np.bincount(index, weights=side) for side in (correct, 1.0 - correct))
    above = (right * (np.cumsum(wrong) - wrong / 2.0)).sum() / right.sum() / wrong.sum()
    bins = np.minimum((stated * 10.0 + 1e-9).astype(int), 9)
    gaps = np.abs(np.bincount(bins, weights=stated - correct))
    return {
        "accuracy": float(correct.mean()),
        "overconfidence": float((stated - correct).mean()),
        "brier": float(((stated - correct) ** 2).mean()),
        "auroc": float(above),
        "ece": float(gaps.sum() / len(correct)),
    }


def rankings(models: list[Model], measures: tuple[str, ...], n_resamples: int) -> dict[str, Ranking]:
    """Rank models by each measure."""
    labels = [str(i) for i in range(len(models))]
    chosen = [MEASURES[name] for name in measures]
    found = rank_by_measures(chosen, Settings(n_resamples), 1, labels, models)
    return {each.measure: each for each in found}


def false_positives(
    n: int, n_studies: int, measures: tuple[str, ...] = tuple(MEASURES), *, n_models: int = 10, **asked: int
) -> dict[str, tuple[float, float]]:
    """Return the shares of studies of equal models in which any pair differs, for each measure.

    The first share is that of the simultaneous intervals, the second that of single ones, 1.96 standard errors wide.
    """
    rng = np.random.default_rng((n, n_models, *asked.values()))
    found = {name: np.zeros(2) for name in measures}
    for _ in range(n_studies):
        models = replies(np.full(n_models, 1.0), n, rng, **asked)
        for name, ranking in rankings(models, measures, N_DRAWS).items():
            single = [
                abs(each.difference.estimate) > 1.96 * each.difference.standard_error
                for each in ranking.pairs
            ]
            found[name] += any(pair.differs for pair in ranking.pairs), any(single)
    return {name: (float(both[0]) / n_studies, float(both[1]) / n_studies) for name, both in found.items()}


SKILLS = np.array([0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.5, 1.5, 2.0, 2.0])
"""Models of which some are equal and others are not."""


def ranks_covered(n: int, n_studies: int, measures: tuple[str, ...] = tuple(MEASURES)) -> dict[str, float]:
    """Return the share of studies in which the limits of all ranks contain the true ranks, for each measure.

    Equal models share the ranks from 1 plus the number of better models to 10 minus the number of worse ones.
    """
    rng = np.random.default_rng((n, 1))
    found = dict.fromkeys(measures, 0)
    for _ in range(n_studies):
        models = replies(SKILLS, n, rng)
        for name, ranking in rankings(models, measures, N_DRAWS).items():
            sign = -1.0 if MEASURES[name].better == "lower" else 1.0
            values = {str(i): sign * true_values(skill)[name] for i, skill in enumerate(SKILLS)}
            ranked = [each for each in ranking.models if each.first]
            found[name] += all(
                each.first <= 1 + sum(values[other.model] > values[each.model] for other in ranked)
                and each.last
                >= len(ranked) - sum(values[other.model] < values[each.model] for other in ranked)
                for each in ranked
            )
    return {name: count / n_studies for name, count in found.items()}
