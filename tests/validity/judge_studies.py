"""Answers that a judge graded with known errors; the generator shares no code with the package."""

from __future__ import annotations

import numpy as np

from confidence_tasks.decisions.judged_command import MEASURES
from confidence_tasks.statistics.inference.prediction_powered import prediction_powered_mean


def corrected_coverage(
    n: int, n_labels: int, n_studies: int, *, sensitivity: float = 0.9, specificity: float = 0.95
) -> dict[str, tuple[float, float, float]]:
    """Return, for each measure, the coverage corrected and by the judge alone, and the relative width.

    Answers are right in 70%, more often with more confidence. The last number is the mean width relative to that with
    the labels alone.
    """
    rng = np.random.default_rng((n, n_labels))
    big = _answers(1_000_000, rng)
    truth = {name: float(value(*big).mean()) for name, value in MEASURES.items()}
    found = {name: np.zeros(4) for name in MEASURES}
    for _ in range(n_studies):
        right, stated = _answers(n, rng)
        chance = np.where(right == 1.0, sensitivity, 1.0 - specificity)
        grade = (rng.random(n) < chance).astype(float)
        label = np.where(rng.permutation(n) < n_labels, right, np.nan)
        for name, value in MEASURES.items():
            y, graded = value(label, stated), value(grade, stated)
            powered = prediction_powered_mean(y, graded)
            labels_only = prediction_powered_mean(y, graded, weight=0.0)
            reach = 1.96 * graded.std() / np.sqrt(n)
            found[name] += (
                powered.low <= truth[name] <= powered.high,
                abs(graded.mean() - truth[name]) <= reach,
                powered.high - powered.low,
                labels_only.high - labels_only.low,
            )
    return {
        name: (sums[0] / n_studies, sums[1] / n_studies, sums[2] / sums[3]) for name, sums in found.items()
    }


def _answers(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each answer is right, and its confidence, 15 points too high."""
    chance = rng.beta(3.5, 1.5, n)
    return (rng.random(n) < chance).astype(float), np.round(np.minimum(chance + 0.15, 1.0), 2)
