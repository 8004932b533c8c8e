"""Studies with epochs or passages, and their true calibration errors, from NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from confidence_tasks import compare
from confidence_tasks.statistics import ece_interval

Array = NDArray[np.float64]
Generator = Callable[[np.random.Generator, int, int], tuple[Array, Array]]
"""``generator(rng, units, times)``: correctness and confidence of each trial, (units, times) each."""


def _twentieths(log_odds: Array) -> Array:
    return np.round(20.0 * expit(log_odds)) / 20.0


def same_answers(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """Answers that are the same in every epoch; confidence varies at random, and every gap is positive."""
    right = np.repeat(rng.random((units, 1)) < 0.6, times, axis=1)
    return right.astype(float), rng.choice([0.75, 0.85, 0.95], (units, times))


def informed(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """The same, where confidence depends on the difficulty of the question."""
    ease = rng.normal(size=(units, 1))
    right = np.repeat(rng.random((units, 1)) < expit(0.8 + 1.2 * ease), times, axis=1)
    return right.astype(float), _twentieths(1.2 + 0.8 * ease + 0.7 * rng.normal(size=(units, times)))


def new_answers(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """Answers that are drawn in each epoch, with the probability of the question."""
    ease = rng.normal(size=(units, 1))
    right = rng.random((units, times)) < expit(0.5 + 1.5 * ease)
    return right.astype(float), _twentieths(1.0 + 0.8 * ease + 0.5 * rng.normal(size=(units, times)))


def calibrated(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """A calibrated subject whose answers to a question depend on each other."""
    stated = rng.choice([0.55, 0.65, 0.75, 0.85, 0.95], (units, times))
    return (rng.random((units, 1)) < stated).astype(float), stated


def all_values(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """Answers that are the same in every epoch; confidence is anywhere from .55 to 1."""
    right = np.repeat(rng.random((units, 1)) < 0.5, times, axis=1)
    return right.astype(float), rng.choice(np.arange(11, 21) / 20.0, (units, times))


def passages(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """Questions about passages, some of them harder than others: the design effect of accuracy is about 2."""
    shared = {5: 1.4, 10: 0.85}.get(times, 1.0) * rng.normal(size=(units, 1))
    ease = 0.8 * rng.normal(size=(units, times))
    right = rng.random((units, times)) < expit(0.7 + shared + ease)
    return right.astype(float), _twentieths(1.2 + 0.3 * shared + ease + 0.4 * rng.normal(size=(units, times)))


def calibrated_passages(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """A subject that is calibrated over all passages, but not within one."""
    stated = rng.choice([0.55, 0.65, 0.75, 0.85, 0.95], (units, times))
    luck = np.sqrt(0.15) * rng.normal(size=(units, 1)) + np.sqrt(0.85) * rng.normal(size=(units, times))
    return (ndtr(luck) < stated).astype(float), stated


EPOCHS: Mapping[str, Generator] = {
    "same answers, overconfident": same_answers,
    "same answers, informed": informed,
    "new answers": new_answers,
    "same luck, calibrated": calibrated,
    "same answers, ten values": all_values,
}
PASSAGES: Mapping[str, Generator] = {
    "passages, informed": passages,
    "passages, calibrated": calibrated_passages,
}


def calibration_error(right: Array, stated: Array, *, bins: int = 10, binning: str = "equal_width") -> float:
    """Return the ECE of a population, by sums over bins."""
    y, c = right.ravel(), stated.ravel()
    if binning == "equal_mass":
        below = np.searchsorted(np.sort(c), c, "left") / len(c)
        number = np.floor(bins * below + 1e-9).astype(int)
    else:
        number = np.clip(np.ceil(bins * c - 1e-9) - 1, 0, bins - 1).astype(int)
    return float(np.abs(np.bincount(number, c - y, bins)).sum() / len(y))


def coverage(generator: Generator, units: int, times: int, n_studies: int, **how: Any) -> float:
    """Return the proportion of studies whose interval of the ECE holds the true one."""
    truth = calibration_error(*generator(np.random.default_rng(999), 400_000 // times, times), **how)
    held = 0
    for study in range(n_studies):
        right, stated = generator(np.random.default_rng([study, units, times]), units, times)
        low, high = ece_interval(
            right.ravel(), stated.ravel(), questions=np.repeat(np.arange(units), times), **how
        )
        held += low <= truth <= high
    return held / n_studies


def size(generator: Generator, units: int, times: int, n_studies: int) -> float:
    """Return the proportion of studies in which two equal models, with half of their replies in common, differ."""
    found = 0
    for study in range(n_studies):
        rng = np.random.default_rng([study, units, times])
        (right, stated), (other, other_stated) = (generator(rng, units, times) for _ in range(2))
        shared = rng.random((units, 1)) < 0.5
        other, other_stated = np.where(shared, right, other), np.where(shared, stated, other_stated)
        differences = compare(
            (right.ravel(), stated.ravel()),
            (other.ravel(), other_stated.ravel()),
            questions=np.repeat(np.arange(units), times),
            measures=["ece"],
            n_resamples=200,
        ).to_frame()
        found += bool(differences["p_value"].iloc[0] <= 0.05)
    return found / n_studies
