"""Recalibrated confidence in which no trial has a part in its own recalibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from confidence_tasks.statistics.calibration.recalibration import logistic_recalibration
from confidence_tasks.statistics.core import FloatArray, as_binary, as_probability, same_length
from confidence_tasks.statistics.inference.units import Seed, unit_index

Recalibration: TypeAlias = Literal["isotonic", "logistic"]
_Fit: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""``fit(correct, confidence, new)``: what ``new`` confidence is worth, going by the trials."""


def cross_fitted_confidence(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    method: Recalibration = "isotonic",
    available: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    folds: int = 5,
    seed: Seed = 0,
) -> FloatArray:
    """Recalibrate the confidence of each trial by the trials of other questions.

    Questions are split into folds at random; the curve that recalibrates a fold is fitted on all others. Give the
    result to :func:`~confidence_tasks.statistics.decision.scaffold_utility` to see what mis-stated confidence costs.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right; any such value where no answer is available.
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    method : {"isotonic", "logistic"}, default "isotonic"
        ``"isotonic"`` fits the best non-decreasing step function and interpolates between its steps.
        ``"logistic"`` fits a line on the logit scale, to targets drawn in from 1 and 0 as Platt does, so that it
        exists for every sample.
    available : array_like, shape (n,), optional
        1 where the model gave an answer, 0 where it abstained without one: those trials are recalibrated, but
        nothing is fitted to them.
    clusters : array_like, shape (n,), optional
        Label of the question of each trial. By default every trial is a question of its own.
    folds : int, default 5
        Number of folds, 2 or more; at most one per question is used.
    seed : int or numpy.random.Generator, default 0
        Source of the split.

    Returns
    -------
    ndarray, shape (n,)
        Recalibrated confidence in [0, 1]; NaN where no answer to another question is there to fit.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates,
    doi:10.1145/775047.775151. Platt (1999), Probabilistic outputs for support vector machines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000)
    >>> recalibrated = cross_fitted_confidence(rng.random(5000) < truth, truth**0.25)
    >>> bool(np.abs(recalibrated - truth).mean() < 0.03)
    True
    """
    right, stated = as_probability(correct, "correct"), as_probability(confidence, "confidence")
    n = same_length(correct=right, confidence=stated)
    given = np.ones(n) if available is None else as_binary(available, "available")
    same_length(correct=right, available=given)
    if method not in _FITS:
        raise ValueError(f"method must be one of {', '.join(_FITS)}, got {method!r}")
    if folds < 2:
        raise ValueError(f"folds must be 2 or more, got {folds}")
    unit, n_units = unit_index(clusters, "clusters", n)
    fold = np.random.default_rng(seed).permutation(n_units) % folds
    fold = fold if unit is None else fold[unit]
    recalibrated = np.full(n, np.nan)
    for held_out in range(min(folds, n_units)):
        members = fold == held_out
        training = ~members & (given > 0.0)
        if training.any():
            recalibrated[members] = _FITS[method](right[training], stated[training], stated[members])
    return recalibrated


def _isotonic(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    values, group, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    accuracy = np.bincount(group, weights=correct) / counts
    steps = isotonic_regression(accuracy, weights=counts).x
    return np.interp(new, values, steps)


def _logistic(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    # Platt's targets: the posterior means of 1 and 0 under a uniform prior.
    right, wrong = correct.sum(), (1.0 - correct).sum()
    targets = correct * (right + 1.0) / (right + 2.0) + (1.0 - correct) / (wrong + 2.0)
    curve = logistic_recalibration(targets, confidence)
    if np.isnan(curve.slope):  # constant confidence has no slope, only a mean
        return np.full(len(new), targets.mean())
    return curve.apply(new)


_FITS: dict[Recalibration, _Fit] = {"isotonic": _isotonic, "logistic": _logistic}
