"""Studies in which there is nothing to find, to see how often each test of the package finds it nevertheless."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit

from confidence_tasks.replications.logprob_metacognition.hypotheses import rise_p_values
from confidence_tasks.statistics import (
    auroc2,
    ece,
    equivalence_test,
    holm,
    m_ratio_threshold,
    permutation_test,
)
from confidence_tasks.statistics.calibration import spiegelhalter_z
from confidence_tasks.statistics.inference import bonferroni
from confidence_tasks.statistics.information import meta_information_test
from confidence_tasks.studies.logprob_metacognition.quarters import quarters_of

ALPHA = 0.05
EXCHANGES = 199

Study = Callable[[np.random.Generator, int], bool]
"""``study(rng, n)`` simulates ``n`` questions and says whether the test rejects at 5%."""


def mean(x: Any, *, weights: Any) -> Any:
    return weights @ x / weights.sum(axis=-1)


def m_ratio(correct: Any, confidence: Any, *, weights: Any) -> Any:
    return m_ratio_threshold(correct, confidence, threshold=0.9, weights=weights)


def _answers(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Correctness and the logit of confidence."""
    evidence = rng.normal(0.7, 1.0, n)
    return (evidence > 0.0).astype(float), 0.5 + 1.4 * np.abs(evidence)


def _stated(rng: np.random.Generator, logit: np.ndarray, gain: float = 1.0) -> np.ndarray:
    """Confidence as stated under one condition, on multiples of .05."""
    return np.asarray(np.round(20 * expit(gain * logit + rng.normal(0.0, 0.7, len(logit)))) / 20)


def _conditions(statistic: Callable[..., Any]) -> Study:
    """One model, two conditions alike: the same answers, confidence stated twice."""

    def rejects(rng: np.random.Generator, n: int) -> bool:
        correct, logit = _answers(rng, n)
        first, second = ([correct, _stated(rng, logit)] for _ in range(2))
        return bool(
            permutation_test(statistic, first, second, n_resamples=EXCHANGES, seed=rng).p_value <= ALPHA
        )

    return rejects


def _models(statistic: Callable[..., Any], gain: float = 1.0) -> Study:
    """Two models with independent answers; the second may state its confidence more boldly."""

    def rejects(rng: np.random.Generator, n: int) -> bool:
        sides = []
        for own in (1.0, gain):
            correct, logit = _answers(rng, n)
            sides.append([correct, _stated(rng, logit, own)])
        return bool(permutation_test(statistic, *sides, n_resamples=EXCHANGES, seed=rng).p_value <= ALPHA)

    return rejects


def _family(correct_for: Callable[[Any], np.ndarray]) -> Study:
    """Four conditions against one baseline: whether any difference is found."""

    def rejects(rng: np.random.Generator, n: int) -> bool:
        _, logit = _answers(rng, n)
        baseline, *others = (_stated(rng, logit) for _ in range(5))
        p_values = [
            permutation_test(mean, [other], [baseline], n_resamples=EXCHANGES, seed=rng).p_value
            for other in others
        ]
        return bool(min(correct_for(p_values)) <= ALPHA)

    return rejects


def _equivalence(rng: np.random.Generator, n: int) -> bool:
    """The difference is exactly as large as the margin."""
    _, logit = _answers(rng, n)
    first = logit + rng.normal(0.0, 0.5, n)
    second = logit + rng.normal(0.2, 0.5, n)
    return equivalence_test(mean, [first], [second], margin=0.2, n_resamples=999, seed=rng).equivalent


def _information(rng: np.random.Generator, n: int) -> bool:
    """Confidence that tells nothing."""
    correct, logit = _answers(rng, n)
    told = meta_information_test(
        correct, _stated(rng, rng.permutation(logit)), n_permutations=EXCHANGES, seed=rng
    )
    return bool(told.p_value <= ALPHA)


def _spiegelhalter(rng: np.random.Generator, n: int) -> bool:
    """A calibrated subject."""
    confidence = rng.beta(3.0, 1.0, n)
    return bool(abs(spiegelhalter_z(rng.random(n) < confidence, confidence)) > 1.959964)


def _monotonicity(rng: np.random.Generator, n: int) -> bool:
    """Accuracy rises, but not from the second quarter of the evidence to the third."""
    evidence = np.sort(rng.normal(size=n))
    accuracy = np.repeat([0.2, 0.6, 0.6, 1.0], -(-n // 4))[:n]
    correct, questions = (rng.random(n) < accuracy).astype(float), np.arange(n).astype(str)
    cell: Any = SimpleNamespace(evidence=evidence, correct=correct, questions=questions, n=n)
    return bool(rise_p_values(*quarters_of(cell)[:2]).max() < ALPHA)


STUDIES: Mapping[str, Study] = {
    "permutation, conditions, AUROC": _conditions(auroc2),
    "permutation, conditions, ECE": _conditions(ece),
    "permutation, conditions, M-ratio": _conditions(m_ratio),
    "permutation, models, AUROC": _models(auroc2),
    "permutation, models, ECE": _models(ece),
    "permutation, models that use the scale differently, AUROC": _models(auroc2, gain=2.5),
    "four contrasts, Bonferroni": _family(bonferroni),
    "four contrasts, Holm": _family(holm),
    "equivalence (TOST), difference at the margin": _equivalence,
    "meta-information, permutation": _information,
    "Spiegelhalter's z, calibrated": _spiegelhalter,
    "monotonicity, one rise missing": _monotonicity,
}
"""Tests by name."""


def size(name: str, n: int, n_studies: int, seed: int = 0) -> float:
    """Share of studies with nothing to find in which a test rejects at 5%."""
    rng = np.random.default_rng(seed)
    return sum(STUDIES[name](rng, n) for _ in range(n_studies)) / n_studies
