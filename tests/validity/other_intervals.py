"""How often intervals that functions offer beside those of the report hold what they should."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr
from tests.unit.statistics.observers import meta_d_proportions, simulate_tables

from confidence_tasks.statistics import auroc2, bootstrap, fit_meta_d, m_ratio_threshold
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.intervals import fit_conformal
from confidence_tasks.statistics.sdt import fieller_interval

# Fieller ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """How often intervals hold the truth, and which share of them is a plain interval."""

    covered: float
    bounded: float


def fieller(d_prime: float, meta_d: float, n: int, n_studies: int, seed: int = 0) -> Found:
    """Fieller's interval of the M-ratio of items with two alternatives, n trials a study."""
    rng = np.random.default_rng([seed, n])
    fit = fit_meta_d(*simulate_tables(rng, n, meta_d_proportions(d_prime, meta_d), n_studies))
    truth, held, kinds = meta_d / d_prime, 0, []
    for values in zip(fit.meta_d, fit.d_prime, fit.meta_d_se, fit.d_prime_se, fit.covariance, strict=True):
        found = fieller_interval(*map(float, values))
        inside = found.low <= truth <= found.high
        held += {
            "bounded": inside,
            "exclusive": truth <= found.low or truth >= found.high,
            "unbounded": True,
            "undefined": False,
        }[found.kind]
        kinds.append(found.kind)
    defined = n_studies - kinds.count("undefined")
    return Found(held / defined, kinds.count("bounded") / n_studies)


# Percentiles ----------------------------------------------------------------------------------------------------


def _skewed(rng: np.random.Generator, n: int) -> tuple[FloatArray, ...]:
    return (rng.exponential(size=n),)


def _mean(x: Any, *, weights: Any) -> Any:
    return weights @ x / weights.sum(axis=-1)


def _answers(rng: np.random.Generator, n: int) -> tuple[FloatArray, ...]:
    """An unbiased ideal observer of d' = 1.4 with two choices; confidence is the distance from its criterion."""
    evidence = rng.normal(0.7, 1.0, n)
    return (evidence > 0.0).astype(np.float64), 1.0 - np.exp(-np.abs(evidence))


def _above(correct: Any, confidence: Any, *, weights: Any) -> Any:
    return m_ratio_threshold(correct, confidence, threshold=0.6, weights=weights)


def _errors_far_apart(rng: np.random.Generator, n: int) -> tuple[FloatArray, ...]:
    """Confidence is N(1, 1) of right answers, three in four, and N(0, 1) of wrong ones."""
    correct = (rng.random(n) < 0.75).astype(np.float64)
    return correct, ndtr(rng.normal(correct, 1.0))


BOOTSTRAPPED: Mapping[str, tuple[Callable[..., Any], Callable[..., tuple[FloatArray, ...]], float]] = {
    "mean of exponential numbers": (_mean, _skewed, 1.0),
    "AUROC2, three right in four": (auroc2, _errors_far_apart, float(ndtr(np.sqrt(0.5)))),
    "M-ratio by a threshold": (_above, _answers, 1.0),
}
"""By name: a statistic, what it is of, and the truth."""


def bootstrapped(name: str, n: int, n_studies: int, n_resamples: int = 1_000, seed: int = 0) -> Found:
    """A bootstrap interval over n trials."""
    statistic, draw, truth = BOOTSTRAPPED[name]
    rng = np.random.default_rng([seed, n])
    held = []
    for _ in range(n_studies):
        found = bootstrap(statistic, *draw(rng, n), n_resamples=n_resamples, seed=rng)
        if not np.isnan(found.low):
            held.append(found.low <= truth <= found.high)
    return Found(float(np.mean(held)), len(held) / n_studies)


# Conformal --------------------------------------------------------------------------------------------------------


def _stated(rng: np.random.Generator, size: tuple[int, ...], whole: bool) -> tuple[FloatArray, ...]:
    """Truths, and intervals that are too narrow, the more the harder the question; whole ends tie."""
    hard = rng.exponential(1.0, size)
    middle = rng.normal(0.0, 1.0 + hard)
    low, high = middle - 0.5 - 0.5 * hard, middle + 1.0 + 0.5 * hard
    if whole:
        low, high = np.floor(low), np.ceil(high)
    return np.rint(np.zeros(size)) if whole else rng.normal(0.0, 0.1, size), low, high


Adjust = Callable[[tuple[FloatArray, ...], FloatArray, FloatArray, float], tuple[FloatArray, FloatArray]]


def _split(**options: Any) -> Adjust:
    def adjust(
        calibration: tuple[FloatArray, ...], low: FloatArray, high: FloatArray, nominal: float
    ) -> tuple[FloatArray, FloatArray]:
        return fit_conformal(*calibration, nominal, **options).apply(low, high)

    return adjust


CONFORMAL: Mapping[str, Adjust] = {
    "split": _split(),
    "asymmetric": _split(asymmetric=True),
    "normalized": _split(normalized=True),
    "asymmetric, normalized": _split(asymmetric=True, normalized=True),
}
"""By name."""


def conformal(
    name: str, nominal: float, n: int, n_studies: int, *, whole: bool = False, seed: int = 0
) -> float:
    """Share of new questions, ten a study, whose adjusted interval holds the truth, after n calibration questions."""
    rng = np.random.default_rng([seed, n])
    held = []
    for _ in range(n_studies):
        calibration = _stated(rng, (n,), whole)
        truth, low, high = _stated(rng, (10,), whole)
        lower, upper = CONFORMAL[name](calibration, low, high, nominal)
        held.append(np.mean((lower <= truth) & (truth <= upper)))
    return float(np.mean(held))


# Bayes ------------------------------------------------------------------------------------------------------------


def bayes(n: int, n_units: int, n_studies: int, seed: int = 0) -> dict[str, float]:
    """Credible intervals of the typical M-ratio, of its spread and of each unit's, with short chains."""
    from confidence_tasks.statistics.sdt import hierarchical_meta_d

    rng = np.random.default_rng([seed, n])
    typical, spread = np.log(0.8), 0.3
    held: dict[str, list[float]] = {"typical M-ratio": [], "spread": [], "M-ratio of a unit": []}
    for study in range(n_studies):
        ratios = np.exp(rng.normal(typical, spread, n_units))
        d_primes = rng.normal(1.5, 0.3, n_units)
        rows = [
            simulate_tables(rng, n, meta_d_proportions(d, d * m), 1)
            for d, m in zip(d_primes, ratios, strict=True)
        ]
        s1, s2 = (np.concatenate(side) for side in zip(*rows, strict=True))
        found = hierarchical_meta_d(s1, s2, n_warmup=300, n_samples=300, n_chains=2, seed=study)
        for what, truth, posterior in (
            ("typical M-ratio", np.exp(typical), found.m_ratio),
            ("spread", spread, found.log_m_spread),
            ("M-ratio of a unit", ratios, found.unit_m_ratio),
        ):
            held[what].append(float(np.mean((posterior.low <= truth) & (truth <= posterior.high))))
    return {what: float(np.mean(each)) for what, each in held.items()}
